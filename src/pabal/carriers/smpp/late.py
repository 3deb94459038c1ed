"""Submits that were given up without a response: remembered for a while, because the response may still come."""

from collections import OrderedDict

from pabal.carriers.smpp.submit_group import LateSubmit

MAX_LATE_S = 15 * 60.0
"""How long a response is awaited after its submit was given up."""
MAX_LATE_SUBMITS = 10_000
"""The most submits of one connection that are remembered; the oldest is forgotten first."""


class LateSubmits:
    """The submits of one connection that were given up, by sequence_number."""

    def __init__(self) -> None:
        self._entries: OrderedDict[int, tuple[LateSubmit, float]] = OrderedDict()

    def add(self, sequence: int, submit: LateSubmit, now: float) -> None:
        """Remember a submit that was given up at `now`, on the monotonic clock."""
        self._entries[sequence] = (submit, now)
        while len(self._entries) > MAX_LATE_SUBMITS or next(iter(self._entries.values()))[1] < now - MAX_LATE_S:
            self._entries.popitem(last=False)

    def pop(self, sequence: int) -> LateSubmit | None:
        """Return a submit that a response came for, and forget it."""
        entry = self._entries.pop(sequence, None)
        return entry[0] if entry else None
