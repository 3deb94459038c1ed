"""Limits how many calls are made at once, small sends first, and makes one call for all that need its result."""

import asyncio
import heapq
import itertools
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from pabal.domain.base.newest import Newest
from pabal.world import World

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MAX_CACHED = 1000
"""How many results are remembered."""
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


class SharedCalls(Generic[K, V]):
    """Makes one call for each key, for all that wait for it, and remembers its result unless it failed."""

    def __init__(self, make: Callable[[K, float], Awaitable[V]], ttl_s: float, world: World) -> None:
        """`make` gets a key and a timeout in seconds."""
        self._make = make
        self._ttl_s = ttl_s
        self._world = world
        self._calls: Newest[K, tuple[float, asyncio.Future[V]]] = Newest(MAX_CACHED)

    async def get(self, key: K, timeout_s: float) -> V:
        """Return the value of a key. Raises what the call raises."""
        found = self._calls.get(key)
        if found is None or found[0] + self._ttl_s < self._world.monotonic() or _has_failed(found[1]):
            task = asyncio.ensure_future(self._make(key, timeout_s))
            self._calls[key] = found = self._world.monotonic(), task
        return await asyncio.shield(found[1])

    def forget(self, key: K) -> None:
        """Make the call again when the value is needed next."""
        self._calls.pop(key, None)


def _has_failed(call: "asyncio.Future[V]") -> bool:
    return call.done() and (call.cancelled() or call.exception() is not None)
