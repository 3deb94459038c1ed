"""Limits of accounts in the store: shares are reserved within the limit, and rates by a bucket in debt or not."""

from pabal.domain.base.dates import DAY, SECOND
from pabal.domain.sends.account import NO_LIMITS, AccountLimits, Limit
from pabal.store.accounts import account_limits, accounts
from pabal.store.accounts.account_limits import QuotaGrant, QuotaReturn, QuotaWant
from pabal.store.engine.base import Tx
from tests.fixtures.virtual import NOON


def ask(
    tx: Tx, need: int, limit: int = 1000, *, waiting: int = 0, returned: int = 0, period: int = NOON
) -> QuotaGrant:
    want = QuotaWant(Limit.PER_DAY, limit, period, need, waiting, returned)
    return account_limits.reserve(tx, 1, [want])[0]


def test_limits_are_stored_and_replaced(tx: Tx) -> None:
    account = accounts.ensure_account(tx, "acme", NOON)
    assert account_limits.get(tx, account) == NO_LIMITS

    account_limits.save(tx, account, AccountLimits(1, 2, 3, 4, None))
    account_limits.save(tx, account, AccountLimits(5, 6, 0, 10**12, 30))

    assert account_limits.get(tx, account) == AccountLimits(5, 6, 0, 10**12, 30)


def test_share_is_a_hundredth_of_what_is_left(tx: Tx) -> None:
    assert ask(tx, 1).granted == 10
    assert ask(tx, 1, waiting=30).granted == 30
    assert ask(tx, 500).granted == 500
    assert ask(tx, 1).granted == 4


def test_more_than_what_is_left_grants_nothing(tx: Tx) -> None:
    ask(tx, 995)

    refused = ask(tx, 6)

    assert (refused.granted, refused.used) == (0, 995)
    assert ask(tx, 5).granted == 5
    assert ask(tx, 1).granted == 0


def test_unused_share_comes_back_with_the_next_request(tx: Tx) -> None:
    held = ask(tx, 1).granted

    assert ask(tx, 1000, returned=held).granted == 1000


def test_refused_process_keeps_its_unused_share(tx: Tx) -> None:
    ask(tx, 990)

    assert ask(tx, 21, returned=10).granted == 10


def test_new_period_starts_from_zero_and_old_one_is_over(tx: Tx) -> None:
    ask(tx, 1000)

    assert ask(tx, 400, period=NOON + DAY).used == 400
    behind = ask(tx, 600, returned=50)

    assert (behind.granted, behind.period) == (600, NOON + DAY)
    assert ask(tx, 1, period=NOON + DAY).granted == 0


def test_shares_given_back_count_in_their_period_only(tx: Tx) -> None:
    ask(tx, 1000)
    account_limits.give_back(tx, [QuotaReturn(1, Limit.PER_DAY, NOON, 300)])
    assert ask(tx, 300).granted == 300

    account_limits.give_back(tx, [QuotaReturn(1, Limit.PER_DAY, NOON - DAY, 300)])

    assert ask(tx, 1).granted == 0


def test_near_is_told_once_at_70_and_100_percent(tx: Tx) -> None:
    told = [ask(tx, each).newly_near for each in (600, 90, 10, 50, 250, 1)]

    assert told == [0, 0, 70, 0, 100, 0]


def test_refusal_tells_that_the_limit_is_reached(tx: Tx) -> None:
    assert [ask(tx, each).newly_near for each in (990, 11, 11)] == [70, 100, 0]


def test_new_limits_are_told_anew(tx: Tx) -> None:
    account = accounts.ensure_account(tx, "acme", NOON)
    want = QuotaWant(Limit.PER_DAY, 100, NOON, 100, 0, 0)
    assert account_limits.reserve(tx, account, [want])[0].newly_near == 100

    account_limits.save(tx, account, AccountLimits(0, 200))

    more = want._replace(value=200, need=50)
    assert account_limits.reserve(tx, account, [more])[0].newly_near == 70


def take(tx: Tx, need: int, at: int, rate: int = 100) -> int:
    return account_limits.reserve_rate(tx, 1, rate, need, 0, 1000, at).granted


def test_bucket_that_is_not_in_debt_takes_a_whole_request(tx: Tx) -> None:
    assert take(tx, 1000, NOON) == 1000

    refused = account_limits.reserve_rate(tx, 1, 100, 1, 0, 1000, NOON)
    assert (refused.granted, refused.free_at) == (0, NOON + 9 * SECOND)
    assert take(tx, 1, NOON + 9 * SECOND - 1) == 0
    assert take(tx, 1, NOON + 9 * SECOND) == 1


def test_long_run_of_requests_keeps_to_the_rate(tx: Tx) -> None:
    granted = sum(take(tx, 30, NOON + 10 * step) for step in range(1000))

    assert 100 * 10 <= granted <= 100 * 11 + 30


def test_rate_recovers_from_a_clock_that_was_set_back(tx: Tx) -> None:
    take(tx, 1000, NOON + DAY)

    assert account_limits.reserve_rate(tx, 1, 100, 1, 0, 1000, NOON).free_at <= NOON + 20 * SECOND
