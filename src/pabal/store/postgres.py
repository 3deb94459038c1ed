"""The store on PostgreSQL: a few connections that write, each committing for many callers, and a few that read."""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, cast

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from pabal.store.base import StoreAway, T, may_run_again
from pabal.store.grouped import Batch, Call, GroupedStore, Session, Told
from pabal.store.postgres_tx import Connection, PostgresTx, adapt
from pabal.world import World

CONNECT_WITHIN_S = 5
MOST_PREPARED = 300
MOST_RERUNS = 5
"""How often calls are run again that collided with others, or whose connection was lost."""
DELIVERER_LOCK = 7_602_115_002
"""The advisory lock of the only delivering process."""

# Every statement of ours is made for nested loops over indexes, as SQLite does them: no other plan is better when
# the tables are large, and one that was made while they were empty may stay in use for long. So one plan does for
# all arguments: to plan anew over two years of months takes longer than to carry it out. Citus, though, must see
# the arguments to know the shard.
# Whoever is answered must find it kept: a synchronous_commit that says otherwise is overruled.
_MANNERS = (
    b"set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off;"
    b" set lock_timeout = '10s';"
    b" set idle_in_transaction_session_timeout = '60s';"
    b" select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off';"
    b" select set_config('plan_cache_mode', 'force_generic_plan', false)"
    b" where not exists (select 1 from pg_extension where extname = 'citus')"
)
_PATIENCE: dict[str, Any] = {
    "connect_timeout": CONNECT_WITHIN_S,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
    "application_name": "pabal",
}

COLLISIONS = (errors.SerializationFailure, errors.DeadlockDetected)


class LostConnection(StoreAway):
    """The connection was lost over a transaction; another may do."""


class _Session:
    """A connection, made when it is needed and again when it was lost."""

    def __init__(self, address: str, begin: bytes) -> None:
        self._address = address
        self._begin = begin
        self._connection: Connection | None = None
        self.has_begun = False
        self.is_committing = False
        self.is_again = False

    def connect(self) -> None:
        """Connect anew.

        Statements that return nothing are sent along with the next one: a pipeline, for as long as it lasts.
        """
        self.close()
        self._connection = connected(self._address)
        self._open = contextlib.ExitStack()
        self._pipeline = self._open.enter_context(self._connection.pipeline())
        self.tx = PostgresTx(self._connection, self._pipeline)

    @property
    def is_lost(self) -> bool:
        return self._connection is None or self._connection.closed

    def begin(self) -> None:
        self.has_begun = self.is_committing = False
        if self.is_lost:
            self.connect()
        self.has_begun = True
        self.tx.is_again = self.is_again
        self._say(self._begin)

    def commit(self) -> None:
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

    def abandon(self) -> None:
        """Give up the transaction, and the connection if it no longer does as it is told."""
        if not self.is_lost:
            try:
                self.roll_back()
            except psycopg.Error:
                self.close()

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
        writers: int = 4,
        most_waiting: int = 10_000,
        watch: Callable[[Batch], None] = lambda batch: None,
    ) -> None:
        self._address = address
        self._local = threading.local()
        self._reading: list[_Session] = []
        # A write that would overrule what another has done since it began must be run again, not carry on.
        sessions = [_Session(address, b"begin isolation level repeatable read") for _ in range(writers)]
        try:
            sessions[0].connect()
        except psycopg.Error as error:
            raise StoreAway(_reason(error, address)) from None
        super().__init__(world, sessions, readers=readers, most_waiting=most_waiting, watch=watch)

    def _read(self, work: Callable[..., T], args: Any, kwargs: Any) -> T:
        session: _Session | None = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = _Session(
                self._address, b"begin isolation level repeatable read read only"
            )
            self._reading.append(session)
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
            was_lost = session.has_begun and session.is_lost
            session.abandon()
            if not self._is_trouble(error) or isinstance(error, errors.ReadOnlySqlTransaction):
                raise
            raise (LostConnection if was_lost else StoreAway)(type(error).__name__) from None
        except BaseException:
            session.abandon()
            raise
        return answer

    def _close_readers(self) -> None:
        for session in self._reading:
            session.close()

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
        would notice.
        """
        session.abandon()
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
    connection.prepared_max = MOST_PREPARED
    adapt(connection)
    connection.execute(_MANNERS)
    return connection


@contextlib.contextmanager
def delivering_alone(address: str, within_s: int) -> Iterator[bool]:
    """Hold the lock of the only delivering process, if it comes free within so long: say whether it did.

    PostgreSQL needs a moment to notice that a process was killed. Raises StoreAway.
    """
    try:
        connection = connected(address)
    except psycopg.Error as error:
        raise StoreAway(_reason(error, address)) from None
    with contextlib.closing(connection):
        is_alone = True
        try:
            connection.execute(b"select set_config('lock_timeout', $1, false)", (f"{within_s or 0.001}s",))
            connection.execute(b"select pg_advisory_lock($1)", (DELIVERER_LOCK,))
        except errors.LockNotAvailable:
            is_alone = False
        yield is_alone


def _reason(error: psycopg.Error, address: str) -> str:
    """Return why there is no connection, in one line and without the password."""
    first, *_ = str(error).splitlines() or [type(error).__name__]
    try:
        password = conninfo_to_dict(address).get("password")
    except psycopg.Error:
        return "the address cannot be read"
    return first.replace(str(password), "…") if password else first
