"""The period before, which statistics are compared with."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from pabal.answers.statistics import KEPT_DAYS, Interval
from pabal.domain.base import dates
from pabal.domain.base.dates import DAY, SECOND, Instant, Period


def list_before(periods: Sequence[Period], interval: Interval, zone: ZoneInfo, now: Instant) -> list[Period]:
    """Return as many hours, days or months before some; none where only their months are kept.

    Hours are compared with the same hours of as many days before, so that a morning is compared with a morning.
    """
    if not periods:
        return []
    starts = [int(each.start or 0) for each in periods]
    if interval is Interval.MONTH:
        found: list[Period] = []
        first = starts[0]
        for _ in periods:
            found.insert(0, dates.month_of(first - 1, zone))
            first = int(found[0].start or 0)
        return found
    days = len(periods) if interval is Interval.DAY else -(-(int(periods[-1].end or 0) - starts[0]) // DAY)
    found = [Period(_days_before(start, days, zone), _days_before(int(each.end or 0), days, zone))
             for start, each in zip(starts, periods, strict=True)]  # fmt: skip
    return found if int(found[0].start or 0) >= now - KEPT_DAYS * DAY else []


def _days_before(at: Instant, days: int, zone: ZoneInfo) -> Instant:
    """Return the same time of day some days before."""
    return round((datetime.fromtimestamp(at / SECOND, zone) - timedelta(days=days)).timestamp() * SECOND)
