"""Sends statements in libpq's pipeline mode: one without a result does not wait for its answer.

It uses psycopg's layer around libpq, with its conversion of values. A cursor of psycopg takes four times as long.
"""

import select
from collections import deque
from collections.abc import Sequence
from itertools import count

import psycopg
from psycopg import abc, errors
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ConnStatus, ExecStatus, Format
from psycopg.pq.abc import PGresult

from pabal.store.engine.base import Row, Value

MAX_STATEMENTS = 600
"""How many statements a connection remembers; one is prepared when it is sent for the second time.

On a node of Citus, the shards of each slot have statements of their own.
"""
LOOK_MS = 100
"""How often to look whether another thread has closed the connection."""
SUCCEEDED = (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)


class _Statement:
    """A statement with values of certain types, as a connection knows it."""

    name = b""
    """Under which it is prepared, if it is."""


class Answer:
    """The answer to a statement, once the pipeline is synced."""

    def __init__(self, values: abc.Transformer, prepared: _Statement | None = None) -> None:
        self._values = values
        self._prepared = prepared
        self._result: PGresult | None = None

    def resolve(self, result: PGresult) -> None:
        """Take the result, which may be a failure."""
        self._result = result
        if self._prepared and result.status not in SUCCEEDED:
            self._prepared.name = b""

    @property
    def rowcount(self) -> int:
        return (self._result.command_tuples if self._result else None) or 0

    @property
    def statusmessage(self) -> str:
        return ((self._result.command_status if self._result else None) or b"").decode()

    def fetchall(self) -> list[Row]:
        if self._result is None or not self._result.ntuples:
            return []
        self._values.set_pgresult(self._result)
        return self._values.load_rows(0, self._result.ntuples, tuple)

    def fetchone(self) -> Row | None:
        return next(iter(self.fetchall()), None)


class Pipeline:
    """The statements of one connection; nothing else may use it meanwhile."""

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._libpq = connection.pgconn
        self._values: abc.Transformer = Transformer(connection)
        self._statements: dict[tuple[bytes, tuple[int, ...]], _Statement] = {}
        self._numbers = count(1)
        self._unanswered: deque[Answer] = deque()
        self._readable, self._usable = select.poll(), select.poll()
        self._readable.register(self._libpq.socket, select.POLLIN)
        self._usable.register(self._libpq.socket, select.POLLIN | select.POLLOUT)
        self._libpq.enter_pipeline_mode()

    def execute(self, sql: bytes, args: Sequence[Value] = ()) -> Answer:
        """Send a statement; its answer is there after the next `sync`.

        Raises psycopg.Error.
        """
        values = self._values.dump_sequence(args, [PyFormat.AUTO] * len(args)) if args else ()
        types, formats = (self._values.types or (), self._values.formats) if args else ((), None)
        statement = self._statements.get((sql, types))
        if statement is None:
            self._forget_oldest()
            self._statements[sql, types] = _Statement()
            self._libpq.send_query_params(sql, values, types, formats, Format.BINARY)
        else:
            if not statement.name:
                statement.name = b"pabal_%d" % next(self._numbers)
                self._libpq.send_prepare(statement.name, sql, types)
                self._await_answer(statement)
            self._libpq.send_query_prepared(statement.name, values, formats, Format.BINARY)
        return self._await_answer()

    def command(self, sql: bytes) -> Answer:
        """Send what begins or ends a transaction: preparing it saves nothing.

        Raises psycopg.Error.
        """
        self._libpq.send_query_params(sql, ())
        return self._await_answer()

    def _await_answer(self, prepared: _Statement | None = None) -> Answer:
        answer = Answer(self._values, prepared)
        self._unanswered.append(answer)
        return answer

    def _forget_oldest(self) -> None:
        if len(self._statements) < MAX_STATEMENTS:
            return
        oldest = self._statements.pop(next(iter(self._statements)))
        if oldest.name:
            self.command(b"deallocate " + oldest.name)

    def sync(self) -> None:
        """Wait until everything that was sent is executed.

        Raises psycopg.Error: the first failure. What was sent after that was skipped.
        """
        self._libpq.pipeline_sync()
        failure: psycopg.Error | None = None
        try:
            while (result := self._next_result()) is None or result.status != ExecStatus.PIPELINE_SYNC:
                if result is None:  # the answer to a statement is complete
                    continue
                if self._unanswered:  # a server that ends the connection says so unasked
                    self._unanswered.popleft().resolve(result)
                if failure is None and result.status not in SUCCEEDED:
                    failure = errors.error_from_result(result)
        except psycopg.OperationalError as error:
            raise failure or error from None
        if failure:
            raise failure

    def _next_result(self) -> PGresult | None:
        while self._libpq.is_busy():
            poll = self._usable if self._libpq.flush() else self._readable
            poll.poll(LOOK_MS)
            self._libpq.consume_input()
        result = self._libpq.get_result()
        if result is None and self._libpq.status == ConnStatus.BAD:
            raise psycopg.OperationalError("the connection is lost")
        return result
