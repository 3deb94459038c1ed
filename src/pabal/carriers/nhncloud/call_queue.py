"""Whose turn it is to call: only so many at once, small sends first, and slower where the far end wants it so."""

import asyncio
import heapq
import itertools

from pabal.world import World

FIRST_GAP_S = 0.05
LONGEST_GAP_S = 2.0
EASING = 0.95
LEAST_GAP_S = 0.01
"""A gap that has shrunk to this is none any more."""


class CallQueue:
    """Lets so many calls of one service be under way at once; of those that wait, small sends go first.

    Where the service says that there are too many calls, they are kept apart by a gap, which grows until it says so
    no more, and shrinks as calls are answered.
    """

    def __init__(self, count: int, world: World) -> None:
        self._free = count
        self._world = world
        self._order = itertools.count()
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []
        self._gap_s = 0.0
        self._next = self._widened_at = 0.0
        self._alarm: asyncio.TimerHandle | None = None

    async def take(self, within_s: float, *, is_small: bool) -> bool:
        """Wait for a turn; say whether it came in time. Whoever has one gives it back."""
        mine = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (not is_small, next(self._order), mine))
        self._pass_on()
        try:
            async with asyncio.timeout(within_s):
                await asyncio.shield(mine)
        except BaseException as over:
            if mine.done():
                self.give_back()
            else:
                mine.cancel()
            if isinstance(over, TimeoutError):
                return False
            raise
        return True

    def give_back(self) -> None:
        """Let the next one have the turn."""
        self._free += 1
        self._pass_on()

    def widen(self, began_at: float) -> None:
        """A call that was begun then was one too many; those begun before the last change say nothing new."""
        if began_at >= self._widened_at:
            self._gap_s = min(max(self._gap_s * 2, FIRST_GAP_S), LONGEST_GAP_S)
            self._widened_at = self._world.monotonic()
            self._next = self._widened_at + self._gap_s

    def ease(self) -> None:
        """A call was answered."""
        self._gap_s *= EASING
        if self._gap_s < LEAST_GAP_S:
            self._gap_s = 0.0

    def _pass_on(self) -> None:
        while self._free and self._waiting:
            late_s = self._world.monotonic() - self._next
            if self._gap_s and late_s < 0:
                if self._alarm is None:
                    self._alarm = asyncio.get_running_loop().call_later(-late_s, self._wake)
                return
            _, _, next_one = heapq.heappop(self._waiting)
            if not next_one.done():
                self._free -= 1
                self._next = self._world.monotonic() + self._gap_s
                next_one.set_result(None)

    def _wake(self) -> None:
        self._alarm = None
        self._pass_on()
