"""Exports of statistics: those of the overview, and the counts of a query, as CSV and Excel."""

from msgspec import UNSET
from starlette.responses import Response

from pabal.answers.statistics import MAX_ROWS, GroupColumn, Interval, build_statistics_items, list_periods
from pabal.console.history.workbook import MEDIA_TYPE, Workbook
from pabal.console.overview.overview import SHOWN_DAYS
from pabal.console.overview.statistics_report import count, detail_heads, detail_rows, read_form
from pabal.console.shell.download import BOM, CSV_TYPE, attach, csv_line, dated_name
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.dates import DAY
from pabal.models.answers import LabelledValue
from pabal.models.statistics import StatisticsItem
from pabal.service.access.accounts import audit
from pabal.service.upkeep.reports import get_grouped_statistics

GROUPS = [GroupColumn.PRODUCT, GroupColumn.STATUS, GroupColumn.RESULT_CODE]
COLUMNS = ("day", "kind", "status", "code", "reason", "messages", "fallbacks", "reached", "cost")


async def export_csv(request: PageRequest) -> Response:
    """Answer with the counts of a query as CSV.

    Raises Refused for an invalid query.
    """
    head, rows = await _read(request)
    body = (BOM + "".join(map(csv_line, [head, *rows]))).encode()
    return await _answer(request, body, "csv", CSV_TYPE)


async def export_xlsx(request: PageRequest) -> Response:
    """Answer with the same counts as an Excel workbook.

    Raises Refused for an invalid query.
    """
    head, rows = await _read(request)
    book = Workbook(request.t("menu.statistics"), head, request.now)
    return await _answer(request, book.start() + book.add_rows(rows) + book.finish(), "xlsx", MEDIA_TYPE)


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


async def _answer(request: PageRequest, body: bytes, extension: str, media_type: str) -> Response:
    await audit.add_entry(request.context, request.audit_entry("statistics.export", extension))
    return attach(dated_name(request, "pabal-statistics", extension), body, media_type)


async def export_statistics(request: PageRequest) -> Response:
    """Answer with the numbers of the last four weeks by day, message type, status and result code, as CSV."""
    first = request.now - (SHOWN_DAYS - 1) * DAY
    periods = list_periods(first, request.now + 1, Interval.DAY, request.locale.zone)
    columns = [each.column for each in GROUPS]
    found = await get_grouped_statistics(request.context, request.account_id, periods, columns, MAX_ROWS)
    items = build_statistics_items(found.rows, GROUPS, found.names, request.locale)
    lines = [csv_line([request.t(f"overview.export.{each}") for each in COLUMNS]), *map(_line, items)]
    return await _answer(request, (BOM + "".join(lines)).encode(), "csv", CSV_TYPE)


def _line(item: StatisticsItem) -> str:
    product, status, result = (
        each if isinstance(each, LabelledValue) else LabelledValue("", "")
        for each in (item.product, item.status, item.resultCode)
    )
    return csv_line(
        [
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
    )
