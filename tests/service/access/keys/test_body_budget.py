"""Bytes of bodies are bounded for each caller and in all, and are given back."""

import pytest

from pabal.domain.base.codes import Code, Refused
from pabal.service.access.accounts.rate_limits import BodyBudget


def test_caller_beyond_its_share_is_refused_and_others_are_not() -> None:
    budget = BodyBudget(100, 10)

    with budget.hold("greedy", 6):
        with pytest.raises(Refused) as refused:
            budget.hold("greedy", 5)
        with budget.hold("other", 10):
            assert budget.held_bytes == 16

    assert refused.value.code is Code.RATE_LIMITED
    assert refused.value.retry_after_s
    assert budget.held_bytes == 0


def test_everyone_is_refused_beyond_the_total() -> None:
    budget = BodyBudget(10, 10)

    with budget.hold("first", 9), pytest.raises(Refused) as refused:
        budget.hold("second", 2)

    assert refused.value.code is Code.SERVICE_UNAVAILABLE
    assert refused.value.retry_after_s


def test_single_body_is_held_whatever_its_size() -> None:
    budget = BodyBudget(10, 10)

    with budget.hold("alone", 50):
        assert budget.held_bytes == 50


def test_single_body_that_grows_is_held_whatever_its_size() -> None:
    budget = BodyBudget(10, 10)

    with budget.hold("alone", 0) as growing:
        growing.grow(8)
        growing.grow(50)
        assert budget.held_bytes == 50


def test_body_that_grows_is_refused_where_it_passes_the_limit() -> None:
    budget = BodyBudget(100, 10)

    with budget.hold("a", 3), budget.hold("a", 0) as growing:
        growing.grow(7)
        growing.grow(5)
        with pytest.raises(Refused):
            growing.grow(8)
        assert growing.size == 7

    assert budget.held_bytes == 0


def test_bytes_are_given_back_after_an_error() -> None:
    budget = BodyBudget(10, 10)

    def fail() -> None:
        with budget.hold("a", 10):
            raise KeyError

    with pytest.raises(KeyError):
        fail()

    with budget.hold("a", 10):
        assert budget.held_bytes == 10
