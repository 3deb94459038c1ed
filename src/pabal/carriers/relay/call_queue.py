"""Limits how many calls are made at once: small sends first, and slower while the relay throttles."""

import asyncio
import heapq
import itertools

from pabal.world import World

MIN_GAP_S = 0.05
"""The gap between two calls after the first HTTP 429."""
MAX_GAP_S = 2.0
GAP_DECAY = 0.95
"""Each answered call shortens the gap by this factor."""
NEGLIGIBLE_GAP_S = 0.01
"""A shorter gap counts as none."""


class CallQueue:
    """Allows a number of calls of one service at once; of those that wait, small sends go first.

    While the service answers HTTP 429, calls are separated by a gap. It grows with each 429 and shrinks with each
    answered call.
    """

    def __init__(self, count: int, world: World) -> None:
        self._free = count
        self._world = world
        self._order = itertools.count()
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []
        self._gap_s = 0.0
        self._next_at = self._slowed_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def acquire(self, timeout_s: float, *, is_small: bool) -> bool:
        """Wait until a call may be made, and return whether that was in time. After the call, `release` it."""
        free = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (not is_small, next(self._order), free))
        self._start_next_calls()
        try:
            async with asyncio.timeout(timeout_s):
                await asyncio.shield(free)
        except BaseException as error:
            if free.done():
                self.release()
            else:
                free.cancel()
            if isinstance(error, TimeoutError):
                return False
            raise
        return True

    def release(self) -> None:
        """Allow the next call."""
        self._free += 1
        self._start_next_calls()

    def slow_down(self, began_at: float) -> None:
        """Lengthen the gap after an HTTP 429, unless the call was begun before the last change."""
        if began_at >= self._slowed_at:
            self._gap_s = min(max(self._gap_s * 2, MIN_GAP_S), MAX_GAP_S)
            self._slowed_at = self._world.monotonic()
            self._next_at = self._slowed_at + self._gap_s

    def speed_up(self) -> None:
        """Shorten the gap after an answered call."""
        self._gap_s *= GAP_DECAY
        if self._gap_s < NEGLIGIBLE_GAP_S:
            self._gap_s = 0.0

    def _start_next_calls(self) -> None:
        while self._free and self._waiting:
            early_s = self._next_at - self._world.monotonic()
            if self._gap_s and early_s > 0:
                if self._timer is None:
                    self._timer = asyncio.get_running_loop().call_later(early_s, self._wake)
                return
            _, _, waiting = heapq.heappop(self._waiting)
            if not waiting.done():
                self._free -= 1
                self._next_at = self._world.monotonic() + self._gap_s
                waiting.set_result(None)

    def _wake(self) -> None:
        self._timer = None
        self._start_next_calls()
