"""Limits a carrier's rate: messages go out evenly, without a burst after a pause."""

import asyncio

from pabal.carriers.base import Carrier
from pabal.world import World

TICK_S = 0.01
"""At a high rate messages go out in groups, this far apart."""
MAX_CATCH_UP_S = 0.05
"""How much of a late wake-up may be caught up."""
CLOCK_TOLERANCE_S = 1e-6
"""A message that is due within this time is due now: sums of clock readings have rounding errors."""


class Pacer:
    """Says when each message may go out, first come, first served.

    Messages have positions, counted from the start. Each position is due 1/rate after the one before.
    """

    def __init__(self, rate: float, world: World) -> None:
        self.rate = rate
        self._full_rate = rate
        self._world = world
        self._next = 0
        """The first position that is not reserved."""
        self._anchor = 0.0
        self._anchor_at = 0.0
        """When the anchor position is due; all others follow from it at the rate."""

    def set_share(self, share: float) -> None:
        """Use this share of the rate, also for positions reserved before; a share of 0 changes nothing."""
        if share and self.rate:
            now = self._world.monotonic()
            self._anchor += (now - self._anchor_at) * self.rate
            self._anchor_at = now
            self.rate = self._full_rate * share

    @property
    def backlog_s(self) -> float:
        """How long it will take until all reserved positions are due."""
        return max(0.0, -self._overdue_s(self._next)) if self.rate else 0.0

    def reserve(self, count: int) -> int:
        """Reserve consecutive positions and return the first, to be passed to `wait`."""
        if not self.rate:
            return 0
        self._limit_catch_up(self._next)
        first = self._next
        self._next += count
        return first

    async def wait(self, first: int, sent: int, limit: int) -> int:
        """Wait until position `first + sent` is due; return how many from there on are due, at most `limit`."""
        if not self.rate:
            return limit
        position = first + sent
        while (pause_s := -self._overdue_s(position)) > CLOCK_TOLERANCE_S:  # noqa: ASYNC110 - the rate may change
            await asyncio.sleep(max(pause_s, min(TICK_S, limit / self.rate)))
        self._limit_catch_up(position)
        return max(1, min(limit, int(self._overdue_s(position) * self.rate) + 1))

    def _overdue_s(self, position: int) -> float:
        return self._world.monotonic() - self._anchor_at - (position - self._anchor) / self.rate

    def _limit_catch_up(self, position: int) -> None:
        """Postpone all positions by the part of a delay that must not be caught up."""
        self._anchor_at += max(0.0, self._overdue_s(position) - MAX_CATCH_UP_S)


class PacedCarrier(Carrier):
    """A carrier whose rate a pacer limits."""

    _pacer: Pacer

    @property
    def rate(self) -> float:
        return self._pacer.rate

    @property
    def backlog_s(self) -> float:
        return self._pacer.backlog_s

    def set_rate_share(self, share: float) -> None:
        self._pacer.set_share(share)
