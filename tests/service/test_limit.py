"""Rates: a second's worth at once, then evenly, and no more after a long pause than after a short one."""

import itertools

import pytest

from pabal.service.limit import MAX_BUCKETS, Limiter
from pabal.world import RealWorld


class Clock(RealWorld):
    """A world whose stopwatch stands still until it is moved."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def stopwatch(self) -> float:
        return self.seconds


def granted(limiter: Limiter, times: int, rate: int, key: int = 1) -> int:
    return sum(limiter.take(key, rate).is_granted for _ in range(times))


@pytest.mark.parametrize("rate", [1, 2, 10, 1000])
def test_a_seconds_worth_is_granted_at_once_and_no_more(rate: int) -> None:
    limiter = Limiter(Clock())

    assert granted(limiter, rate + 50, rate) == rate


@pytest.mark.parametrize("rate", [1, 7, 100])
def test_afterwards_requests_pass_evenly_at_the_rate(rate: int) -> None:
    clock = Clock()
    limiter = Limiter(clock)
    granted(limiter, rate, rate)

    passed = []
    for step in range(1, 40 * rate + 1):  # four times as often as allowed, for ten seconds
        clock.seconds = step / (4 * rate)
        if limiter.take(1, rate).is_granted:
            passed.append(clock.seconds)

    assert 10 * rate - 1 <= len(passed) <= 10 * rate
    gaps = [after - before for before, after in itertools.pairwise(passed)]
    assert max(gaps) <= 1.5 / rate + 1e-9


def test_a_long_pause_saves_up_no_more_than_a_second() -> None:
    clock = Clock()
    limiter = Limiter(clock)
    granted(limiter, 10, 10)

    clock.seconds += 86_400

    assert granted(limiter, 100, 10) == 10


def test_refused_requests_cost_nothing() -> None:
    clock = Clock()
    limiter = Limiter(clock)
    granted(limiter, 10, 10)
    granted(limiter, 1000, 10)

    clock.seconds += 0.1001

    assert granted(limiter, 5, 10) == 1


def test_each_key_has_a_bucket_of_its_own() -> None:
    limiter = Limiter(Clock())
    granted(limiter, 10, 10, key=1)

    assert granted(limiter, 10, 10, key=2) == 10
    assert granted(limiter, 10, 10, key=1) == 0


def test_what_is_left_and_when_to_come_back_is_told() -> None:
    clock = Clock()
    limiter = Limiter(clock)

    first = limiter.take(1, 4)
    assert (first.is_granted, first.limit, first.remaining) == (True, 4, 3)
    assert first.reset_s == pytest.approx(0.25)
    assert first.retry_after_s == 0

    granted(limiter, 3, 4)
    refused = limiter.take(1, 4)
    assert (refused.is_granted, refused.remaining) == (False, 0)
    assert refused.reset_s == pytest.approx(1)
    assert refused.retry_after_s == pytest.approx(0.25)

    clock.seconds += refused.retry_after_s
    assert limiter.take(1, 4).is_granted


def test_more_keys_than_there_are_buckets_are_served_all_the_same() -> None:
    limiter = Limiter(Clock())

    assert all(limiter.take(key, 1).is_granted for key in range(MAX_BUCKETS + 100))
