"""The attempts of this process: which are in flight, and what they use of carriers' rates."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.world import World

AttemptKey = tuple[bytes, int]
"""A message's id and the number of the attempt."""


class InFlight:
    """The attempts that this process has begun and not settled, and those that a slot's last worker may settle.

    The end of a lease is a time of the wall clock, which may be set while the carrier still has the message. So
    within a process the lease does not decide: an attempt in flight stays so until it is settled.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._own: set[AttemptKey] = set()
        self.begun = 0
        """How many attempts this process has begun so far."""
        self.begun_small = 0
        """How many of these were of small sends."""
        self._of_others: dict[AttemptKey, float] = {}
        """Attempts of workers that released their slot, and until when on the monotonic clock they may settle."""

    def __contains__(self, attempt: object) -> bool:
        if attempt in self._own:
            return True
        until = self._of_others.get(attempt)  # type: ignore[call-overload]
        return until is not None and self._world.monotonic() < until

    def __len__(self) -> int:
        return len(self._own)

    def add(self, attempts: Iterable[AttemptKey], small: int = 0) -> None:
        """Add attempts that begin, of which so many are of small sends."""
        before = len(self._own)
        self._own.update(attempts)
        self.begun += len(self._own) - before
        self.begun_small += small

    def remove(self, attempts: Iterable[AttemptKey]) -> None:
        """Remove attempts that are settled or given up."""
        self._own.difference_update(attempts)

    def add_of_others(self, attempts: Iterable[AttemptKey], seconds: float) -> None:
        """Add attempts of a worker that released their slot: it may still settle them for so long."""
        now = self._world.monotonic()
        self._of_others = {each: until for each, until in self._of_others.items() if until > now}
        self._of_others.update((tuple(each), now + seconds) for each in attempts)  # type: ignore[misc]


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
