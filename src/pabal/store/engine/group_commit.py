"""Writes for many callers at once: what is asked for in one turn of the loop is handed over together."""

import asyncio
import contextlib
import queue
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Concatenate, NamedTuple, Protocol

from pabal.store.engine.base import P, StoreUnavailable, T, Tx, is_done_alone, may_take_long, together_of
from pabal.store.engine.timeouts import TIMED_OUT, Timeouts
from pabal.world import World

MAX_WRITES_PER_COMMIT = 512
MAX_BATCHED_WRITES = 50
CLOSE_TIMEOUT_S = 5.0
MAX_COMMIT_S = 0.03
"""A commit takes in no further caller once it has worked this long: nobody waits behind a long queue."""


class CommitStats(NamedTuple):
    """What one commit held, for whoever watches."""

    writes: int
    duration_s: float


class PendingWrite(NamedTuple):
    """A transaction that waits for its turn, and who waits for it."""

    work: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"

    @property
    def has_timed_out(self) -> bool:
        """Whether its caller was told that there is no answer; one that has just gone is served all the same."""
        return self.future.done() and not self.future.cancelled()

    def run(self, tx: Tx) -> Any:
        return self.work(tx, *self.args, **self.kwargs)


WriteResult = tuple[PendingWrite, Any, BaseException | None]
"""A call with its answer, or with what it raised."""


class WriteConnection(Protocol):
    """A connection to write by; each of its words may raise the engine's errors."""

    @property
    def tx(self) -> Tx:
        """The transaction under way."""

    def begin(self) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def savepoint(self) -> None:
        """Set the point to go back to."""

    def release_savepoint(self) -> None:
        """Stand by what was done since the mark; from here on it can fail no more by itself."""

    def rollback_to_savepoint(self) -> None:
        """Undo what was done since the mark."""

    def close(self) -> None: ...


class GroupCommitStore(ABC):
    """A store that commits for many callers at once; an engine brings the sessions and the reading."""

    engine_errors: type[Exception]
    """What the engine raises."""
    statement_errors: tuple[type[Exception], ...]
    """Those among them that are bugs of ours, told as they are: trying again would not help."""
    timeout_s: float | None = None
    """How long a caller waits at most, where the engine may fall silent without going away."""

    def __init__(
        self,
        world: World,
        connections: Sequence[WriteConnection],
        *,
        readers: int,
        max_waiting: int,
        on_commit: Callable[[CommitStats], None],
    ) -> None:
        self._world = world
        self._connections = connections
        self._max_waiting = max_waiting
        self._on_commit = on_commit
        self._is_closed = False
        self._new_writes: list[PendingWrite] = []
        self._waiting = 0
        self._reads_waiting = 0
        self._timeouts = Timeouts(self.timeout_s, world) if self.timeout_s else None
        self._handed_over: queue.SimpleQueue[list[PendingWrite] | None] = queue.SimpleQueue()
        if world.has_threads:
            self._readers = ThreadPoolExecutor(readers, "pabal-read")
            self._writers = [
                threading.Thread(target=self._run_writer, args=(session,), name="pabal-write", daemon=True)
                for session in connections
            ]
            for writer in self._writers:
                writer.start()

    async def write(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._is_closed or self._waiting >= self._max_waiting:
            raise StoreUnavailable("closed" if self._is_closed else "too many are waiting")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._new_writes.append(PendingWrite(work, args, kwargs, loop, future))
        if len(self._new_writes) == 1:
            loop.call_soon(self._dispatch)
        self._waiting += 1
        if self._timeouts and not may_take_long(work):
            self._timeouts.add(loop, future)
        return await future

    async def read(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        within_s = None if may_take_long(work) else self.timeout_s
        return await self._run_in_reader(partial(self._read, work, args, kwargs), within_s)

    async def _run_in_reader(self, job: Callable[[], T], timeout_s: float | None) -> T:
        """Run a job in one of the threads for reading."""
        if self._is_closed or self._reads_waiting >= self._max_waiting:
            raise StoreUnavailable("closed" if self._is_closed else "too many are waiting")
        if not self._world.has_threads:
            await asyncio.sleep(0)
            return job()
        self._reads_waiting += 1
        reading = asyncio.get_running_loop().run_in_executor(self._readers, job)
        reading.add_done_callback(self._on_read_done)
        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.shield(reading)
        except TimeoutError:
            reading.cancel()  # what has not begun by now is not done later
            raise StoreUnavailable(TIMED_OUT) from None

    def _on_read_done(self, _: "asyncio.Future[Any]") -> None:
        self._reads_waiting -= 1

    async def write_relaxed(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.write(work, *args, **kwargs)

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._dispatch()
        if self._world.has_threads:
            await asyncio.to_thread(self._stop_threads)
        self._close_readers()
        for session in self._connections:
            session.close()

    def _stop_threads(self) -> None:
        """Let the threads finish what is under way; an engine that has fallen silent is not waited for."""
        impatience = threading.Timer(CLOSE_TIMEOUT_S, self._abort_connections)
        impatience.start()
        for _ in self._writers:
            self._handed_over.put(None)
        for writer in self._writers:
            writer.join()
        self._readers.shutdown()
        impatience.cancel()

    @abstractmethod
    def _abort_connections(self) -> None:
        """End what is under way, if that can be done from outside."""

    @abstractmethod
    def _read(self, work: Callable[..., T], args: Any, kwargs: Any) -> T:
        """Run `work` on one consistent view."""

    @abstractmethod
    def _close_readers(self) -> None:
        """Let go of what was read by."""

    @abstractmethod
    def _recover(
        self, connection: WriteConnection, taken: list[PendingWrite], error: Exception
    ) -> list[WriteResult]:
        """Return what to tell the callers of a transaction in which the engine failed."""

    def _dispatch(self) -> None:
        """Give a writer all that was asked for in this turn of the loop: it is woken once, and commits once."""
        fresh, self._new_writes = self._new_writes, []
        if self._world.has_threads:
            self._handed_over.put(fresh)
            return
        pending = deque(fresh)
        while pending:
            self._commit_next(self._connections[0], pending)

    def _run_writer(self, connection: WriteConnection) -> None:
        pending: deque[PendingWrite] = deque()
        is_open = True
        while is_open or pending:
            if is_open:
                is_open = self._collect(pending)
            if pending:
                self._commit_next(connection, pending)

    def _collect(self, pending: deque[PendingWrite]) -> bool:
        """Take in what has been handed over, waiting if there is nothing to do; say whether more may come."""
        with contextlib.suppress(queue.Empty):
            while True:
                calls = self._handed_over.get(block=not pending)
                if calls is None:
                    return False
                pending.extend(calls)
        return True

    def _drop_timed_out(self, pending: deque[PendingWrite]) -> int:
        """Leave undone what callers were told there is no answer to: they may ask again. Say how many are left."""
        stale = [call for call in pending if call.has_timed_out]
        if stale:
            left = [call for call in pending if not call.has_timed_out]
            pending.clear()
            pending.extend(left)
            self._deliver_results([(call, None, None) for call in stale])
        return len(pending)

    def _commit_next(self, connection: WriteConnection, pending: deque[PendingWrite]) -> None:
        """Commit calls from the front of the queue together, and tell their callers."""
        if self._timeouts and not self._drop_timed_out(pending):
            return
        began = self._world.monotonic()
        taken: list[PendingWrite] = []
        try:
            done = self._commit_batch(connection, pending, taken)
        except self.engine_errors as error:
            done = self._recover(connection, taken, error)
        self._on_commit(CommitStats(len(done), self._world.monotonic() - began))
        self._deliver_results(done)

    def _commit_batch(
        self, connection: WriteConnection, pending: deque[PendingWrite], taken: list[PendingWrite]
    ) -> list[WriteResult]:
        """Return the answers of calls from the front of the queue, all of them durable; `taken` are these."""
        return self._commit_together(connection, pending, taken) or self._commit_individually(connection, taken)

    def _commit_together(
        self, connection: WriteConnection, pending: deque[PendingWrite], taken: list[PendingWrite]
    ) -> list[WriteResult] | None:
        """Return the answers of calls that all went well; None, and nothing kept, where one did not."""
        began = self._world.monotonic()
        done: list[WriteResult] = []
        taken.append(pending.popleft())
        try:
            connection.begin()
        except self.engine_errors:
            taken += pending  # they would all fail at the same, and after as long a wait
            pending.clear()
            raise
        try:
            done += self._run_batched(connection.tx, taken[0], pending, taken)
            while self._may_join(taken, pending) and self._world.monotonic() - began < MAX_COMMIT_S:
                taken.append(pending.popleft())
                done += self._run_batched(connection.tx, taken[-1], pending, taken)
            connection.commit()
        except Exception as error:
            if self._is_engine_failure(error):
                raise
            connection.rollback()
            return None
        return done

    @staticmethod
    def _may_join(taken: list[PendingWrite], pending: deque[PendingWrite]) -> bool:
        """Say whether the next call may be in one transaction with those taken."""
        if not pending or len(taken) >= MAX_WRITES_PER_COMMIT:
            return False
        return not is_done_alone(taken[-1].work) and not is_done_alone(pending[0].work)

    def _run_batched(
        self, tx: Tx, first: PendingWrite, pending: deque[PendingWrite], taken: list[PendingWrite]
    ) -> list[WriteResult]:
        """Return the answer of a call, and of those behind it that can be done in one go with it."""
        together = together_of(first.work)
        if together is None:
            return [(first, first.run(tx), None)]
        alike = [first]
        while pending and pending[0].work is first.work and len(alike) < MAX_BATCHED_WRITES:
            alike.append(pending.popleft())
        taken += alike[1:]
        answers = together(tx, [call.args[0] for call in alike])
        return [(call, answer, None) for call, answer in zip(alike, answers, strict=True)]

    def _commit_individually(self, connection: WriteConnection, calls: list[PendingWrite]) -> list[WriteResult]:
        """Return the answers of calls of which some may fail: each by itself, so that its no is its own."""
        connection.begin()
        done = [self._run_in_savepoint(connection, call) for call in calls]
        connection.commit()
        return done

    def _run_in_savepoint(self, connection: WriteConnection, call: PendingWrite) -> WriteResult:
        connection.savepoint()
        try:
            answer = call.run(connection.tx)
            connection.release_savepoint()
        except Exception as error:
            if self._is_engine_failure(error):
                raise
            connection.rollback_to_savepoint()
            return call, None, error
        return call, answer, None

    def _is_engine_failure(self, error: Exception) -> bool:
        """Say whether the engine failed, not a work or its statement."""
        return isinstance(error, self.engine_errors) and not isinstance(error, self.statement_errors)

    def _deliver_results(self, done: list[WriteResult]) -> None:
        """Give every caller its answer, with one wake-up for each loop."""
        by_loop: dict[asyncio.AbstractEventLoop, list[WriteResult]] = {}
        for each in done:
            by_loop.setdefault(each[0].loop, []).append(each)
        for loop, answers in by_loop.items():
            with contextlib.suppress(RuntimeError):  # that loop has ended: nobody is left to be told
                loop.call_soon_threadsafe(self._resolve, answers)

    def _resolve(self, answers: list[WriteResult]) -> None:
        self._waiting -= len(answers)
        for call, answer, error in answers:
            if call.future.done():
                continue
            if error is None:
                call.future.set_result(answer)
            else:
                call.future.set_exception(error)
