import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.domain.sends.route import backoff_ms

chances = st.floats(0, 1, exclude_max=True)


@pytest.mark.parametrize(
    ("tries", "seconds"),
    [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 64), (8, 128), (9, 256), (10, 300), (1000, 300)],
)
def test_retry_delay_doubles_from_one_second_to_five_minutes(tries: int, seconds: int) -> None:
    assert backoff_ms(tries, 0.5) == seconds * 1000


@pytest.mark.parametrize(("tries", "shortest", "longest"), [(1, 800, 1200), (2, 1600, 2400), (8, 102_400, 153_600)])
def test_jitter_spreads_a_delay_by_a_fifth(tries: int, shortest: int, longest: int) -> None:
    assert backoff_ms(tries, 0) == shortest
    assert backoff_ms(tries, 1 - 1e-9) == longest


@given(st.integers(1, 10_000), chances)
def test_no_delay_is_longer_than_five_minutes(tries: int, chance: float) -> None:
    assert 800 <= backoff_ms(tries, chance) <= 300_000
