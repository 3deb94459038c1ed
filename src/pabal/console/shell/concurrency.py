"""Limits how many long pieces of work run at the same time, in all and for one account or network."""

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from pabal.domain.base.codes import Code, Refused, Text

RETRY_AFTER_S = 10.0


class ConcurrencyLimit:
    """Counts what runs; those who come beyond the limit are told to come again."""

    def __init__(self, max_running: int, max_each: int, busy: Text) -> None:
        self._max_running = max_running
        self._max_each = max_each
        self._busy = busy
        self._running: Counter[Hashable] = Counter()

    @contextmanager
    def hold(self, owner: Hashable) -> Iterator[None]:
        """Count one piece of work of an account or a network while the block runs.

        Raises Refused(RATE_LIMITED), which says what is being waited for.
        """
        if self._running.total() >= self._max_running or self._running[owner] >= self._max_each:
            raise Refused(Code.RATE_LIMITED, "", self._busy, retry_after_s=RETRY_AFTER_S)
        self._running[owner] += 1
        try:
            yield
        finally:
            self._running[owner] -= 1
            if not self._running[owner]:
                del self._running[owner]
