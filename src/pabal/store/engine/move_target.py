"""The target of a move: an empty PostgreSQL store that gets every row of another one, and how far that is."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from pabal.domain.base.codes import TextError
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Priority, Row, Tx, transaction
from pabal.store.engine.migrate import UNFINISHED_MOVE_TABLE, is_unfinished_move
from pabal.store.engine.move_source import MovedTable, TableDigest, row_bytes
from pabal.store.engine.postgres import partitions

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
    columns = ", ".join(f'"{each}"' for each in table.columns)
    values = ", ".join(f"v.column{number}::{types[each]}" for number, each in enumerate(table.columns, 1))
    tx.execute_many(f"insert into {table.name} ({columns}) select {values} from (values {{rows}}) as v", rows)
    _set_position(tx, table.name, after)
    return after


def digest_page(tx: Tx, table: MovedTable, after: Row | None, limit: int) -> DigestPage:
    """Return the digest of the rows behind a key, at most `limit`."""
    columns, keys = (", ".join(f'"{each}"' for each in names) for names in (table.columns, table.key))
    behind = f"where ({keys}) > ({', '.join('?' * len(table.key))})" if after else ""
    rows = tx.fetch_all(
        f"select {columns} from {table.name} {behind} order by {keys} limit ?", (*(after or ()), limit)
    )
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
