"""Writes that wait for their commit: those whose callers wait for an answer come first."""

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from pabal.store.engine.base import NodeUnavailable, Priority, StoreUnavailable, T, TransactionOptions, Tx
from pabal.world import World


class StoreLimits(NamedTuple):
    """How many connections read and search, how long a search may take, and how many writes or reads may wait."""

    readers: int = 2
    searchers: int = 2
    search_timeout_s: float = 5.0
    max_waiting: int = 10_000


USUAL_LIMITS = StoreLimits()


class PendingWrite(NamedTuple):
    """A waiting write, and the future that its caller awaits."""

    work: Callable[..., Any]
    options: TransactionOptions
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"
    node: str = ""
    """The node that it writes to; empty: it may write anywhere."""
    is_local: bool = False
    """Whether it may run on that node itself."""

    @property
    def has_timed_out(self) -> bool:
        """Whether its caller was told that it timed out; a write whose caller was cancelled still runs."""
        return self.future.done() and not self.future.cancelled()

    @property
    def is_prompt(self) -> bool:
        """Whether it goes before the others."""
        return self.options.priority >= Priority.PROMPT

    @property
    def target(self) -> tuple[str, bool]:
        """What it has in common with the writes that may share its transaction."""
        return self.node, self.is_local

    @property
    def code(self) -> object:
        """What is the same for all writes of one work."""
        return getattr(self.work, "__code__", None)

    def run(self, tx: Tx) -> Any:
        return self.work(tx, *self.args, **self.kwargs)


class WriteQueue:
    """Urgent writes, then prompt ones, then all others; after a commit of prompt writes alone, those come first."""

    def __init__(self) -> None:
        self._prompt: deque[PendingWrite] = deque()
        self._others: deque[PendingWrite] = deque()
        self._is_turn_of_others = False

    def __len__(self) -> int:
        return len(self._prompt) + len(self._others)

    def __iter__(self) -> Iterator[PendingWrite]:
        yield from self._prompt
        yield from self._others

    @property
    def first(self) -> PendingWrite:
        """The write that comes next."""
        return self._line[0]

    def bring(self, target: tuple[str, bool]) -> bool:
        """Put the next write to a target before those to others; return whether there is one."""
        line = self._line
        if line and line[0].target == target:
            return True
        place = next((place for place, write in enumerate(line) if write.target == target), None)
        if place:
            write = line[place]
            del line[place]
            line.appendleft(write)
        return place is not None

    def add(self, writes: Iterable[PendingWrite]) -> None:
        for write in writes:
            if write.options.priority is Priority.URGENT:
                self._prompt.appendleft(write)
            else:
                (self._prompt if write.is_prompt else self._others).append(write)

    def put_back(self, writes: list[PendingWrite]) -> None:
        """Put writes that were taken back at the front, in their order."""
        for write in reversed(writes):
            (self._prompt if write.is_prompt else self._others).appendleft(write)

    def pop(self) -> PendingWrite:
        """Take out the next write."""
        write = self._line.popleft()
        if not self._others:
            self.serve_prompt_first()
        return write

    def pop_all(self) -> list[PendingWrite]:
        """Take out all writes."""
        writes = list(self)
        self._prompt.clear()
        self._others.clear()
        self.serve_prompt_first()
        return writes

    def serve_others_next(self) -> None:
        """Serve writes that are not prompt next, if any wait."""
        self._is_turn_of_others = bool(self._others)

    def serve_prompt_first(self) -> None:
        """Serve prompt writes first again."""
        self._is_turn_of_others = False

    @property
    def _line(self) -> deque[PendingWrite]:
        return self._others if self._is_turn_of_others or not self._prompt else self._prompt


log = logging.getLogger("pabal.store")
QUIET_S = 2.0
"""An outage has ended once a write succeeds and none was refused for this long."""
TIMED_OUT = "no answer in time"
CHECKS_PER_TIMEOUT = 20
"""How often futures are checked within one timeout."""


class Outages:
    """Logs when the engine begins to refuse writes, and when it takes them again."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._since: float | None = None
        self.refused_at = -math.inf

    def note_error(self, error: BaseException) -> None:
        """Note that a write failed: as a refusal where the whole store did not take it, not one node."""
        if isinstance(error, StoreUnavailable) and not isinstance(error, NodeUnavailable):
            self.note_refusal(error)

    def note_refusal(self, error: StoreUnavailable) -> None:
        """Note that the engine did not take a write; the first one of an outage is logged."""
        self.refused_at = self._world.monotonic()
        if self._since is None:
            self._since = self.refused_at
            log.error("store unavailable; writes are refused until it answers", extra={"error": str(error)})

    def note_success(self) -> None:
        """Log the end of an outage, once nothing was refused for a while: a full disk takes small writes."""
        if self._since is None:
            return
        now = self._world.monotonic()
        if now - self.refused_at >= QUIET_S:
            log.info("store available again", extra={"seconds": round(now - self._since, 1)})
            self._since = None


class Timeouts:
    """Fails futures of one event loop that are not resolved in time; all have the same timeout."""

    def __init__(self, timeout_s: float, world: World, on_timeout: Callable[[StoreUnavailable], None]) -> None:
        self._timeout_s = timeout_s
        self._on_timeout = on_timeout
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
                error = StoreUnavailable(TIMED_OUT)
                future.set_exception(error)
                self._on_timeout(error)
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
