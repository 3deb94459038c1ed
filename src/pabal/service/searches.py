"""Keeps the searches of one account from delaying others: few at a time, and large totals are counted once."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from pabal.domain.base.codes import Code, Refused, Text
from pabal.world import World

MAX_WAITING_PER_ACCOUNT = 200
RETRY_AFTER_S = 5.0
LARGE_TOTAL = 10_000
"""Totals from here on are remembered: counting them takes long, and a few messages more or less hardly matter."""
TOTAL_TTL_S = 10.0
MAX_TOTALS = 1000
TOO_MANY_SEARCHES = Text(
    "이 계정의 조회가 너무 많이 밀려 있습니다. 앞선 조회가 끝난 뒤 다시 시도하세요.",
    "Too many searches of this account are waiting. Try again when they are done.",
)


class _AccountSearches:
    """The searches that one account may run, and how many run or wait."""

    def __init__(self, most: int) -> None:
        self.free = asyncio.Semaphore(most)
        self.users = 0


class Searches:
    """The running searches by account, and the large totals of recent ones."""

    def __init__(self, world: World, max_per_account: int = 1) -> None:
        self._world = world
        self._max_per_account = max_per_account
        self._searches: dict[int, _AccountSearches] = {}
        self._totals: OrderedDict[Hashable, tuple[float, int]] = OrderedDict()

    @asynccontextmanager
    async def acquire(self, account_id: int) -> AsyncIterator[None]:
        """Wait until the account may search, and count as one of its searches while the block runs.

        Raises Refused(RATE_LIMITED) where too many wait already.
        """
        searches = self._searches.setdefault(account_id, _AccountSearches(self._max_per_account))
        if searches.users >= MAX_WAITING_PER_ACCOUNT:
            raise Refused(Code.RATE_LIMITED, "", TOO_MANY_SEARCHES, retry_after_s=RETRY_AFTER_S)
        searches.users += 1
        try:
            async with searches.free:
                yield
        finally:
            searches.users -= 1
            if not searches.users:
                del self._searches[account_id]

    def known_total(self, search: Hashable) -> int | None:
        """Return the total of a search that was counted a moment ago, None if it must be counted."""
        counted_at, total = self._totals.get(search, (0.0, None))
        is_recent = total is not None and self._world.monotonic() - counted_at < TOTAL_TTL_S
        return total if is_recent else None

    def remember_total(self, search: Hashable, total: int) -> None:
        """Remember a total that was just counted, if it is large."""
        if total < LARGE_TOTAL:
            return
        self._totals.pop(search, None)
        self._totals[search] = (self._world.monotonic(), total)
        while len(self._totals) > MAX_TOTALS:
            self._totals.popitem(last=False)
