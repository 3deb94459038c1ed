"""Limits how fast posts are made while messages are being delivered, and how many are in flight."""

import asyncio

from pabal.domain.base.dates import MINUTE
from pabal.service.context import Context
from pabal.service.webhooks.retries import MAX_IN_FLIGHT

BUSY_IN_FLIGHT = 50
"""A process with this many messages in flight is busy with delivery."""
EVENTS_PER_SMALL = 1.25
"""Events that become posts then for each message of a small send that is submitted: more than it has."""
EVENTS_PER_CAMPAIGN = 0.15
"""Events that become posts then for each message of a campaign: posting more would slow it down."""
MIN_EVENTS_PER_S = 100
"""Events that become posts then in any case, for example while a carrier does not answer."""
MAX_LAG_MS = 1 * MINUTE
"""Events that have waited this long are delivered at once, however busy the process is."""
STEP_S = 0.05
"""How often to look whether delivery is still busy."""
IDLE_AFTER_S = 0.2
"""A process that was not busy for this long is idle: webhooks need not wait for it."""
MAX_POSTS = 256
"""Most posts of a process that are in flight, besides the first one of each endpoint: each has a connection."""


class PostPace:
    """The pace at which all endpoints of a process make posts, and how many of these are in flight."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._turn = asyncio.Lock()
        self._debt = 0.0
        """Events that became posts too early, as long as delivery is busy."""
        self._paid_at = 0.0
        self._paid_for = 0.0
        """Events that were paid for by messages so far."""
        self._busy_at = 0.0
        """When delivery was last seen to be busy."""
        self.in_flight = 0
        """Posts of all endpoints."""

    def capacity(self, window: int, own: int) -> int:
        """Return how many more posts an endpoint may have in flight that has `own` already.

        Whatever others do, each may have one, so slow endpoints cannot keep others from posting.
        """
        return max(min(window - own, MAX_POSTS - self.in_flight), 0 if own else 1)

    async def wait(self, lag_ms: int) -> None:
        """Wait for a turn; none is needed once delivery is idle, or if the endpoint is that far behind."""
        if lag_ms >= MAX_LAG_MS:
            return
        async with self._turn:
            while self._pay() > 0:
                if not self._is_busy() and self._paid_at - self._busy_at >= IDLE_AFTER_S:
                    self._debt = 0.0
                    return
                await asyncio.sleep(STEP_S)

    def count(self, events: int) -> None:
        """Count events that became posts: if delivery is busy, the next turn comes later."""
        self._pay()
        if self._is_busy():
            self._debt += events

    def _pay(self) -> float:
        """Return what is left of the debt, which messages and time have paid for since the last call."""
        now, sent = self._context.world.monotonic(), self._context.in_flight
        earned = sent.begun_small * EVENTS_PER_SMALL + (sent.begun - sent.begun_small) * EVENTS_PER_CAMPAIGN
        paid = earned - self._paid_for + (now - self._paid_at) * MIN_EVENTS_PER_S
        self._debt = max(0.0, self._debt - paid)
        self._paid_at, self._paid_for = now, earned
        return self._debt

    def _is_busy(self) -> bool:
        if len(self._context.in_flight) < BUSY_IN_FLIGHT:
            return False
        self._busy_at = self._context.world.monotonic()
        return True


class PostWindow:
    """How many posts an endpoint may have in flight: fewer while it fails, so that it holds few connections.

    It recovers as fast as it shrinks, so that single posts that an endpoint refuses do not matter.
    """

    def __init__(self) -> None:
        self.size = MAX_IN_FLIGHT

    def widen(self) -> None:
        """Count a post that was delivered."""
        self.size = min(2 * self.size, MAX_IN_FLIGHT)

    def narrow(self) -> None:
        """Count a post that failed."""
        self.size = max(self.size // 2, 1)
