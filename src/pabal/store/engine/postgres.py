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

from pabal.store.engine.base import P, StoreAway, T, may_run_again
from pabal.store.engine.group_commit import Batch, Call, GroupedStore, Session, Told
from pabal.store.engine.postgres_tx import Connection, PostgresTx, adapt
from pabal.world import World

CONNECT_WITHIN_S = 5
ANSWER_WITHIN_S = 20.0
"""How long a caller waits: longer than for a lock. A commit waits for a replica for as long as that is away."""
MOST_PREPARED = 300
MOST_RERUNS = 20
"""How often calls are run again that collided with others, or whose connection was lost.

Calls of many callers share a transaction, so that it collides more easily than each would.
"""

# Every statement of ours is made for nested loops over indexes, as SQLite does them: no other plan is better when
# the tables are large, and one that was made while they were empty may stay in use for long. So one plan does for
# all arguments: to plan anew over two years of months takes longer than to carry it out. Citus, though, must see
# the arguments to know the shard.
# Whoever is answered must find it kept: a synchronous_commit that says otherwise is overruled.
_MANNERS = (
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
_PATIENCE: dict[str, Any] = {
    "connect_timeout": CONNECT_WITHIN_S,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
    "application_name": "pabal",
}

READ = b"begin isolation level repeatable read read only"
NOTE = b"begin isolation level read committed"
COLLISIONS = (errors.SerializationFailure, errors.DeadlockDetected)
CONFUSION = errors.InvalidSqlStatementName
"""A statement that was to be prepared stood behind one that failed: the server passed over it, and psycopg did not
notice. The connection is of no more use; nothing is wrong with the work."""
_MISPLACED = (CONFUSION, errors.ReadOnlySqlTransaction)
"""What is said over a connection that another may do better: a replica only reads, and the address may lead on."""


class LostConnection(StoreAway):
    """The connection was lost over a transaction; another may do."""


class _Session:
    """A connection, made when it is needed and again when it was lost."""

    def __init__(self, address: str, begin: bytes, *, is_durable: bool = True) -> None:
        self._address = address
        self._begin = begin
        self._is_durable = is_durable
        self._connection: Connection | None = None
        self._open = contextlib.ExitStack()
        self.has_begun = False
        self.is_committing = False
        self.is_again = False
        self._is_cut_off = False

    def connect(self) -> None:
        """Connect anew.

        Statements that return nothing are sent along with the next one: a pipeline, for as long as it lasts.
        """
        self.close()
        self._connection = connected(self._address)
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
        if self._is_cut_off:
            raise psycopg.OperationalError("the store is being closed")
        if self.is_lost:
            self.connect()
        self.has_begun = True
        self.tx.is_again = self.is_again
        self._say(self._begin)

    def commit(self) -> None:
        if self.is_again:
            self._say(_WAIT_FOR_REPLICAS)
        self.is_committing = True
        said = self._say(b"commit")
        self._pipeline.sync()
        if said.statusmessage != "COMMIT":
            raise psycopg.InternalError("the transaction had failed before")

    def roll_back(self) -> None:
        self._go_on_after_error()
        self._say(b"rollback")
        self._pipeline.sync()

    def mark(self) -> None:
        self._say(b"savepoint one")

    def keep(self) -> None:
        self._say(b"release savepoint one")
        self._pipeline.sync()

    def go_back(self) -> None:
        self._go_on_after_error()
        self._say(b"rollback to savepoint one")
        self._say(b"release savepoint one")
        self._pipeline.sync()

    def abandon(self, error: BaseException | None = None) -> None:
        """Give up the transaction, and the connection if it no longer does as it is told."""
        if isinstance(error, _MISPLACED):
            self.close()
        if not self.is_lost:
            try:
                self.roll_back()
            except psycopg.Error:
                self.close()

    def cut_off(self) -> None:
        """End the connection, whatever another thread waits for there, and make no other."""
        self._is_cut_off = True
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

    def _say(self, command: bytes) -> psycopg.Cursor[Any]:
        assert self._connection is not None
        return self._connection.execute(command, prepare=False)

    def _go_on_after_error(self) -> None:
        """Read what else was under way: it was not carried out."""
        with contextlib.suppress(psycopg.Error):
            self._pipeline.sync()


class PostgresStore(GroupedStore):
    """A database, a few connections that write, a few that read."""

    errors = psycopg.Error
    faults = (psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError, psycopg.NotSupportedError)

    def __init__(
        self,
        address: str,
        world: World,
        *,
        readers: int = 2,
        writers: int = 2,
        most_waiting: int = 10_000,
        answer_within_s: float = ANSWER_WITHIN_S,
        watch: Callable[[Batch], None] = lambda batch: None,
    ) -> None:
        self._address = address
        self.answer_within_s = answer_within_s
        self._local = threading.local()
        self._reading: list[_Session] = []
        # A write that would overrule what another has done since it began must be run again, not carry on.
        self._writing = [_Session(address, b"begin isolation level repeatable read") for _ in range(writers)]
        try:
            self._writing[0].connect()
        except psycopg.Error as error:
            raise StoreAway(_reason(error, address)) from None
        super().__init__(world, self._writing, readers=readers, most_waiting=most_waiting, watch=watch)

    def _read(self, work: Callable[..., T], args: Any, kwargs: Any) -> T:
        return self._done_by(self._own("reading", READ), work, args, kwargs)

    async def note(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` by itself, in `read committed`: who counts the same waits for it, and is not run again."""
        return await self._apart(
            lambda: self._done_by(self._own("noting", NOTE, is_durable=False), work, args, kwargs),
            self.answer_within_s,
        )

    def _own(self, name: str, begin: bytes, *, is_durable: bool = True) -> _Session:
        """Return the session of this thread for one purpose."""
        session: _Session | None = getattr(self._local, name, None)
        if session is None:
            session = _Session(self._address, begin, is_durable=is_durable)
            setattr(self._local, name, session)
            self._reading.append(session)
        return session

    def _done_by(self, session: _Session, work: Callable[..., T], args: Any, kwargs: Any) -> T:
        try:
            return self._read_by(session, work, args, kwargs)
        except LostConnection:  # perhaps long ago, while nobody used it
            return self._read_by(session, work, args, kwargs)

    def _read_by(self, session: _Session, work: Callable[..., T], args: Any, kwargs: Any) -> T:
        try:
            session.begin()
            answer = work(session.tx, *args, **kwargs)
            session.commit()
        except psycopg.Error as error:
            session.abandon(error)
            was_lost = session.has_begun and session.is_lost
            if not self._is_trouble(error) or isinstance(error, errors.ReadOnlySqlTransaction):
                raise
            raise (LostConnection if was_lost else StoreAway)(type(error).__name__) from None
        except BaseException:
            session.abandon()
            raise
        return answer

    def _is_trouble(self, error: Exception) -> bool:
        return isinstance(error, CONFUSION) or super()._is_trouble(error)

    def _close_readers(self) -> None:
        for session in self._reading:
            session.close()

    def _cut_off(self) -> None:
        for session in [*self._writing, *self._reading]:
            session.cut_off()

    def _after_trouble(self, session: Session, taken: list[Call], error: Exception) -> list[Told]:
        """Run again what may be, until it is kept; tell the others that the store is away."""
        mine = cast(_Session, session)
        told: list[Told] = []
        pending: deque[Call] = deque()
        for _ in range(MOST_RERUNS):
            again, given_up = self._to_run_again(mine, taken, error)
            told += _away(given_up, error)
            pending.extendleft(reversed(again))
            try:
                while pending:
                    taken = []
                    told += self._committed(mine, pending, taken)
                mine.is_again = False
                return told
            except psycopg.Error as another:
                error = another
        mine.abandon()
        mine.is_again = False
        return told + _away([*taken, *pending], error)

    def _to_run_again(
        self, session: _Session, taken: list[Call], error: Exception
    ) -> tuple[list[Call], list[Call]]:
        """Return the calls that it is safe, and may help, to run again, and the others.

        A commit that was under way when the connection was lost may have been kept: then only for works that
        would notice. What a caller was told there is no answer to is not begun anew.
        """
        session.abandon(error)
        stale = [call for call in taken if call.is_given_up]
        if stale:
            again, others = self._to_run_again(session, [call for call in taken if not call.is_given_up], error)
            return again, others + stale
        if isinstance(error, errors.ReadOnlySqlTransaction):
            return [], taken
        if isinstance(error, CONFUSION):
            return taken, []
        if session.is_lost and session.is_committing:
            session.is_again = True
            again = [call for call in taken if may_run_again(call.work)]
            return again, [call for call in taken if not may_run_again(call.work)]
        was_lost = session.is_lost and session.has_begun
        return (taken, []) if was_lost or isinstance(error, COLLISIONS) else ([], taken)


def _away(calls: list[Call], error: Exception) -> list[Told]:
    away = StoreAway(type(error).__name__)
    return [(call, None, away) for call in calls]


def connected(address: str) -> Connection:
    """Return a new connection, each statement a transaction of its own unless one is begun."""
    given = conninfo_to_dict(address)
    patience = {name: value for name, value in _PATIENCE.items() if name not in given}
    connection = psycopg.connect(
        address, autocommit=True, cursor_factory=psycopg.RawCursor, client_encoding="utf8", **patience
    )
    try:
        connection.prepared_max = MOST_PREPARED
        adapt(connection)
        connection.execute(_MANNERS)
    except BaseException:
        connection.close()
        raise
    return connection


def _reason(error: psycopg.Error, address: str) -> str:
    """Return why there is no connection, in one line and without the password."""
    first, *_ = str(error).splitlines() or [type(error).__name__]
    try:
        password = conninfo_to_dict(address).get("password")
    except psycopg.Error:
        return "the address cannot be read"
    return first.replace(str(password), "…") if password else first
