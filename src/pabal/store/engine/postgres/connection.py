"""A connection to PostgreSQL on which one transaction after the other runs."""

import contextlib
import os
import socket

import psycopg
from psycopg import errors

from pabal.store.engine.postgres.node_tx import NodeTx
from pabal.store.engine.postgres.pipeline import Answer, Pipeline
from pabal.store.engine.postgres.postgres_tx import Connection, PostgresTx
from pabal.store.engine.postgres.session import connect, is_distributed

# A commit that writes nothing does not wait for replicas. A retry may find rows that are on this server alone, so
# it writes a message: its commit then returns only when everything before it is replicated.
_WAIT_FOR_REPLICAS = b"select pg_logical_emit_message(true, 'pabal', '')"
BEGIN_WRITE = b"begin isolation level repeatable read"
BEGIN_READ = b"begin isolation level repeatable read read only"
BEGIN_RELAXED = b"begin isolation level read committed"
RELAXED = b"set synchronous_commit = off"
ONE_PLAN = b"set plan_cache_mode = force_generic_plan"
"""For plain tables on a node of Citus, unlike distributed ones."""


class PostgresConnection:
    """A connection that is opened when needed, and again after it was lost."""

    def __init__(self, address: str, begin: bytes, settings: bytes = b"", *, is_node: bool = False) -> None:
        self._address = address
        self._is_node = is_node
        self._begin = begin
        self._settings = settings
        self._connection: Connection | None = None
        self.has_begun = False
        self.is_committing = False
        self.is_retry = False
        self._is_single = False
        self.announced: set[int] = set()
        self._is_aborted = False

    def connect(self) -> None:
        """Open a new connection.

        It stays in pipeline mode: statements that return nothing are sent together with the next one.
        """
        self.close()
        self._connection = connect(self._address)
        if self._settings:
            self._connection.execute(self._settings)
        has_nodes = is_distributed(self._connection)
        if self._is_node and not has_nodes:  # tables of the same names there would be others
            self.close()
            raise psycopg.OperationalError("the node does not know the tables that Citus distributes")
        self._pipeline = Pipeline(self._connection)
        self.tx = (
            NodeTx(self._connection, self._pipeline, self.announced, is_reading=self._begin is BEGIN_READ)
            if self._is_node
            else PostgresTx(self._connection, self._pipeline, self.announced, is_distributed=has_nodes)
        )

    @property
    def is_lost(self) -> bool:
        return self._connection is None or self._connection.closed

    def begin(self, *, is_single: bool = False) -> None:
        """Begin a transaction; a single statement that reads needs none."""
        self.has_begun = self.is_committing = False
        if self._is_aborted:
            raise psycopg.OperationalError("the store is being closed")
        if self.is_lost:
            self.connect()
        self.has_begun, self._is_single = True, is_single
        self.tx.begin(is_retry=self.is_retry, is_single=is_single)
        if not is_single:
            self._send(self._begin)

    def commit(self) -> None:
        if self._is_single:
            return
        if self.is_retry:
            self._send(_WAIT_FOR_REPLICAS)
        if self.tx.has_written:  # on Citus
            self.tx.finish()  # on a node, that is answered with the commit
        self.is_committing = True
        said = self._send(b"commit")
        try:
            self._pipeline.sync()
        except psycopg.Error as error:
            raise self.tx.describe(error) from None
        if said.statusmessage != "COMMIT":
            raise psycopg.InternalError("the transaction had failed before")

    def rollback(self) -> None:
        self._drain_after_error()
        self._send(b"rollback")
        self._pipeline.sync()

    def is_awaited(self) -> bool:
        return False  # others write at the same time

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
        """Roll the transaction back; close the connection if that fails."""
        if isinstance(error, errors.ReadOnlySqlTransaction):  # of a replica: the address may lead elsewhere now
            self.close()
        if not self.is_lost:
            try:
                self.rollback()
            except psycopg.Error:
                self.close()

    def abort(self) -> None:
        """Shut the connection down, even while another thread waits for it, and open no other."""
        self._is_aborted = True
        connection = self._connection
        if connection is not None:
            with (
                contextlib.suppress(psycopg.Error, OSError),  # it may be closing by itself
                socket.socket(fileno=os.dup(connection.fileno())) as line,
            ):
                line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _send(self, command: bytes) -> Answer:
        return self._pipeline.command(command)

    def _drain_after_error(self) -> None:
        """Discard the rest of the pipeline, which was not executed."""
        with contextlib.suppress(psycopg.Error):
            self._pipeline.sync()
