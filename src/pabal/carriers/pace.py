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
        self._next = 0
        """The first place that nobody has asked for yet; places are counted from the beginning."""
        self._place = 0.0
        self._at = 0.0
        """When that place is due; those after it follow at the rate."""

    def set_share(self, share: float) -> None:
        """Go at so much of the rate from now on, also with what was asked for before.

        Who has no share has nothing to send either.
        """
        if share and self.rate:
            now = self._world.monotonic()
            self._place += (now - self._at) * self.rate
            self._at = now
            self.rate = self._whole_rate * share

    @property
    def backlog_s(self) -> float:
        """How long it will take until all that was asked for may have gone."""
        return max(0.0, -self._late_s(self._next)) if self.rate else 0.0

    def reserve(self, count: int) -> int:
        """Ask for so many places in a row; return the first, to be named to `due`."""
        if not self.rate:
            return 0
        self._forgo(self._next)
        first = self._next
        self._next += count
        return first

    async def due(self, first: int, gone: int, wanted: int) -> int:
        """Wait until at least one more of a row may go, `gone` being gone; return how many, up to `wanted`."""
        if not self.rate:
            return wanted
        place = first + gone
        while (pause_s := -self._late_s(place)) > ROUNDING_S:  # noqa: ASYNC110 - meanwhile all may have got later
            await asyncio.sleep(max(pause_s, min(TICK_S, wanted / self.rate)))
        self._forgo(place)
        return max(1, min(wanted, int(self._late_s(place) * self.rate) + 1))

    def _late_s(self, place: int) -> float:
        return self._world.monotonic() - self._at - (place - self._place) / self.rate

    def _forgo(self, place: int) -> None:
        """Let everything go later by what cannot be made up for, if a place is taken only now."""
        self._at += max(0.0, self._late_s(place) - CREDIT_S)
