"""Monthly partitions on PostgreSQL: created ahead, dropped as a whole.

An id begins with the time of its request, so a month (in UTC) is a range of ids. Rows of other months go into the
tables named `…_default`. SQLite has no partitions.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import DAY, SECOND, Instant
from pabal.store.engine.base import Reader, Tx, transaction

PARTITION_KEYS = {"requests": "id", "images": "request_id", "messages": "id", "attempts": "message_id"}
"""The partitioned tables, each with the id that decides the month."""
REQUEST_TABLES = ("requests", "images")
"""Partitioned tables whose id is a request's, which is shorter than a message's."""
MONTHS_AHEAD = 2
"""How many months after the current one have partitions."""
MAX_PAST_MONTHS = 120
"""How many months before the current one can get partitions when a store is moved; older rows need none."""
MAX_MOVED_ROWS = 10_000
"""How many rows of a default partition move into that of their month in one transaction, if there are few."""
MAX_STEPS = 30
"""Where there are many, this part of them moves at once: each time, PostgreSQL reads all that are left."""
READY_AHEAD_MS = 7 * DAY
"""A month that begins so soon and has no partitions yet is reported to operators."""
_FILLFACTORS = {"messages": 50}
"""How full pages are filled: two updates of a message then fit in its page, without new index entries."""
_NAME = re.compile(r"[a-z]+_([0-9]{6})")
_UPPER_BOUND = re.compile(r"TO \('\\x([0-9a-f]+)'\)")


class Partition(NamedTuple):
    """The partition of a month in one table."""

    table: str
    month: int

    @property
    def name(self) -> str:
        """The name of the partition."""
        return f"{self.table}_{self.month}"


class Step(NamedTuple):
    """What makes a partition, or more of it: it gets the ids from `since` on and before `until`.

    `since` is the lowest id of its month, or where the partition ends so far.
    """

    part: Partition
    since: bytes
    until: bytes

    @property
    def is_first(self) -> bool:
        """Whether it creates the partition."""
        return self.since == month_bounds(self.part.month, self.part.table)[0]


class PartitionTasks(NamedTuple):
    """What housekeeping has to do about partitions."""

    missing: list[Partition]
    """Those to be created, or completed."""
    expired: list[Partition]
    """Those to be dropped, in order."""
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
        return PartitionTasks([], [], False)
    old = tx.fetch_one(
        "select id from messages_default where id < ? limit 1", (identifiers.lowest_message_id(before),)
    )
    months = [*_crowded_months(tx, before, now), *_wanted_months(now)]
    missing = _missing_parts(tx, *months)
    expired = [part for month in expired_months(tx, before) for part in _parts(tx, month)]
    return PartitionTasks(missing, expired, old is not None)


def missing_months(tx: Tx, now: Instant) -> list[int]:
    """Return which of this month and the next ones lack partitions, or a part of one."""
    return sorted({part.month for part in _missing_parts(tx, *_wanted_months(now))})


def count_late_months(tx: Tx, now: Instant) -> int:
    """Return how many months lack partitions of those that have begun or begin soon; 0 without partitions."""
    if not is_partitioned(tx):
        return 0
    return sum(month_start(month) <= now + READY_AHEAD_MS for month in missing_months(tx, now))


@transaction(exclusive=True)
def create_ahead(tx: Tx, now: Instant) -> list[int]:
    """Create the missing partitions of this month and the next ones, and return these months; none on SQLite.

    All in one transaction, which may collide with deliveries: a running service creates them one by one.
    """
    if not is_partitioned(tx):
        return []
    _limit_lock_waits(tx)
    tx.fetch_all("select {schema_lock}")
    for table in PARTITION_KEYS:
        if not _exists(tx, f"{table}_default"):
            tx.execute(f"create table {table}_default partition of {table} default")
    missing = missing_months(tx, now)
    for month in missing:
        create_month(tx, month)
    return missing


def create_past(tx: Tx, since: Instant, now: Instant) -> list[int]:
    """Create the missing partitions of past months from `since` on, for rows that come from another store."""
    _limit_lock_waits(tx)
    tx.fetch_all("select {schema_lock}")
    months = [month_at(since)]
    while next_month(months[-1]) < month_at(now):
        months.append(next_month(months[-1]))
    missing = [month for month in months[-MAX_PAST_MONTHS:] if not _exists(tx, f"messages_{month}")]
    for month in missing:
        create_month(tx, month)
    return missing


def create_month(tx: Tx, month: int) -> None:
    """Create the partitions of a month, with its rows from the default partitions."""
    for table in PARTITION_KEYS:
        while (step := next_step(tx, Partition(table, month))) is not None:
            _take(tx, step)


def next_step(tx: Tx, part: Partition) -> Step | None:
    """Return what is to be done next for a partition; None: it is complete."""
    low, high = month_bounds(part.month, part.table)
    since = _end_of(tx, part) or low
    if since == high:
        return None
    key = PARTITION_KEYS[part.table]
    strays = f"from {part.table}_default where {key} >= ? and {key} < ?"
    (count,) = tx.fetch_all(f"select count(*) {strays}", (since, high))[0]
    some = max(MAX_MOVED_ROWS, count // MAX_STEPS)
    after = tx.fetch_one(f"select {key} {strays} order by {key} limit 1 offset ?", (since, high, some))
    return Step(part, since, after[0] if after else high)


@transaction(
    exclusive=True, reader=Reader.BACKGROUND
)  # nobody waits for it: a lock that it does not get is no outage
def take_step(tx: Tx, step: Step) -> bool:
    """Create a partition, or extend it, with the rows that the default partition has for it.

    It locks one table, before it reads anything: whoever delivers locks several, one after the other. Says no if
    another process was faster.
    """
    _limit_lock_waits(tx)
    tx.execute(f"lock table {step.part.table}{'_default' if step.is_first else ''} in access exclusive mode")
    tx.fetch_all("select {schema_lock}")
    if (_end_of(tx, step.part) or month_bounds(step.part.month, step.part.table)[0]) != step.since:
        return False
    _take(tx, step)
    return True


def _take(tx: Tx, step: Step) -> None:
    """Move the rows of a step, where no query can miss them: all happens in one transaction."""
    (table, month), name, key = step.part, step.part.name, PARTITION_KEYS[step.part.table]
    if step.is_first:
        tx.execute(f"create table {name} (like {table}) with (fillfactor = {_FILLFACTORS.get(table, 100)})")
    else:
        tx.execute(f"alter table {table} detach partition {name}")
    since, until = _literal(step.since), _literal(step.until)
    strays = f"{table}_default where {key} >= {since} and {key} < {until}"
    if tx.fetch_one(f"select 1 from {strays} limit 1"):
        tx.execute(f"insert into {name} select * from {strays}")
        tx.execute(f"delete from {strays}")
    low = _literal(month_bounds(month, table)[0])
    tx.execute(f"alter table {table} attach partition {name} for values from ({low}) to ({until})")


def expired_months(tx: Tx, before: Instant) -> list[int]:
    """Return the months that ended at `before` or earlier, oldest first."""
    rows = tx.execute_many(
        "select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid"
        " where i.inhparent::regclass::text in ({list})",
        [(table,) for table in PARTITION_KEYS],
    )
    made = {int(found[1]) for (name,) in rows if (found := _NAME.fullmatch(name))}
    return [month for month in sorted(made) if month_start(next_month(month)) <= before]


def is_droppable(tx: Tx, month: int) -> bool:
    """Return whether every message of a month has ended, and its statistics are final."""
    has_jobs = tx.fetch_one("select id from jobs where id >= ? and id < ? limit 1", month_bounds(month))
    is_open = tx.fetch_one(
        "select quarter from statistics_quarters where quarter >= ? and quarter < ? and queue_digest <> '' limit 1",
        (month_start(month), month_start(next_month(month))),
    )
    return not has_jobs and not is_open


@transaction(
    exclusive=True, reader=Reader.BACKGROUND
)  # nobody waits for it: a lock that it does not get is no outage
def drop_part(tx: Tx, part: Partition) -> bool:
    """Drop the partition of a month in one table; its messages stay in the statistics, where they were counted.

    Says no, and drops nothing, while a message of that month has not ended, or statistics of it are not final.
    Fails while a transaction such as a backup holds the locks that a drop needs.
    """
    _limit_lock_waits(tx)
    tx.execute(f"lock table {part.table} in access exclusive mode")
    tx.fetch_all("select {schema_lock}")
    if not _exists(tx, part.name) or not is_droppable(tx, part.month):
        return False
    tx.execute(f"drop table {part.name}")
    return True


def delete_expired_default_rows(
    tx: Tx, before: Instant, max_rows: int, delete_images: Callable[[Tx, bytes], None]
) -> int:
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
        delete_images(tx, request_id)
    tx.execute_many("delete from requests where id in ({list}) and id {within}", emptied)
    return len(ids) + len(emptied)


def _wanted_months(now: Instant) -> list[int]:
    """Return this month and the next ones, which have partitions."""
    wanted = [month_at(now)]
    for _ in range(MONTHS_AHEAD):
        wanted.append(next_month(wanted[-1]))
    return wanted


def _crowded_months(tx: Tx, since: Instant, now: Instant) -> list[int]:
    """Return past months with so many rows in the default partition that they deserve one of their own."""
    found, begin = [], identifiers.lowest_message_id(since)
    end = month_bounds(month_at(now))[0]
    while first := tx.fetch_one(
        "select id from messages_default where id >= ? and id < ? order by id limit 1", (begin, end)
    ):
        month = month_at(identifiers.requested_at(first[0]))
        begin, after = first[0], month_bounds(month)[1]
        few = (begin, after, MAX_MOVED_ROWS)
        if tx.fetch_one("select 1 from messages_default where id >= ? and id < ? limit 1 offset ?", few):
            found.append(month)
        begin = after
    return found


def _missing_parts(tx: Tx, *months: int) -> list[Partition]:
    """Return the partitions of months that do not exist, or do not have all of their month yet."""
    parts = [Partition(table, month) for month in months for table in PARTITION_KEYS]
    ends = _ends_of(tx, parts)
    return [part for part in parts if ends.get(part.name) != month_bounds(part.month, part.table)[1]]


def _parts(tx: Tx, month: int) -> list[Partition]:
    """Return the partitions of a month, those that refer to others first."""
    parts = [Partition(table, month) for table in reversed(PARTITION_KEYS)]
    return [part for part in parts if _exists(tx, part.name)]


def _end_of(tx: Tx, part: Partition) -> bytes | None:
    """Return the id at which a partition ends; None: there is none."""
    return _ends_of(tx, [part]).get(part.name)


def _ends_of(tx: Tx, parts: Iterable[Partition]) -> dict[str, bytes]:
    """Return the id at which each of these partitions ends that exist, by name."""
    rows = tx.execute_many(
        "select relname, pg_get_expr(relpartbound, oid) from pg_class where relispartition and relname in ({list})"
        " and pg_table_is_visible(oid)",
        [(part.name,) for part in parts],
    )
    return {name: bytes.fromhex(found[1]) for name, bound in rows if (found := _UPPER_BOUND.search(bound))}


def _literal(key: bytes) -> str:
    """Return an id as an SQL literal, because DDL takes no parameters."""
    return f"'\\x{key.hex()}'"


def _exists(tx: Tx, table: str) -> bool:
    return bool(tx.fetch_all("select to_regclass(?) is not null", (table,))[0][0])


def _limit_lock_waits(tx: Tx) -> None:
    """Give up on locks soon, because others queue behind us."""
    tx.execute("set local lock_timeout = '1s'")
    tx.execute("set local citus.multi_shard_modify_mode = 'sequential'")  # has no effect without Citus


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
