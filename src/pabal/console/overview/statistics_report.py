"""Reads what the page of statistics is asked for, counts it, and exports it as CSV and Excel."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from msgspec import UNSET, UnsetType
from starlette.responses import Response

from pabal.answers.statistics import (
    KEPT_DAYS,
    MAX_ROWS,
    OTHER_GROUPS,
    TOO_MANY_ROWS,
    GroupColumn,
    Interval,
    ReadsByTemplate,
    StatisticsQuery,
    build_statistics_items,
    label_group,
    list_periods,
    read_reads,
    read_statistics_query,
)
from pabal.console.overview.figures import Cells, Figure, Group, format_change, read_rows
from pabal.console.overview.overview import SHOWN_DAYS
from pabal.console.shell.download import attach_table, dated_name, file_extension, rows_at_once
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import DAY, SECOND, Instant, Period
from pabal.models.answers import LabelledValue
from pabal.models.statistics import ListStatistics, StatisticsItem
from pabal.service.access.accounts import audit
from pabal.service.upkeep.reports import GroupNames, get_grouped_statistics

DEFAULT_DAYS = 7
GROUP_FIELD = "by."
"""What the names of check boxes begin with."""
COMPARE_FIELD = "compare"
SHOW_FIELD = "show"
NUMBERS = ("messages", "completed", "fail", "open", "cancel", "fallbacks", "share", "reached")
"""The columns after the period and the groups; the cost follows where it is known, then the period before."""
ENDS_TOO_EARLY = Text("종료일이 시작일보다 빠릅니다.", "The last day is before the first.")
_DATE_CHARACTERS = {Interval.HOUR: 16, Interval.DAY: 10, Interval.MONTH: 7}
_INTERVALS = {each.code: each for each in Interval}


class StatisticsForm(NamedTuple):
    """What the form contains."""

    typed: dict[str, str]
    groups: list[str]
    compares: bool


class StatisticsReport(NamedTuple):
    """The counts of a query."""

    groups: list[GroupColumn]
    interval: Interval
    periods: list[Period]
    cells: Cells
    before: Cells | None
    """Those of the period before; None: they are not compared."""
    names: GroupNames
    as_of: str
    note: str
    """Why they are not compared, although that was asked for."""
    has_costs: bool
    reads: ReadsByTemplate
    """How often messages were read, by day and template; empty where no relay tells it."""


def read_form(request: PageRequest) -> StatisticsForm:
    """Return what the form contains; a new one has the last days by product, compared with those before."""
    show = request.field(SHOW_FIELD)
    if "from" not in request.fields:
        today = datetime.fromtimestamp(request.now / SECOND, request.locale.zone).date()
        first = today - timedelta(days=DEFAULT_DAYS - 1)
        typed = {"from": first.isoformat(), "to": today.isoformat(), "interval": Interval.DAY.code}
        return StatisticsForm({**typed, SHOW_FIELD: show}, [GroupColumn.PRODUCT.word], True)
    typed = {name: request.field(name) for name in ("from", "to", "interval")}
    groups = [each.word for each in GroupColumn if GROUP_FIELD + each.word in request.fields]
    return StatisticsForm({**typed, SHOW_FIELD: show}, groups, COMPARE_FIELD in request.fields)


async def count(request: PageRequest, form: StatisticsForm) -> StatisticsReport:
    """Raises Refused for an invalid query, or one with too many rows."""
    query = _read_query(request, form)
    zone, now = request.locale.zone, request.now
    interval = _INTERVALS[form.typed["interval"] or Interval.DAY.code]
    before = list_before(query.periods, interval, zone, now) if form.compares else []
    columns = [each.column for each in query.groups]
    found = await get_grouped_statistics(
        request.context, request.account_id, query.periods, columns, MAX_ROWS + 1, before
    )
    if len(found.rows) > MAX_ROWS:
        raise Refused(Code.INVALID_PARAMETER, "groupBy", TOO_MANY_ROWS)
    is_compared = bool(before) and len(found.before) <= MAX_ROWS
    as_of = request.time(found.as_of if found.as_of is not None else now)
    return StatisticsReport(
        query.groups,
        interval,
        query.periods,
        read_rows(found.rows, _starts(query.periods)),
        read_rows(found.before, _starts(before)) if is_compared else None,
        found.names,
        as_of,
        request.t("statistics.not_compared") if form.compares and not is_compared else "",
        any(each.counts.cost is not None for each in (*found.rows, *found.before)),
        await read_reads(request.context, request.account_id, query, zone),
    )


def heads(request: PageRequest, report: StatisticsReport, groups: Sequence[GroupColumn]) -> list[str]:
    """Return the heads of a table by period and by these groups."""
    costs = ["cost"] if report.has_costs else []
    compared = [] if report.before is None else ["before", "change", *(["before_cost"] if report.has_costs else [])]
    return [
        request.t("word.period"),
        *(request.t(f"statistics.by.{each.word}") for each in groups),
        *(request.t(f"statistics.{each}") for each in (*NUMBERS, *costs, *compared)),
    ]


def figure_cells(report: StatisticsReport, figure: Figure) -> list[str]:
    """Return the numbers of a row."""
    counts = figure.counts
    cells = [
        *(f"{each:,}" for each in (counts.messages, *figure.states, counts.fallbacks)),
        figure.states.completion_rate,
        figure.reached,
    ]
    return [*cells, _won(figure)] if report.has_costs else cells


def change_cells(report: StatisticsReport, figure: Figure, before: Figure | None) -> list[str]:
    """Return the numbers of the period before; none where they are not compared."""
    if report.before is None:
        return []
    before = before or Figure()
    cells = [f"{before.counts.messages:,}", format_change(figure.counts.messages, before.counts.messages)]
    return [*cells, _won(before)] if report.has_costs else cells


def detail_rows(request: PageRequest, report: StatisticsReport) -> list[list[str]]:
    """Return a row for each period and group that has messages now, or had some in the period before."""
    found = sorted({*report.cells, *(report.before or {})}, key=lambda place: (place[0], tuple(map(str, place[1]))))
    rows = []
    for index, group in found:
        now, before = report.cells.get((index, group), Figure()), (report.before or {}).get((index, group))
        names = [period_name(request, report, index), *group_labels(request, report, group)]
        cells = [*names, *figure_cells(report, now), *change_cells(report, now, before)]
        rows.append([*cells, *_read_cells(report, names[0], str(group[0]))] if report.reads else cells)
    return rows


def detail_heads(request: PageRequest, report: StatisticsReport) -> list[str]:
    """Return the heads of the table of `detail_rows`."""
    more = [request.t(f"statistics.{each}") for each in ("read", "clicked")] if report.reads else []
    return [*heads(request, report, report.groups), *more]


def _read_cells(report: StatisticsReport, day: str, template_code: str) -> list[str]:
    known = report.reads.get((day, template_code))
    return [f"{known.read:,}", f"{known.clicked:,}"] if known else ["", ""]


def period_name(request: PageRequest, report: StatisticsReport, first: int, together: int = 1) -> str:
    """Return the name of a period, or of several in a row: 2026-11-15, 2026-11-15 ~ 11-17."""
    characters = _DATE_CHARACTERS[report.interval]
    last = min(first + together, len(report.periods)) - 1
    begins, ends = (request.time(int(report.periods[place].start or 0))[:characters] for place in (first, last))
    if first == last:
        return begins
    return f"{begins} ~ {ends[11:] if begins[:10] == ends[:10] and characters > 10 else ends[5:]}"


def short_name(report: StatisticsReport, name: str) -> str:
    """Return what stands below a column: 11-15, or 13:00 where all are of one day."""
    begins = name.partition(" ~ ")[0]
    if report.interval is not Interval.HOUR:
        return begins if report.interval is Interval.MONTH else begins[5:]
    is_one_day = int(report.periods[-1].end or 0) - int(report.periods[0].start or 0) <= 25 * 3600 * SECOND
    return begins[11:] if is_one_day else begins[5:10]


def group_labels(request: PageRequest, report: StatisticsReport, group: Group) -> list[str]:
    """Return a group in words, one for each of its columns."""
    return [
        _label(request, report.names, column, value) for column, value in zip(report.groups, group, strict=True)
    ]


def _label(request: PageRequest, names: GroupNames, column: GroupColumn, value: object) -> str:
    """Return a group in words: a result code before its reason, the code of a template after its name."""
    label = label_group(column, value, names, request.locale)
    if isinstance(label, UnsetType):
        return request.t("statistics.by_key" if column is GroupColumn.USER else "word.none")
    if isinstance(label, LabelledValue):
        if column is GroupColumn.USER and label.label == label.value != OTHER_GROUPS:
            return request.t("statistics.deleted_user", id=label.value)
        label = f"{label.value} {label.label}" if column is GroupColumn.RESULT_CODE else label.label
    if column is GroupColumn.TEMPLATE_CODE and label in names.templates:
        return f"{names.templates[label]} ({label})"
    return request.t("statistics.others") if label == OTHER_GROUPS else label


def _read_query(request: PageRequest, form: StatisticsForm) -> StatisticsQuery:
    typed = {name: form.typed[name] for name in ("from", "to", "interval")}
    if len(typed["from"]) == len(typed["to"]) == _DATE_CHARACTERS[Interval.DAY] and typed["to"] < typed["from"]:
        raise Refused(Code.INVALID_DATE, "to", ENDS_TOO_EARLY)
    given = {name: value.replace("T", " ") for name, value in typed.items() if value}
    parsed = request.api_call(ListStatistics, {**given, "groupBy": ",".join(form.groups) or None}).form
    query = read_statistics_query(parsed, request.locale.zone, request.now)
    parsed.raise_problems()
    return query


def _starts(periods: Sequence[Period]) -> Mapping[int, int]:
    return {int(each.start or 0): place for place, each in enumerate(periods)}


def _won(figure: Figure) -> str:
    return "" if figure.won is None else f"{figure.won:,.2f}".removesuffix(".00")


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


GROUPS = [GroupColumn.PRODUCT, GroupColumn.STATUS, GroupColumn.RESULT_CODE]
COLUMNS = ("day", "kind", "status", "code", "reason", "messages", "fallbacks", "reached", "cost")


async def export_table(request: PageRequest) -> Response:
    """Answer with the counts of a query as CSV or as an Excel workbook.

    Raises Refused for an invalid query.
    """
    return await _answer(request, *await _read(request))


async def _read(request: PageRequest) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table, without changes in percent, which a spreadsheet can tell.

    Numbers have no separators, so that it adds them up.
    """
    report = await count(request, read_form(request))
    head, labels = detail_heads(request, report), 1 + len(report.groups)
    shown = [place for place, name in enumerate(head) if name != request.t("statistics.change")]
    rows = [
        [row[place] if place < labels else row[place].replace(",", "") for place in shown]
        for row in detail_rows(request, report)
    ]
    return [head[place] for place in shown], rows


async def _answer(request: PageRequest, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Response:
    extension = file_extension(request)
    await audit.add_entry(request.context, request.audit_entry("statistics.export", extension))
    name = dated_name(request, "pabal-statistics", extension)
    return attach_table(request, name, head, rows_at_once(rows), request.t("menu.statistics"))


async def export_statistics(request: PageRequest) -> Response:
    """Answer with the numbers of the last four weeks by day, message type, status and result code, as CSV."""
    first = request.now - (SHOWN_DAYS - 1) * DAY
    periods = list_periods(first, request.now + 1, Interval.DAY, request.locale.zone)
    columns = [each.column for each in GROUPS]
    found = await get_grouped_statistics(request.context, request.account_id, periods, columns, MAX_ROWS)
    items = build_statistics_items(found.rows, GROUPS, found.names, request.locale)
    head = [request.t(f"overview.export.{each}") for each in COLUMNS]
    return await _answer(request, head, [_cells(each) for each in items])


def _cells(item: StatisticsItem) -> list[str]:
    product, status, result = (
        each if isinstance(each, LabelledValue) else LabelledValue("", "")
        for each in (item.product, item.status, item.resultCode)
    )
    return [
        item.date[:10],
        product.label,
        status.label,
        result.value,
        result.label,
        str(item.count),
        str(item.fallbacks),
        str(item.reached),
        "" if item.cost is UNSET else f"{item.cost:.2f}",
    ]
