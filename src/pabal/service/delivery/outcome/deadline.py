"""The deadline of a request: from when on its messages are not given to a carrier any more."""

from collections.abc import Iterable

from pabal.domain.base.dates import Instant
from pabal.service.policy import Policy
from pabal.store.engine.base import Tx
from pabal.store.messages.requests import Request
from pabal.store.queue import deadlines
from pabal.store.queue.deadlines import UnwatchedRequest


def deadline_of(request: Request, policy: Policy) -> Instant:
    """Return when the messages of a request, and their fallbacks, must be with a carrier."""
    if request.expires_at is not None:
        return request.expires_at
    return request.scheduled_at + policy.lifetime_ms(request.product, request.expire_minutes)


def move_deadlines(tx: Tx, moved: Iterable[Request], policy: Policy, morning: Instant) -> None:
    """Count the lifetime of requests from the morning, where the night rule has moved them."""
    for request in moved:
        deadline = morning + policy.lifetime_ms(request.product, request.expire_minutes)
        if deadline_of(request, policy) < deadline:
            deadlines.set_deadline(tx, request.id, deadline)


def store_deadlines(tx: Tx, waiting: Iterable[UnwatchedRequest], policy: Policy) -> None:
    """Store the deadlines of requests whose messages wait."""
    for one, product, scheduled_at, expire_minutes in waiting:
        deadlines.set_deadline(tx, one, scheduled_at + policy.lifetime_ms(product, expire_minutes))
