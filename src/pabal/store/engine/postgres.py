"""The store on PostgreSQL: a few connections that write, each committing for many callers, and a few that read."""

import contextlib
import os
import socket
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Concatenate, cast

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from pabal.store.engine.base import P, StoreUnavailable, T
from pabal.store.engine.group_commit import (
    CommitStats,
    GroupCommitStore,
    PendingWrite,
    WriteConnection,
    WriteResult,
)
from pabal.store.engine.postgres_tx import Connection, PostgresTx, adapt
from pabal.world import World

CONNECT_TIMEOUT_S = 5
TIMEOUT_S = 20.0
"""How long a caller waits: longer than for a lock. A commit waits for a replica for as long as that is away."""
MAX_PREPARED_STATEMENTS = 300
MAX_RETRIES = 20
"""How often calls are run again that collided with others, or whose connection was lost.

Calls of many callers share a transaction, so that it collides more easily than each would.
"""

# Every statement of ours is made for nested loops over indexes, as SQLite does them: no other plan is better when
# the tables are large, and one that was made while they were empty may stay in use for long. So one plan does for
# all arguments: to plan anew over two years of months takes longer than to carry it out. Citus, though, must see
# the arguments to know the shard.
# Whoever is answered must find it kept: a synchronous_commit that says otherwise is overruled.
_SESSION_SETTINGS = (
    b"set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off;"
    b" set enable_bitmapscan = off;"  # it loses the order of the index: a claim would sort all that waits
    b" set lock_timeout = '10s';"
    b" set idle_in_transaction_session_timeout = '10s';"  # a frozen or lost process must not hold its rows for long
    b" set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3;"
    b" set tcp_user_timeout = 15000;"
    b" select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off';"
    b" select set_config('plan_cache_mode', 'force_generic_plan', false)"
    b" where not exists (select 1 from pg_extension where extname = 'citus')"
)
# A commit that writes nothing waits for no replica. What is found again may be on this server alone: something must
# be written, so that the commit returns only when all before it is where it has to be.
_WAIT_FOR_REPLICAS = b"select pg_logical_emit_message(true, 'pabal', '')"
_CONNECTION_OPTIONS: dict[str, Any] = {
    "connect_timeout": CONNECT_TIMEOUT_S,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
    "application_name": "pabal",
}

BEGIN_READ = b"begin isolation level repeatable read read only"
BEGIN_RELAXED = b"begin isolation level read committed"
CONFLICTS = (errors.SerializationFailure, errors.DeadlockDetected)
PIPELINE_CONFUSED = errors.InvalidSqlStatementName
"""A statement that was to be prepared stood behind one that failed: the server passed over it, and psycopg did not
notice. The connection is of no more use; nothing is wrong with the work."""
_RECONNECT_ERRORS = (PIPELINE_CONFUSED, errors.ReadOnlySqlTransaction)
"""What is said over a connection that another may do better: a replica only reads, and the address may lead on."""


class LostConnection(StoreUnavailable):
    """The connection was lost over a transaction; another may do."""


class _PostgresConnection:
    """A connection, made when it is needed and again when it was lost."""

    def __init__(self, address: str, begin: bytes, *, is_durable: bool = True) -> None:
        self._address = address
        self._begin = begin
        self._is_durable = is_durable
        self._connection: Connection | None = None
        self._open = contextlib.ExitStack()
        self.has_begun = False
        self.is_committing = False
        self.is_retry = False
        self._is_aborted = False

    def connect(self) -> None:
        """Connect anew.

        Statements that return nothing are sent along with the next one: a pipeline, for as long as it lasts.
        """
        self.close()
        self._connection = connect(self._address)
        if not self._is_durable:
            self._connection.execute(b"set synchronous_commit = off")
        self._open = contextlib.ExitStack()
        self._pipeline = self._open.enter_context(self._connection.pipeline())
        self.tx = PostgresTx(self._connection, self._pipeline)

    @property
    def is_lost(self) -> bool:
        return self._connection is None or self._connection.closed

    def begin(self) -> None:
        self.has_begun = self.is_committing = False
        if self._is_aborted:
            raise psycopg.OperationalError("the store is being closed")
        if self.is_lost:
            self.connect()
        self.has_begun = True
        self.tx.is_retry = self.is_retry
        self._send(self._begin)

    def commit(self) -> None:
        if self.is_retry:
            self._send(_WAIT_FOR_REPLICAS)
        self.is_committing = True
        said = self._send(b"commit")
        self._pipeline.sync()
        if said.statusmessage != "COMMIT":
            raise psycopg.InternalError("the transaction had failed before")

    def rollback(self) -> None:
        self._drain_after_error()
        self._send(b"rollback")
        self._pipeline.sync()

    def savepoint(self) -> None:
        self._send(b"savepoint one")

    def release_savepoint(self) -> None:
        self._send(b"release savepoint one")
        self._pipeline.sync()

    def rollback_to_savepoint(self) -> None:
        self._drain_after_error()
        self._send(b"rollback to savepoint one")
        self._send(b"release savepoint one")
        self._pipeline.sync()

    def abandon(self, error: BaseException | None = None) -> None:
        """Give up the transaction, and the connection if it no longer does as it is told."""
        if isinstance(error, _RECONNECT_ERRORS):
            self.close()
        if not self.is_lost:
            try:
                self.rollback()
            except psycopg.Error:
                self.close()

    def abort(self) -> None:
        """End the connection, whatever another thread waits for there, and make no other."""
        self._is_aborted = True
        connection = self._connection
        if connection is not None:
            with (
                contextlib.suppress(psycopg.Error, OSError),  # it may end by itself just now
                socket.socket(fileno=os.dup(connection.fileno())) as line,
            ):
                line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(psycopg.Error):  # it may be gone already
                self._open.close()
            self._connection.close()
            self._connection = None

    def _send(self, command: bytes) -> psycopg.Cursor[Any]:
        assert self._connection is not None
        return self._connection.execute(command, prepare=False)

    def _drain_after_error(self) -> None:
        """Read what else was under way: it was not carried out."""
        with contextlib.suppress(psycopg.Error):
            self._pipeline.sync()


class PostgresStore(GroupCommitStore):
    """A database, a few connections that write, a few that read."""

    engine_errors = psycopg.Error
    statement_errors = (
        psycopg.DataError,
        psycopg.IntegrityError,
        psycopg.ProgrammingError,
        psycopg.NotSupportedError,
    )

    def __init__(
        self,
        address: str,
        world: World,
        *,
        readers: int = 2,
        writers: int = 2,
        max_waiting: int = 10_000,
        timeout_s: float = TIMEOUT_S,
        on_commit: Callable[[CommitStats], None] = lambda batch: None,
    ) -> None:
        self._address = address
        self.timeout_s = timeout_s
        self._local = threading.local()
        self._read_connections: list[_PostgresConnection] = []
        # A write that would overrule what another has done since it began must be run again, not carry on.
        self._write_connections = [
            _PostgresConnection(address, b"begin isolation level repeatable read") for _ in range(writers)
        ]
        try:
            self._write_connections[0].connect()
        except psycopg.Error as error:
            raise StoreUnavailable(_connect_error(error, address)) from None
        super().__init__(
            world, self._write_connections, readers=readers, max_waiting=max_waiting, on_commit=on_commit
        )

    def _read(self, work: Callable[..., T], args: Any, kwargs: Any) -> T:
        return self._run_with_retry(self._thread_connection("reading", BEGIN_READ), work, args, kwargs)

    async def write_relaxed(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` by itself, in `read committed`: who counts the same waits for it, and is not run again."""
        return await self._run_in_reader(
            lambda: self._run_with_retry(
                self._thread_connection("noting", BEGIN_RELAXED, is_durable=False), work, args, kwargs
            ),
            self.timeout_s,
        )

    def _thread_connection(self, name: str, begin: bytes, *, is_durable: bool = True) -> _PostgresConnection:
        """Return the session of this thread for one purpose."""
        session: _PostgresConnection | None = getattr(self._local, name, None)
        if session is None:
            session = _PostgresConnection(self._address, begin, is_durable=is_durable)
            setattr(self._local, name, session)
            self._read_connections.append(session)
        return session

    def _run_with_retry(self, connection: _PostgresConnection, work: Callable[..., T], args: Any, kwargs: Any) -> T:
        try:
            return self._run_once(connection, work, args, kwargs)
        except LostConnection:  # perhaps long ago, while nobody used it
            return self._run_once(connection, work, args, kwargs)

    def _run_once(self, connection: _PostgresConnection, work: Callable[..., T], args: Any, kwargs: Any) -> T:
        try:
            connection.begin()
            answer = work(connection.tx, *args, **kwargs)
            connection.commit()
        except psycopg.Error as error:
            connection.abandon(error)
            was_lost = connection.has_begun and connection.is_lost
            if not self._is_engine_failure(error) or isinstance(error, errors.ReadOnlySqlTransaction):
                raise
            raise (LostConnection if was_lost else StoreUnavailable)(type(error).__name__) from None
        except BaseException:
            connection.abandon()
            raise
        return answer

    def _is_engine_failure(self, error: Exception) -> bool:
        return isinstance(error, PIPELINE_CONFUSED) or super()._is_engine_failure(error)

    def _close_readers(self) -> None:
        for session in self._read_connections:
            session.close()

    def _abort_connections(self) -> None:
        for session in [*self._write_connections, *self._read_connections]:
            session.abort()

    def _recover(
        self, connection: WriteConnection, taken: list[PendingWrite], error: Exception
    ) -> list[WriteResult]:
        """Run again what may be, until it is kept; tell the others that the store is away."""
        mine = cast(_PostgresConnection, connection)
        told: list[WriteResult] = []
        pending: deque[PendingWrite] = deque()
        for _ in range(MAX_RETRIES):
            again, given_up = self._split_retryable(mine, taken, error)
            told += _unavailable(given_up, error)
            pending.extendleft(reversed(again))
            try:
                while pending:
                    taken = []
                    told += self._commit_batch(mine, pending, taken)
                mine.is_retry = False
                return told
            except psycopg.Error as another:
                error = another
        mine.abandon()
        mine.is_retry = False
        return told + _unavailable([*taken, *pending], error)

    def _split_retryable(
        self, connection: _PostgresConnection, taken: list[PendingWrite], error: Exception
    ) -> tuple[list[PendingWrite], list[PendingWrite]]:
        """Return the calls that it is safe, and may help, to run again, and the others.

        A commit that was under way when the connection was lost may have been kept: then only for works that
        would notice. What a caller was told there is no answer to is not begun anew.
        """
        connection.abandon(error)
        stale = [call for call in taken if call.has_timed_out]
        if stale:
            again, others = self._split_retryable(
                connection, [call for call in taken if not call.has_timed_out], error
            )
            return again, others + stale
        if isinstance(error, errors.ReadOnlySqlTransaction):
            return [], taken
        if isinstance(error, PIPELINE_CONFUSED):
            return taken, []
        if connection.is_lost and connection.is_committing:
            connection.is_retry = True
            again = [call for call in taken if call.options.retryable]
            return again, [call for call in taken if not call.options.retryable]
        was_lost = connection.is_lost and connection.has_begun
        return (taken, []) if was_lost or isinstance(error, CONFLICTS) else ([], taken)


def _unavailable(calls: list[PendingWrite], error: Exception) -> list[WriteResult]:
    away = StoreUnavailable(type(error).__name__)
    return [WriteResult(call, None, away) for call in calls]


def connect(address: str) -> Connection:
    """Return a new connection, each statement a transaction of its own unless one is begun."""
    given = conninfo_to_dict(address)
    patience = {name: value for name, value in _CONNECTION_OPTIONS.items() if name not in given}
    connection = psycopg.connect(
        address, autocommit=True, cursor_factory=psycopg.RawCursor, client_encoding="utf8", **patience
    )
    try:
        connection.prepared_max = MAX_PREPARED_STATEMENTS
        adapt(connection)
        connection.execute(_SESSION_SETTINGS)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_error(error: psycopg.Error, address: str) -> str:
    """Return why there is no connection, in one line and without the password."""
    first, *_ = str(error).splitlines() or [type(error).__name__]
    try:
        password = conninfo_to_dict(address).get("password")
    except psycopg.Error:
        return "the address cannot be read"
    return first.replace(str(password), "…") if password else first
