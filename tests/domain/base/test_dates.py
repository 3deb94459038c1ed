from contextlib import suppress
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import DAY, Instant
from tests.fixtures.refusals import refused

SEOUL = ZoneInfo("Asia/Seoul")
NEW_YORK = ZoneInfo("America/New_York")

instants = st.integers(631_152_000_000, 4_102_444_800_000)


def at(spelling: str) -> Instant:
    """Return the instant of an ISO 8601 date with an offset."""
    return (datetime.fromisoformat(spelling) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


NOW = at("2026-11-15T10:12:03.123+09:00")


@pytest.mark.parametrize(
    ("instant", "iso", "stamp", "month"),
    [
        (NOW, "2026-11-15T10:12:03.123+09:00", "2026-11-15 10:12:03", "202611"),
        (0, "1970-01-01T09:00:00.000+09:00", "1970-01-01 09:00:00", "197001"),
        (
            at("2026-10-31T23:59:59.999+09:00"),
            "2026-10-31T23:59:59.999+09:00",
            "2026-10-31 23:59:59",
            "202610",
        ),
        (
            at("2026-10-31T23:59:59.999+09:00") + 1,
            "2026-11-01T00:00:00.000+09:00",
            "2026-11-01 00:00:00",
            "202611",
        ),
        (at("2026-12-31T15:00:00Z"), "2027-01-01T00:00:00.000+09:00", "2027-01-01 00:00:00", "202701"),
        (
            at("2026-12-31T14:59:59.999Z"),
            "2026-12-31T23:59:59.999+09:00",
            "2026-12-31 23:59:59",
            "202612",
        ),
        (at("2028-02-29T12:00:00+09:00"), "2028-02-29T12:00:00.000+09:00", "2028-02-29 12:00:00", "202802"),
    ],
)
def test_instant_is_formatted_in_the_service_time_zone(instant: Instant, iso: str, stamp: str, month: str) -> None:
    assert dates.format_iso(instant, SEOUL) == iso
    assert dates.format_timestamp(instant, SEOUL) == stamp
    assert dates.format_month(instant, SEOUL) == month


@given(instants)
def test_formatted_instant_parses_back_to_the_millisecond(instant: Instant) -> None:
    assert at(dates.format_iso(instant, SEOUL)) == instant
    assert at(dates.format_iso(instant, NEW_YORK)) == instant


@pytest.mark.parametrize("spelling", ["2026-11-15 10:12"])
@pytest.mark.parametrize("into_the_minute", [0, 1, 30_000, 59_999])
def test_send_date_in_the_current_minute_is_now(spelling: str, into_the_minute: int) -> None:
    now = at("2026-11-15T10:12:00+09:00") + into_the_minute

    assert dates.parse_send_date(spelling, now, SEOUL, 60) is None


@pytest.mark.parametrize(
    "spelling", ["2026-11-15 10:11", "2026-11-14 10:12", "2025-11-15 10:12", "0001-01-01 00:00"]
)
def test_send_date_before_the_current_minute_is_refused(spelling: str) -> None:
    with refused(Code.INVALID_DATE):
        dates.parse_send_date(spelling, NOW, SEOUL, 60)


def test_send_date_is_past_as_soon_as_its_minute_is_over() -> None:
    over = at("2026-11-15T10:13:00+09:00")

    assert dates.parse_send_date("2026-11-15 10:12", over - 1, SEOUL, 60) is None
    with refused(Code.INVALID_DATE):
        dates.parse_send_date("2026-11-15 10:12", over, SEOUL, 60)


@pytest.mark.parametrize(
    ("spelling", "instant"),
    [
        ("2026-11-15 10:13", "2026-11-15T10:13:00+09:00"),
        ("2026-11-16 00:00", "2026-11-16T00:00:00+09:00"),
        ("2026-11-30 23:59", "2026-11-30T23:59:00+09:00"),
        ("2027-01-01 00:00", "2026-12-31T15:00:00Z"),
        ("2027-01-14 10:12", "2027-01-14T10:12:00+09:00"),  # 60 days ahead
    ],
)
def test_future_send_date_is_the_send_time(spelling: str, instant: str) -> None:
    assert dates.parse_send_date(spelling, NOW, SEOUL, 60) == at(instant)


@pytest.mark.parametrize(
    "spelling", ["2027-01-14 10:13", "2027-01-15 00:00", "2028-11-15 10:12", "9999-12-31 23:59"]
)
def test_send_date_more_than_60_days_ahead_is_refused(spelling: str) -> None:
    with refused(Code.INVALID_DATE) as refusal:
        dates.parse_send_date(spelling, NOW, SEOUL, 60)

    assert "60" in refusal.value.problems[0].message("en")


@pytest.mark.parametrize(
    "spelling",
    [
        "",
        "tomorrow",
        "2026-11-16",
        "202611161012",
        "2026-11-16T10:12",
        "2026-11-16 10:12:00",
        " 2026-11-16 10:12",
        "2026-11-16 10:12\n",
        "2026-11-16  10:12",
        "2026/11/16 10:12",
        "2026-11-16 1012",
        "2026-1-16 10:12",
        "2026-11-16 9:12",
        "2026-11-16 24:00",
        "2026-11-16 10:60",
        "2026-11-31 10:12",
        "2026-13-01 10:12",
        "2026-12-00 10:12",
        "2027-02-29 10:12",
        "0000-01-01 00:00",
        "2026-11-16 10:12+09:00",
        "２０２６-１１-１６ １０:１２",
        "٢٠٢٦-١١-١٦ ١٠:١٢",
        "2026-11-16\u00a010:12",
        "2026-11-16 10:12\0",
        "\ud800",
    ],
)
def test_invalid_send_date_is_refused(spelling: str) -> None:
    with refused(Code.INVALID_DATE):
        dates.parse_send_date(spelling, NOW, SEOUL, 60)


@given(st.text(st.sampled_from("0123456789-: ~") | st.characters(), max_size=40))
def test_any_text_is_a_date_or_refused(spelling: str) -> None:
    with suppress(Refused):
        dates.parse_period(spelling, SEOUL)
    with suppress(Refused):
        dates.parse_month(spelling, SEOUL)
    with suppress(Refused):
        dates.parse_send_date(spelling, NOW, SEOUL, 60)


@pytest.mark.parametrize(
    ("clock", "is_night"),
    [
        ("20:49:00.000", False),
        ("20:49:59.999", False),
        ("20:50:00.000", True),
        ("23:59:59.999", True),
        ("00:00:00.000", True),
        ("07:59:00.000", True),
        ("07:59:59.999", True),
        ("08:00:00.000", False),
        ("12:00:00.000", False),
    ],
)
def test_advertisement_night_is_from_2050_to_0800_in_seoul(clock: str, is_night: bool) -> None:
    assert dates.is_night(at(f"2026-11-15T{clock}+09:00"), SEOUL) is is_night


def test_night_follows_the_service_time_zone() -> None:
    instant = at("2026-11-15T12:00:00+09:00")

    assert not dates.is_night(instant, SEOUL)
    assert dates.is_night(instant, NEW_YORK)


@pytest.mark.parametrize(
    ("instant", "morning"),
    [
        ("2026-11-15T20:50:00+09:00", "2026-11-16T08:00:00+09:00"),
        ("2026-11-15T23:59:59.999+09:00", "2026-11-16T08:00:00+09:00"),
        ("2026-11-16T00:00:00+09:00", "2026-11-16T08:00:00+09:00"),
        ("2026-11-16T07:59:59.999+09:00", "2026-11-16T08:00:00+09:00"),
        ("2026-11-16T08:00:00+09:00", "2026-11-16T08:00:00+09:00"),
        ("2026-11-16T08:00:00.001+09:00", "2026-11-17T08:00:00+09:00"),
        ("2026-10-31T21:00:00+09:00", "2026-11-01T08:00:00+09:00"),
        ("2026-12-31T21:00:00+09:00", "2027-01-01T08:00:00+09:00"),
        ("2028-02-28T21:00:00+09:00", "2028-02-29T08:00:00+09:00"),
        ("2027-02-28T21:00:00+09:00", "2027-03-01T08:00:00+09:00"),
    ],
)
def test_next_morning_is_the_first_0800_from_then_on(instant: str, morning: str) -> None:
    assert dates.next_night_end(at(instant), SEOUL) == at(morning)


@given(instants)
def test_next_morning_is_by_day_and_within_24_hours(instant: Instant) -> None:
    morning = dates.next_night_end(instant, SEOUL)

    assert not dates.is_night(morning, SEOUL)
    assert instant <= morning < instant + DAY
