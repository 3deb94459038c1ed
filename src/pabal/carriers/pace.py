"""Keeps a carrier's rate: evenly, and without a burst after a pause."""

import asyncio

from pabal.world import World

TICK_S = 0.01
"""What goes out at a high rate goes in small lots, so far apart."""
CREDIT_S = 0.05
"""How much of a late wake-up is made up for."""
ROUNDING_S = 1e-6
"""What may go in less than this may go now: clocks are added up with errors."""


class Pacer:
    """Says when each message may go; those who come first go first."""

    def __init__(self, rate: float, world: World) -> None:
        self.rate = rate
        self._whole_rate = rate
        self._world = world
        self._next_at = 0.0
        """When the next message may go that nobody has asked for yet, were it not for what was lost."""
        self._lost_s = 0.0
        """By how much everything goes later, because who was too late does not make up for it."""

    def keep_to(self, share: float) -> None:
        """Go at so much of the rate from now on; who has no share has nothing to send either."""
        if share:
            self.rate = self._whole_rate * share

    @property
    def ahead_s(self) -> float:
        """How long it will take until all that was asked for may have gone."""
        return max(0.0, -self._late_s(self._next_at)) if self.rate else 0.0

    def reserve(self, count: int) -> float:
        """Ask for so many places in a row; return the first, to be named to `due`."""
        if not self.rate:
            return 0.0
        self._forgo(self._next_at)
        first_at = self._next_at
        self._next_at += count / self.rate
        return first_at

    async def due(self, first_at: float, gone: int, wanted: int) -> int:
        """Wait until at least one more of a row may go, `gone` being gone; return how many, up to `wanted`."""
        if not self.rate:
            return wanted
        at = first_at + gone / self.rate
        while (pause_s := -self._late_s(at)) > ROUNDING_S:  # noqa: ASYNC110 - meanwhile more may have been lost
            await asyncio.sleep(max(pause_s, min(TICK_S, wanted / self.rate)))
        self._forgo(at)
        return max(1, min(wanted, int(self._late_s(at) * self.rate) + 1))

    def _late_s(self, at: float) -> float:
        return self._world.stopwatch() - at - self._lost_s

    def _forgo(self, at: float) -> None:
        """Give up what cannot be made up for, if a place is taken only now."""
        self._lost_s += max(0.0, self._late_s(at) - CREDIT_S)
