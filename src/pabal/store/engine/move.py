"""A move of a SQLite store to PostgreSQL: its rows in the order of their keys, and the store they go to."""

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw
import msgspec

from pabal.domain.base import identifiers
from pabal.domain.base.codes import TextError
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Priority, Row, StoreUnavailable, Tx, Value, transaction
from pabal.store.engine.migrate import MOVED_TABLE, UNFINISHED_MOVE_TABLE, all_migrations, is_unfinished_move
from pabal.store.engine.postgres import partitions
from pabal.store.engine.sqlite.sqlite_backup import REQUIRED_TABLES, NotAStore, open_read_only

LEFT_OUT = frozenset(
    {"migrations", "slots", "slot_holders", "workers", "carrier_states", "carrier_latencies", MOVED_TABLE}
)
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

    def select(self, after: Row | None) -> str:
        """Return the query of the rows behind a key, in the order of their keys."""
        keys = _names(self.key)
        behind = f"where ({keys}) > ({', '.join('?' * len(self.key))})" if after else ""
        return f"select {_names(self.columns)} from {self.name} {behind} order by {keys}"

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
        batch: list[Row] = []
        size = 0
        for row in self._execute(table.select(after), after or ()):
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


SOURCE_ROW = ""
"""The row of that table that tells which store is moved; the others are those of tables."""
SOURCE_SLOT = 0
"""The only slot of a SQLite store."""
MIGRATION_ACTION = "store.migrate"
"""The only entry that the audit log of an empty store may have: `pabal migrate` has run there."""
FIRST_PAGE_ROWS = 100
MAX_PAGE_ROWS = 5000
PAGE_BYTES = 4 * 1024 * 1024
"""About how much is read of the target at a time."""

Progress = dict[str, bytes]
"""For each table the encoded key of the last row that was copied."""


class MoveRefused(TextError):
    """The target cannot take the rows; the message says why."""


class DigestPage(NamedTuple):
    """The digest of some rows of a table."""

    digest: TableDigest
    last: Row | None
    """The key of the last one; None: there are no more."""
    next_rows: int
    """How many to read next."""


@transaction(retryable=True, exclusive=True, priority=Priority.PATIENT)  # a retry finds what it has begun
def begin(tx: Tx, identity: bytes, tables: Sequence[MovedTable], since: Instant | None, now: Instant) -> Progress:
    """Prepare an empty store for the rows of another one; return how far an earlier move of the same one has come.

    `since` is when the first request of the source was accepted: its months get partitions.
    Raises MoveRefused for a store that is not empty, and for a move of another one.
    """
    tx.fetch_all("select {schema_lock}")
    _check_columns(tx, tables)
    if is_unfinished_move(tx):
        rows = tx.fetch_all(f"select name, position from {UNFINISHED_MOVE_TABLE}")
        progress: Progress = {row[0]: bytes(row[1]) for row in rows}
        if progress.pop(SOURCE_ROW, None) != identity:
            raise MoveRefused(
                "다른 저장소를 이 데이터베이스로 옮기는 일이 끝나지 않았습니다",
                "a move of another store into this database is not finished",
            )
        return progress
    tx.execute("delete from audit_log where action = ?", (MIGRATION_ACTION,))  # of these empty tables
    filled = [table.name for table in tables if tx.fetch_one(f"select 1 from {table.name} limit 1")]
    if filled:
        raise MoveRefused(
            f"데이터베이스가 비어 있지 않습니다: {', '.join(filled)}",
            f"the database is not empty: {', '.join(filled)}",
        )
    tx.execute(f"create table {UNFINISHED_MOVE_TABLE} (name text primary key, position {{bytes}} not null)")
    _set_position(tx, SOURCE_ROW, identity)
    if since is not None:
        partitions.create_past(tx, since, now)
    return {}


@transaction(retryable=True, exclusive=True)
def copy(tx: Tx, table: MovedTable, rows: Sequence[Row], before: bytes | None) -> bytes:
    """Store rows behind the position `before`, and return the position of the last one.

    Raises MoveRefused if another process copies too.
    """
    after = encode_key(table.key_of(rows[-1]))
    found = tx.fetch_one(f"select position from {UNFINISHED_MOVE_TABLE} where name = ?", (table.name,))
    position = bytes(found[0]) if found else None
    if position == after and tx.is_retry:
        return after
    if position != before:
        raise MoveRefused(
            "이 데이터베이스에서 다른 `pabal move`가 실행 중입니다",
            "another `pabal move` is running on this database",
        )
    types = _column_types(tx, table.name)
    values = ", ".join(f"v.column{number}::{types[each]}" for number, each in enumerate(table.columns, 1))
    tx.execute_many(
        f"insert into {table.name} ({_names(table.columns)}) select {values} from (values {{rows}}) as v", rows
    )
    _set_position(tx, table.name, after)
    return after


def digest_page(tx: Tx, table: MovedTable, after: Row | None, limit: int) -> DigestPage:
    """Return the digest of the rows behind a key, at most `limit`."""
    rows = tx.fetch_all(f"{table.select(after)} limit ?", (*(after or ()), limit))
    last = table.key_of(rows[-1]) if len(rows) == limit else None
    mean = 1 + sum(map(row_bytes, rows)) // max(1, len(rows))
    return DigestPage(TableDigest().add(rows), last, min(MAX_PAGE_ROWS, 1 + PAGE_BYTES // mean))


def finish(tx: Tx, last_ids: Mapping[str, int]) -> bool:
    """Make the store one that a service may start on: new rows get numbers behind `last_ids`.

    What the last process of the source had in flight is in doubt, so its slot is that of a worker that has died.
    Says no if it is such a store already.
    """
    if not is_unfinished_move(tx):
        return False
    for table, last in sorted(last_ids.items()):
        if last > 0:
            tx.fetch_all("select setval(pg_get_serial_sequence(?, 'id'), ?)", (table, last))
    tx.execute("update slots set is_orphaned = 1 where slot = ?", (SOURCE_SLOT,))
    tx.execute(f"drop table {UNFINISHED_MOVE_TABLE}")
    tx.execute("analyze")  # until autovacuum has done it, searches would be planned for empty tables
    return True


def encode_key(key: Row) -> bytes:
    return msgspec.msgpack.encode(key)


def decode_key(stored: bytes | None) -> Row | None:
    """Return the key of `encode_key`."""
    return None if stored is None else tuple(msgspec.msgpack.decode(stored))


def _check_columns(tx: Tx, tables: Sequence[MovedTable]) -> None:
    for table in tables:
        if set(_column_types(tx, table.name)) != set(table.columns):
            raise MoveRefused(
                f"테이블 {table.name}의 열이 그곳과 다릅니다. 양쪽에서 같은 버전을 실행하세요",
                f"the table {table.name} has other columns there; run the same version on both",
            )


def _column_types(tx: Tx, table: str) -> dict[str, str]:
    rows = tx.fetch_all(
        "select attname::text, format_type(atttypid, atttypmod) from pg_attribute"
        " where attrelid = to_regclass(?) and attnum > 0 and not attisdropped",
        (table,),
    )
    return {row[0]: row[1] for row in rows}


def _set_position(tx: Tx, name: str, position: bytes) -> None:
    tx.execute(
        f"insert into {UNFINISHED_MOVE_TABLE} (name, position) values (?, ?)"
        " on conflict (name) do update set position = excluded.position",
        (name, position),
    )
