"""Statistics: messages counted by the quarter of an hour in which they were requested."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from pabal.domain.base import identifiers
from pabal.domain.base.dates import MINUTE, Instant, Period, month_of
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.rows import select, upsert

QUARTER = 15 * MINUTE
"""A quarter of an hour: days begin with one in every time zone."""
OPEN_PREFIX = "open "
"""The prefix of a queue digest while messages may still be added to its quarter."""

OTHERS = "*"
OTHER_KEYS = -1
"""Stand for templates, senders, keys and users that are not counted one by one, because there are so many."""

_DELIVERED = Outcome.DELIVERED.number
_TEXTS = ", ".join(str(each.number) for each in Product if each.is_text)
_IS_FALLBACK = f"g.product in ({_TEXTS}) and r.product not in ({_TEXTS})"
_NOT_MEANT_TO_BE_SENT = ", ".join(str(each.number) for each in (Outcome.OPTED_OUT, Outcome.DUPLICATE))
_DELIVERED_OR_FAILED = ", ".join(str(each.number) for each in (Status.COMPLETED, Status.FAIL))
_SENDER = "coalesce(r.channel_id, r.sender, '')"


class CountedQuarter(NamedTuple):
    """A counted quarter: the digest of its jobs, when it was counted, and how long that took."""

    quarter: Instant
    queue_digest: str
    counted_at: Instant
    duration_ms: int


class StatisticsGroup(NamedTuple):
    """What messages that are counted together have in common, as stored values."""

    account_id: int
    product: int
    status: int
    outcome: int
    """0: none."""
    template_code: str
    """Empty: none; OTHERS: one of many."""
    sender: str
    """The number or channel that the receiver sees."""
    key_id: int
    """0: none; OTHER_KEYS: one of many."""
    carrier: str
    """The carrier that decided how they ended; empty: none did."""
    user_id: int = 0
    """Who requested them in the console; 0: none; OTHER_KEYS: one of many."""


class GroupCounts(NamedTuple):
    """The messages of a group, how many of them are fallbacks, and what they have cost."""

    messages: int
    fallbacks: int = 0
    reached: int = 0
    """How many of those that are no fallbacks were delivered, or their fallback was."""
    cost: int | None = None
    """In hundredths of a won; None: no price is known."""

    def plus(self, other: "GroupCounts") -> "GroupCounts":
        """Return the counts of both."""
        costs = [each for each in (self.cost, other.cost) if each is not None]
        return GroupCounts(
            self.messages + other.messages,
            self.fallbacks + other.fallbacks,
            self.reached + other.reached,
            sum(costs) if costs else None,
        )


CountedGroups = dict[StatisticsGroup, GroupCounts]


_GROUP = ", ".join(StatisticsGroup._fields)
_COUNTS = ", ".join(GroupCounts._fields)


class PeriodCounts(NamedTuple):
    """The counts of one group of messages in one period."""

    since: Instant
    group: tuple[Any, ...]
    """The stored values that its messages have in common."""
    by_status: tuple[int, ...]
    """How many have each status, in the order of Status."""
    counts: GroupCounts
    receivers: int = 0
    """How many of those that are no fallbacks were delivered or have failed: a rate is of these."""


def quarter_start(at: Instant) -> Instant:
    """Return the first instant of the quarter of an instant."""
    return at - at % QUARTER


@transaction(reader=Reader.BACKGROUND)
def first_request_at(tx: Tx, since: Instant, until: Instant) -> Instant | None:
    """Return when the first message in a period was requested."""
    sql = "select id from messages where id >= ? and id < ? order by id limit 1"
    first = tx.fetch_value(sql, _bounds(since, until))
    return None if first is None else identifiers.requested_at(first)


@transaction(reader=Reader.BACKGROUND)
def queue_digest(tx: Tx, since: Instant, until: Instant) -> str:
    """Return a digest of the jobs of messages requested in a period; empty where all have ended.

    A claim, a verdict, an end and a fallback change it, because each changes the time of a job.
    """
    (jobs, attempts, times) = tx.fetch_all(
        "select count(*), sum(attempt), sum(ready_at % 86400000) from jobs where id >= ? and id < ?",
        _bounds(since, until),
    )[0]
    return f"{jobs} {attempts} {times}" if jobs else ""


@transaction(reader=Reader.BACKGROUND)
def count_messages(tx: Tx, since: Instant, until: Instant) -> CountedGroups:
    """Return the messages requested in a period, counted by group; each request is looked up once."""
    low, high = _bounds(since, until)
    rows = tx.fetch_all(
        f"select g.account_id, g.product, g.status, g.outcome,"
        f" case when {_IS_FALLBACK} then '' else coalesce(r.template_code, '') end,"
        f" case when {_IS_FALLBACK} then coalesce(r.fallback_sender, '') else {_SENDER} end,"
        f" coalesce(r.key_id, 0), g.carrier, coalesce(r.user_id, 0), sum(g.messages),"
        f" sum(case when {_IS_FALLBACK} then g.messages else 0 end),"
        f" sum(case when g.outcome = {_DELIVERED} and not ({_IS_FALLBACK}) then g.messages else 0 end), sum(g.cost)"
        " from (select substr(m.id, 1, 13) as request_id{and_slot}, m.account_id, m.product, m.status,"
        " coalesce(m.outcome, 0) as outcome, coalesce(m.carrier, '') as carrier, count(*) as messages,"
        " sum(m.cost) as cost from messages m where m.id >= ? and m.id < ?"
        " group by substr(m.id, 1, 13){and_slot}, m.account_id, m.product, m.status, coalesce(m.outcome, 0),"
        " coalesce(m.carrier, '')) as g"
        " left join {request_of_group} on {is_of_group} and r.id >= ? and r.id < ?"
        " group by 1, 2, 3, 4, 5, 6, 7, 8, 9",
        (low, high, *_request_bounds(low, high)),
    )
    found = {StatisticsGroup(*row[:9]): _counts_of(row[9:]) for row in rows}
    if any(counts.fallbacks and group.outcome == _DELIVERED for group, counts in found.items()):
        _add_reached_by_fallbacks(tx, low, high, found)
    return found


def _add_reached_by_fallbacks(tx: Tx, low: bytes, high: bytes, found: CountedGroups) -> None:
    """Count the failed messages whose fallback was delivered as reached."""
    rows = tx.fetch_all(
        f"select g.id, r.total, g.account_id, coalesce(r.template_code, ''), {_SENDER}, coalesce(r.key_id, 0),"
        " coalesce(r.user_id, 0)"
        " from (select id, substr(id, 1, 13) as request_id{and_slot}, account_id from messages"
        f" where id >= ? and id < ? and outcome = {_DELIVERED} and product in ({_TEXTS})) as g"
        " cross join {request_of_group}"  # SQLite must not look through all messages for each request
        f" where {{is_of_group}} and r.id >= ? and r.id < ? and r.product not in ({_TEXTS})",
        (low, high, *_request_bounds(low, high)),
    )
    shared = {
        identifiers.make_message_id(
            identifiers.request_id_of(one), max(0, identifiers.number_of(one) - total)
        ): said
        for one, total, *said in rows
    }
    origins = tx.execute_list(
        "select id, product, status, coalesce(outcome, 0), coalesce(carrier, '') from messages"
        " where id in ({list}) and id {within} and slot {same_slot}",
        sorted(shared),
    )
    for one, product, status, outcome, carrier in origins:
        account_id, template_code, sender, key_id, user_id = shared[one]
        group = StatisticsGroup(
            account_id, product, status, outcome, template_code, sender, key_id, carrier, user_id
        )
        if group in found:  # else it has changed since the first statement
            found[group] = found[group].plus(GroupCounts(0, reached=1))


def save(tx: Tx, counted: CountedQuarter, found: Mapping[StatisticsGroup, GroupCounts]) -> None:
    """Replace the statistics of a quarter."""
    tx.execute("delete from statistics where quarter = ?", (counted.quarter,))
    tx.execute_many(
        f"insert into statistics (quarter, {_GROUP}, {_COUNTS})"
        f" select ?, {', '.join(f'v.{each}' for each in (*StatisticsGroup._fields, *GroupCounts._fields[:-1]))},"
        f" v.cost{{as_big}} from (values {{rows}}) as v({_GROUP}, {_COUNTS})",
        [(*group, *counts) for group, counts in found.items()],
        (counted.quarter,),
    )
    tx.execute(upsert("statistics_quarters", "quarter", "queue_digest, counted_at, duration_ms"), counted)


def list_unfinished(tx: Tx) -> list[CountedQuarter]:
    """Return the quarters that must be counted again, oldest first."""
    return select(CountedQuarter, "statistics_quarters").fetch_all(tx, "where queue_digest <> '' order by quarter")


def counted_as_of(tx: Tx) -> Instant | None:
    """Return when the open quarters were counted last; None where nothing was requested lately."""
    return tx.fetch_value(
        "select min(counted_at) from statistics_quarters where queue_digest >= ? and queue_digest < ?",
        (OPEN_PREFIX, OPEN_PREFIX + "a"),
    )


class AccountFailures(NamedTuple):
    """How many messages of an account have ended, and how many of them have failed."""

    account_id: int
    ended: int
    failed: int


@transaction(reader=Reader.BACKGROUND)
def count_failures(tx: Tx, since: Instant) -> list[AccountFailures]:
    """Return how the messages requested since an instant have ended, by account.

    Those that were not to be sent, because the receiver opted out or has the same text, do not count.
    """
    rows = tx.fetch_all(
        "select account_id, sum(messages), sum(case when status = ? then messages else 0 end) from statistics"
        f" where quarter >= ? and status in (?, ?) and outcome not in ({_NOT_MEANT_TO_BE_SENT})"
        " group by account_id",
        (Status.FAIL.number, since, Status.COMPLETED.number, Status.FAIL.number),
    )
    return [AccountFailures(account_id, int(ended), int(failed)) for account_id, ended, failed in rows]


def list_groups(
    tx: Tx, account_id: int, periods: Sequence[Period], columns: Sequence[str], most: int
) -> list[PeriodCounts]:
    """Return the counts of an account by period and by these columns of StatisticsGroup, in order, up to `most`."""
    names = "".join(f", s.{each}" for each in columns)
    statuses = ", ".join(f"sum(case when s.status = {each.number:d} then s.messages else 0 end)" for each in Status)
    receivers = f"sum(case when s.status in ({_DELIVERED_OR_FAILED}) then s.messages - s.fallbacks else 0 end)"
    rows = tx.execute_many(
        f"select v.since{names}, {statuses}, {receivers},"
        " sum(s.messages), sum(s.fallbacks), sum(s.reached), sum(s.cost)"
        " from (values {rows}) as v(since, until) cross join statistics s"
        f" where s.account_id = {account_id:d} and s.quarter >= v.since and s.quarter < v.until"
        f" group by v.since{names} order by v.since{names} limit {most:d}",
        [(int(each.start or 0), int(each.end or 0)) for each in periods],
    )
    own, by_status = 1 + len(columns), 1 + len(columns) + len(Status)
    return [
        PeriodCounts(
            row[0],
            tuple(row[1:own]),
            tuple(map(int, row[own:by_status])),
            _counts_of(row[by_status + 1 :]),
            int(row[by_status]),
        )
        for row in rows[:most]
    ]


def merge_old(tx: Tx, before: Instant, zone: ZoneInfo, limit: int) -> int:
    """Merge some final quarters older than `before` into the first one of their month; return how many.

    So the statistics of a month stay, also when its messages are gone.
    """
    old = tx.fetch_all(
        "select quarter from statistics_quarters where quarter < ? and queue_digest = '' order by quarter limit ?",
        (before, limit),
    )
    by_month: dict[Instant, list[tuple[Instant]]] = {}
    for (quarter,) in old:
        first = int(month_of(quarter, zone).start or 0)
        by_month.setdefault(first, []).extend([(quarter,)] if quarter != first else [])
    for first, quarters in by_month.items():
        tx.execute_many(
            f"insert into statistics (quarter, {_GROUP}, {_COUNTS})"
            f" select ?, {_GROUP}, sum(messages), sum(fallbacks), sum(reached), sum(cost) from statistics"
            f" where quarter in ({{list}}) group by {_GROUP} on conflict (quarter, {_GROUP}) do update set"
            " messages = statistics.messages + excluded.messages,"
            " fallbacks = statistics.fallbacks + excluded.fallbacks,"
            " reached = statistics.reached + excluded.reached,"
            " cost = coalesce(statistics.cost + excluded.cost, statistics.cost, excluded.cost)",
            quarters,
            (first,),
        )
        tx.execute_many("delete from statistics where quarter in ({list})", quarters)
    tx.execute_many("delete from statistics_quarters where quarter in ({list})", old)
    return len(old)


def _counts_of(row: Sequence[Any]) -> GroupCounts:
    messages, fallbacks, reached, cost = row
    return GroupCounts(int(messages), int(fallbacks), int(reached), None if cost is None else int(cost))


def _request_bounds(low: bytes, high: bytes) -> tuple[bytes, bytes]:
    return low[: identifiers.REQUEST_ID_BYTES], high[: identifiers.REQUEST_ID_BYTES]


def _bounds(since: Instant, until: Instant) -> tuple[bytes, bytes]:
    return identifiers.lowest_message_id(since), identifiers.lowest_message_id(until)
