from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import HOUR, MINUTE, Instant, Period
from tests.domain.base.test_dates import NEW_YORK, SEOUL, at, instants
from tests.fixtures.refusals import refused

# Seoul has not changed its clocks in these years.
seoul_minutes = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)).map(
    lambda moment: moment.replace(second=0, microsecond=0)
)


@pytest.mark.parametrize(
    ("spelling", "start", "end"),
    [
        ("2026-11-15 10:12", "2026-11-15T10:12:00+09:00", "2026-11-15T10:13:00+09:00"),
        ("2026-11-15", "2026-11-15T00:00:00+09:00", "2026-11-16T00:00:00+09:00"),
        ("20261115", "2026-11-15T00:00:00+09:00", "2026-11-16T00:00:00+09:00"),
        ("2026-12-31", "2026-12-31T00:00:00+09:00", "2027-01-01T00:00:00+09:00"),
        ("2028-02-28", "2028-02-28T00:00:00+09:00", "2028-02-29T00:00:00+09:00"),
        ("2028-02-29", "2028-02-29T00:00:00+09:00", "2028-03-01T00:00:00+09:00"),
        (
            "2026-11-15 10:12~2026-11-15 10:14",
            "2026-11-15T10:12:00+09:00",
            "2026-11-15T10:15:00+09:00",
        ),
        (
            "2026-11-15 10:12~2026-11-15 10:12",
            "2026-11-15T10:12:00+09:00",
            "2026-11-15T10:13:00+09:00",
        ),
        ("2026-11-15~2026-11-15", "2026-11-15T00:00:00+09:00", "2026-11-16T00:00:00+09:00"),
        ("20261101~20261130", "2026-11-01T00:00:00+09:00", "2026-12-01T00:00:00+09:00"),
        ("20261101~2026-11-30 23:58", "2026-11-01T00:00:00+09:00", "2026-11-30T23:59:00+09:00"),
        ("2026-11-15 10:12~20261115", "2026-11-15T10:12:00+09:00", "2026-11-16T00:00:00+09:00"),
        (" 2026-11-15 ~ 2026-11-16 ", "2026-11-15T00:00:00+09:00", "2026-11-17T00:00:00+09:00"),
    ],
)
def test_period_includes_both_ends(spelling: str, start: str, end: str) -> None:
    assert dates.parse_period(spelling, SEOUL) == Period(at(start), at(end))


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("2026-11-15~", Period(at("2026-11-15T00:00:00+09:00"), None)),
        ("2026-11-15 10:12~", Period(at("2026-11-15T10:12:00+09:00"), None)),
        ("~2026-11-15", Period(None, at("2026-11-16T00:00:00+09:00"))),
        ("~20261115", Period(None, at("2026-11-16T00:00:00+09:00"))),
        ("~2026-11-15 10:12", Period(None, at("2026-11-15T10:13:00+09:00"))),
        (" ~ 2026-11-15", Period(None, at("2026-11-16T00:00:00+09:00"))),
    ],
)
def test_either_end_of_a_period_may_be_open(spelling: str, expected: Period) -> None:
    assert dates.parse_period(spelling, SEOUL) == expected


def test_earliest_and_latest_dates_can_bound_a_period() -> None:
    everything = dates.parse_period("00010101~9999-12-31", SEOUL)

    assert everything.start is not None
    assert everything.start < 0
    assert everything.end == at("9999-12-31T23:59:00+09:00") + MINUTE


@pytest.mark.parametrize(
    "spelling",
    [
        "",
        "~",
        "~~",
        "2026-11-15~~2026-11-16",
        "2026-11-15~2026-11-16~2026-11-17",
        "2026-11-15~2026-11-14",
        "2026-11-15 10:12~2026-11-15 10:11",
        "2026-11-15 00:00~2026-11-14",
        "20270101~20261231",
        "2026-02-30",
        "2026-02-30~2026-03-01",
        "2026-13-01",
        "0000-01-01",
        "2026-11-15 24:00",
        "2026-11-15 10:12:00",
        "2026-11-15T10:12",
        "202611-15",
        "2026-11-15 1012",
        "2026-11",
        "202611",
        "2026-11-15,2026-11-16",
        "2026-11-15～2026-11-16",
        "2026-11-15\n",
        "2026-11-15~now",
        "２０２６-１１-１５",
        "\0",
        "\ud800",
    ],
)
def test_invalid_or_reversed_period_is_refused(spelling: str) -> None:
    with refused(Code.INVALID_DATE):
        dates.parse_period(spelling, SEOUL)


@given(seoul_minutes, seoul_minutes)
def test_period_is_exact_to_the_millisecond(a: datetime, b: datetime) -> None:
    first, last = sorted((a, b))

    found = dates.parse_period(f"{first:%Y-%m-%d %H:%M}~{last:%Y-%m-%d %H:%M}", SEOUL)

    assert found == Period(at(f"{first.isoformat()}+09:00"), at(f"{last.isoformat()}+09:00") + MINUTE)


@given(instants)
def test_instant_is_in_its_minute_day_and_month(instant: Instant) -> None:
    stamp = dates.format_timestamp(instant, SEOUL)
    minute = dates.parse_period(stamp[:16], SEOUL)
    day = dates.parse_period(stamp[:10], SEOUL)
    month = dates.parse_month(dates.format_month(instant, SEOUL), SEOUL)

    for start, end in (minute, day, month):
        assert start is not None
        assert end is not None
        assert start <= instant < end
    assert day == dates.parse_period(stamp[:10].replace("-", ""), SEOUL)


@given(st.from_regex(r"\A[0-9]{4}-?[0-9]{2}-?[0-9]{2}\Z"))
def test_eight_digits_are_a_day_or_refused(spelling: str) -> None:
    try:
        start, end = dates.parse_period(spelling, SEOUL)
    except Refused:
        return
    assert start is not None
    assert end is not None
    assert start < end


@pytest.mark.parametrize(
    ("day", "hours"), [("2026-03-07", 24), ("2026-03-08", 23), ("2026-11-01", 25), ("2026-11-02", 24)]
)
def test_length_of_a_day_follows_its_time_zone(day: str, hours: int) -> None:
    start, end = dates.parse_period(day, NEW_YORK)

    assert start is not None
    assert end == start + hours * HOUR


@pytest.mark.parametrize(
    ("spelling", "start", "end"),
    [
        ("202610", "2026-10-01T00:00:00+09:00", "2026-11-01T00:00:00+09:00"),
        ("202612", "2026-12-01T00:00:00+09:00", "2027-01-01T00:00:00+09:00"),
        ("202701", "2027-01-01T00:00:00+09:00", "2027-02-01T00:00:00+09:00"),
        ("202802", "2028-02-01T00:00:00+09:00", "2028-03-01T00:00:00+09:00"),
    ],
)
def test_month_begins_and_ends_at_midnight_in_the_service_zone(spelling: str, start: str, end: str) -> None:
    assert dates.parse_month(spelling, SEOUL) == Period(at(start), at(end))


@pytest.mark.parametrize(
    "spelling",
    [
        "",
        "2026",
        "20261",
        "202600",
        "202613",
        "000001",
        "2026-11",
        "20261101",
        " 202611",
        "202611\n",
        "２０２６１１",
        "20261１",
        "Nov 26",
    ],
)
def test_invalid_month_is_refused(spelling: str) -> None:
    with refused(Code.INVALID_DATE):
        dates.parse_month(spelling, SEOUL)
