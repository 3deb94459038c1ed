"""Parses and formats dates of the API: instants in milliseconds, shown in the service's zone."""

import re
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pabal.domain.base.codes import Code, Refused, Text

Instant = int
"""Milliseconds since 1970-01-01T00:00:00Z."""

# Durations in milliseconds.
SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

NIGHT_START = time(20, 50)
"""Advertisements must not be sent from here until NIGHT_END."""
NIGHT_END = time(8, 0)

_MINUTE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2}) ([0-9]{2}):([0-9]{2})", re.ASCII)
_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
_PLAIN_DAY = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})", re.ASCII)
_MONTH = re.compile(r"([0-9]{4})([0-9]{2})", re.ASCII)


class Period(NamedTuple):
    """From `start` to before `end`; None leaves that side open."""

    start: Instant | None
    end: Instant | None

    def contains(self, at: Instant) -> bool:
        return (self.start is None or self.start <= at) and (self.end is None or at < self.end)


def format_iso(at: Instant, zone: ZoneInfo) -> str:
    """Return an instant in ISO 8601, as in the response envelope: 2026-11-15T10:12:03.123+09:00."""
    second, ms = divmod(at, SECOND)
    until, offset = _second(second, zone)
    return f"{until}.{ms:03}{offset}"


def format_timestamp(at: Instant, zone: ZoneInfo) -> str:
    """Return an instant as in records: 2026-11-15 10:12:03."""
    return _second(at // SECOND, zone)[0].replace("T", " ")


def format_month(at: Instant, zone: ZoneInfo) -> str:
    """Return the month of an instant: 202611."""
    day = _second(at // SECOND, zone)[0]
    return day[:4] + day[5:7]


def parse_send_date(spelling: str, now: Instant, zone: ZoneInfo, max_days_ahead: int) -> Instant | None:
    """Return the time of a `sendDate`; None for the current minute, which means now.

    Raises Refused(INVALID_DATE) for a wrong format, a time in the past or too far ahead.
    """
    at = _minute(spelling, zone)
    if at <= now < at + MINUTE:
        return None
    if at < now:
        raise Refused(Code.INVALID_DATE, detail=Text("이미 지난 시각입니다.", "The time is in the past."))
    if at > now + max_days_ahead * DAY:
        raise Refused(
            Code.INVALID_DATE,
            detail=Text(
                f"오늘부터 {max_days_ahead}일 이내여야 합니다.", f"It must be at most {max_days_ahead} days ahead."
            ),
        )
    return at


def parse_minute(spelling: str, zone: ZoneInfo) -> Instant:
    """Return the start of a minute, written as yyyy-MM-dd HH:mm.

    Raises Refused(INVALID_DATE).
    """
    return _minute(spelling, zone)


def parse_period(spelling: str, zone: ZoneInfo) -> Period:
    """Return the period of `from~to`, `from~`, `~to`, or of a single minute or day.

    Raises Refused(INVALID_DATE).
    """
    first, tilde, last = (part.strip(" ") for part in spelling.partition("~"))
    if not first and not last:
        raise _unreadable("yyyy-MM-dd HH:mm~yyyy-MM-dd HH:mm")
    if not tilde:
        last = first
    found = Period(
        _span(first, zone)[0] if first else None,
        _span(last, zone)[1] if last else None,
    )
    if found.start is not None and found.end is not None and found.start >= found.end:
        raise Refused(
            Code.INVALID_DATE, detail=Text("시작이 끝보다 늦습니다.", "The period ends before it begins.")
        )
    return found


def parse_month(spelling: str, zone: ZoneInfo) -> Period:
    """Return the period of a month written yyyyMM.

    Raises Refused(INVALID_DATE).
    """
    match = _MONTH.fullmatch(spelling)
    try:
        if not match:
            raise ValueError
        year, number = int(match[1]), int(match[2])
        start = datetime(year, number, 1, tzinfo=zone)
        end = datetime(year + number // 12, number % 12 + 1, 1, tzinfo=zone)
    except ValueError:
        raise _unreadable("yyyyMM") from None
    return Period(_ms(start), _ms(end))


def day_of(at: Instant, zone: ZoneInfo) -> Period:
    today = _local(at, zone).date()
    tomorrow = today + timedelta(days=1)
    return Period(_ms(datetime.combine(today, time(), zone)), _ms(datetime.combine(tomorrow, time(), zone)))


def month_of(at: Instant, zone: ZoneInfo) -> Period:
    return parse_month(format_month(at, zone), zone)


def is_night(at: Instant, zone: ZoneInfo) -> bool:
    """Return whether advertisements must not be sent at this time of day."""
    clock = _local(at, zone).time()
    return clock >= NIGHT_START or clock < NIGHT_END


def next_night_end(at: Instant, zone: ZoneInfo) -> Instant:
    """Return the first 08:00 at or after an instant."""
    local = _local(at, zone)
    day = local.date() if local.time() <= NIGHT_END else local.date() + timedelta(days=1)
    return _ms(datetime.combine(day, NIGHT_END, zone))


@lru_cache(maxsize=1024)
def _minute(spelling: str, zone: ZoneInfo) -> Instant:
    """Return the start of a minute; cached, since many sends share one."""
    moment = _moment(_MINUTE.fullmatch(spelling), zone)
    if moment is None:
        raise _unreadable("yyyy-MM-dd HH:mm")
    return _ms(moment)


def _span(spelling: str, zone: ZoneInfo) -> tuple[Instant, Instant]:
    """Return the start and end of a minute or day."""
    minute = _MINUTE.fullmatch(spelling)
    first = _moment(minute or _DAY.fullmatch(spelling) or _PLAIN_DAY.fullmatch(spelling), zone)
    if first is None:
        raise _unreadable("yyyy-MM-dd", "yyyy-MM-dd HH:mm")
    # A day ends a minute after its last 23:59: 9999-12-31, often used for "forever", has no next day.
    last = first if minute else first.replace(hour=23, minute=59, fold=1)
    return _ms(first), _ms(last) + MINUTE


def _moment(match: re.Match[str] | None, zone: ZoneInfo) -> datetime | None:
    try:
        return datetime(*map(int, match.groups()), tzinfo=zone) if match else None  # type: ignore[arg-type, misc]
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def _second(second: int, zone: ZoneInfo) -> tuple[str, str]:
    """Return a second and its UTC offset; cached, since all responses within a second share them."""
    whole = _local(second * SECOND, zone).isoformat(timespec="seconds")
    return whole[:19], whole[19:]


def _local(at: Instant, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(at / 1000, zone)


def _ms(moment: datetime) -> Instant:
    return round((moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))


def _unreadable(*forms: str) -> Refused:
    detail = Text(f"{' 또는 '.join(forms)} 형식으로 보내세요.", f"Write it as {' or '.join(forms)}.")
    return Refused(Code.INVALID_DATE, detail=detail)
