"""Exports the statistics of the overview as CSV."""

from msgspec import UNSET
from starlette.responses import Response

from pabal.answers.statistics import MAX_ROWS, GroupColumn, Interval, build_statistics_items, list_periods
from pabal.console.history.export import BOM, csv_line
from pabal.console.overview.overview import SHOWN_DAYS
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.dates import DAY
from pabal.models.answers import LabelledValue
from pabal.models.statistics import StatisticsItem
from pabal.service.access.accounts import audit
from pabal.service.upkeep.reports import get_grouped_statistics

GROUPS = [GroupColumn.PRODUCT, GroupColumn.STATUS, GroupColumn.RESULT_CODE]
COLUMNS = ("day", "kind", "status", "code", "reason", "messages", "fallbacks", "reached", "cost")


async def export_statistics(request: PageRequest) -> Response:
    """Answer with the numbers of the last four weeks by day, message type, status and result code, as CSV."""
    first = request.now - (SHOWN_DAYS - 1) * DAY
    periods = list_periods(first, request.now + 1, Interval.DAY, request.locale.zone)
    columns = [each.column for each in GROUPS]
    found = await get_grouped_statistics(request.context, request.account_id, periods, columns, MAX_ROWS)
    items = build_statistics_items(found.rows, GROUPS, found.names, request.locale)
    await audit.add_entry(request.context, request.audit_entry("statistics.export", "csv"))
    lines = [csv_line([request.t(f"overview.export.{each}") for each in COLUMNS]), *map(_line, items)]
    name = f"pabal-statistics-{request.locale.format_timestamp(request.now)[:10]}.csv"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response((BOM + "".join(lines)).encode(), media_type="text/csv; charset=utf-8", headers=headers)


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
