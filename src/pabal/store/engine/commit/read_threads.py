"""The threads that read, and how long callers wait for the store."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pabal.store.engine.base import StoreUnavailable, T
from pabal.world import World

TIMED_OUT = "no answer in time"
CHECKS_PER_TIMEOUT = 20
"""How often futures are checked within one timeout."""


class Timeouts:
    """Fails futures of one event loop that are not resolved in time; all have the same timeout."""

    def __init__(self, timeout_s: float, world: World) -> None:
        self._timeout_s = timeout_s
        self._world = world
        self._waiting: deque[tuple[float, asyncio.Future[Any]]] = deque()
        self._is_checking = False

    def add(self, loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Any]") -> None:
        """Fail a future with StoreUnavailable unless it is resolved in time."""
        self._waiting.append((self._world.monotonic() + self._timeout_s, future))
        if not self._is_checking:
            self._is_checking = True
            loop.call_later(self._timeout_s / CHECKS_PER_TIMEOUT, self._check, loop)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        waiting, now = self._waiting, self._world.monotonic()
        while waiting and (waiting[0][1].done() or waiting[0][0] <= now):
            _, future = waiting.popleft()
            if not future.done():
                future.set_exception(StoreUnavailable(TIMED_OUT))
        self._is_checking = bool(waiting)
        if waiting:
            loop.call_later(self._timeout_s / CHECKS_PER_TIMEOUT, self._check, loop)


class ReadThreads:
    """A few threads that run reads in the order in which they come; without threads, they run in the loop."""

    def __init__(self, world: World, threads: int, max_waiting: int, name: str) -> None:
        self._max_waiting = max_waiting
        self._running = 0
        self._threads = ThreadPoolExecutor(threads, name) if world.has_threads else None

    async def run(self, job: Callable[[], T], timeout_s: float | None) -> T:
        """Return the result of a job.

        Raises StoreUnavailable where too many are waiting or the caller has waited for too long.
        """
        if self._running >= self._max_waiting:
            raise StoreUnavailable("too many are waiting")
        if self._threads is None:
            await asyncio.sleep(0)
            return job()
        self._running += 1
        reading = asyncio.get_running_loop().run_in_executor(self._threads, job)
        reading.add_done_callback(self._on_done)
        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.shield(reading)
        except TimeoutError:
            reading.cancel()  # a job that has not begun yet never runs
            raise StoreUnavailable(TIMED_OUT) from None

    def shut_down(self) -> None:
        """Wait for the jobs, and end the threads."""
        if self._threads is not None:
            self._threads.shutdown()

    def _on_done(self, _: "asyncio.Future[Any]") -> None:
        self._running -= 1
