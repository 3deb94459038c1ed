"""Gives a carrier that is busy less at a time, and more again when it keeps up."""

from pabal.world import World

PAUSE_S = 1.0
GROWTH = 1.25
MOSTLY = 0.5
HARDLY = 0.1
LEAST_SAID = 5
"""Of fewer messages nothing follows: a single receiver may be the reason."""


class Throttle:
    """How much to claim at once for one carrier, and when again.

    Without it, a campaign at an operator that takes fewer than it is given would use up the tries of its
    messages, most of them refused each time.
    """

    def __init__(self, world: World, most: int) -> None:
        self.most = self._at_best = most
        self._world = world
        self._closed_until = 0.0

    @property
    def pause_s(self) -> float:
        """How long to give it nothing."""
        return max(0.0, self._closed_until - self._world.stopwatch())

    def note(self, busy: int, said: int) -> None:
        """Take in how many of so many messages were refused for now."""
        if said < LEAST_SAID:
            return
        if busy > said * MOSTLY:
            if not self.pause_s:  # verdicts on what went out before it was closed say nothing new
                self.most = max(1, min(self.most, said) // 2)
                self._closed_until = self._world.stopwatch() + PAUSE_S
        elif busy <= said * HARDLY:
            self.most = min(self._at_best, int(self.most * GROWTH) + 1)
