"""Statistics: messages counted by the quarter of an hour in which they were requested."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.dates import MINUTE, Instant, Period
from pabal.store.engine.base import Tx, transaction

QUARTER = 15 * MINUTE
"""A quarter of an hour: days begin with one in every time zone."""
OPEN_PREFIX = "open "
"""The prefix of a queue digest while messages may still be added to its quarter."""

StatisticsKey = tuple[int, int, int]
"""Numbers of product, status and outcome (0: none)."""


class CountedQuarter(NamedTuple):
    """A counted quarter: the digest of its jobs, when it was counted, and how long that took."""

    quarter: Instant
    queue_digest: str
    counted_at: Instant
    duration_ms: int


class MessageCount(NamedTuple):
    """How many messages an account has with a product, a status and an outcome (0: none)."""

    account_id: int
    product: int
    status: int
    outcome: int
    messages: int


def quarter_start(at: Instant) -> Instant:
    """Return the first instant of the quarter of an instant."""
    return at - at % QUARTER


@transaction(background=True)
def first_request_at(tx: Tx, since: Instant, until: Instant) -> Instant | None:
    """Return when the first message in a period was requested."""
    row = tx.fetch_one(
        "select id from messages where id >= ? and id < ? order by id limit 1", _bounds(since, until)
    )
    return identifiers.requested_at(row[0]) if row else None


@transaction(background=True)
def queue_digest(tx: Tx, since: Instant, until: Instant) -> str:
    """Return a digest of the jobs of messages requested in a period; empty where all have ended.

    A claim, a verdict, an end and a fallback change it, because each changes the time of a job.
    """
    (jobs, attempts, times) = tx.fetch_all(
        "select count(*), sum(attempt), sum(ready_at % 86400000) from jobs where id >= ? and id < ?",
        _bounds(since, until),
    )[0]
    return f"{jobs} {attempts} {times}" if jobs else ""


@transaction(background=True)
def count_messages(tx: Tx, since: Instant, until: Instant) -> list[MessageCount]:
    """Return the number of messages requested in a period, by account, product, status and outcome."""
    rows = tx.fetch_all(
        "select account_id, product, status, coalesce(outcome, 0), count(*) from messages"
        " where id >= ? and id < ? group by account_id, product, status, coalesce(outcome, 0)",
        _bounds(since, until),
    )
    return [MessageCount(*row) for row in rows]


def save(tx: Tx, counted: CountedQuarter, found: Mapping[tuple[int, int, int, int], int]) -> None:
    """Replace the statistics of a quarter."""
    tx.execute("delete from statistics where quarter = ?", (counted.quarter,))
    tx.execute_many(
        "insert into statistics (quarter, account_id, product, status, outcome, messages)"
        " select v.quarter, v.account_id, v.product, v.status, v.outcome, v.messages"
        " from (values {rows}) as v(quarter, account_id, product, status, outcome, messages)",
        [(counted.quarter, *key, number) for key, number in sorted(found.items())],
    )
    tx.execute(
        "insert into statistics_quarters (quarter, queue_digest, counted_at, duration_ms) values (?, ?, ?, ?)"
        " on conflict (quarter) do update set queue_digest = excluded.queue_digest,"
        " counted_at = excluded.counted_at, duration_ms = excluded.duration_ms",
        counted,
    )


def list_unfinished(tx: Tx) -> list[CountedQuarter]:
    """Return the quarters that must be counted again, oldest first."""
    rows = tx.fetch_all(
        "select quarter, queue_digest, counted_at, duration_ms from statistics_quarters where queue_digest <>"
        " '' order by quarter"
    )
    return [CountedQuarter(*row) for row in rows]


def counted_as_of(tx: Tx) -> Instant | None:
    """Return when the open quarters were counted last; None where nothing was requested lately."""
    row = tx.fetch_one(
        "select min(counted_at) from statistics_quarters where queue_digest >= ? and queue_digest < ?",
        (OPEN_PREFIX, OPEN_PREFIX + "a"),
    )
    return row[0] if row else None


def count_by_account(tx: Tx, account_id: int, periods: Sequence[Period]) -> list[dict[StatisticsKey, int]]:
    """Return for each period the number of an account's messages by product, status and outcome."""
    return [
        {
            (product, status, outcome): int(messages)
            for product, status, outcome, messages in tx.fetch_all(
                "select product, status, outcome, sum(messages) from statistics"
                " where account_id = ? and quarter >= ? and quarter < ? group by product, status, outcome",
                (account_id, period.start, period.end),
            )
        }
        for period in periods
    ]


def delete_old(tx: Tx, before: Instant, limit: int) -> int:
    """Delete some quarters older than `before`; return how many."""
    old = tx.fetch_all(
        "select quarter from statistics_quarters where quarter < ? order by quarter limit ?", (before, limit)
    )
    _delete(tx, old)
    return len(old)


def _delete(tx: Tx, quarters: Iterable[tuple[Instant]]) -> None:
    quarters = list(quarters)
    tx.execute_many("delete from statistics where quarter in ({list})", quarters)
    tx.execute_many("delete from statistics_quarters where quarter in ({list})", quarters)


def _bounds(since: Instant, until: Instant) -> tuple[bytes, bytes]:
    return identifiers.lowest_message_id(since), identifiers.lowest_message_id(until)
