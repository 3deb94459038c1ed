"""What accounts may send: limits, what is used of them, and corrections of it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.sends.account import LIMIT_BY_CODE, NO_LIMITS, AccountLimits, Limit, near_share
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, PRODUCT_BY_NUMBER, Outcome, Product
from pabal.store.accounts import setup_changes
from pabal.store.accounts.accounts import US_PER_MS
from pabal.store.engine.base import Tx, transaction
from pabal.store.rows import reader, upsert

COLUMNS = "receivers_per_second, receivers_per_day, receivers_per_month, budget_per_month, duplicate_minutes"
SHARE_FRACTION = 100
"""A process reserves up to one part in this many of what is left of a limit."""
RATE_SHARE_FRACTION = 10
"""A process reserves up to one part in this many of a second's receivers."""
SECOND_US = SECOND * US_PER_MS


class QuotaWant(NamedTuple):
    """What a process wants of a limit: how much at least, how much it waits for, and its unused share."""

    limit: Limit
    value: int
    """The limit, in the unit that is counted."""
    period: Instant
    need: int
    waiting: int
    returned: int
    """The unused share of this process in this period: it goes back first."""
    near_percent: int = 70
    """The percentage of the limit that is reported to its account, before 100."""


class QuotaGrant(NamedTuple):
    """What a process got of a limit."""

    granted: int
    used: int
    """How much all processes have reserved, with this."""
    period: Instant
    newly_near: int
    """The percentage that was reached just now, 0 for none."""


class QuotaReturn(NamedTuple):
    """An unused share that a process gives back."""

    account_id: int
    limit: Limit
    period: Instant
    amount: int


class RateShare(NamedTuple):
    """How many receivers were granted at once; if none, when the bucket is out of debt."""

    granted: int
    free_at: Instant


class LimitedAccount(NamedTuple):
    id: int
    name: str
    limits: AccountLimits


class Usage(NamedTuple):
    """How much of a limit is used in a period."""

    account_id: int
    limit: Limit
    period: Instant
    used: int


def get(tx: Tx, account_id: int) -> AccountLimits:
    row = tx.fetch_one(f"select {COLUMNS} from account_limits where account_id = ?", (account_id,))
    return AccountLimits(*row) if row else NO_LIMITS


def list_limited(tx: Tx, after: int, count: int) -> list[LimitedAccount]:
    """Return some accounts that have limits, by id, those with an id above `after`."""
    columns = ", ".join(f"l.{name}" for name in COLUMNS.split(", "))
    rows = tx.fetch_all(
        f"select a.id, a.name, {columns} from account_limits l join accounts a on a.id = l.account_id"
        " where a.id > ? and (l.receivers_per_second > 0 or l.receivers_per_day > 0 or l.receivers_per_month > 0"
        " or l.budget_per_month > 0) order by a.id limit ?",
        (after, count),
    )
    return [LimitedAccount(account_id, name, AccountLimits(*rest)) for account_id, name, *rest in rows]


def save(tx: Tx, account_id: int, limits: AccountLimits) -> None:
    """Set the limits of an account; it is told anew when it comes near them."""
    tx.execute(upsert("account_limits", "account_id", COLUMNS), (account_id, *limits))
    tx.execute("update limit_usage set notified = 0 where account_id = ?", (account_id,))
    setup_changes.record(tx, account_id)


def list_usage(tx: Tx, account_ids: Iterable[int]) -> list[Usage]:
    """Return how much of each limit of some accounts is used, of those that were used at all."""
    rows = tx.execute_list(
        "select account_id, name, period, used from limit_usage where period > 0 and account_id in ({list})",
        account_ids,
    )
    return [Usage(account_id, LIMIT_BY_CODE[name], period, used) for account_id, name, period, used in rows]


@transaction(exclusive=True)
def reserve(tx: Tx, account_id: int, wants: Sequence[QuotaWant]) -> list[QuotaGrant]:
    """Reserve shares of an account's limits: all that is needed of one, or nothing of it.

    What a period grants is never more than its limit. A process whose clock is behind counts in the period that
    others have begun.
    """
    return [_reserve(tx, account_id, want) for want in wants]


def _reserve(tx: Tx, account_id: int, want: QuotaWant) -> QuotaGrant:
    period, used, notified = _lock(tx, account_id, want.limit)
    if period < want.period:
        period, used, notified = want.period, 0, 0
    elif period == want.period:
        used = max(0, used - want.returned)
    left = max(0, want.value - used)
    if left >= want.need:
        granted = min(left, max(want.need, want.waiting, left // SHARE_FRACTION))
    else:
        granted = min(left, want.returned) if period == want.period else 0
    used += granted
    share = 100 if left < want.need else near_share(used, want.value, want.near_percent)
    newly_near = share if share > notified else 0
    tx.execute(
        "update limit_usage set period = ?, used = ?, notified = ? where account_id = ? and name = ?",
        (period, used, max(notified, share), account_id, want.limit.code),
    )
    return QuotaGrant(granted, used, period, newly_near)


@transaction(exclusive=True)
def give_back(tx: Tx, returns: Sequence[QuotaReturn]) -> None:
    """Give unused shares back, unless their period is over."""
    tx.execute_many(
        "update limit_usage set used = limit_usage.used - v.amount"
        " from (values {rows}) as v(account_id, name, period, amount)"
        " where limit_usage.account_id = v.account_id and limit_usage.name = v.name"
        " and limit_usage.period = v.period and limit_usage.used >= v.amount",
        [(each.account_id, each.limit.code, each.period, each.amount) for each in returns],
    )


def correct(tx: Tx, account_id: int, limit: Limit, period: Instant, amount: int) -> None:
    """Add to what is used of a limit, or subtract from it, unless the period is over."""
    tx.execute(
        "update limit_usage set used = case when used + ? < 0 then 0 else used + ? end"
        " where account_id = ? and name = ? and period = ?",
        (amount, amount, account_id, limit.code, period),
    )


def reserve_rate(
    tx: Tx, account_id: int, rate: int, need: int, waiting: int, max_request: int, now: Instant
) -> RateShare:
    """Grant receivers of an account's token bucket, which holds one second's worth and refills at its rate.

    A bucket that is not in debt grants all that is needed, and may be in debt afterwards. The stored value is the
    time by which all granted receivers are paid off; one that is too far ahead was written by a wrong clock.
    """
    _, until_us, _ = _lock(tx, account_id, Limit.PER_SECOND)
    now_us = now * US_PER_MS
    longest_us = SECOND_US + 2 * max(max_request, need, rate) * SECOND_US // rate
    owed_us = min(max(0, until_us - now_us), longest_us)
    if owed_us > SECOND_US:
        return RateShare(0, now + -(-(owed_us - SECOND_US) // US_PER_MS))
    free = (SECOND_US - owed_us) * rate // SECOND_US
    granted = max(need, min(free, max(waiting, rate // RATE_SHARE_FRACTION)))
    tx.execute(
        "update limit_usage set used = ? where account_id = ? and name = ?",
        (now_us + owed_us + granted * SECOND_US // rate, account_id, Limit.PER_SECOND.code),
    )
    return RateShare(granted, now)


def _lock(tx: Tx, account_id: int, limit: Limit) -> tuple[Instant, int, int]:
    """Return period, use and told percentage of a limit, and lock its row until the transaction ends."""
    row = tx.fetch_one(
        "insert into limit_usage (account_id, name, period, used, notified) values (?, ?, 0, 0, 0)"
        " on conflict (account_id, name) do update set used = limit_usage.used returning period, used, notified",
        (account_id, limit.code),
    )
    assert row is not None
    return row[0], row[1], row[2]


class EndedGroup(NamedTuple):
    """Messages that ended alike, as versions recorded them that left their amount to the correction."""

    product: Product
    is_fallback: bool
    """Whether they were fallbacks, for which nothing was reserved."""
    carrier: str | None
    """The carrier that took them; None: none did."""
    outcome: Outcome | None
    """None: they were cancelled."""
    messages: int


_read_ended = reader(
    EndedGroup,
    product=PRODUCT_BY_NUMBER.__getitem__,
    is_fallback=bool,
    outcome=lambda number: None if number is None else OUTCOME_BY_NUMBER[number],
)
_CORRECTION = "account_id, requested_at, amount, product, is_fallback, carrier, outcome, messages"
_NOBODY = EndedGroup(Product.SMS, True, None, None, 0)
"""Changes nothing where a version corrects it that does not know amounts."""


class BudgetCorrection(NamedTuple):
    """What messages of one request add to the budget that was reserved for them."""

    account_id: int
    requested_at: Instant
    amount: int | None
    """In hundredths of a won; None: it follows from how they ended."""
    ended: EndedGroup = _NOBODY


def accounts_with_budget(tx: Tx) -> set[int]:
    return set(tx.fetch_values("select account_id from account_limits where budget_per_month > 0"))


def add(tx: Tx, corrections: Sequence[BudgetCorrection]) -> None:
    """Add corrections as rows, so that workers do not wait for one counter."""
    for each in corrections:
        product, is_fallback, carrier, outcome, messages = each.ended
        ended = (product.number, int(is_fallback), carrier, outcome.number if outcome else None, messages)
        tx.execute(
            f"insert into budget_corrections ({_CORRECTION}) values (?, ?, ?, ?, ?, ?, ?, ?)", (*each[:3], *ended)
        )


def take(tx: Tx, limit: int) -> list[BudgetCorrection]:
    """Remove some of the oldest entries and return them."""
    rows = tx.fetch_all(
        "delete from budget_corrections where id in (select id from budget_corrections order by id limit ?)"
        f" returning {_CORRECTION}",
        (limit,),
    )
    return [BudgetCorrection._make((*row[:3], _read_ended(row[3:]))) for row in rows]
