"""The embedded store: SQLite with one writer that commits for many callers at once."""

import asyncio
import contextlib
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Concatenate, NamedTuple

import apsw

from pabal.store.base import P, StoreAway, T, Value, chunks, in_dialect, together_of, with_placeholders
from pabal.world import World

BUSY_TIMEOUT_MS = 10_000
MOST_OPENING = 100
"""How often a store that others are making at the same time is tried again."""
CACHE_KIB = 32 * 1024
CHECKPOINT_PAGES = 4000
MAX_COMMIT_CALLERS = 512
MAX_ALIKE = 50
MAX_COMMIT_S = 0.03
"""A commit takes in no further caller once it has worked this long: nobody waits behind a long queue."""

WORDS = {
    "bytes": "blob",
    "big": "integer",
    "small": "integer",
    "serial": "integer primary key autoincrement",
    "clustered": "without rowid",
    "skip_locked": "",
    "or_fail": "or fail",  # without it SQLite copies every page a statement touches, in case it must undo it
}

FAULTS_OF_THE_STATEMENT = (apsw.ConstraintError, apsw.SQLError, apsw.BindingsError)
"""Bugs of ours, told as they are: the store itself is well, and trying again would not help."""

_in_dialect = lru_cache(maxsize=512)(partial(in_dialect, words=WORDS))


class Batch(NamedTuple):
    """What one commit held, for whoever watches."""

    callers: int
    seconds: float


class SqliteTx:
    """A transaction on one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def run(self, sql: str, args: Sequence[Value] = ()) -> int:
        self._connection.execute(_in_dialect(sql), args)
        return self._connection.changes()

    def rows(self, sql: str, args: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(_in_dialect(sql), args).fetchall()

    def row(self, sql: str, args: Sequence[Value] = ()) -> tuple[Any, ...] | None:
        return self._connection.execute(_in_dialect(sql), args).fetchone()

    def rows_each(
        self, sql: str, each: Iterable[Sequence[Value]], args: Sequence[Value] = ()
    ) -> list[tuple[Any, ...]]:
        answer: list[tuple[Any, ...]] = []
        sql = _in_dialect(sql)
        for chunk in chunks(each):
            statement = with_placeholders(sql, len(chunk), len(chunk[0]))
            values = [*args, *(value for row in chunk for value in row)]
            answer += self._connection.execute(statement, values).fetchall()
        return answer


class _Call(NamedTuple):
    """A transaction that waits for its turn, and who waits for it."""

    work: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"

    def run(self, tx: SqliteTx) -> Any:
        return self.work(tx, *self.args, **self.kwargs)


_Told = tuple[_Call, Any, BaseException | None]
"""A call with its answer, or with what it raised."""


class SqliteStore:
    """One file, one writer, a few readers."""

    def __init__(
        self,
        path: Path,
        world: World,
        *,
        readers: int = 2,
        most_waiting: int = 10_000,
        is_durable: bool = True,
        watch: Callable[[Batch], None] = lambda batch: None,
    ) -> None:
        self._path = path
        self._world = world
        self._most_waiting = most_waiting
        self._is_durable = is_durable
        self._watch = watch
        self._is_closed = False
        try:
            self._writing = self._connect()
        except apsw.Error as error:
            raise StoreAway(type(error).__name__) from error
        self._tx = SqliteTx(self._writing)
        self._fresh: list[_Call] = []
        self._waiting = 0
        self._calls: queue.SimpleQueue[list[_Call] | None] = queue.SimpleQueue()
        self._local = threading.local()
        self._reading: list[apsw.Connection] = []
        if world.in_threads:
            self._readers = ThreadPoolExecutor(readers, "pabal-read")
            self._writer = threading.Thread(target=self._write_on, name="pabal-write", daemon=True)
            self._writer.start()

    async def write(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._is_closed or self._waiting >= self._most_waiting:
            raise StoreAway("closed" if self._is_closed else "too many are waiting")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._fresh.append(_Call(work, args, kwargs, loop, future))
        if len(self._fresh) == 1:
            loop.call_soon(self._hand_over)
        self._waiting += 1
        try:
            return await future
        finally:
            self._waiting -= 1

    async def read(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._is_closed:
            raise StoreAway("closed")
        job = partial(self._read, work, args, kwargs)
        if self._world.in_threads:
            answer: T = await asyncio.get_running_loop().run_in_executor(self._readers, job)
            return answer
        await asyncio.sleep(0)
        return job()

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._hand_over()
        if self._world.in_threads:
            self._calls.put(None)
            await asyncio.to_thread(self._writer.join)
            await asyncio.to_thread(self._readers.shutdown)
        for connection in (*self._reading, self._writing):
            connection.close()

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self._path))
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        _use_wal(connection)
        connection.execute(f"pragma synchronous = {'full' if self._is_durable else 'off'}")
        connection.execute(f"pragma cache_size = -{CACHE_KIB}")
        connection.execute(f"pragma wal_autocheckpoint = {CHECKPOINT_PAGES}")
        connection.execute("pragma temp_store = memory")
        return connection

    def _read(self, work: Callable[..., T], args: Any, kwargs: Any) -> T:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        try:
            if connection is None:
                connection = self._local.connection = self._connect()
                self._reading.append(connection)
            connection.execute("begin")
            try:
                return work(SqliteTx(connection), *args, **kwargs)
            finally:
                connection.execute("rollback")
        except FAULTS_OF_THE_STATEMENT:
            raise
        except apsw.Error as error:
            raise StoreAway(type(error).__name__) from error

    def _hand_over(self) -> None:
        """Give the writer all that was asked for in this turn of the loop: it is woken once, and commits once."""
        fresh, self._fresh = self._fresh, []
        if self._world.in_threads:
            self._calls.put(fresh)
            return
        pending = deque(fresh)
        while pending:
            self._commit_some(pending)

    def _write_on(self) -> None:
        pending: deque[_Call] = deque()
        is_open = True
        while is_open or pending:
            if is_open:
                is_open = self._gather(pending)
            if pending:
                self._commit_some(pending)

    def _gather(self, pending: deque[_Call]) -> bool:
        """Take in what has been handed over, waiting if there is nothing to do; say whether more may come."""
        with contextlib.suppress(queue.Empty):
            while True:
                calls = self._calls.get(block=not pending)
                if calls is None:
                    return False
                pending.extend(calls)
        return True

    def _commit_some(self, pending: deque[_Call]) -> None:
        """Commit calls from the front of the queue together, and tell their callers."""
        began = self._world.stopwatch()
        taken = [pending.popleft()]
        try:
            done = self._all_at_once(pending, taken, began) or self._one_by_one(taken)
        except apsw.Error as error:
            self._abandon()
            away = StoreAway(type(error).__name__)
            done = [(call, None, away) for call in taken]
        self._watch(Batch(len(done), self._world.stopwatch() - began))
        _tell(done)

    def _all_at_once(self, pending: deque[_Call], taken: list[_Call], began: float) -> list[_Told] | None:
        """Return the answers of calls that all went well; None, and nothing kept, where one did not."""
        done: list[_Told] = []
        self._writing.execute("begin immediate")
        try:
            done += self._alike(taken[0], pending, taken)
            while pending and len(taken) < MAX_COMMIT_CALLERS and self._world.stopwatch() - began < MAX_COMMIT_S:
                taken.append(pending.popleft())
                done += self._alike(taken[-1], pending, taken)
        except FAULTS_OF_THE_STATEMENT:
            self._writing.execute("rollback")
            return None
        except apsw.Error:
            raise
        except Exception:
            self._writing.execute("rollback")
            return None
        self._writing.execute("commit")
        return done

    def _alike(self, first: _Call, pending: deque[_Call], taken: list[_Call]) -> list[_Told]:
        """Return the answer of a call, and of those behind it that can be done in one go with it."""
        together = together_of(first.work)
        if together is None:
            return [(first, first.run(self._tx), None)]
        alike = [first]
        while pending and pending[0].work is first.work and len(alike) < MAX_ALIKE:
            alike.append(pending.popleft())
        taken += alike[1:]
        answers = together(self._tx, [call.args[0] for call in alike])
        return [(call, answer, None) for call, answer in zip(alike, answers, strict=True)]

    def _one_by_one(self, calls: list[_Call]) -> list[_Told]:
        """Return the answers of calls of which some may fail: each in a savepoint, so that its no is its own."""
        self._writing.execute("begin immediate")
        done = [self._done(call) for call in calls]
        self._writing.execute("commit")
        return done

    def _done(self, call: _Call) -> _Told:
        self._writing.execute("savepoint one")
        try:
            answer = call.run(self._tx)
        except FAULTS_OF_THE_STATEMENT as error:
            return self._undone(call, error)
        except apsw.Error:
            raise
        except Exception as error:
            return self._undone(call, error)
        self._writing.execute("release one")
        return call, answer, None

    def _undone(self, call: _Call, error: Exception) -> _Told:
        self._writing.execute("rollback to one")
        self._writing.execute("release one")
        return call, None, error

    def _abandon(self) -> None:
        with contextlib.suppress(apsw.Error):
            if self._writing.in_transaction:
                self._writing.execute("rollback")


def _use_wal(connection: apsw.Connection) -> None:
    """Have the file written ahead; of those that open a fresh file at once, SQLite lets none wait for this."""
    for _ in range(MOST_OPENING):
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except apsw.BusyError:
            connection.execute("begin immediate")  # waits for whoever was first
            connection.execute("rollback")
    connection.execute("pragma journal_mode = wal")


def _tell(done: list[_Told]) -> None:
    """Give every caller its answer, with one wake-up for each loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Told]] = {}
    for each in done:
        by_loop.setdefault(each[0].loop, []).append(each)
    for loop, answers in by_loop.items():
        with contextlib.suppress(RuntimeError):  # that loop has ended: nobody is left to be told
            loop.call_soon_threadsafe(_resolve, answers)


def _resolve(answers: list[_Told]) -> None:
    for call, answer, error in answers:
        if call.future.done():
            continue
        if error is None:
            call.future.set_result(answer)
        else:
            call.future.set_exception(error)
