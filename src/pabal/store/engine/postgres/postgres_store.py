"""The store on PostgreSQL: a few connections that write, each committing for many callers, and a few that read."""

import contextlib
import threading
from collections.abc import Callable
from typing import Any, Concatenate, cast

import psycopg
from psycopg import errors

from pabal.store.engine.base import (
    NodeUnavailable,
    P,
    Reader,
    ReadTimedOut,
    StoreUnavailable,
    T,
    options_of,
)
from pabal.store.engine.citus.places import AskedNodes
from pabal.store.engine.group_commit import CommitStats, GroupCommitStore, WriteConnection, WriteResult
from pabal.store.engine.postgres.connection import (
    BEGIN_READ,
    BEGIN_RELAXED,
    BEGIN_WRITE,
    ONE_PLAN,
    RELAXED,
    PostgresConnection,
)
from pabal.store.engine.postgres.node_tx import ShardMoved
from pabal.store.engine.postgres.postgres_tx import Connection, PostgresTx
from pabal.store.engine.postgres.session import connect as connect
from pabal.store.engine.postgres.session import (
    describe_connect_error,
    find_lost_node,
    node_address,
    unavailable,
)
from pabal.store.engine.postgres.vacuum import vacuum_table
from pabal.store.engine.write_queue import USUAL_LIMITS, PendingWrite, StoreLimits, WriteQueue
from pabal.world import World

TIMEOUT_S = 20.0
"""How long a caller waits: longer than for a lock. A commit waits for a replica as long as that is down."""
MAX_RETRIES = 20
"""How often writes are retried after a conflict or a lost connection.

Many writes share a transaction, so it conflicts more often than each would alone.
"""

CONFLICTS = (errors.SerializationFailure, errors.DeadlockDetected)


class CommitInDoubt(psycopg.OperationalError):
    """The connection to a node was lost during a commit there."""

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(reason)
        self.node = node


class LostConnection(StoreUnavailable):
    """The connection was lost during a transaction; a new one may work."""


class PostgresStore(GroupCommitStore):
    """A store in a PostgreSQL database: a few connections write, a few read."""

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
        limits: StoreLimits = USUAL_LIMITS,
        writers: int = 2,
        timeout_s: float = TIMEOUT_S,
        on_commit: Callable[[CommitStats], None] = lambda batch: None,
    ) -> None:
        self._address = address
        self.timeout_s = timeout_s
        self._local = threading.local()
        self._vacuuming: Connection | None = None
        self._other_connections: list[PostgresConnection] = []
        self._nodes = AskedNodes(world)
        # A write that would overwrite what another has committed since it began must be retried.
        self._write_connections = [PostgresConnection(address, BEGIN_WRITE) for _ in range(writers)]
        try:
            self._write_connections[0].connect()
        except psycopg.Error as error:
            raise StoreUnavailable(describe_connect_error(error, address)) from None
        super().__init__(world, self._write_connections, limits, on_commit)

    def _read(self, work: Callable[..., T], args: Any, kwargs: Any, limit_s: float | None) -> T:
        if limit_s is None:
            return self._run_with_retry(self._thread_connection("reading", BEGIN_READ), work, args, kwargs)
        connection = self._thread_connection("searching", BEGIN_READ)
        ends_at = self._world.monotonic() + limit_s

        def work_in_time(tx: PostgresTx) -> T:
            tx.remaining_s = lambda: ends_at - self._world.monotonic()
            return work(tx, *args, **kwargs)

        return self._run_with_retry(connection, work_in_time, (), {})

    async def read(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Read, on the node itself where the work stays in a slot; where that fails, from the coordinator."""
        options = options_of(work)
        node = self.slot_nodes.get(options.slot_of(*args), "") if self.slot_nodes and options.slot_of else ""
        if node and node not in self.lost_nodes and options.stays_in_slot and options.stays_in_slot(*args):
            with contextlib.suppress(NodeUnavailable):
                return await self.read_at(node, work, *args, **kwargs)
        return await super().read(work, *args, **kwargs)

    async def read_at(
        self, node: str, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        self._check_open()
        if not self._nodes.may_ask(node):
            raise NodeUnavailable(node, "it could not be asked a moment ago")
        is_background = options_of(work).reader is Reader.BACKGROUND
        threads = self._background_reader if is_background else self._readers
        try:
            found = await threads.run(
                lambda: self._run_with_retry(
                    self._thread_connection(f"reading at {node}", BEGIN_READ, node=node, settings=ONE_PLAN),
                    work,
                    args,
                    kwargs,
                ),
                self.timeout_s,
            )
        except (StoreUnavailable, psycopg.Error) as error:  # of a bug, the coordinator tells
            self._nodes.note_failure(node, error)
            raise NodeUnavailable(node, str(error)) from None
        self._nodes.note_answer(node)
        return found

    async def write_relaxed(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` in `read committed`: others that count the same wait for it instead of being retried."""
        self._check_open()
        return await self._readers.run(
            lambda: self._run_with_retry(
                self._thread_connection("noting", BEGIN_RELAXED, settings=RELAXED), work, args, kwargs
            ),
            self.timeout_s,
        )

    async def vacuum(self, table: str, erased_ms_ago: int) -> bool:
        self._check_open()
        return await self._searchers.run(lambda: self._vacuum(table, erased_ms_ago), None)

    def _vacuum(self, table: str, erased_ms_ago: int) -> bool:
        try:
            with contextlib.closing(connect(self._address)) as self._vacuuming:
                return vacuum_table(self._vacuuming, table, erased_ms_ago)
        except (errors.LockNotAvailable, errors.QueryCanceled):
            return False
        except psycopg.Error as error:
            raise self._unavailable(error, is_uncertain=False) from None
        finally:
            self._vacuuming = None

    async def close(self) -> None:
        if self._vacuuming is not None:  # it is done again after the next start
            with contextlib.suppress(psycopg.Error):
                self._vacuuming.cancel()
        await super().close()

    def _thread_connection(
        self, name: str, begin: bytes, *, node: str = "", settings: bytes = b""
    ) -> PostgresConnection:
        """Return this thread's connection for one purpose, to a node itself if one is named."""
        session: PostgresConnection | None = getattr(self._local, name, None)
        if session is None:
            address = node_address(self._address, node) if node else self._address
            session = PostgresConnection(address, begin, settings, is_node=bool(node))
            setattr(self._local, name, session)
            self._other_connections.append(session)
        return session

    def _commit_batch(
        self, connection: WriteConnection, pending: WriteQueue, taken: list[PendingWrite]
    ) -> list[WriteResult]:
        """Commit writes that stay in their slot on the node that has it; the coordinator serves all others.

        It serves them, too, where the node refuses, or one of them fails: only the coordinator says why.
        """
        mine = cast(PostgresConnection, connection)
        node = pending.first.node if pending.first.is_local and not mine.is_retry else ""
        if node and node not in self.lost_nodes and self._nodes.may_ask(node):
            results = self._commit_at_node(node, mine, pending, taken)
            if results is not None:
                return results
            pending.put_back(taken)
            taken.clear()
        return super()._commit_batch(connection, pending, taken)

    def _commit_at_node(
        self, node: str, coordinator: PostgresConnection, pending: WriteQueue, taken: list[PendingWrite]
    ) -> list[WriteResult] | None:
        """Return the results of writes on a node itself; None, with nothing committed, where that failed.

        Raises CommitInDoubt where nobody knows.
        """
        there = self._thread_connection(f"writing at {node}", BEGIN_WRITE, node=node, settings=ONE_PLAN)
        there.announced = coordinator.announced
        try:
            results = self._commit_together(there, pending, taken)
        except psycopg.Error as error:
            is_in_doubt = there.is_committing and there.is_lost
            there.abandon(error)
            if not isinstance(error, (*CONFLICTS, ShardMoved)):
                self._nodes.note_failure(node, error)
            if is_in_doubt:
                raise CommitInDoubt(node, str(error)) from None
            return None
        self._nodes.note_answer(node)
        return results

    def _run_with_retry(self, connection: PostgresConnection, work: Callable[..., T], args: Any, kwargs: Any) -> T:
        try:
            return self._run_once(connection, work, args, kwargs)
        except LostConnection:  # perhaps it was lost long ago, while idle
            return self._run_once(connection, work, args, kwargs)

    def _run_once(self, connection: PostgresConnection, work: Callable[..., T], args: Any, kwargs: Any) -> T:
        try:
            connection.begin(is_single=options_of(work).single)
            answer = work(connection.tx, *args, **kwargs)
            connection.commit()
        except psycopg.Error as error:
            connection.abandon(error)
            if isinstance(error, errors.QueryCanceled):
                raise ReadTimedOut(type(error).__name__) from None
            was_lost = connection.has_begun and connection.is_lost
            if not self._is_engine_failure(error) or isinstance(error, errors.ReadOnlySqlTransaction):
                raise
            if was_lost:
                raise LostConnection(type(error).__name__) from None
            raise self._unavailable(error, is_uncertain=connection.is_committing) from None
        except BaseException:
            connection.abandon()
            raise
        return answer

    def _close_readers(self) -> None:
        for session in self._other_connections:
            session.close()
            session.abort()  # a read that comes too late opens no other

    def _abort_connections(self) -> None:
        for session in [*self._write_connections, *self._other_connections]:
            session.abort()

    def _recover(
        self, connection: WriteConnection, taken: list[PendingWrite], error: Exception
    ) -> list[WriteResult]:
        """Retry the writes that may be retried until they are committed; the others fail with StoreUnavailable.

        Where a node of Citus cannot be reached, each write gets a transaction of its own, so that those on other
        nodes succeed.
        """
        mine = cast(PostgresConnection, connection)
        told: list[WriteResult] = []
        pending = WriteQueue()
        for _ in range(MAX_RETRIES):
            is_in_doubt = isinstance(error, CommitInDoubt)
            was_uncertain = mine.is_retry or mine.is_committing or is_in_doubt
            again, given_up = self._split_retryable(mine, taken, error)
            told += self._refuse(given_up, error, is_uncertain=was_uncertain)
            if find_lost_node(error) is not None:
                told += [result for write in again for result in self._commit_alone(mine, write)]
                again = []
            pending.put_back(again)
            try:
                while pending:
                    taken = []
                    told += self._commit_batch(mine, pending, taken)
                mine.is_retry = False
                return told
            except psycopg.Error as another:
                error = another
        was_uncertain = mine.is_retry or mine.is_committing
        mine.abandon()
        mine.is_retry = False
        return told + self._refuse([*taken, *pending.pop_all()], error, is_uncertain=was_uncertain)

    def _commit_alone(self, connection: PostgresConnection, write: PendingWrite) -> list[WriteResult]:
        """Return the result of a write in a transaction of its own; a first run that is in doubt stays so.

        Nothing that was dispatched meanwhile joins it: it would be forgotten if this write fails.
        """
        is_retry = connection.is_retry
        try:
            return self._commit_individually(connection, [write])
        except psycopg.Error as error:
            found = self._recover(connection, [write], error)
            connection.is_retry = is_retry
            return found

    def _split_retryable(
        self, connection: PostgresConnection, taken: list[PendingWrite], error: Exception
    ) -> tuple[list[PendingWrite], list[PendingWrite]]:
        """Return the writes for which a retry is safe and may help, and the others.

        If the connection was lost during the commit, the writes may be committed: only retryable works qualify.
        Writes that have timed out for their callers are not retried.
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
        is_node_lost = find_lost_node(error) is not None
        if is_node_lost and len(taken) == 1:
            return [], taken
        if is_node_lost and not connection.is_committing:
            return taken, []
        was_committing = (connection.is_lost or is_node_lost) and connection.is_committing
        if was_committing or isinstance(error, CommitInDoubt):
            connection.is_retry = True
            again = [call for call in taken if call.options.retryable]
            return again, [call for call in taken if not call.options.retryable]
        was_lost = connection.is_lost and connection.has_begun
        return (taken, []) if was_lost or isinstance(error, CONFLICTS) else ([], taken)

    def _refuse(self, calls: list[PendingWrite], error: Exception, *, is_uncertain: bool) -> list[WriteResult]:
        if not calls:
            return []
        reason = self._unavailable(error, is_uncertain=is_uncertain)
        return [WriteResult(call, None, reason) for call in calls]

    def _unavailable(self, error: Exception, *, is_uncertain: bool) -> StoreUnavailable:
        """Return what callers are told, and remember a node that cannot be reached."""
        if isinstance(error, CommitInDoubt):  # that node may be there: others find out
            return NodeUnavailable(error.node, str(error), is_uncertain=True)
        found = unavailable(error, is_uncertain=is_uncertain)
        if isinstance(found, NodeUnavailable) and found.node:
            self.lost_nodes.add(found.node)
        return found
