"""Flow control: how many messages a carrier has in flight, how many it may get next, and fewer while it is busy."""

import asyncio

from pabal.carriers.base import Carrier
from pabal.store.queue import queue
from pabal.world import World

MAX_BACKLOG_S = 0.5
"""How much of a carrier's rate is claimed ahead: later small sends must not wait behind more than this."""
COST_DECAY = 0.9
"""How much of the last batch's cost per message is expected of the next one."""
PAUSE_S = 1.0
"""How long a mostly busy carrier gets nothing."""
GROWTH_FACTOR = 1.25
"""How much a batch grows when the carrier keeps up."""
BUSY_RATIO_TO_PAUSE = 0.5
BUSY_RATIO_TO_GROW = 0.1
MIN_SAMPLE = 5
"""Fewer verdicts than this say nothing: a single receiver may be the reason."""


class Window:
    """Counts one carrier's messages in flight, and what they cost in its rate.

    A message is in flight until its verdict is stored: until then the carrier may have it.
    """

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier
        self._in_flight = 0
        self._unsubmitted_cost = 0
        """The cost of batches that the carrier has not been given yet: not in its own backlog."""
        self._cost_per_message = 1.0
        """What a message is expected to cost: one that goes in several parts costs several."""
        self._has_capacity = asyncio.Event()

    @property
    def is_full(self) -> bool:
        """Whether there is too little capacity for a claim: campaigns would get no share of it."""
        return self._capacity < min(self._carrier.window, queue.CAMPAIGN_SHARE)

    @property
    def excess_backlog_s(self) -> float:
        """How long the carrier takes to work off more than what may be claimed ahead."""
        waiting_s = self._unsubmitted_cost / self._carrier.rate if self._unsubmitted_cost else 0.0
        return self._carrier.backlog_s + waiting_s - MAX_BACKLOG_S

    def claim_limit(self, limit: int) -> int:
        """Return how many messages fit the window and soon the rate, at most `limit`."""
        limit = min(self._capacity, limit)
        rate = self._carrier.rate
        return min(limit, max(1, round(rate * MAX_BACKLOG_S / self._cost_per_message))) if rate else limit

    def add(self, messages: int, cost: int) -> None:
        """Count claimed messages, which cost so much in the carrier's rate."""
        self._in_flight += messages
        if self._carrier.rate:
            self._unsubmitted_cost += cost
            self._cost_per_message = max(1.0, cost / messages, COST_DECAY * self._cost_per_message)

    def submit(self, cost: int) -> None:
        """Leave a batch to the carrier, whose own backlog has it from now on."""
        self._unsubmitted_cost = max(0, self._unsubmitted_cost - cost)

    def remove(self, messages: int) -> None:
        """Count messages that are no longer in flight."""
        self._in_flight -= messages
        self._has_capacity.set()

    def wake(self) -> None:
        """End a wait for capacity."""
        self._has_capacity.set()

    async def wait_for_capacity(self) -> None:
        """Return when messages have left the window."""
        self._has_capacity.clear()
        await self._has_capacity.wait()

    @property
    def _capacity(self) -> int:
        return self._carrier.window - self._in_flight


class Backpressure:
    """How many messages to claim at once for one carrier, and when.

    Without it, a campaign at a carrier that is mostly busy would use up the tries of its messages.
    """

    def __init__(self, world: World, max_limit: int) -> None:
        self.limit = self._max_limit = max_limit
        self._world = world
        self._paused_until = 0.0

    @property
    def pause_s(self) -> float:
        """How long to give the carrier nothing."""
        return max(0.0, self._paused_until - self._world.monotonic())

    def record(self, busy: int, total: int) -> None:
        """Take in how many of the verdicts on a batch were Busy."""
        if total < MIN_SAMPLE:
            return
        if busy > total * BUSY_RATIO_TO_PAUSE:
            if not self.pause_s:  # verdicts on what was submitted before the pause say nothing new
                self.limit = max(1, min(self.limit, total) // 2)
                self._paused_until = self._world.monotonic() + PAUSE_S
        elif busy <= total * BUSY_RATIO_TO_GROW:
            self.limit = min(self._max_limit, int(self.limit * GROWTH_FACTOR) + 1)
