"""Token buckets of keys: grants never exceed the bucket and its refill."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pabal.domain.base.dates import HOUR, SECOND
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from tests.fixtures.virtual import NOON

KEY = 1


def until(tx: Tx) -> int:
    row = tx.fetch_one("select until_us from key_usage where key_id = ?", (KEY,))
    return row[0] if row else 0


@pytest.mark.parametrize("rate", [1, 3, 7, 100, 999, 100_000])
def test_new_bucket_holds_exactly_one_second_of_requests(tx: Tx, rate: int) -> None:
    found = accounts.take(tx, KEY, rate, rate + 5, NOON)

    assert (found.granted, found.left) == (rate, 0)
    assert accounts.take(tx, KEY, rate, 1, NOON).granted == 0


@pytest.mark.parametrize(("rate", "seconds"), [(1, 10), (3, 10), (7, 10), (100, 1), (999, 0.3), (3000, 0.3)])
def test_empty_bucket_refills_at_the_rate_and_grants_at_the_stated_time(tx: Tx, rate: int, seconds: float) -> None:
    accounts.take(tx, KEY, rate, rate, NOON)
    now, granted = NOON, 0

    while now <= NOON + seconds * SECOND:
        found = accounts.take(tx, KEY, rate, 1000, now)
        granted += found.granted
        assert found.granted or found.next_at > now
        now = found.next_at if not found.granted else now + 1

    assert seconds * rate - 1 <= granted <= seconds * rate


@pytest.mark.parametrize("rate", [1, 3, 6, 7, 49, 99])
def test_bucket_emptied_one_by_one_holds_as_much(tx: Tx, rate: int) -> None:
    found = [accounts.take(tx, KEY, rate, 1, NOON).granted for _ in range(rate + 3)]

    assert found == [1] * rate + [0] * 3


def test_remaining_tokens_are_returned_for_each_key_separately(tx: Tx) -> None:
    assert accounts.take(tx, KEY, 10, 3, NOON) == accounts.RateGrant(3, 7, NOON)
    assert accounts.take(tx, KEY, 10, 3, NOON) == accounts.RateGrant(3, 4, NOON)
    assert accounts.take(tx, 2, 10, 3, NOON).left == 7


def test_no_request_is_granted_before_the_stated_time(tx: Tx) -> None:
    accounts.take(tx, KEY, 4, 4, NOON)
    refused = accounts.take(tx, KEY, 4, 1, NOON)

    assert refused == accounts.RateGrant(0, 0, NOON + 250)
    assert accounts.take(tx, KEY, 4, 1, NOON + 249).granted == 0
    assert accounts.take(tx, KEY, 4, 1, NOON + 250).granted == 1


def test_refused_request_changes_nothing(tx: Tx) -> None:
    accounts.take(tx, KEY, 10, 10, NOON)
    before = until(tx)

    for _ in range(5):
        accounts.take(tx, KEY, 10, 10, NOON)

    assert until(tx) == before


def test_long_pause_saves_no_more_than_one_second_of_requests(tx: Tx) -> None:
    accounts.take(tx, KEY, 10, 10, NOON)

    assert accounts.take(tx, KEY, 10, 100, NOON + HOUR).granted == 10


def test_clock_set_back_an_hour_blocks_a_key_for_at_most_a_second(tx: Tx) -> None:
    accounts.take(tx, KEY, 10, 10, NOON + HOUR)

    refused = accounts.take(tx, KEY, 10, 10, NOON)

    assert (refused.granted, refused.next_at) == (0, NOON + 100)
    assert accounts.take(tx, KEY, 10, 10, NOON + SECOND).granted == 10


takes = st.lists(st.tuples(st.integers(0, 700), st.integers(1, 40), st.integers(-400, 0)), min_size=1, max_size=60)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rate=st.integers(1, 50), takes=takes)
def test_grants_never_exceed_bucket_plus_refill_with_differing_clocks(
    tx: Tx, rate: int, takes: list[tuple[int, int, int]]
) -> None:
    tx.execute("delete from key_usage")
    now, granted = NOON, list[tuple[int, int]]()

    for pause, most, behind in takes:
        now += pause
        before = until(tx)
        found = accounts.take(tx, KEY, rate, most, now + behind)
        granted.append((now, found.granted))
        assert until(tx) >= before
        assert found.granted <= most

    for start, (since, _) in enumerate(granted):
        total = 0
        for at, count in granted[start:]:
            total += count
            assert total <= rate + rate * (at - since + 400) / SECOND + 1
