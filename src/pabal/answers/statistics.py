"""Reads what statistics are asked for, and builds their records."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from msgspec import UNSET, UnsetType

from pabal.answers.message_records import label_value
from pabal.checks.body.fields import one_of
from pabal.checks.body.forms import Form
from pabal.checks.body.locale import Locale
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.base.dates import DAY, HOUR, SECOND, Instant, Period
from pabal.domain.people import phone
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, PRODUCT_BY_NUMBER, STATUS_BY_NUMBER, Status
from pabal.domain.sends.price import HUNDREDTHS_PER_WON
from pabal.models.answers import LabelledValue, StatusCounts
from pabal.models.statistics import StatisticsItem
from pabal.service.context import Context
from pabal.service.relay import lookup
from pabal.service.relay.lookup import Reads
from pabal.service.upkeep.reports import GroupNames, PeriodCounts
from pabal.service.upkeep.statistics import STATISTICS_RETENTION_MS
from pabal.store.messages.statistics import OTHER_KEYS, OTHERS

ReadsByTemplate = Mapping[tuple[str, str], Reads]
"""How often messages were read, by day and template code."""
MAX_GROUPS = 3
MAX_ROWS = 10_000
"""Most rows that one query may have, over all pages."""
TOO_MANY_ROWS = Text(
    f"결과가 {MAX_ROWS:,}행을 넘습니다. 기간을 좁히거나 groupBy를 줄이세요.",
    f"The result has more than {MAX_ROWS:,} rows. Narrow the period, or group by less.",
)
KEPT_DAYS = STATISTICS_RETENTION_MS // DAY - 1
"""How many days back hours and days can be shown: the oldest day may be merged in part."""
_ENDS_TOO_EARLY = Text("from보다 늦은 시각을 보내세요.", "Send a time that is later than from.")


class Interval(Enum):
    """How long each counted period is, and how many days a query may cover."""

    HOUR = ("hour", 31)
    DAY = ("day", 99)
    MONTH = ("month", 3660)

    def __init__(self, code: str, max_days: int) -> None:
        self.code = code
        self.max_days = max_days


class GroupColumn(Enum):
    """What messages may be counted by: the word of the API, and the column of the store."""

    PRODUCT = ("product", "product")
    STATUS = ("status", "status")
    RESULT_CODE = ("resultCode", "outcome")
    TEMPLATE_CODE = ("templateCode", "template_code")
    SENDER = ("sender", "sender")
    KEY = ("key", "key_id")
    CARRIER = ("carrier", "carrier")
    USER = ("user", "user_id")

    def __init__(self, word: str, column: str) -> None:
        self.word = word
        self.column = column


OTHER_GROUPS = OTHERS
"""Stands for what is not counted apart, because there is too much of it."""
_INTERVALS = {each.code: each for each in Interval}
_COLUMNS = {each.word: each for each in GroupColumn}


class StatisticsQuery(NamedTuple):
    """The periods to count, and what to count by."""

    periods: list[Period]
    groups: list[GroupColumn]
    interval: Interval = Interval.DAY


def read_statistics_query(form: Form[Any], zone: ZoneInfo, now: Instant) -> StatisticsQuery:
    """Return what a caller asks for; `raise_problems` reports what is wrong with it."""
    since = form.read("from", lambda spelling: int(_parse_day(spelling, zone).start or 0))
    last = form.read_optional("to", lambda spelling: _parse_day(spelling, zone).end)
    interval = form.read("interval", one_of(_INTERVALS))
    groups = form.read_optional("groupBy", _parse_groups) or []
    if form.problems:
        return StatisticsQuery([], [])
    if last is not None and last <= since:
        form.add(Problem(Code.INVALID_DATE, "to", _ENDS_TOO_EARLY))
    until = now + 1 if last is None else min(last, now + 1)
    if problem := _find_problem(since, until, interval, now):
        form.add(problem)
    periods = [] if form.problems else list_periods(since, until, interval, zone)
    return StatisticsQuery(periods, groups, interval)


def list_periods(since: Instant, until: Instant, interval: Interval, zone: ZoneInfo) -> list[Period]:
    """Return the whole hours, days or months that a period touches."""
    found: list[Period] = []
    while since < until:
        found.append(_period_at(since, interval, zone))
        since = int(found[-1].end or until)
    return found


async def read_reads(context: Context, account_id: int, query: StatisticsQuery, zone: ZoneInfo) -> ReadsByTemplate:
    """Return how often messages were read, if a query counts days by template and nothing else."""
    if query.groups != [GroupColumn.TEMPLATE_CODE] or query.interval is not Interval.DAY or not query.periods:
        return {}
    first, last = (
        datetime.fromtimestamp(int(query.periods[place].start or 0) / SECOND, zone).date() for place in (0, -1)
    )
    return await lookup.get_reads(context, account_id, first, last)


def build_statistics_items(
    rows: Sequence[PeriodCounts],
    groups: Sequence[GroupColumn],
    names: GroupNames,
    locale: Locale,
    reads: ReadsByTemplate = MappingProxyType({}),
) -> list[StatisticsItem]:
    """Return the records of some rows."""
    return [_build_item(each, groups, names, locale, reads) for each in rows]


def _build_item(
    row: PeriodCounts,
    groups: Sequence[GroupColumn],
    names: GroupNames,
    locale: Locale,
    reads: ReadsByTemplate,
) -> StatisticsItem:
    labels: dict[str, Any] = {
        column.word: label_group(column, value, names, locale)
        for column, value in zip(groups, row.group, strict=True)
    }
    messages, fallbacks, reached, cost = row.counts
    by_status = {status.code: count for status, count in zip(Status, row.by_status, strict=True)}
    ended = by_status[Status.COMPLETED.code] + by_status[Status.FAIL.code]
    date = locale.format_timestamp(row.since)
    known = reads.get((date[:10], str(row.group[0]))) if reads else None
    return StatisticsItem(
        **labels,
        date=date,
        count=messages,
        counts=StatusCounts(**by_status),
        deliveredShare=_share(by_status[Status.COMPLETED.code], ended),
        fallbacks=fallbacks,
        reached=reached,
        reachedShare=_share(reached, row.receivers),
        cost=UNSET if cost is None else cost / HUNDREDTHS_PER_WON,
        readCount=known.read if known else UNSET,
        clickCount=known.clicked if known else UNSET,
    )


def _share(part: int, whole: int) -> float | UnsetType:
    return round(part / whole, 4) if whole > 0 else UNSET


def label_group(
    column: GroupColumn, value: Any, names: GroupNames, locale: Locale
) -> LabelledValue | str | UnsetType:
    """Return a stored value as the API shows it."""
    if column is GroupColumn.PRODUCT:
        product = PRODUCT_BY_NUMBER[value]
        return label_value(product.code, product.label, locale)
    if column is GroupColumn.STATUS:
        status = STATUS_BY_NUMBER[value]
        return label_value(status.code, status.label, locale)
    if column is GroupColumn.RESULT_CODE:
        outcome = OUTCOME_BY_NUMBER.get(value)
        return label_value(str(value), outcome.label, locale) if outcome else UNSET
    if column in (GroupColumn.KEY, GroupColumn.USER):
        word = OTHERS if value == OTHER_KEYS else str(value)
        known = names.keys if column is GroupColumn.KEY else names.users
        return LabelledValue(word, known.get(value, word)) if value else UNSET
    if column is GroupColumn.SENDER and value.isdigit():
        return phone.hyphenate(value)
    return value or UNSET


def _parse_day(spelling: str, zone: ZoneInfo) -> Period:
    """Return the period of one minute or day.

    Raises Refused(INVALID_DATE).
    """
    if "~" in spelling:
        raise Refused(Code.INVALID_DATE, detail=Text("from과 to에 나누어 보내세요.", "Send from and to apart."))
    return dates.parse_period(spelling, zone)


def _parse_groups(spelling: str) -> list[GroupColumn]:
    words = [word.strip() for word in spelling.split(",") if word.strip()]
    found = [one_of(_COLUMNS)(word) for word in words[: MAX_GROUPS + 1]]
    if len(found) > MAX_GROUPS or len(set(found)) < len(found):
        detail = Text(
            f"서로 다른 항목을 {MAX_GROUPS}개까지 보내세요.", f"Send at most {MAX_GROUPS} words, each once."
        )
        raise Refused(Code.INVALID_PARAMETER, detail=detail)
    return found


def _find_problem(since: Instant, until: Instant, interval: Interval, now: Instant) -> Problem | None:
    if until - since > interval.max_days * DAY + HOUR:  # a day may have 25 hours
        return Problem(
            Code.INVALID_DATE,
            "from",
            Text(
                f"interval이 {interval.code}이면 {interval.max_days:,}일까지 조회할 수 있습니다.",
                f"With interval {interval.code}, the period may have {interval.max_days:,} days.",
            ),
        )
    if interval is not Interval.MONTH and since < now - KEPT_DAYS * DAY:
        return Problem(
            Code.INVALID_DATE,
            "from",
            Text(
                f"{KEPT_DAYS}일이 지난 통계는 월별로만 조회할 수 있습니다. interval을 month로 보내세요.",
                f"Statistics older than {KEPT_DAYS} days are kept by month: send interval month.",
            ),
        )
    return None


def _period_at(at: Instant, interval: Interval, zone: ZoneInfo) -> Period:
    """Return the hour, day or month of an instant."""
    if interval is Interval.MONTH:
        return dates.month_of(at, zone)
    if interval is Interval.DAY:
        return dates.day_of(at, zone)
    offset = datetime.fromtimestamp(at / SECOND, zone).utcoffset() or timedelta()
    shift = round(offset.total_seconds()) * SECOND
    begin = (at + shift) // HOUR * HOUR - shift
    return Period(begin, begin + HOUR)
