"""Monthly partitions on PostgreSQL: created ahead, dropped as a whole.

An id begins with the time of its request, so a month (in UTC) is a range of ids. Rows of other months go into the
tables named `…_default`. SQLite has no partitions.
"""

import re
from datetime import UTC, datetime
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import SECOND, Instant
from pabal.store.engine.base import Tx, transaction

PARTITION_KEYS = {"requests": "id", "images": "request_id", "messages": "id", "attempts": "message_id"}
"""The partitioned tables, each with the id that decides the month."""
REQUEST_TABLES = ("requests", "images")
"""Partitioned tables whose id is a request's, which is shorter than a message's."""
MONTHS_AHEAD = 2
"""How many months after the current one have partitions."""
MAX_PAST_MONTHS = 120
"""How many months before the current one can get partitions when a store is moved; older rows need none."""
MAX_MOVED_ROWS = 10_000
"""A month with more rows than this in a default partition gets no partition of its own."""
_FILLFACTORS = {"messages": 50}
"""How full pages are filled: two updates of a message then fit in its page, without new index entries."""
_NAME = re.compile(r"messages_([0-9]{6})")


class PartitionTasks(NamedTuple):
    """What housekeeping has to do about partitions."""

    has_missing_months: bool
    expired_months: list[int]
    has_expired_default_rows: bool


def month_at(at: Instant) -> int:
    """Return the month of an instant, such as 202611."""
    then = datetime.fromtimestamp(at // SECOND, UTC)
    return then.year * 100 + then.month


def next_month(month: int) -> int:
    return month + 1 if month % 100 < 12 else month + 89


def month_start(month: int) -> Instant:
    """Return the first instant of a month."""
    return int(datetime(month // 100, month % 100, 1, tzinfo=UTC).timestamp()) * SECOND


def month_bounds(month: int, table: str = "messages") -> tuple[bytes, bytes]:
    """Return the lowest id of a month in a table, and that of the next month."""
    low, high = (identifiers.lowest_message_id(month_start(each)) for each in (month, next_month(month)))
    size = identifiers.REQUEST_ID_BYTES if table in REQUEST_TABLES else identifiers.MESSAGE_ID_BYTES
    return low[:size], high[:size]


def is_partitioned(tx: Tx) -> bool:
    return bool(tx.fetch_all("select {has_partitions}")[0][0])


def pending_tasks(tx: Tx, now: Instant, before: Instant) -> PartitionTasks:
    """Return what there is to do if everything older than `before` expires; nothing without partitions."""
    if not is_partitioned(tx):
        return PartitionTasks(False, [], False)
    old = tx.fetch_one(
        "select id from messages_default where id < ? limit 1", (identifiers.lowest_message_id(before),)
    )
    return PartitionTasks(bool(missing_months(tx, now)), expired_months(tx, before), old is not None)


def missing_months(tx: Tx, now: Instant) -> list[int]:
    """Return which of this month and the next ones have no partitions yet."""
    wanted = [month_at(now)]
    for _ in range(MONTHS_AHEAD):
        wanted.append(next_month(wanted[-1]))
    return [month for month in wanted if not _exists(tx, f"messages_{month}")]


@transaction(exclusive=True)
def create_ahead(tx: Tx, now: Instant) -> list[int]:
    """Create the missing partitions of this month and the next ones, and return these months; none on SQLite.

    Any other month can be created with `create_month`.
    """
    if not is_partitioned(tx):
        return []
    _limit_lock_waits(tx)
    for table in PARTITION_KEYS:
        if not _exists(tx, f"{table}_default"):
            tx.execute(f"create table {table}_default partition of {table} default")
    return [month for month in missing_months(tx, now) if create_month(tx, month)]


def create_past(tx: Tx, since: Instant, now: Instant) -> list[int]:
    """Create the missing partitions of past months from `since` on, for rows that come from another store."""
    _limit_lock_waits(tx)
    months = [month_at(since)]
    while next_month(months[-1]) < month_at(now):
        months.append(next_month(months[-1]))
    missing = [month for month in months[-MAX_PAST_MONTHS:] if not _exists(tx, f"messages_{month}")]
    return [month for month in missing if create_month(tx, month)]


def create_month(tx: Tx, month: int) -> bool:
    """Create the partitions of a month; return False if too many of its rows are in the default partitions.

    A few rows are moved. Tables are created first and attached then, which locks only the default partitions.
    """
    strays = {table: _count_default_rows(tx, table, month) for table in PARTITION_KEYS}
    if any(count > MAX_MOVED_ROWS for count in strays.values()):
        return False
    for table in PARTITION_KEYS:
        name = f"{table}_{month}"
        low, high = _bound_literals(month, table)
        tx.execute(f"create table {name} (like {table}) with (fillfactor = {_FILLFACTORS.get(table, 100)})")
        if strays[table]:
            tx.execute(f"insert into {name} select * from {_default_rows(table, month)}")
            tx.execute(f"delete from {_default_rows(table, month)}")
        tx.execute(f"alter table {table} attach partition {name} for values from ({low}) to ({high})")
    return True


def expired_months(tx: Tx, before: Instant) -> list[int]:
    """Return the months that ended at `before` or earlier, oldest first."""
    rows = tx.fetch_all(
        "select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid"
        " where i.inhparent = 'messages'::regclass"
    )
    made = sorted(int(found[1]) for (name,) in rows if (found := _NAME.fullmatch(name)))
    return [month for month in made if month_start(next_month(month)) <= before]


@transaction(exclusive=True)
def drop_month(tx: Tx, month: int) -> bool:
    """Drop the partitions of a month; its messages stay in the statistics, where they were counted long ago.

    Says no, and drops nothing, while a message of that month has not ended, or statistics of it are not final.
    Fails while a transaction such as a backup holds the locks that a drop needs.
    """
    _limit_lock_waits(tx)
    if not _exists(tx, f"messages_{month}"):
        return False
    if tx.fetch_one("select id from jobs where id >= ? and id < ? limit 1", month_bounds(month)):
        return False
    if tx.fetch_one(
        "select quarter from statistics_quarters where quarter >= ? and quarter < ? and queue_digest <> '' limit 1",
        (month_start(month), month_start(next_month(month))),
    ):
        return False
    for table in PARTITION_KEYS:
        tx.execute(f"drop table {table}_{month}")
    return True


def delete_expired_default_rows(tx: Tx, before: Instant, max_rows: int) -> int:
    """Delete some expired rows of the default partitions; return how many.

    Messages that have not ended stay, and do not keep others from being deleted.
    """
    limit = identifiers.lowest_message_id(before)
    rows = tx.fetch_all(
        "select m.id from messages_default m"
        " where m.id < ? and not exists (select 1 from jobs j where j.id = m.id and j.slot = m.slot)"
        " order by m.id limit ?",
        (limit, max_rows),
    )
    ids = [row[:1] for row in rows]
    tx.execute_many("delete from attempts where message_id in ({list}) and message_id {within}", ids)
    tx.execute_many("delete from messages where id in ({list}) and id {within}", ids)
    emptied = tx.fetch_all(
        "select r.id from requests_default r where r.id < ? and not exists (select 1 from messages m"
        " where m.id between r.id || '\\x000000' and r.id || '\\xffffff' and m.slot = r.slot)"
        " order by r.id limit ?",
        (limit, max_rows),
    )
    for (request_id,) in emptied:
        tx.execute("delete from images where request_id between ? and ?", (request_id, request_id + b"\xff"))
    tx.execute_many("delete from requests where id in ({list}) and id {within}", emptied)
    return len(ids) + len(emptied)


def _count_default_rows(tx: Tx, table: str, month: int) -> int:
    """Return how many rows of a month are in a default partition, up to one above MAX_MOVED_ROWS."""
    few = f"select 1 from {_default_rows(table, month)} limit {MAX_MOVED_ROWS + 1}"
    return int(tx.fetch_all(f"select count(*) from ({few}) as few")[0][0])


def _default_rows(table: str, month: int) -> str:
    low, high = _bound_literals(month, table)
    return f"{table}_default where {PARTITION_KEYS[table]} >= {low} and {PARTITION_KEYS[table]} < {high}"


def _bound_literals(month: int, table: str) -> tuple[str, str]:
    """Return the bounds of a month as SQL literals, because DDL takes no parameters."""
    low, high = month_bounds(month, table)
    return f"'\\x{low.hex()}'", f"'\\x{high.hex()}'"


def _exists(tx: Tx, table: str) -> bool:
    return bool(tx.fetch_all("select to_regclass(?) is not null", (table,))[0][0])


def _limit_lock_waits(tx: Tx) -> None:
    """Take the schema lock, and give up on table locks soon, because others queue behind us."""
    tx.execute("set local lock_timeout = '1s'")
    tx.execute("set local citus.multi_shard_modify_mode = 'sequential'")  # has no effect without Citus
    tx.fetch_all("select {schema_lock}")


REQUIRED_SETTINGS = {"fsync": ("on",), "full_page_writes": ("on",), "server_encoding": ("UTF8",)}
"""Required settings by name: otherwise acknowledged writes may be lost, or some texts cannot be stored."""


MIN_VERSION = 13


def server_version(tx: Tx) -> int:
    """Return the server's major version."""
    row = tx.fetch_one("select current_setting('server_version_num')")
    return int(row[0]) // 10_000 if row else 0


def current_settings(tx: Tx) -> dict[str, str]:
    """Return the current value of each required setting."""
    rows = tx.execute_many(
        "select name, setting from pg_settings where name in ({list})", [(name,) for name in REQUIRED_SETTINGS]
    )
    return dict(rows)


def server_time(tx: Tx) -> Instant:
    """Return the time of the server's clock."""
    row = tx.fetch_one("select (extract(epoch from clock_timestamp()) * 1000)::bigint")
    return int(row[0]) if row else 0
