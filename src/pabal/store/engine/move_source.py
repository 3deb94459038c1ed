"""The source of a move: every row of a SQLite store, read table by table in the order of its primary key."""

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Row, StoreUnavailable, Value
from pabal.store.engine.migrate import MOVED_TABLE, all_migrations
from pabal.store.engine.sqlite.sqlite_backup import REQUIRED_TABLES, NotAStore, open_read_only

LEFT_OUT = frozenset({"migrations", "slots", "workers", "carrier_states", "carrier_latencies", MOVED_TABLE})
"""Tables that each store has for itself: its schema, its slots, the state of running processes, its move."""
MAX_BATCH_ROWS = 2000
MAX_BATCH_BYTES = 4 * 1024 * 1024
"""A batch ends when its texts and bytes exceed this: a row of images has hundreds of kilobytes."""
DIGEST_BYTES = 8
DIGEST_MODULUS = 2 ** (8 * DIGEST_BYTES)

RowChange = Callable[[Row], Row]
"""Returns a row as it is in the target."""


class MovedTable(NamedTuple):
    """A table with its columns and those of its primary key."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    def key_of(self, row: Row) -> Row:
        """Return the primary key of a row."""
        return tuple(row[self.columns.index(each)] for each in self.key)


class TableDigest(NamedTuple):
    """What two copies of a table have in common: how many rows, and a checksum that their order does not change."""

    rows: int = 0
    checksum: int = 0

    def add(self, rows: Sequence[Row]) -> "TableDigest":
        """Return the digest with further rows."""
        return self.join(TableDigest(len(rows), sum(map(_digest, rows))))

    def join(self, other: "TableDigest") -> "TableDigest":
        """Return the digest of both."""
        return TableDigest(self.rows + other.rows, (self.checksum + other.checksum) % DIGEST_MODULUS)

    @property
    def hex(self) -> str:
        """The checksum as people see it."""
        return f"{self.checksum:0{2 * DIGEST_BYTES}x}"


class MoveSource:
    """A SQLite store that nobody writes to, open for reading."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def check(self) -> None:
        """Raise NotAStore for a file that is not a store with the schema of this version."""
        names = {row[0] for row in self._fetch("select name from sqlite_master where type = 'table'")}
        if REQUIRED_TABLES - names:
            raise NotAStore("파발의 저장소가 아닙니다", "it is not a store of Pabal's")
        applied = [(row[0], row[1]) for row in self._fetch("select number, name from migrations order by number")]
        if applied != [(each.number, each.name) for each in all_migrations()]:
            raise NotAStore(
                "이 버전의 스키마가 아닙니다. 먼저 `pabal migrate`를 실행하세요",
                "its schema is not that of this version; run `pabal migrate` on it first",
            )

    @property
    def identity(self) -> bytes:
        """What tells this store from others: when it was made, and for whom."""
        made = self._fetch("select number, name, applied_at from migrations order by number")
        first = self._fetch("select id, name, created_at from accounts order by id limit 1")
        return hashlib.sha256(repr((made, first)).encode()).digest()

    def tables(self) -> list[MovedTable]:
        """Return the tables to move, those first that others refer to."""
        rows = self._fetch("select name from sqlite_master where type = 'table' order by rowid")
        names = [row[0] for row in rows if not row[0].startswith("sqlite_") and row[0] not in LEFT_OUT]
        return [self._describe(name) for name in names]

    def _describe(self, name: str) -> MovedTable:
        info = self._fetch("select name, pk from pragma_table_info(?) order by cid", (name,))
        key = sorted((place, column) for column, place in info if place)
        assert key, f"{name} has no primary key"
        return MovedTable(name, tuple(column for column, _ in info), tuple(column for _, column in key))

    def count(self, table: MovedTable) -> int:
        """Return how many rows a table has."""
        return int(self._fetch(f"select count(*) from {table.name}")[0][0])

    def last_ids(self) -> dict[str, int]:
        """Return for each table with numbered rows the last number that was given, also to deleted rows."""
        return {row[0]: row[1] for row in self._fetch("select name, seq from sqlite_sequence")}

    def first_request_at(self) -> Instant | None:
        """Return when the first stored request was accepted."""
        (first,) = self._fetch("select min(id) from requests")[0]
        return None if first is None else identifiers.requested_at(first)

    def batches(self, table: MovedTable, after: Row | None = None) -> Iterator[list[Row]]:
        """Yield the rows behind a key in batches, in the order of their keys."""
        columns, keys = _names(table.columns), _names(table.key)
        behind = f"where ({keys}) > ({', '.join('?' * len(table.key))})" if after else ""
        batch: list[Row] = []
        size = 0
        cursor = self._execute(f"select {columns} from {table.name} {behind} order by {keys}", after or ())
        for row in cursor:
            batch.append(row)
            size += row_bytes(row)
            if len(batch) == MAX_BATCH_ROWS or size > MAX_BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def digest(self, table: MovedTable, change: RowChange) -> TableDigest:
        """Return the digest of a table as it should be in the target."""
        found = TableDigest()
        for batch in self.batches(table):
            found = found.add([change(row) for row in batch])
        return found

    def _fetch(self, sql: str, args: Sequence[Value] = ()) -> list[Row]:
        return list(self._execute(sql, args))

    def _execute(self, sql: str, args: Sequence[Value] = ()) -> Iterator[Row]:
        try:
            yield from self._connection.execute(sql, args)
        except apsw.Error as error:
            raise StoreUnavailable(type(error).__name__) from error


@contextlib.contextmanager
def open_source(path: Path) -> Iterator[MoveSource]:
    """Yield a SQLite store for reading; it and the files beside it are not changed.

    Raises NotAStore, StoreUnavailable.
    """
    try:
        connection = open_read_only(path)
    except apsw.Error as error:
        raise StoreUnavailable(type(error).__name__) from error
    with contextlib.closing(connection):
        source = MoveSource(connection)
        try:
            source.check()
        except StoreUnavailable as error:
            raise NotAStore(f"읽을 수 없습니다({error})", f"it cannot be read ({error})") from None
        yield source


def row_bytes(row: Row) -> int:
    """Return the size of the texts and bytes of a row."""
    return sum(len(value) for value in row if isinstance(value, str | bytes))


def _names(columns: Sequence[str]) -> str:
    return ", ".join(f'"{each}"' for each in columns)


def _digest(row: Row) -> int:
    packed = hashlib.blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES)
    return int.from_bytes(packed.digest(), "big")
