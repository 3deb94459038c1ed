"""A group of submit_sm and the responses to them, also those that come after it was given up."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence

SubmitResult = str | int | None
"""The response to a submit_sm: its message_id, the status it was refused with, or nothing."""
MAX_LATE_S = 15 * 60.0
"""How long a response is awaited after its submit was given up."""
MAX_LATE_SUBMITS = 10_000
"""The most submits of one connection that are remembered; the oldest is forgotten first."""


class LateMessage:
    """A message whose verdict was unknown, and the responses to its submits, one for each segment."""

    def __init__(self, results: Sequence[SubmitResult], on_complete: Callable[[list[SubmitResult]], None]) -> None:
        self._results = list(results)
        self._on_complete = on_complete

    def set_result(self, index: int, result: SubmitResult) -> None:
        """Set a response; with the last one the message is complete."""
        self._results[index] = result
        if None not in self._results:
            self._on_complete(self._results)


LateSubmit = tuple[LateMessage, int]
"""A message, and the index of one of its submits."""


class SubmitGroup:
    """Collects the results of submits that are sent in order."""

    def __init__(self, count: int) -> None:
        self.results: list[SubmitResult] = [None] * count
        self.unread: list[int] = []
        """The indexes of results that arrived since this list was last emptied."""
        self.sent = 0
        """How many have been sent."""
        self.completed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when no more results are expected."""
        self.late: dict[int, LateSubmit] = {}
        """By index, what a response after the group was abandoned belongs to."""
        self._expected = count
        self.expect_fewer(0)

    @property
    def unsent(self) -> int:
        """How many are still to be sent."""
        return len(self.results) - self.sent

    def set_result(self, index: int, result: SubmitResult) -> None:
        """Set a result; None if it will never arrive."""
        self.results[index] = result
        self.unread.append(index)
        self.expect_fewer(1)

    def expect_fewer(self, count: int) -> None:
        """Expect fewer results: these submits were not sent."""
        self._expected -= count
        if not self._expected and not self.completed.done():
            self.completed.set_result(None)


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
