"""Backpressure: a busy carrier gets smaller batches, and larger ones again when it keeps up."""

from pabal.world import World

PAUSE_S = 1.0
"""How long a mostly busy carrier gets nothing."""
GROWTH_FACTOR = 1.25
"""How much a batch grows when the carrier keeps up."""
BUSY_RATIO_TO_PAUSE = 0.5
BUSY_RATIO_TO_GROW = 0.1
MIN_SAMPLE = 5
"""Fewer verdicts than this say nothing: a single receiver may be the reason."""


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
