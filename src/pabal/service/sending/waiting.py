"""Cancels waiting messages, or sends them now."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.base import dates, identifiers
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import Instant
from pabal.service.context import Context
from pabal.service.policy import Policy
from pabal.service.sending.budgets import record_ended
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles
from pabal.store.messages import campaign_requests, messages, requests
from pabal.store.queue import queue

SWEEP_BATCH_REQUESTS = 5
"""Requests of a deleted profile that one transaction cancels."""


class CancelResult(NamedTuple):
    """How many messages were selected, and how many of them were cancelled."""

    requested: int
    canceled: int


def cancel(
    tx: Tx,
    policy: Policy,
    account_id: int,
    request_id: bytes,
    message_id: bytes | None,
    now: Instant,
    audit_entry: AuditEntry | None = None,
) -> CancelResult:
    """Cancel a request's waiting messages, or one of them; none of them is submitted any more."""
    if audit_entry:
        audit_log.add(tx, audit_entry)
    low, high = (message_id, message_id) if message_id else identifiers.message_id_range(request_id)
    meant = sum(messages.count_by_status(tx, account_id, low, high).values())
    waiting = messages.find_waiting(tx, account_id, request_id, message_id)
    dropped = queue.remove_unclaimed(tx, waiting)
    campaign_requests.recount_soon(tx, request_id, now)
    return CancelResult(meant, cancel_messages(tx, policy, dropped, now))


def cancel_messages(tx: Tx, policy: Policy, waiting: Sequence[bytes], now: Instant) -> int:
    """Cancel waiting messages that have left the queue, and give back what was reserved; return how many."""
    record_ended(tx, policy, [(one, 0) for one in waiting])
    return messages.cancel(tx, waiting, now)


async def cancel_request(
    context: Context,
    account_id: int,
    request_id: bytes | None,
    message_id: bytes | None,
    audit_entry: AuditEntry | None = None,
) -> CancelResult:
    """Cancel for a caller; an id is None where it was malformed.

    Raises Refused(REQUEST_NOT_FOUND), also for another account's. It reads first, since a refusal inside a write
    would make the whole group commit run again.
    """
    if request_id is None:
        raise Refused(Code.REQUEST_NOT_FOUND, "requestId")
    if message_id is not None and identifiers.request_id_of(message_id) != request_id:
        raise Refused(Code.REQUEST_NOT_FOUND, "messageId")
    low, high = (message_id, message_id) if message_id else identifiers.message_id_range(request_id)
    if not await context.store.read(messages.count_by_status, account_id, low, high):
        raise Refused(Code.REQUEST_NOT_FOUND, "messageId" if message_id else "requestId")
    now = context.world.now()
    done = await context.store.write(cancel, context.policy, account_id, request_id, message_id, now, audit_entry)
    context.count_cancelled(done.canceled)
    return done


def cancel_profile_batch(
    tx: Tx, policy: Policy, profile_id: int, after: tuple[Instant, bytes], now: Instant
) -> tuple[int, tuple[Instant, bytes] | None]:
    """Cancel a batch of a deleted profile's waiting messages.

    Returns how many were cancelled, and the request to continue after, None at the end.
    """
    found = requests.list_by_profile(tx, profile_id, after, SWEEP_BATCH_REQUESTS)
    canceled = 0
    for _, request_id, account_id in found:
        waiting = messages.find_waiting(tx, account_id, request_id, None)
        dropped = queue.remove_unclaimed(tx, waiting)
        canceled += cancel_messages(tx, policy, dropped, now)
        campaign_requests.recount_soon(tx, request_id, now)
    if len(found) < SWEEP_BATCH_REQUESTS:
        profiles.mark_swept(tx, profile_id)
        return canceled, None
    return canceled, (found[-1][0], found[-1][1])


async def cancel_deleted_profiles(context: Context) -> None:
    """Cancel the waiting messages of all deleted profiles, in batches.

    Only later messages: due ones are cancelled when they are claimed.
    """
    for profile_id in await context.store.read(profiles.list_unswept):
        await cancel_profile_messages(context, profile_id)


async def cancel_profile_messages(context: Context, profile_id: int) -> None:
    """Cancel the waiting messages of one deleted profile, in batches."""
    after: tuple[Instant, bytes] | None = (context.world.now(), b"")
    while after is not None:
        canceled, after = await context.store.write(
            cancel_profile_batch, context.policy, profile_id, after, context.world.now()
        )
        context.count_cancelled(canceled)


class Expedited(NamedTuple):
    """How many messages are due now, and their carriers."""

    messages: int
    carriers: frozenset[str]


def expedite(tx: Tx, request_id: bytes, now: Instant, audit_entry: AuditEntry | None = None) -> Expedited:
    """Make the waiting messages of a request due; messages in flight stay as they are."""
    carriers = queue.expedite(tx, request_id, now)
    campaign_requests.recount_soon(tx, request_id, now, now)
    if carriers:
        requests.reschedule(tx, request_id, now)
        if audit_entry:
            audit_log.add(tx, audit_entry)
    return Expedited(len(carriers), frozenset(carriers))


async def send_now(
    context: Context, account_id: int, request_id: bytes | None, audit_entry: AuditEntry | None = None
) -> Expedited:
    """Send a request's waiting messages now; the id is None where it was malformed.

    Raises Refused: REQUEST_NOT_FOUND, also for another account's; NIGHT_AD_RESTRICTED.
    """
    found = await context.store.read(requests.get, [request_id] if request_id else [])
    request = found.get(request_id or b"")
    if request is None or request.account_id != account_id:
        raise Refused(Code.REQUEST_NOT_FOUND, "requestId")
    check_ad_hours(request.is_ad, context.policy, context.world.now())
    hurried = await context.store.write(expedite, request.id, context.world.now(), audit_entry)
    context.wake(hurried.carriers)
    return hurried


def check_ad_hours(is_ad: bool, policy: Policy, now: Instant) -> None:
    """Raises Refused(NIGHT_AD_RESTRICTED) for an advertisement at night."""
    if is_ad and dates.is_night(now, policy.zone):
        raise Refused(Code.NIGHT_AD_RESTRICTED, "sendDate")
