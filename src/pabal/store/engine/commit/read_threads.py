"""Threads that read: each group has its own queue, so that one kind of read does not wait behind another."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pabal.store.engine.base import StoreUnavailable, T
from pabal.store.engine.commit.timeouts import TIMED_OUT
from pabal.world import World


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
