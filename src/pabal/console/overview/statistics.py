"""The page of statistics: messages of any period, counted by what they have in common, and their export."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlencode

from msgspec import UnsetType
from starlette.responses import Response

from pabal.checks.statistics import (
    MAX_GROUPS,
    MAX_ROWS,
    OTHER_GROUPS,
    TOO_MANY_ROWS,
    GroupColumn,
    Interval,
    StatisticsQuery,
    build_statistics_items,
    read_statistics_query,
)
from pabal.console.history.export import BOM, csv_line
from pabal.console.shell.page_request import PageRequest
from pabal.domain.codes import Code, Refused, Text
from pabal.domain.dates import SECOND
from pabal.models.answers import LabelledValue
from pabal.models.statistics import ListStatistics, StatisticsItem
from pabal.service.access import audit
from pabal.service.upkeep.reports import get_grouped_statistics

STATISTICS_PATH = "/console/statistics"
TABLE_PATH = f"{STATISTICS_PATH}/table.csv"
SHOWN_ROWS = 500
DEFAULT_DAYS = 7
GROUP_FIELD = "by."
"""What the names of check boxes begin with."""
NUMBERS = ("messages", "completed", "fail", "open", "cancel", "fallbacks", "share", "reached", "cost")
"""The columns after the date and the groups."""
ENDS_TOO_EARLY = Text("종료일이 시작일보다 빠릅니다.", "The last day is before the first.")
_DATE_CHARACTERS = {Interval.HOUR.code: 16, Interval.DAY.code: 10, Interval.MONTH.code: 7}


class StatisticsTable(NamedTuple):
    """The counts of a query, as they are shown."""

    groups: list[GroupColumn]
    rows: list[list[str]]
    as_of: str


async def show_statistics(request: PageRequest) -> Response:
    """Show how many messages there were, by period and group."""
    typed, groups = _typed(request)
    errors: dict[str, str] = {}
    table, status = StatisticsTable([], [], ""), 200
    try:
        table = await _count(request, typed, groups)
    except Refused as refused:
        if refused.code not in (Code.INVALID_PARAMETER, Code.INVALID_DATE, Code.MISSING_PARAMETER):
            raise
        errors = {each.field: each.message(request.locale.language) for each in refused.problems}
        status = refused.code.http_status
    return request.render(
        "overview/statistics.html",
        status,
        typed=typed,
        errors=errors,
        groups=[(each.word, each.word in groups) for each in GroupColumn],
        max_groups=MAX_GROUPS,
        intervals=[(each.code, request.t(f"statistics.interval.{each.code}")) for each in Interval],
        heads=_heads(request, table.groups),
        labels=1 + len(table.groups),
        rows=table.rows[:SHOWN_ROWS],
        left_out=max(0, len(table.rows) - SHOWN_ROWS),
        as_of=table.as_of,
        export=f"{TABLE_PATH}?{urlencode({**typed, **{GROUP_FIELD + each: '1' for each in groups}})}",
    )


async def export_table(request: PageRequest) -> Response:
    """Answer with the same counts as CSV.

    Raises Refused for an invalid query.
    """
    table = await _count(request, *_typed(request))
    await audit.add_entry(request.context, request.audit_entry("statistics.export", "csv"))
    lines = [csv_line(_heads(request, table.groups)), *map(csv_line, table.rows)]
    name = f"pabal-statistics-{request.locale.format_timestamp(request.now)[:10]}.csv"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response((BOM + "".join(lines)).encode(), media_type="text/csv; charset=utf-8", headers=headers)


def _typed(request: PageRequest) -> tuple[dict[str, str], list[str]]:
    """Return what the form contains, and the groups that are checked; a new one has the last days by product."""
    if "from" not in request.fields:
        today = datetime.fromtimestamp(request.now / SECOND, request.locale.zone).date()
        first = today - timedelta(days=DEFAULT_DAYS - 1)
        typed = {"from": first.isoformat(), "to": today.isoformat(), "interval": Interval.DAY.code}
        return typed, [GroupColumn.PRODUCT.word]
    typed = {name: request.field(name) for name in ("from", "to", "interval")}
    return typed, [each.word for each in GroupColumn if GROUP_FIELD + each.word in request.fields]


async def _count(request: PageRequest, typed: Mapping[str, str], groups: Sequence[str]) -> StatisticsTable:
    """Raises Refused for an invalid query, or one with too many rows."""
    if (
        len(typed["from"]) == len(typed["to"]) == _DATE_CHARACTERS[Interval.DAY.code]
        and typed["to"] < typed["from"]
    ):
        raise Refused(Code.INVALID_DATE, "to", ENDS_TOO_EARLY)
    given = {name: value.replace("T", " ") for name, value in typed.items() if value}
    form = request.api_call(ListStatistics, {**given, "groupBy": ",".join(groups) or None}).form
    query: StatisticsQuery = read_statistics_query(form, request.locale.zone, request.now)
    form.raise_problems()
    columns = [each.column for each in query.groups]
    found = await get_grouped_statistics(request.context, request.account_id, query.periods, columns, MAX_ROWS + 1)
    if len(found.rows) > MAX_ROWS:
        raise Refused(Code.INVALID_PARAMETER, "groupBy", TOO_MANY_ROWS)
    items = build_statistics_items(found.rows, query.groups, found.key_names, request.locale)
    date_characters = _DATE_CHARACTERS[typed["interval"] or Interval.DAY.code]
    as_of = request.locale.format_timestamp(found.as_of if found.as_of is not None else request.now)
    return StatisticsTable(
        query.groups, [_cells(request, each, query.groups, date_characters) for each in items], as_of
    )


def _heads(request: PageRequest, groups: Sequence[GroupColumn]) -> list[str]:
    return [
        request.t("statistics.date"),
        *(request.t(f"statistics.by.{each.word}") for each in groups),
        *(request.t(f"statistics.{each}") for each in NUMBERS),
    ]


def _cells(
    request: PageRequest, item: StatisticsItem, groups: Sequence[GroupColumn], date_characters: int
) -> list[str]:
    counts = item.counts
    numbers = (item.count, counts.completed, counts.fail, counts.waiting + counts.sending, counts.cancel)
    return [
        item.date[:date_characters],
        *(_label(request, each, getattr(item, each.word)) for each in groups),
        *map(str, numbers),
        str(item.fallbacks),
        _percent(item.deliveredShare),
        _percent(item.reachedShare),
        "" if isinstance(item.cost, UnsetType) else f"{item.cost:.2f}",
    ]


def _label(request: PageRequest, column: GroupColumn, value: LabelledValue | str | UnsetType) -> str:
    """Return a group in words; a result code stands in front of its reason."""
    if isinstance(value, UnsetType):
        return request.t("table.none")
    if isinstance(value, LabelledValue):
        value = f"{value.value} {value.label}" if column is GroupColumn.RESULT_CODE else value.label
    return request.t("statistics.others") if value == OTHER_GROUPS else value


def _percent(share: float | UnsetType) -> str:
    return "" if isinstance(share, UnsetType) else f"{100 * share:.1f}"
