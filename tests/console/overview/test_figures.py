"""Figures: percentages that do not lie, changes, sums; and the period that each is compared with."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from pabal.answers.statistics import Interval, list_periods
from pabal.console.history.filters import list_offered
from pabal.console.overview.figures import Figure, StateCounts, by_group, by_period, format_change, format_percent
from pabal.console.overview.statistics_report import list_before
from pabal.domain.base.dates import DAY, HOUR, Period
from pabal.service.upkeep.reports import GroupCounts
from tests.fixtures.virtual import NOON

SEOUL = ZoneInfo("Asia/Seoul")
BERLIN = ZoneInfo("Europe/Berlin")


def at(year: int, month: int, day: int, hour: int = 0, zone: ZoneInfo = SEOUL) -> int:
    return round(datetime(year, month, day, hour, tzinfo=zone).timestamp() * 1000)


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [(9999, 10_000, "99.9"), (3, 3, "100.0"), (0, 3, "0.0"), (1, 10_000, "0.1"), (2, 3, "66.7"), (0, 0, "")],
)
def test_percentage_is_100_only_of_all_and_0_only_of_none(part: int, whole: int, shown: str) -> None:
    assert format_percent(part, whole) == shown


def test_change_has_a_sign_and_nothing_is_compared_with_nothing() -> None:
    assert [format_change(112, 100), format_change(50, 100), format_change(5, 0)] == ["+12.0", "-50.0", ""]


def test_cells_add_up_by_period_and_by_group() -> None:
    one = Figure(StateCounts(1, 2, 3, 4), GroupCounts(10, 1, 2, 500), 3)
    cells = {(0, ("a",)): one, (1, ("b",)): one, (4, ("a",)): one}

    periods, groups = by_period(cells, 5, 2), by_group(cells)

    assert [each.counts.messages for each in periods] == [20, 0, 10]
    assert groups[("a",)].counts == GroupCounts(20, 2, 4, 1000)
    assert groups[("a",)].won == 10
    assert groups[("b",)] == one


def test_days_are_compared_with_as_many_days_before() -> None:
    week = list_periods(at(2026, 11, 9), at(2026, 11, 16), Interval.DAY, SEOUL)

    before = list_before(week, Interval.DAY, SEOUL, NOON)

    assert before[0] == Period(at(2026, 11, 2), at(2026, 11, 3))
    assert before[-1].end == week[0].start
    assert len(before) == len(week)


def test_hours_are_compared_with_the_same_hours_of_the_day_before() -> None:
    morning = list_periods(at(2026, 11, 15), at(2026, 11, 15, 10), Interval.HOUR, SEOUL)

    before = list_before(morning, Interval.HOUR, SEOUL, NOON)

    assert before == [Period(int(each.start or 0) - DAY, int(each.end or 0) - DAY) for each in morning]


def test_months_are_compared_with_as_many_months_before() -> None:
    quarter = list_periods(at(2026, 1, 1), at(2026, 4, 1), Interval.MONTH, SEOUL)

    before = list_before(quarter, Interval.MONTH, SEOUL, NOON)

    assert [each.start for each in before] == [at(2025, 10, 1), at(2025, 11, 1), at(2025, 12, 1)]
    assert before[-1].end == quarter[0].start


def test_days_that_are_kept_as_months_only_are_not_compared() -> None:
    days = list_periods(NOON - 60 * DAY, NOON, Interval.DAY, SEOUL)

    assert list_before(days, Interval.DAY, SEOUL, NOON) == []
    assert list_before([], Interval.DAY, SEOUL, NOON) == []


def test_days_before_a_change_of_the_clock_begin_at_midnight() -> None:
    after = list_periods(at(2026, 10, 26, zone=BERLIN), at(2026, 10, 27, zone=BERLIN), Interval.DAY, BERLIN)

    (before,) = list_before(
        after, Interval.DAY, BERLIN, round(datetime(2026, 10, 27, tzinfo=UTC).timestamp() * 1000)
    )

    assert (before.start, before.end) == (at(2026, 10, 25, zone=BERLIN), after[0].start)
    assert int(before.end or 0) - int(before.start or 0) == 25 * HOUR


def test_offered_periods_end_today_or_with_their_month() -> None:
    offered = {each.word: each for each in list_offered(date(2026, 3, 15))}

    assert (offered["week"].first, offered["week"].last) == (date(2026, 3, 9), date(2026, 3, 15))
    assert (offered["last_month"].first, offered["last_month"].last) == (date(2026, 2, 1), date(2026, 2, 28))
    assert offered["year"].interval is Interval.MONTH
