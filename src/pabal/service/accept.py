"""Accepts a send: keeps the request and the promise to deliver each of its messages, or nothing at all."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain import identity
from pabal.domain.codes import Code, Refused, Words
from pabal.domain.profile import AuthStatus, Profile
from pabal.domain.sending import Sending
from pabal.domain.template import Design
from pabal.domain.when import Instant
from pabal.service.station import Station
from pabal.store import accounts, answers, jobs, messages, profiles, requests, templates
from pabal.store.answers import Answer
from pabal.store.base import Tx, Value
from pabal.world import new_request_id


class Repeatable(NamedTuple):
    """What makes a request safe to repeat: the caller's key, and a digest of what it stands on."""

    key: str
    digest: bytes


class Kept(NamedTuple):
    """The request that answers a send, and whether it is new."""

    request_id: bytes
    is_new: bool


async def accept(
    station: Station, account_id: int, sending: Sending, repeatable: Repeatable | None = None
) -> bytes:
    """Return the id of the kept request once it is durable.

    Raises Refused: PRODUCT_NOT_AVAILABLE, SENDER_NUMBER_NOT_REGISTERED, or DUPLICATE for a key that stood
    on another request.
    """
    carrier = station.carrier_for(sending.product)
    await _check_numbers(station, account_id, sending)
    request_id = new_request_id(station.world, station.policy.slot)
    now = identity.requested_at(request_id)  # one look at the clock: sent now is sent when requested
    rows = messages.rows_of(request_id, sending.receivers)
    kept = await station.store.write(
        keep,
        account_id,
        request_id,
        sending,
        rows,
        carrier,
        now,
        repeatable,
        now - station.policy.idempotency,
    )
    if kept.is_new:
        station.watch.accepted.add(len(rows), sending.product.word)
        station.ring([carrier])
    return kept.request_id


def keep(
    tx: Tx,
    account_id: int,
    request_id: bytes,
    sending: Sending,
    rows: Sequence[Sequence[Value]],
    carrier: str,
    now: Instant,
    repeatable: Repeatable | None,
    remembered_since: Instant,
) -> Kept:
    """Keep a request, its messages and their jobs, all or nothing; a repeated request is kept once."""
    slot = identity.slot_of(request_id)
    if repeatable:
        earlier = answers.find(tx, slot, account_id, repeatable.key, remembered_since)
        if earlier:
            return Kept(_same(earlier, repeatable), False)
        answers.keep(tx, slot, account_id, repeatable.key, Answer(repeatable.digest, request_id), now)
    scheduled_at = now if sending.scheduled_at is None else sending.scheduled_at
    requests.add(tx, request_id, account_id, sending, scheduled_at)
    messages.add_all(tx, request_id, account_id, sending.product, rows)
    jobs.add_request(tx, request_id, carrier, sending.lane, scheduled_at)
    return Kept(request_id, True)


async def answered_before(station: Station, account_id: int, repeatable: Repeatable) -> bytes | None:
    """Return the request that this key was answered with before.

    Raises Refused(DUPLICATE) where the key stood on another request.
    """
    since = station.world.now() - station.policy.idempotency
    earlier = await station.store.read(answers.find, station.policy.slot, account_id, repeatable.key, since)
    return _same(earlier, repeatable) if earlier else None


async def usable_profile(station: Station, account_id: int, sender_key: str) -> Profile:
    """Return the profile to send under.

    Raises Refused: SENDER_NOT_FOUND, SENDER_NOT_APPROVED.
    """
    profile = await station.store.read(profiles.by_sender_key, account_id, sender_key)
    if profile is None:
        raise Refused(Code.SENDER_NOT_FOUND, "senderKey")
    if profile.status is not AuthStatus.APPROVAL or not profile.is_enabled:
        raise Refused(Code.SENDER_NOT_APPROVED, "senderKey")
    return profile


async def usable_template(station: Station, profile: Profile, code: str) -> Design:
    """Return the approved text of a profile's template.

    Raises Refused: TEMPLATE_NOT_FOUND, TEMPLATE_NOT_APPROVED.
    """
    template = await station.store.read(templates.get, profile.id, code)
    if template is None:
        raise Refused(Code.TEMPLATE_NOT_FOUND, "templateCode")
    if template.in_use is None or not template.is_enabled:
        raise Refused(Code.TEMPLATE_NOT_APPROVED, "templateCode")
    return template.in_use


async def _check_numbers(station: Station, account_id: int, sending: Sending) -> None:
    if not station.policy.checks_sender_numbers:
        return
    used = [("sender", sending.sender)] if sending.sender else []
    if sending.fallback:
        used.append(("resendPhoneNumber", sending.fallback.sender))
    for field, number in used:
        if not await station.store.read(accounts.has_number, account_id, number):
            raise Refused(Code.SENDER_NUMBER_NOT_REGISTERED, field)


def _same(earlier: Answer, repeatable: Repeatable) -> bytes:
    if earlier.digest != repeatable.digest:
        raise Refused(
            Code.DUPLICATE,
            "Idempotency-Key",
            Words("다른 요청에 쓰인 키입니다.", "The key was used for another request."),
        )
    return earlier.request_id
