"""The periods that one click chooses."""

from datetime import date, timedelta
from typing import NamedTuple

from pabal.answers.statistics import Interval

LONG_DAYS = 30
WEEK_DAYS = 7


class OfferedPeriod(NamedTuple):
    """A period that one click chooses, by the word of its text."""

    word: str
    first: date
    last: date
    interval: Interval


def list_offered(today: date) -> list[OfferedPeriod]:
    """Return the periods that staff ask for most."""
    yesterday = today - timedelta(days=1)
    this_month = today.replace(day=1)
    last_month_ends = this_month - timedelta(days=1)
    return [
        OfferedPeriod("today", today, today, Interval.HOUR),
        OfferedPeriod("yesterday", yesterday, yesterday, Interval.HOUR),
        OfferedPeriod("week", today - timedelta(days=WEEK_DAYS - 1), today, Interval.DAY),
        OfferedPeriod("days", today - timedelta(days=LONG_DAYS - 1), today, Interval.DAY),
        OfferedPeriod("month", this_month, today, Interval.DAY),
        OfferedPeriod("last_month", last_month_ends.replace(day=1), last_month_ends, Interval.DAY),
        OfferedPeriod("year", today.replace(month=1, day=1), today, Interval.MONTH),
    ]
