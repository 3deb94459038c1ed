"""The embedded store: SQLite with one writer that commits for many callers at once."""

import contextlib
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Concatenate

import apsw

from pabal.store.engine.base import (
    NodeUnavailable,
    P,
    Reader,
    ReadTimedOut,
    StoreUnavailable,
    T,
    Tx,
    Value,
    chunks,
    expand_placeholders,
    number_columns,
    spell_same,
    to_dialect,
    transaction,
)
from pabal.store.engine.group_commit import CommitStats, GroupCommitStore, WriteConnection, WriteResult
from pabal.store.engine.sqlite.sqlite_scrub import Scrubber
from pabal.store.engine.sqlite.write_lock import WriteLock
from pabal.store.engine.write_queue import USUAL_LIMITS, PendingWrite, StoreLimits
from pabal.world import World

BUSY_TIMEOUT_MS = 10_000
MAX_WAL_ATTEMPTS = 100
"""How often to retry while other processes create the same file."""
CACHE_KIB = 32 * 1024
CHECKPOINT_PAGES = 4000
CACHED_STATEMENTS = 512
"""Prepared statements of a connection: those for many rows differ by their number."""
LIST_SIZES = (1, 2, 4, 8, 16, 32, 64, 100)
"""Lists are filled up to one of these, so that few statements differ by the length of a list alone."""
STEPS_PER_TIME_CHECK = 100_000
"""Steps of SQLite's virtual machine, a few milliseconds, between looks at the clock."""

DIALECT = {
    "bytes": "blob",
    "big": "integer",
    "small": "integer",
    "serial": "integer primary key autoincrement",
    "clustered": "without rowid",
    "queue": "without rowid",
    # A file has one slot and no partitions.
    "partitioned_by_id": "without rowid",
    "partitioned_by_request": "without rowid",
    "partitioned_by_message": "without rowid",
    "and_slot": "",
    "request_of_group": "requests r",
    "is_of_group": "r.id = g.request_id",
    "has_partitions": "0",
    "is_distributed": "false",
    "skip_locked": "",
    "for_share": "",
    "may_be_lost": "",
    "of_references": "where (carrier, reference) in (values {rows})",
    "of_ended_references": "where (carrier, reference, message_id) in (values {rows})",
    "or_fail": "or fail",  # without it SQLite copies every page a statement touches, in case it must undo it
    "as_big": "",
    "as_bytes": "",
    "tables": "(select name from sqlite_master where type = 'table')",
    "database_now": "cast((julianday('now') - 2440587.5) * 86400000 as integer)",
    "schema_lock": "1",  # there is only one writer
}

STATEMENT_ERRORS = (apsw.ConstraintError, apsw.SQLError, apsw.BindingsError)
"""Bugs of ours, raised as they are: the store works, and a retry would not help."""


@lru_cache(maxsize=512)
def _to_dialect(sql: str) -> str:
    return number_columns(spell_same(to_dialect(sql, DIALECT)))


class SqliteTx(Tx):
    """A transaction on one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self.announced: set[int] = set()

    def announce(self, topic: int) -> None:
        self.announced.add(topic)

    def execute(self, sql: str, args: Sequence[Value] = ()) -> int:
        self._connection.execute(_to_dialect(sql), args)
        return self._connection.changes()

    def fetch_all(self, sql: str, args: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(_to_dialect(sql), args).fetchall()

    def fetch_one(self, sql: str, args: Sequence[Value] = ()) -> tuple[Any, ...] | None:
        return self._connection.execute(_to_dialect(sql), args).fetchone()

    def execute_many(
        self, sql: str, rows: Iterable[Sequence[Value]], args: Sequence[Value] = ()
    ) -> list[tuple[Any, ...]]:
        answer: list[tuple[Any, ...]] = []
        sql = _to_dialect(sql)
        is_list = "{list}" in sql
        for chunk in chunks(rows):
            if is_list:  # what is in a list twice is found once
                size = LIST_SIZES[bisect_left(LIST_SIZES, len(chunk))]
                chunk += [chunk[-1]] * (size - len(chunk))
            statement = expand_placeholders(sql, len(chunk), len(chunk[0]))
            values = [*args, *chain.from_iterable(chunk)]
            answer += self._connection.execute(statement, values).fetchall()
        return answer


class _SqliteWriter:
    """The one connection of this process that writes; where another process writes too, they share a lock."""

    def __init__(self, connection: apsw.Connection, process_lock: WriteLock | None) -> None:
        self._connection = connection
        self._process_lock = process_lock
        self._thread_lock = threading.Lock()
        """Held from the begin of a transaction to its end, and while scrubbing keeps writers waiting."""
        self._is_locked = False
        self.tx = SqliteTx(connection)
        self.announced = self.tx.announced

    def begin(self) -> None:
        self._acquire()
        self._is_locked = True
        self._connection.execute("begin immediate")

    def commit(self) -> None:
        self._connection.execute("commit")
        self._end()

    def rollback(self) -> None:
        self._connection.execute("rollback")
        self._end()

    def is_awaited(self) -> bool:
        return self._process_lock is not None and self._process_lock.is_awaited()

    def savepoint(self) -> None:
        self._connection.execute("savepoint one")

    def release_savepoint(self) -> None:
        self._connection.execute("release one")

    def rollback_to_savepoint(self) -> None:
        self._connection.execute("rollback to one")
        self._connection.execute("release one")

    def abandon(self) -> None:
        with contextlib.suppress(apsw.Error):
            if self._connection.in_transaction:
                self._connection.execute("rollback")
        self._end()

    def close(self) -> None:
        self._connection.close()
        if self._process_lock:
            self._process_lock.close()

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Keep this process and others from writing while the block runs; for another thread than the writer's."""
        self._acquire()
        try:
            yield
        finally:
            self._release()

    def _acquire(self) -> None:
        self._thread_lock.acquire()
        if self._process_lock:
            self._process_lock.acquire()

    def _release(self) -> None:
        if self._process_lock:
            self._process_lock.release()
        self._thread_lock.release()

    def _end(self) -> None:
        """Release the locks, if a transaction holds them."""
        if self._is_locked:
            self._is_locked = False
            self._release()


class SqliteStore(GroupCommitStore):
    """A store in one SQLite file: one writer, a few readers."""

    engine_errors = apsw.Error
    statement_errors = STATEMENT_ERRORS
    is_only_writer = True

    def __init__(
        self,
        path: Path,
        world: World,
        *,
        limits: StoreLimits = USUAL_LIMITS,
        is_durable: bool = True,
        is_shared: bool = False,
        on_commit: Callable[[CommitStats], None] = lambda batch: None,
    ) -> None:
        """Open or create the file; `is_shared`: another process writes to it all the time."""
        self._path = path
        self._is_durable = is_durable
        self._local = threading.local()
        self._readers_open: list[apsw.Connection] = []
        self._data_version: int | None = None
        try:
            self._writer = _SqliteWriter(self._connect(), WriteLock(path) if is_shared else None)
        except apsw.Error as error:
            raise StoreUnavailable(type(error).__name__) from error
        self._scrubber = Scrubber(path, hold=self._writer.hold)
        super().__init__(world, [self._writer], limits, on_commit)

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self._path), statementcachesize=CACHED_STATEMENTS)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        _use_wal(connection)
        connection.execute(f"pragma synchronous = {'full' if self._is_durable else 'off'}")
        connection.execute(f"pragma cache_size = -{CACHE_KIB}")
        connection.execute(f"pragma wal_autocheckpoint = {CHECKPOINT_PAGES}")
        connection.execute("pragma temp_store = memory")
        connection.execute("pragma secure_delete = on")  # what is erased must not stay readable in the file
        connection.execute("pragma automatic_index = off")  # every query has its index already
        return connection

    async def scrub(self) -> bool:
        self._check_open()
        return await self._searchers.run(self._scrub, None)

    async def read_at(
        self, node: str, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        raise NodeUnavailable(node, "a file has no nodes")

    async def vacuum(self, table: str, erased_ms_ago: int) -> bool:
        return True

    async def was_written_elsewhere(self) -> bool:
        before, self._data_version = self._data_version, await self.write(_read_data_version)
        return self._data_version != before

    def _scrub(self) -> bool:
        try:
            return self._scrubber.run()
        except apsw.BusyError:
            return False
        except apsw.Error as error:
            raise StoreUnavailable(type(error).__name__) from error

    def _read(self, work: Callable[..., T], args: Any, kwargs: Any, limit_s: float | None) -> T:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        try:
            if connection is None:
                connection = self._local.connection = self._connect()
                self._readers_open.append(connection)
            connection.execute("begin")
            try:
                with self._time_limit(connection, limit_s):
                    return work(SqliteTx(connection), *args, **kwargs)
            finally:
                connection.execute("rollback")
        except apsw.InterruptError:
            raise ReadTimedOut(f"a search took longer than {limit_s} s") from None
        except STATEMENT_ERRORS:
            raise
        except apsw.Error as error:
            raise StoreUnavailable(type(error).__name__) from error

    @contextlib.contextmanager
    def _time_limit(self, connection: apsw.Connection, limit_s: float | None) -> Iterator[None]:
        """Interrupt what a connection executes beyond a time limit."""
        if limit_s is None:
            yield
            return
        ends_at = self._world.monotonic() + limit_s
        connection.set_progress_handler(lambda: self._world.monotonic() > ends_at, STEPS_PER_TIME_CHECK)
        try:
            yield
        finally:
            connection.set_progress_handler(None)

    def _close_readers(self) -> None:
        for connection in self._readers_open:
            connection.close()
        self._scrubber.close()

    def _abort_connections(self) -> None:
        """Do nothing: a file always answers, so pending work ends by itself."""

    def _recover(
        self, connection: WriteConnection, taken: list[PendingWrite], error: Exception
    ) -> list[WriteResult]:
        self._writer.abandon()
        away = StoreUnavailable(type(error).__name__)
        return [WriteResult(call, None, away) for call in taken]


@transaction(reader=Reader.BACKGROUND)
def _read_data_version(tx: SqliteTx) -> int:
    """Return a number that changes when another connection than this one commits."""
    row = tx.fetch_one("pragma data_version")
    assert row is not None
    return int(row[0])


def _use_wal(connection: apsw.Connection) -> None:
    """Switch to WAL mode; SQLite does not wait by itself for others that open a new file at the same time."""
    for _ in range(MAX_WAL_ATTEMPTS):
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except apsw.BusyError:
            connection.execute("begin immediate")  # waits for the first one
            connection.execute("rollback")
    connection.execute("pragma journal_mode = wal")
