"""A transaction on a node of Citus itself, in which each statement is about the tables of one slot's shards."""

from collections.abc import Iterable, Sequence

import psycopg
from psycopg import errors

from pabal.store.engine.base import UNION, Row, Value
from pabal.store.engine.citus import shards
from pabal.store.engine.citus.distribution import DISTRIBUTED_TABLES
from pabal.store.engine.citus.values import by_slot
from pabal.store.engine.postgres.arrays import IntegerArray, TextArray
from pabal.store.engine.postgres.pipeline import Answer, Pipeline
from pabal.store.engine.postgres.postgres_tx import Connection, PostgresTx


class ShardMoved(psycopg.OperationalError):
    """A shard is not on this node any more: what was done in its tables must not be committed."""


class UnknownSlot(psycopg.ProgrammingError):
    """A statement does not say which slot it is about."""


class NodeTx(PostgresTx):
    """Executes statements as a plain PostgreSQL does, between the lock of a shard and a look at its place."""

    def __init__(
        self, connection: Connection, pipeline: Pipeline, announced: set[int], *, is_reading: bool = False
    ) -> None:
        super().__init__(connection, pipeline, announced, is_distributed=True, is_planned_by_citus=False)
        self._line = pipeline
        self._is_reading = is_reading
        """Then it locks nothing: its snapshot has all that was stored before a shard was moved."""
        self._shards: dict[int, tuple[int, ...]] = {}
        """The shards of slots, in the order of DISTRIBUTED_TABLES."""
        self._used: set[int] = set()
        """The slots that the transaction is about."""
        self._is_single = False
        """Whether each statement is a transaction of its own."""

    def begin(self, *, is_retry: bool, is_single: bool = False) -> None:
        super().begin(is_retry=is_retry)
        self._is_single = is_single
        self._used.clear()

    @property
    def has_written(self) -> bool:
        """Whether the places have to be looked at before the commit: also where it has only read."""
        return bool(self._used)

    def finish(self) -> None:
        first = {self._shards[slot][0] for slot in self._used}
        self._line.execute(shards.CHECK_PLACES, (IntegerArray(first), len(first)))  # type: ignore[arg-type]

    def describe(self, error: psycopg.Error) -> psycopg.Error:
        if not isinstance(error, errors.DivisionByZero):
            return error
        self._shards.clear()
        return ShardMoved("a shard is not here any more")

    def _synced(self, answer: Answer | psycopg.Cursor[Row]) -> Answer | psycopg.Cursor[Row]:
        if not (self._is_single and self._used):
            return super()._synced(answer)
        self.finish()  # by a later snapshot: then the shards have not been moved before that of the statement
        self._used.clear()
        try:
            return super()._synced(answer)
        except psycopg.Error as error:
            raise self.describe(error) from None

    def execute_many(self, sql: str, rows: Iterable[Sequence[Value]], args: Sequence[Value] = ()) -> list[Row]:
        if not shards.names_shards(sql):
            return self._execute_with_arrays(sql, rows, args)
        rows = list(rows)
        place = shards.place_of_slot(sql, len(rows[0])) if rows else 0
        if place is None:
            raise UnknownSlot(sql)
        return [
            row
            for slot, some in by_slot(rows, place)
            for row in self._execute_with_arrays(self._spell_for(slot, sql), some, args)
        ]

    def _spell(self, sql: str, args: Sequence[Value]) -> str:
        if not shards.names_shards(sql):
            return sql
        parts = shards.split(sql, args)
        if not parts:
            raise UnknownSlot(sql)
        return UNION.join(self._spell_for(slot, part) for slot, part, _ in parts)

    def _spell_for(self, slot: int, sql: str) -> str:
        """Return a statement about the tables of a slot, whose shards stay where they are from now on."""
        found = self._shards.get(slot) or self._find_shards(slot)
        if slot not in self._used:
            self._used.add(slot)
            if not self._is_reading:
                self._line.execute(shards.LOCK, found[:1])
        return shards.spell(sql, found)

    def _find_shards(self, slot: int) -> tuple[int, ...]:
        answer = self._line.execute(shards.FIND_SHARDS, (slot, TextArray(DISTRIBUTED_TABLES)))  # type: ignore[arg-type]
        self._line.sync()
        self._shards[slot] = tuple(row[0] for row in answer.fetchall())
        return self._shards[slot]
