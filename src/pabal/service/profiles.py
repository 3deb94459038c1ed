"""Registers sender profiles, proves them by a token, and deletes them."""

import contextlib
import hashlib
import hmac
from typing import NamedTuple

from pabal.domain.codes import Code, Refused
from pabal.domain.profile import (
    MAX_TOKENS_AN_HOUR,
    MAX_WRONG_TOKENS,
    SENDER_KEY_CHARACTERS,
    TOKEN_DIGITS,
    AuthStatus,
    Profile,
)
from pabal.domain.when import HOUR, SECOND, Instant
from pabal.service.cancel import sweep_all
from pabal.service.station import Station
from pabal.store import accounts, profiles
from pabal.store.base import StoreAway, Tx
from pabal.world import new_sender_key, new_token


class Registration(NamedTuple):
    """What a caller says of a channel."""

    channel_id: str
    category: str
    cellphone: str


async def register(station: Station, account_id: int, registration: Registration) -> Profile:
    """Keep a profile that waits for its token, and have the token sent.

    Raises Refused: CATEGORY_NOT_FOUND, DUPLICATE for an approved channel, RATE_LIMITED, PRODUCT_NOT_AVAILABLE.
    """
    if registration.category not in station.sender_categories:
        raise Refused(Code.CATEGORY_NOT_FOUND, "category")
    desk = station.desk()
    token = new_token(station.world, TOKEN_DIGITS)
    now = station.world.now()
    profile = await station.store.write(
        _register, account_id, registration, _hash(token), now, now + station.policy.token_validity
    )
    await desk.send_token(account_id, registration.cellphone, registration.channel_id, token)
    return profile


async def authenticate(station: Station, account_id: int, channel_id: str, token: str) -> None:
    """Approve a profile whose administrator has the right token.

    Raises Refused: SENDER_NOT_FOUND, INVALID_STATE, TOKEN_LOCKED, TOKEN_EXPIRED, TOKEN_INVALID.
    """
    sender_key = new_sender_key(station.world, SENDER_KEY_CHARACTERS)
    refused = await station.store.write(
        _authenticate, account_id, channel_id, _hash(token), sender_key, station.world.now()
    )
    if refused:
        raise Refused(refused, "channelId" if refused in _OF_THE_CHANNEL else "token")


_OF_THE_CHANNEL = (Code.SENDER_NOT_FOUND, Code.INVALID_STATE)


async def delete(station: Station, account_id: int, sender_key: str | None, channel_id: str | None) -> None:
    """Delete a profile; none of its waiting messages is sent any more.

    Raises Refused(SENDER_NOT_FOUND).
    """
    profile_id = await station.store.write(_delete, account_id, sender_key, channel_id, station.world.now())
    with contextlib.suppress(StoreAway):  # it is deleted; housekeeping sweeps what is left
        await sweep_all(station, profile_id)


def _register(
    tx: Tx, account_id: int, registration: Registration, hash: bytes, now: Instant, expires_at: Instant
) -> Profile:
    channel_id, category, cellphone = registration
    accounts.take_turns(tx, account_id)
    known = profiles.by_channel(tx, account_id, channel_id)
    if known and known.status is AuthStatus.APPROVAL:
        raise Refused(Code.DUPLICATE, "channelId")
    sent = profiles.tokens_since(tx, account_id, channel_id, cellphone, now - HOUR)
    if max(sent) >= MAX_TOKENS_AN_HOUR:
        field = "channelId" if sent[0] >= MAX_TOKENS_AN_HOUR else "cellphone"
        raise Refused(Code.RATE_LIMITED, field, retry_after_s=HOUR / SECOND)
    if known:
        profiles.change(tx, known.id, category, cellphone, now)
        profile_id = known.id
    else:
        profile_id = profiles.add(tx, account_id, channel_id, category, cellphone, now)
    profiles.add_token(tx, account_id, profile_id, channel_id, cellphone, hash, now, expires_at)
    profile = profiles.by_channel(tx, account_id, channel_id)
    assert profile is not None
    return profile


def _authenticate(
    tx: Tx, account_id: int, channel_id: str, hash: bytes, sender_key: str, now: Instant
) -> Code | None:
    """Approve, or return why not; a wrong guess must be counted, so it does not raise."""
    profile = profiles.by_channel(tx, account_id, channel_id)
    if profile is None:
        return Code.SENDER_NOT_FOUND
    if profile.status is AuthStatus.APPROVAL:
        return Code.INVALID_STATE
    token = profiles.newest_token(tx, profile.id)
    if token is None:
        return Code.TOKEN_EXPIRED
    if token.wrong >= MAX_WRONG_TOKENS:
        return Code.TOKEN_LOCKED
    if now >= token.expires_at:
        return Code.TOKEN_EXPIRED
    if not hmac.compare_digest(token.hash, hash):
        profiles.count_wrong(tx, token.id)
        return Code.TOKEN_INVALID
    profiles.approve(tx, profile.id, sender_key, now)
    return None


def _delete(tx: Tx, account_id: int, sender_key: str | None, channel_id: str | None, now: Instant) -> int:
    if sender_key is not None:
        profile, field = profiles.by_sender_key(tx, account_id, sender_key), "senderKey"
    else:
        profile, field = profiles.by_channel(tx, account_id, channel_id or ""), "channelId"
    if profile is None or (channel_id is not None and profile.channel_id != channel_id):
        raise Refused(Code.SENDER_NOT_FOUND, field)
    profiles.delete(tx, profile.id, now)
    return profile.id


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
