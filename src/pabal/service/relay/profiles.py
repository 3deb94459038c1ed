"""Registers, verifies, adopts and deletes sender profiles."""

import contextlib
import hashlib
import hmac
import logging
from typing import NamedTuple

from pabal.carriers.provider import RelayProvider, RemoteProfile
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import HOUR, SECOND, Instant
from pabal.domain.kakao.profile import (
    MAX_TOKENS_PER_HOUR,
    MAX_WRONG_TOKENS,
    SENDER_KEY_CHARACTERS,
    TOKEN_DIGITS,
    AuthStatus,
    Profile,
    Registration,
)
from pabal.service.context import Context
from pabal.service.relay import categories
from pabal.service.sending.waiting import cancel_profile_messages
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import StoreUnavailable, Tx
from pabal.store.kakao import profiles
from pabal.world import new_token, random_hex

_UNKNOWN_HASH = b""
"""Hash of a token that a relay created, and only it knows."""

log = logging.getLogger("pabal.profiles")


class PendingRegistration(NamedTuple):
    """A stored registration, and the profile it replaced."""

    profile: Profile
    previous: Profile | None


async def register(
    context: Context, account_id: int, registration: Registration, audit_entry: AuditEntry | None = None
) -> Profile:
    """Store a profile that waits for its token, and send the token.

    Raises Refused: CATEGORY_NOT_FOUND, DUPLICATE for an approved channel, RATE_LIMITED, PRODUCT_NOT_AVAILABLE,
    and the refusals of a relay; then the registration is undone, but its audit entry stays. A channel that another
    account has at the relay is registered like any other, but no token is sent: only operators may know.
    """
    posted = context.provider()
    if registration.category not in await categories.sender_categories(context):
        raise Refused(Code.CATEGORY_NOT_FOUND, "category")
    token = new_token(context.world, TOKEN_DIGITS) if posted.relay_name is None else None
    hash = _hash(token) if token is not None else _UNKNOWN_HASH
    now = context.world.now()
    begun = await context.store.write(
        audit_log.run_audited,
        audit_entry,
        _register,
        account_id,
        registration,
        posted.relay_name,
        hash,
        now,
        now + context.policy.token_validity_ms,
    )
    try:
        await posted.provider.register_profile(account_id, registration, token)
    except Refused as refusal:
        if await _is_held_elsewhere(context, begun.profile, refusal):
            log.warning(
                "another account has this channel at the relay; the registration stays waiting",
                extra={"account_id": account_id, "channel_id": registration.channel_id},
            )
            return begun.profile
        await context.store.write(_undo_registration, begun, context.world.now())
        raise
    return begun.profile


async def authenticate(
    context: Context, account_id: int, channel_id: str, token: str, audit_entry: AuditEntry | None = None
) -> None:
    """Approve a profile whose administrator has the right token.

    Raises Refused: SENDER_NOT_FOUND, INVALID_STATE, TOKEN_LOCKED, TOKEN_EXPIRED, TOKEN_INVALID; with a relay also
    DUPLICATE, where it has the channel but no account does, and PRODUCT_NOT_AVAILABLE.
    """
    profile = await context.store.read(profiles.get_by_channel, account_id, channel_id)
    if profile is not None and profile.carrier is not None:
        await _verify_at_relay(context, profile, context.relay_of(profile.carrier), token, audit_entry)
        return
    sender_key = random_hex(context.world, SENDER_KEY_CHARACTERS)
    refused = await context.store.write(
        _authenticate, account_id, channel_id, _hash(token), sender_key, context.world.now(), audit_entry
    )
    if refused:
        raise _refusal(refused)
    context.new_events.set()


async def _verify_at_relay(
    context: Context, profile: Profile, relay: RelayProvider, token: str, audit_entry: AuditEntry | None
) -> None:
    """Verify a token at a relay.

    If its answer is lost, the relay may have approved the profile, but not necessarily by this token: then an
    operator must adopt it.
    """
    refused = await context.store.write(_begin_verification, profile, context.world.now())
    if refused:
        raise _refusal(refused)
    try:
        registration = Registration(profile.channel_id, profile.category, profile.cellphone)
        sender_key = await relay.verify_token(registration, token)
    except Refused as refusal:
        if refusal.code is Code.TOKEN_INVALID or await _is_held_elsewhere(context, profile, refusal):
            log.info("a relay refused a token", extra={"reason": refusal.problems[0].message("en")})
            raise _refusal(
                Code.TOKEN_INVALID
            ) from None  # without the relay's words, which would tell the two apart
        await context.store.write(_count_wrong, profile, -1)
        raise
    await context.store.write(
        audit_log.run_audited, audit_entry, approve_verified, profile, sender_key, context.world.now()
    )
    context.new_events.set()


async def _is_held_elsewhere(context: Context, profile: Profile, refusal: Refused) -> bool:
    """Return whether a relay refused because of another account's profile, which this account must not notice."""
    if refusal.code is not Code.DUPLICATE or profile.carrier is None:
        return False
    return await context.store.read(_find_holder, profile) is not None


async def adopt(
    context: Context, account_id: int, carrier: str, channel_id: str, audit_entry: AuditEntry | None = None
) -> Profile:
    """Give an account a profile that a relay already has; the next sync adds its templates.

    Raises Refused: SENDER_NOT_FOUND where the relay does not have it or it is not approved there, DUPLICATE where
    another account has it.
    """
    standing = await context.relay_of(carrier).find_profile(channel_id)
    if standing is None or standing.sender_key is None:
        detail = Text(
            "중계사에 이 채널의 승인된 발신 프로필이 없습니다.",
            "The relay has no approved profile for this channel.",
        )
        raise Refused(Code.SENDER_NOT_FOUND, "channelId", detail)
    adopted = await context.store.write(
        audit_log.run_audited, audit_entry, _adopt, account_id, carrier, standing, context.world.now()
    )
    context.new_events.set()
    return adopted


async def delete(
    context: Context,
    account_id: int,
    sender_key: str | None,
    channel_id: str | None,
    audit_entry: AuditEntry | None = None,
) -> None:
    """Delete a profile, first at its relay if it has one, and cancel its waiting messages.

    Raises Refused: SENDER_NOT_FOUND, and the refusals of a relay; then the profile stays.
    """
    profile = await context.store.read(_find, account_id, sender_key, channel_id)
    relay = context.relays.get(profile.carrier or "")
    if relay is not None and profile.sender_key is not None:
        await relay.delete_profile(profile.sender_key)
    profile_id = await context.store.write(
        audit_log.run_audited, audit_entry, _delete, account_id, sender_key, channel_id, context.world.now()
    )
    with contextlib.suppress(StoreUnavailable):  # it is deleted; housekeeping cancels the rest
        await cancel_profile_messages(context, profile_id)


def _register(
    tx: Tx,
    account_id: int,
    registration: Registration,
    keeper: str | None,
    hash: bytes,
    now: Instant,
    expires_at: Instant,
) -> PendingRegistration:
    channel_id, category, cellphone = registration
    accounts.lock(tx, account_id)
    known = profiles.get_by_channel(tx, account_id, channel_id)
    if known and known.status is AuthStatus.APPROVAL:
        raise Refused(Code.DUPLICATE, "channelId")
    sent = profiles.count_tokens_since(tx, account_id, channel_id, cellphone, now - HOUR)
    if max(sent) >= MAX_TOKENS_PER_HOUR:
        field = "channelId" if sent[0] >= MAX_TOKENS_PER_HOUR else "cellphone"
        raise Refused(Code.RATE_LIMITED, field, retry_after_s=HOUR / SECOND)
    if known:
        profiles.update(tx, known.id, category, cellphone, now, keeper)
        profile_id = known.id
    else:
        profile_id = profiles.add(tx, account_id, channel_id, category, cellphone, now, keeper)
    profiles.add_token(tx, account_id, profile_id, channel_id, cellphone, hash, now, expires_at)
    return PendingRegistration(_of_channel(tx, account_id, channel_id), known)


def _undo_registration(tx: Tx, begun: PendingRegistration, now: Instant) -> None:
    """Undo a registration that the provider refused; its token still counts toward the rate limit."""
    profile, before = begun
    known = profiles.get_by_channel(tx, profile.account_id, profile.channel_id)
    if known is None or known.id != profile.id or known.status is AuthStatus.APPROVAL:
        return
    if before:
        profiles.update(tx, known.id, before.category, before.cellphone, now, before.carrier)
    else:
        profiles.delete(tx, known.id, now)


def _authenticate(
    tx: Tx,
    account_id: int,
    channel_id: str,
    hash: bytes,
    sender_key: str,
    now: Instant,
    audit_entry: AuditEntry | None,
) -> Code | None:
    """Approve, or return why not; it does not raise, since a wrong token must be counted."""
    profile = profiles.get_by_channel(tx, account_id, channel_id)
    if profile is None:
        return Code.SENDER_NOT_FOUND
    obstacle = _find_obstacle(tx, profile, now)
    if obstacle:
        return obstacle
    token = profiles.newest_token(tx, profile.id)
    assert token is not None
    if not hmac.compare_digest(token.hash, hash):
        profiles.add_failed_attempts(tx, token.id)
        return Code.TOKEN_INVALID
    profiles.approve(tx, profile.id, sender_key, now)
    if audit_entry:
        audit_log.add(tx, audit_entry)
    return None


def _find_obstacle(tx: Tx, profile: Profile, now: Instant) -> Code | None:
    """Return why no token can approve a profile now, if so."""
    if profile.status is AuthStatus.APPROVAL:
        return Code.INVALID_STATE
    token = profiles.newest_token(tx, profile.id)
    if token is None:
        return Code.TOKEN_EXPIRED
    if token.failed_attempts >= MAX_WRONG_TOKENS:
        return Code.TOKEN_LOCKED
    return Code.TOKEN_EXPIRED if now >= token.expires_at else None


def _begin_verification(tx: Tx, profile: Profile, now: Instant) -> Code | None:
    """Count the token as wrong before the relay is asked, so that concurrent guesses are limited too."""
    known = profiles.get_by_channel(tx, profile.account_id, profile.channel_id)
    if known is None or known.id != profile.id:
        return Code.SENDER_NOT_FOUND
    obstacle = _find_obstacle(tx, known, now)
    if obstacle is None:
        _count_wrong(tx, profile, 1)
    return obstacle


def _count_wrong(tx: Tx, profile: Profile, times: int) -> None:
    token = profiles.newest_token(tx, profile.id)
    if token is not None:
        profiles.add_failed_attempts(tx, token.id, times)


def approve_verified(tx: Tx, profile: Profile, sender_key: str, now: Instant) -> None:
    """Approve a profile that its relay has approved.

    Raises Refused: SENDER_NOT_FOUND where it was deleted meanwhile, DUPLICATE where another profile has the key.
    """
    known = profiles.get_by_channel(tx, profile.account_id, profile.channel_id)
    if known is None or known.id != profile.id:
        raise Refused(Code.SENDER_NOT_FOUND, "channelId")
    if known.status is AuthStatus.APPROVAL:
        return
    if _find_holder(tx, profile):
        raise Refused(Code.DUPLICATE, "channelId", CHANNEL_TAKEN)
    profiles.release_sender_key(tx, sender_key)
    profiles.approve(tx, profile.id, sender_key, now)


def _find_holder(tx: Tx, profile: Profile) -> Profile | None:
    """Return the other profile that has this channel at its relay, which has one key per channel."""
    if profile.carrier is None:
        return None
    other = profiles.get_approved(tx, profile.carrier, profile.channel_id)
    return other if other is not None and other.id != profile.id else None


CHANNEL_TAKEN = Text(
    "중계사에 이미 등록된 채널이며, 중계사는 채널마다 발신 프로필 키를 하나만 둡니다. 운영자에게 문의하세요.",
    "The relay already has this channel, and keeps one sender key per channel: ask the operator.",
)


def _adopt(tx: Tx, account_id: int, carrier: str, standing: RemoteProfile, now: Instant) -> Profile:
    channel_id, sender_key, category, suspension = standing
    assert sender_key is not None
    known = profiles.get_by_channel(tx, account_id, channel_id)
    holder = profiles.get_by_any_sender_key(tx, sender_key)
    if holder is not None and (known is None or holder.id != known.id):
        raise Refused(Code.DUPLICATE, "channelId", CHANNEL_TAKEN)
    if known is None:
        profile_id = profiles.add(tx, account_id, channel_id, category, "", now, carrier)
    else:
        profile_id = known.id
        profiles.update(tx, known.id, category, known.cellphone, now, carrier)
    profiles.release_sender_key(tx, sender_key)
    profiles.approve(tx, profile_id, sender_key, now, suspension)
    return _of_channel(tx, account_id, channel_id)


def _find(tx: Tx, account_id: int, sender_key: str | None, channel_id: str | None) -> Profile:
    if sender_key is not None:
        profile, field = profiles.get_by_sender_key(tx, account_id, sender_key), "senderKey"
    else:
        profile, field = profiles.get_by_channel(tx, account_id, channel_id or ""), "channelId"
    if profile is None or (channel_id is not None and profile.channel_id != channel_id):
        raise Refused(Code.SENDER_NOT_FOUND, field)
    return profile


def _delete(tx: Tx, account_id: int, sender_key: str | None, channel_id: str | None, now: Instant) -> int:
    profile = _find(tx, account_id, sender_key, channel_id)
    profiles.delete(tx, profile.id, now)
    return profile.id


def _of_channel(tx: Tx, account_id: int, channel_id: str) -> Profile:
    profile = profiles.get_by_channel(tx, account_id, channel_id)
    assert profile is not None
    return profile


_CHANNEL_CODES = (Code.SENDER_NOT_FOUND, Code.INVALID_STATE)
_ALREADY_APPROVED = Text("이미 승인된 발신 프로필입니다.", "The sender profile is already approved.")


def _refusal(code: Code) -> Refused:
    detail = _ALREADY_APPROVED if code is Code.INVALID_STATE else None
    return Refused(code, "channelId" if code in _CHANNEL_CODES else "token", detail)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
