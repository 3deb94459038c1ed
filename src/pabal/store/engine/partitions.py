"""Months: on PostgreSQL, what follows from a request lies in tables of its month, made ahead and dropped whole.

An id begins with the time of its request, so that a month (in UTC) is a range of ids. What no month was made for
goes into the tables called `…_rest`. SQLite has no such tables.
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.dates import SECOND, Instant
from pabal.store.engine.base import Tx, done_alone, takes_its_time

KEYS = {"requests": "id", "images": "request_id", "messages": "id", "attempts": "message_id"}
"""The tables that are kept by month, each with the id that says which."""
OF_REQUESTS = ("requests", "images")
"""Those among them whose id is that of a request, which is shorter."""
AHEAD = 2
"""So many months after this one are made ahead."""
MOST_MOVED = 10_000
"""A month that has more rows in a table of the rest than this stays there."""
_FULL = {"messages": 50}
"""How full pages are made: a message changes twice, and finds room beside itself, without new index entries."""
_NAME = re.compile(r"messages_([0-9]{6})")

Counts = dict[tuple[int, int, int, int, int], int]
"""How many messages there were, by month, account, product, status and outcome (0: none)."""


class Chores(NamedTuple):
    """What there is to do: whether months are missing, which are over, whether some rows in no month are old."""

    are_missing: bool
    over: list[int]
    has_old_strays: bool


def month_at(at: Instant) -> int:
    """Return the month of an instant: 202611."""
    then = datetime.fromtimestamp(at // SECOND, UTC)
    return then.year * 100 + then.month


def following(month: int) -> int:
    """Return the next month."""
    return month + 1 if month % 100 < 12 else month + 89


def begin_of(month: int) -> Instant:
    """Return the first instant of a month."""
    return int(datetime(month // 100, month % 100, 1, tzinfo=UTC).timestamp()) * SECOND


def bounds(month: int, table: str = "messages") -> tuple[bytes, bytes]:
    """Return the lowest id that a table may have of a month, and of the next month."""
    low, high = (identifiers.first_since(begin_of(each)) for each in (month, following(month)))
    size = identifiers.REQUEST_ID_BYTES if table in OF_REQUESTS else identifiers.MESSAGE_ID_BYTES
    return low[:size], high[:size]


def are_kept(tx: Tx) -> bool:
    """Say whether this store has months."""
    return bool(tx.rows("select {has_months}")[0][0])


def chores(tx: Tx, now: Instant, before: Instant) -> Chores:
    """Return what there is to do if all that is older than `before` is to go; nothing in a store without months."""
    if not are_kept(tx):
        return Chores(False, [], False)
    old = tx.row("select id from messages_rest where id < ? limit 1", (identifiers.first_since(before),))
    return Chores(bool(missing(tx, now)), over(tx, before), old is not None)


def missing(tx: Tx, now: Instant) -> list[int]:
    """Return which of this month and those ahead are not made yet."""
    wanted = [month_at(now)]
    for _ in range(AHEAD):
        wanted.append(following(wanted[-1]))
    return [month for month in wanted if not _exists(tx, f"messages_{month}")]


@done_alone
def make_ahead(tx: Tx, now: Instant) -> list[int]:
    """Make this month and those ahead, where they are missing, and return them; SQLite has none.

    Another month may be made with `make`.
    """
    if not are_kept(tx):
        return []
    _wait_briefly(tx)
    for table in KEYS:
        if not _exists(tx, f"{table}_rest"):
            tx.run(f"create table {table}_rest partition of {table} default")
    return [month for month in missing(tx, now) if make(tx, month)]


def make(tx: Tx, month: int) -> bool:
    """Make the tables of a month; say no where too many of its rows are in those of the rest.

    A few are moved. The tables are made first and attached then: that locks those of the rest alone.
    """
    strays = {table: _strays(tx, table, month) for table in KEYS}
    if any(count > MOST_MOVED for count in strays.values()):
        return False
    for table in KEYS:
        name = f"{table}_{month}"
        low, high = _literals(month, table)
        tx.run(f"create table {name} (like {table}) with (fillfactor = {_FULL.get(table, 100)})")
        if strays[table]:
            tx.run(f"insert into {name} select * from {_in_rest(table, month)}")
            tx.run(f"delete from {_in_rest(table, month)}")
        tx.run(f"alter table {table} attach partition {name} for values from ({low}) to ({high})")
    return True


def over(tx: Tx, before: Instant) -> list[int]:
    """Return the months that ended at `before` or earlier, oldest first."""
    rows = tx.rows(
        "select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid"
        " where i.inhparent = 'messages'::regclass"
    )
    made = sorted(int(found[1]) for (name,) in rows if (found := _NAME.fullmatch(name)))
    return [month for month in made if begin_of(following(month)) <= before]


@done_alone
@takes_its_time
def drop(tx: Tx, month: int) -> bool:
    """Drop a month, whatever it held, and keep how many messages ended how.

    Says no, and drops nothing, while one of its messages has not ended.
    """
    _wait_briefly(tx)
    if not _exists(tx, f"messages_{month}"):
        return False
    if tx.row("select id from jobs where id >= ? and id < ? limit 1", bounds(month)):
        return False
    tx.run("set local enable_seqscan = on")
    rows = tx.rows(
        "select account_id, product, status, coalesce(outcome, 0), count(*)"
        f" from messages_{month} group by account_id, product, status, coalesce(outcome, 0)"
    )
    _add(tx, {(month, *row[:4]): row[4] for row in rows})
    for table in KEYS:
        tx.run(f"drop table {table}_{month}")
    return True


def forget_strays(tx: Tx, before: Instant, most: int) -> int:
    """Drop some of what is older than `before` and in no month, but for how messages ended; return how many."""
    limit = identifiers.first_since(before)
    rows = tx.rows(
        "select id, account_id, product, status, coalesce(outcome, 0) from messages_rest"
        " where id < ? order by id limit ?",
        (limit, most),
    )
    going = _without_jobs(tx, [row[0] for row in rows])
    _add(tx, Counter((month_at(identifiers.requested_at(row[0])), *row[1:]) for row in rows if row[0] in going))
    ids = [(one,) for one in sorted(going)]
    tx.rows_each("delete from attempts where message_id in ({list}) and message_id {within}", ids)
    tx.rows_each("delete from messages where id in ({list}) and id {within}", ids)
    emptied = tx.rows(
        "select r.id from requests_rest r where r.id < ? and not exists (select 1 from messages m"
        " where m.id between r.id || '\\x000000' and r.id || '\\xffffff' and m.slot = r.slot)"
        " order by r.id limit ?",
        (limit, most),
    )
    tx.rows_each("delete from images where request_id in ({list}) and request_id {within}", emptied)
    tx.rows_each("delete from requests where id in ({list}) and id {within}", emptied)
    return len(ids) + len(emptied)


def counts(tx: Tx) -> Counts:
    """Return how many messages of months that were dropped ended how."""
    rows = tx.rows("select month, account_id, product, status, outcome, messages from month_counts")
    return {row[:5]: row[5] for row in rows}


def _add(tx: Tx, counted: Counts) -> None:
    tx.rows_each(
        "insert into month_counts (month, account_id, product, status, outcome, messages)"
        " select v.* from (values {rows}) as v where true"
        " on conflict (month, account_id, product, status, outcome)"
        " do update set messages = month_counts.messages + excluded.messages",
        [(*key, count) for key, count in counted.items()],
    )


def _without_jobs(tx: Tx, ids: Iterable[bytes]) -> set[bytes]:
    ids = list(ids)
    rows = tx.rows_each("select id from jobs where id in ({list})", [(one,) for one in ids])
    return set(ids) - {row[0] for row in rows}


def _strays(tx: Tx, table: str, month: int) -> int:
    """Return how many rows of a month are in a table of the rest, as far as it matters."""
    few = f"select 1 from {_in_rest(table, month)} limit {MOST_MOVED + 1}"
    return int(tx.rows(f"select count(*) from ({few}) as few")[0][0])


def _in_rest(table: str, month: int) -> str:
    low, high = _literals(month, table)
    return f"{table}_rest where {KEYS[table]} >= {low} and {KEYS[table]} < {high}"


def _literals(month: int, table: str) -> tuple[str, str]:
    """Return the bounds of a month spelled out: a table is made by words alone."""
    low, high = bounds(month, table)
    return f"'\\x{low.hex()}'", f"'\\x{high.hex()}'"


def _exists(tx: Tx, table: str) -> bool:
    return bool(tx.rows("select to_regclass(?) is not null", (table,))[0][0])


def _wait_briefly(tx: Tx) -> None:
    """Take turns with others who change tables, and do not have everyone wait behind us for long."""
    tx.run("set local lock_timeout = '1s'")
    tx.run("set local citus.multi_shard_modify_mode = 'sequential'")  # without Citus it means nothing
    tx.rows("select {schema_lock}")
