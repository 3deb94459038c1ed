"""Sends now what was scheduled for later and still waits."""

from typing import NamedTuple

from pabal.domain import dates
from pabal.domain.codes import Code, Refused
from pabal.domain.dates import Instant
from pabal.service.context import Context
from pabal.service.policy import Policy
from pabal.store import audit_log, campaign_requests, queue, requests
from pabal.store.audit_log import AuditEntry
from pabal.store.engine.base import Tx


class Expedited(NamedTuple):
    """How many messages come due at once, and the carriers that have them."""

    messages: int
    carriers: frozenset[str]


def expedite(tx: Tx, request_id: bytes, now: Instant, deed: AuditEntry | None = None) -> Expedited:
    """Let what still waits of a request come due; what a carrier has had in hand goes its way as it is."""
    carriers = queue.expedite(tx, request_id, now)
    campaign_requests.recount_soon(tx, request_id, now, now)
    if carriers:
        requests.reschedule(tx, request_id, now)
        if deed:
            audit_log.add(tx, deed)
    return Expedited(len(carriers), frozenset(carriers))


async def send_now(
    context: Context, account_id: int, request_id: bytes | None, deed: AuditEntry | None = None
) -> Expedited:
    """Send what still waits of a request now; None for an id that cannot be one.

    Raises Refused: REQUEST_NOT_FOUND, also for another account's; NIGHT_AD_RESTRICTED.
    """
    found = await context.store.read(requests.get, [request_id] if request_id else [])
    request = found.get(request_id or b"")
    if request is None or request.account_id != account_id:
        raise Refused(Code.REQUEST_NOT_FOUND, "requestId")
    check_ad_hours(request.is_ad, context.policy, context.world.now())
    hurried = await context.store.write(expedite, request.id, context.world.now(), deed)
    context.wake(hurried.carriers)
    return hurried


def check_ad_hours(is_ad: bool, policy: Policy, now: Instant) -> None:
    """Raises Refused(NIGHT_AD_RESTRICTED) for an advertisement at night: it waits for its time."""
    if is_ad and dates.is_night(now, policy.zone):
        raise Refused(Code.NIGHT_AD_RESTRICTED, "sendDate")
