"""Gives a carrier that is busy less at a time, and more again when it keeps up."""

from pabal.world import World

PAUSE_S = 1.0
GROWTH_FACTOR = 1.25
BUSY_RATIO_TO_PAUSE = 0.5
BUSY_RATIO_TO_GROW = 0.1
MIN_SAMPLE = 5
"""Of fewer messages nothing follows: a single receiver may be the reason."""


class Backpressure:
    """How much to claim at once for one carrier, and when again.

    Without it, a campaign at an operator that takes fewer than it is given would use up the tries of its
    messages, most of them refused each time.
    """

    def __init__(self, world: World, max_limit: int) -> None:
        self.limit = self._max_limit = max_limit
        self._world = world
        self._paused_until = 0.0

    @property
    def pause_s(self) -> float:
        """How long to give it nothing."""
        return max(0.0, self._paused_until - self._world.monotonic())

    def record(self, busy: int, total: int) -> None:
        """Take in how many of so many messages were refused for now."""
        if total < MIN_SAMPLE:
            return
        if busy > total * BUSY_RATIO_TO_PAUSE:
            if not self.pause_s:  # verdicts on what went out before it was closed say nothing new
                self.limit = max(1, min(self.limit, total) // 2)
                self._paused_until = self._world.monotonic() + PAUSE_S
        elif busy <= total * BUSY_RATIO_TO_GROW:
            self.limit = min(self._max_limit, int(self.limit * GROWTH_FACTOR) + 1)
