"""Limits how many long pieces of work run at the same time, in all and for one account."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from pabal.domain.codes import Code, Refused, Text

RETRY_AFTER_S = 10.0


class ConcurrencyLimit:
    """Counts what runs; those who come beyond the limit are told to come again."""

    def __init__(self, max_running: int, max_per_account: int, busy: Text) -> None:
        self._max_running = max_running
        self._max_per_account = max_per_account
        self._busy = busy
        self._running: Counter[int] = Counter()

    @contextmanager
    def hold(self, account_id: int) -> Iterator[None]:
        """Count one piece of work of an account while the block runs.

        Raises Refused(RATE_LIMITED), which says what is being waited for.
        """
        if self._running.total() >= self._max_running or self._running[account_id] >= self._max_per_account:
            raise Refused(Code.RATE_LIMITED, "", self._busy, retry_after_s=RETRY_AFTER_S)
        self._running[account_id] += 1
        try:
            yield
        finally:
            self._running[account_id] -= 1
            if not self._running[account_id]:
                del self._running[account_id]
