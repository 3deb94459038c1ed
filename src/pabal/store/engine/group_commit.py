"""Group commit: writes that are requested in one iteration of the event loop share one commit."""

import asyncio
import contextlib
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Concatenate, NamedTuple, Protocol

from pabal.store.engine.base import P, Priority, Reader, StoreUnavailable, T, Tx, options_of
from pabal.store.engine.write_queue import Outages, PendingWrite, ReadThreads, StoreLimits, Timeouts, WriteQueue
from pabal.world import World

MAX_WRITES_PER_COMMIT = 512
MAX_BATCHED_WRITES = 50
"""How many calls of one work its batch function gets at once."""
CLOSE_TIMEOUT_S = 5.0
"""How long `close` waits for the threads before it aborts their connections."""
MAX_WAITING_SEARCHES = 1000
"""Searches that wait for one of their connections; further ones are refused."""
MAX_SEARCH_WAIT_S = 20.0
"""How long the caller of a search waits, if others search before it."""
MAX_COMMIT_S = 0.03
"""A commit takes in no further write once it has run this long, so that no caller waits behind a long queue."""
MAX_PROMPT_COMMIT_S = 0.008
"""A commit with a prompt write takes in no other that would make it longer than this, as far as is known."""


class CommitStats(NamedTuple):
    """The size and duration of one commit, for metrics."""

    writes: int
    duration_s: float


class WriteResult(NamedTuple):
    """What a write returned, or what it raised."""

    write: PendingWrite
    value: Any
    error: BaseException | None = None


class WriteConnection(Protocol):
    """A connection that a writer thread uses; every method may raise the engine's errors."""

    announced: set[int]
    """Topics that its transactions have announced, until the store counts them."""

    @property
    def tx(self) -> Tx:
        """The current transaction."""

    def begin(self) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def is_awaited(self) -> bool:
        """Return whether others cannot write before the transaction ends, and wait for that."""

    def savepoint(self) -> None:
        """Set the savepoint."""

    def release_savepoint(self) -> None:
        """Release the savepoint; what came after it cannot fail by itself any more."""

    def rollback_to_savepoint(self) -> None:
        """Undo everything since the savepoint."""

    def close(self) -> None: ...


class GroupCommitStore(ABC):
    """A store that commits for many callers at once; an engine adds the connections and the reads."""

    engine_errors: type[Exception]
    """What the engine raises."""
    statement_errors: tuple[type[Exception], ...]
    """Those engine errors that are bugs of ours: they are raised as they are, since a retry would not help."""
    is_only_writer = False
    """Whether no other connection commits during a transaction: a write that joins late then sees all before it."""
    timeout_s: float | None = None
    """How long a caller waits at most, where the engine may stop answering without closing the connection."""

    def __init__(
        self,
        world: World,
        connections: Sequence[WriteConnection],
        limits: StoreLimits,
        on_commit: Callable[[CommitStats], None],
    ) -> None:
        self._world = world
        self._limits = limits
        self._connections = connections
        self._on_commit = on_commit
        self._is_closed = False
        self.announced: Mapping[int, int] = {}
        self._announced_lock = threading.Lock()
        self.lost_nodes: set[str] = set()
        self.slot_nodes: dict[int, str] = {}
        self._outages = Outages(world)
        self._new_writes: list[PendingWrite] = []
        self._waiting = 0
        self._durations_s: dict[object, float] = {}
        """By the code of a work, how long it took last."""
        self._timeouts = Timeouts(self.timeout_s, world, self._outages.note_refusal) if self.timeout_s else None
        self._dispatched: queue.SimpleQueue[list[PendingWrite] | None] = queue.SimpleQueue()
        self._readers = ReadThreads(world, limits.readers, limits.max_waiting, "pabal-read")
        self._searchers = ReadThreads(world, limits.searchers, MAX_WAITING_SEARCHES, "pabal-search")
        self._background_reader = ReadThreads(world, 1, limits.max_waiting, "pabal-background")
        if world.has_threads:
            self._writers = [
                threading.Thread(target=self._run_writer, args=(connection,), name="pabal-write", daemon=True)
                for connection in connections
            ]
            for writer in self._writers:
                writer.start()

    @property
    def refused_at(self) -> float:
        return self._outages.refused_at

    async def write(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        options = options_of(work)
        if self._is_closed or (
            self._waiting >= self._limits.max_waiting and options.priority is not Priority.URGENT
        ):
            raise StoreUnavailable("closed" if self._is_closed else "too many are waiting")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        node = self.slot_nodes.get(options.slot_of(*args), "") if self.slot_nodes and options.slot_of else ""
        is_local = bool(node and options.stays_in_slot and options.stays_in_slot(*args))
        self._new_writes.append(PendingWrite(work, options, args, kwargs, loop, future, node, is_local))
        if len(self._new_writes) == 1:
            loop.call_soon(self._dispatch)
        self._waiting += 1
        if self._timeouts and options.priority is not Priority.PATIENT:
            self._timeouts.add(loop, future)
        return await future

    async def read(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._check_open()
        options = options_of(work)
        if options.reader is Reader.SEARCHES:
            job = partial(self._read, work, args, kwargs, self._limits.search_timeout_s)
            return await self._searchers.run(job, MAX_SEARCH_WAIT_S)
        if options.reader is Reader.BACKGROUND:
            return await self._background_reader.run(partial(self._read, work, args, kwargs, None), None)
        limit_s = None if options.priority is Priority.PATIENT else self.timeout_s
        return await self._readers.run(partial(self._read, work, args, kwargs, None), limit_s)

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreUnavailable("closed")

    async def write_relaxed(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.write(work, *args, **kwargs)

    async def scrub(self) -> bool:
        return True

    async def was_written_elsewhere(self) -> bool:
        return False

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._dispatch()
        if self._world.has_threads:
            await asyncio.to_thread(self._stop_threads)
        self._close_readers()
        for connection in self._connections:
            connection.close()

    def _stop_threads(self) -> None:
        """Wait until the threads have finished; abort their connections if the engine has stopped answering."""
        abort_timer = threading.Timer(CLOSE_TIMEOUT_S, self._abort_connections)
        abort_timer.start()
        for _ in self._writers:
            self._dispatched.put(None)
        for writer in self._writers:
            writer.join()
        self._readers.shut_down()
        self._searchers.shut_down()
        self._background_reader.shut_down()
        abort_timer.cancel()

    @abstractmethod
    def _abort_connections(self) -> None:
        """Abort whatever runs on the connections, if that can be done from another thread."""

    @abstractmethod
    def _read(self, work: Callable[..., T], args: Any, kwargs: Any, limit_s: float | None) -> T:
        """Run `work` on one consistent view.

        Raises ReadTimedOut where it takes longer than `limit_s`.
        """

    @abstractmethod
    def _close_readers(self) -> None:
        """Close the connections that read."""

    @abstractmethod
    def _recover(
        self, connection: WriteConnection, taken: list[PendingWrite], error: Exception
    ) -> list[WriteResult]:
        """Return the results of writes whose transaction failed because of the engine."""

    def _dispatch(self) -> None:
        """Give a writer all writes of this iteration of the event loop: it wakes once and commits once."""
        writes, self._new_writes = self._new_writes, []
        if self._world.has_threads:
            self._dispatched.put(writes)
            return
        pending = WriteQueue()
        pending.add(writes)
        while pending:
            self._commit_next(self._connections[0], pending)

    def _run_writer(self, connection: WriteConnection) -> None:
        pending = WriteQueue()
        is_open = True
        while is_open or pending:
            if is_open:
                is_open = self._collect(pending)
            if pending:
                self._commit_next(connection, pending)

    def _collect(self, pending: WriteQueue) -> bool:
        """Take in dispatched writes, waiting if there is nothing to do; return whether more may come."""
        with contextlib.suppress(queue.Empty):
            while True:
                writes = self._dispatched.get(block=not pending)
                if writes is None:
                    return False
                pending.add(writes)
        return True

    def _take_in(self, pending: WriteQueue) -> None:
        """Take in writes that were dispatched while the transaction waited for its begin."""
        with contextlib.suppress(queue.Empty):
            while (writes := self._dispatched.get_nowait()) is not None:
                pending.add(writes)
            self._dispatched.put(None)  # it ends the thread

    def _drop_timed_out(self, pending: WriteQueue) -> int:
        """Drop writes whose callers were told that they timed out and may retry; return how many are left."""
        if timed_out := [write for write in pending if write.has_timed_out]:
            pending.put_back([write for write in pending.pop_all() if not write.has_timed_out])
            self._deliver_results([WriteResult(write, None) for write in timed_out])
        return len(pending)

    def _commit_next(self, connection: WriteConnection, pending: WriteQueue) -> None:
        """Commit writes from the front of the queue together, and give their callers the results."""
        if self._timeouts and not self._drop_timed_out(pending):
            return
        began = self._world.monotonic()
        taken: list[PendingWrite] = []
        try:
            results = self._commit_batch(connection, pending, taken)
        except self.engine_errors as error:
            results = self._recover(connection, taken, error)
        self._count_announced(connection.announced)
        if len(results) != 1 or results[0].write.options.reader is not Reader.BACKGROUND:
            self._on_commit(CommitStats(len(results), self._world.monotonic() - began))
        self._deliver_results(results)

    def _count_announced(self, topics: set[int]) -> None:
        """Count what was announced: after the commit, so that a read that follows sees what has changed."""
        if topics:
            with self._announced_lock:
                self.announced = {**self.announced, **{each: self.announced.get(each, 0) + 1 for each in topics}}
            topics.clear()

    def _commit_batch(
        self, connection: WriteConnection, pending: WriteQueue, taken: list[PendingWrite]
    ) -> list[WriteResult]:
        """Return the results of writes from the front of the queue, all durable; adds those writes to `taken`."""
        return self._commit_together(connection, pending, taken) or self._commit_individually(connection, taken)

    def _commit_together(
        self, connection: WriteConnection, pending: WriteQueue, taken: list[PendingWrite]
    ) -> list[WriteResult] | None:
        """Return the results of writes that all succeeded; None, with nothing committed, where one failed."""
        began = self._world.monotonic()
        results: list[WriteResult] = []
        taken.append(pending.pop())
        try:
            connection.begin()
        except self.engine_errors:
            taken += pending.pop_all()  # all of them would fail for the same reason, after as long a wait
            raise
        self._take_in(pending)
        try:
            results += self._run_batched(connection.tx, taken[0], pending, taken)
            while self._may_join(connection, taken, pending, self._world.monotonic() - began):
                taken.append(pending.pop())
                results += self._run_batched(connection.tx, taken[-1], pending, taken)
            if all(write.is_prompt for write in taken):
                pending.serve_others_next()
            connection.commit()
        except Exception as error:
            if self._is_engine_failure(error):
                raise
            connection.rollback()
            return None
        return results

    def _may_join(
        self, connection: WriteConnection, taken: list[PendingWrite], pending: WriteQueue, elapsed_s: float
    ) -> bool:
        """Return whether the next write may share the transaction of those taken, which has run this long."""
        if self.is_only_writer:  # else they could miss what was committed after this transaction began
            self._take_in(pending)
        if elapsed_s > MAX_PROMPT_COMMIT_S:
            pending.serve_prompt_first()
        if not pending.bring(taken[-1].target) or len(taken) >= MAX_WRITES_PER_COMMIT or elapsed_s >= MAX_COMMIT_S:
            return False
        if taken[-1].options.exclusive or pending.first.options.exclusive:
            return False
        if pending.first.is_prompt:
            return True
        if not any(write.options.priority is Priority.PROMPT for write in taken):
            return not connection.is_awaited()
        return elapsed_s + self._durations_s.get(pending.first.code, 0.0) <= MAX_PROMPT_COMMIT_S

    def _run_batched(
        self, tx: Tx, first: PendingWrite, pending: WriteQueue, taken: list[PendingWrite]
    ) -> list[WriteResult]:
        """Return the result of a write, and of those behind it that its batch function can do with it."""
        batch_function = first.options.batched_by
        if batch_function is None:
            began = self._world.monotonic()
            value = first.run(tx)
            self._durations_s[first.code] = self._world.monotonic() - began
            return [WriteResult(first, value)]
        batch = [first]
        while pending.bring(first.target) and pending.first.work is first.work and len(batch) < MAX_BATCHED_WRITES:
            batch.append(pending.pop())
        taken += batch[1:]
        values = batch_function(tx, [write.args[0] for write in batch])
        return [WriteResult(write, value) for write, value in zip(batch, values, strict=True)]

    def _commit_individually(self, connection: WriteConnection, writes: list[PendingWrite]) -> list[WriteResult]:
        """Return the results of writes that may fail, each in a savepoint so that it fails alone."""
        connection.begin()
        results = [self._run_in_savepoint(connection, write) for write in writes]
        connection.commit()
        return results

    def _run_in_savepoint(self, connection: WriteConnection, write: PendingWrite) -> WriteResult:
        connection.savepoint()
        try:
            value = write.run(connection.tx)
            connection.release_savepoint()
        except Exception as error:
            if self._is_engine_failure(error):
                raise
            connection.rollback_to_savepoint()
            return WriteResult(write, None, error)
        return WriteResult(write, value)

    def _is_engine_failure(self, error: Exception) -> bool:
        """Return whether the engine failed, not a work or its statement."""
        return isinstance(error, self.engine_errors) and not isinstance(error, self.statement_errors)

    def _deliver_results(self, results: list[WriteResult]) -> None:
        """Resolve the futures of all callers, with one wake-up for each event loop."""
        by_loop: dict[asyncio.AbstractEventLoop, list[WriteResult]] = {}
        for result in results:
            by_loop.setdefault(result.write.loop, []).append(result)
        for loop, some in by_loop.items():
            with contextlib.suppress(RuntimeError):  # that loop is closed: nobody waits there
                loop.call_soon_threadsafe(self._resolve, some)

    def _resolve(self, results: list[WriteResult]) -> None:
        self._waiting -= len(results)
        for write, value, error in results:
            if write.future.done():
                continue
            if error is None:
                write.future.set_result(value)
                self._outages.note_success()
            else:
                write.future.set_exception(error)
                if write.options.reader is not Reader.BACKGROUND:
                    self._outages.note_error(error)
