"""What this process has used of each carrier's rate since it was last asked, and whether the rate was too low."""

from typing import NamedTuple


class Use(NamedTuple):
    """What was used of a carrier's rate."""

    cost: int = 0
    """Places in the rate that its messages have taken."""
    was_limited: bool = False
    """Whether more could have been claimed at a higher rate."""


class RateUse:
    """Counts by carrier; the deliverers write, the heartbeat reads."""

    def __init__(self) -> None:
        self._uses: dict[str, Use] = {}

    def add(self, carrier: str, cost: int) -> None:
        """Count what a batch costs."""
        before = self._uses.get(carrier, Use())
        self._uses[carrier] = Use(before.cost + cost, before.was_limited)

    def mark_limited(self, carrier: str) -> None:
        """Note that a carrier has as much as its rate lets it send soon."""
        self._uses[carrier] = Use(self._uses.get(carrier, Use()).cost, True)

    def take(self, carrier: str) -> Use:
        """Return what was used since the last call."""
        return self._uses.pop(carrier, Use())
