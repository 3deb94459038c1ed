"""Sends scheduled messages now."""

from typing import NamedTuple

from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import Instant
from pabal.service.context import Context
from pabal.service.policy import Policy
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.messages import campaign_requests, requests
from pabal.store.queue import queue


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
