"""Cancels what still waits."""

from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.codes import Code, Refused
from pabal.domain.dates import Instant
from pabal.service.context import Context
from pabal.store import audit_log, campaign_requests, messages, profiles, queue, requests
from pabal.store.audit_log import Deed
from pabal.store.engine.base import Tx

SWEEP_REQUESTS = 5


class Cancelled(NamedTuple):
    """How many messages were meant, and how many of them still waited."""

    requested: int
    canceled: int


class Swept(NamedTuple):
    """How many messages a step of a sweep cancelled, and after which request to go on, None at the end."""

    canceled: int
    go_on_after: tuple[Instant, bytes] | None


def cancel(
    tx: Tx,
    account_id: int,
    request_id: bytes,
    message_id: bytes | None,
    now: Instant,
    deed: Deed | None = None,
) -> Cancelled:
    """Cancel a request's waiting messages, or one of them; none of those is ever handed over."""
    if deed:
        audit_log.note(tx, deed)
    low, high = (message_id, message_id) if message_id else identifiers.bounds(request_id)
    meant = sum(messages.count(tx, account_id, low, high).values())
    waiting = messages.waiting(tx, account_id, request_id, message_id)
    dropped = queue.drop_unclaimed(tx, waiting)
    campaign_requests.count_soon(tx, request_id, now)
    return Cancelled(meant, messages.cancel(tx, dropped, now))


async def cancel_request(
    context: Context,
    account_id: int,
    request_id: bytes | None,
    message_id: bytes | None,
    deed: Deed | None = None,
) -> Cancelled:
    """Cancel for a caller; None for an id that cannot be one.

    Raises Refused(REQUEST_NOT_FOUND), also for one that is another account's. What is not there is found
    out by reading: a refusal within a write would cost its neighbours a second run.
    """
    if request_id is None:
        raise Refused(Code.REQUEST_NOT_FOUND, "requestId")
    if message_id is not None and identifiers.request_of(message_id) != request_id:
        raise Refused(Code.REQUEST_NOT_FOUND, "messageId")
    low, high = (message_id, message_id) if message_id else identifiers.bounds(request_id)
    if not await context.store.read(messages.count, account_id, low, high):
        raise Refused(Code.REQUEST_NOT_FOUND, "messageId" if message_id else "requestId")
    done = await context.store.write(cancel, account_id, request_id, message_id, context.world.now(), deed)
    context.metrics.cancelled.add(done.canceled)
    return done


def sweep(tx: Tx, profile_id: int, after: tuple[Instant, bytes], now: Instant) -> Swept:
    """Cancel some of a deleted profile's waiting messages."""
    found = requests.of_profile(tx, profile_id, after, SWEEP_REQUESTS)
    canceled = 0
    for _, request_id, account_id in found:
        waiting = messages.waiting(tx, account_id, request_id, None)
        canceled += messages.cancel(tx, queue.drop_unclaimed(tx, waiting), now)
        campaign_requests.count_soon(tx, request_id, now)
    if len(found) < SWEEP_REQUESTS:
        profiles.mark_swept(tx, profile_id)
        return Swept(canceled, None)
    return Swept(canceled, (found[-1][0], found[-1][1]))


async def sweep_deleted(context: Context) -> None:
    """Cancel the waiting messages of all deleted profiles, in batches.

    Those that are due already are cancelled when they are claimed, so only later ones are looked for.
    """
    for profile_id in await context.store.read(profiles.to_sweep):
        await sweep_all(context, profile_id)


async def sweep_all(context: Context, profile_id: int) -> None:
    """Cancel the waiting messages of one deleted profile, in batches."""
    after: tuple[Instant, bytes] | None = (context.world.now(), b"")
    while after is not None:
        swept = await context.store.write(sweep, profile_id, after, context.world.now())
        context.metrics.cancelled.add(swept.canceled)
        after = swept.go_on_after
