"""Exports of the page of statistics: the counts of its query as CSV and Excel."""

from starlette.responses import Response

from pabal.console.history.export import BOM, csv_line
from pabal.console.history.workbook import MEDIA_TYPE, Workbook
from pabal.console.overview.statistics_report import count, detail_rows, heads, read_form
from pabal.console.shell.page_request import PageRequest
from pabal.service.access.accounts import audit


async def export_csv(request: PageRequest) -> Response:
    """Answer with the counts of a query as CSV.

    Raises Refused for an invalid query.
    """
    head, rows = await _read(request)
    body = (BOM + "".join(map(csv_line, [head, *rows]))).encode()
    return await _answer(request, body, "csv", "text/csv; charset=utf-8")


async def export_xlsx(request: PageRequest) -> Response:
    """Answer with the same counts as an Excel workbook.

    Raises Refused for an invalid query.
    """
    head, rows = await _read(request)
    book = Workbook(request.t("statistics.title"), head, request.now)
    return await _answer(request, book.start() + book.add_rows(rows) + book.finish(), "xlsx", MEDIA_TYPE)


async def _read(request: PageRequest) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table, without changes in percent, which a spreadsheet can tell.

    Numbers have no separators, so that it adds them up.
    """
    report = await count(request, read_form(request))
    head, labels = heads(request, report, report.groups), 1 + len(report.groups)
    shown = [place for place, name in enumerate(head) if name != request.t("statistics.change")]
    rows = [
        [row[place] if place < labels else row[place].replace(",", "") for place in shown]
        for row in detail_rows(request, report)
    ]
    return [head[place] for place in shown], rows


async def _answer(request: PageRequest, body: bytes, extension: str, media_type: str) -> Response:
    await audit.add_entry(request.context, request.audit_entry("statistics.export", extension))
    name = f"pabal-statistics-{request.locale.format_timestamp(request.now)[:10]}.{extension}"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type=media_type, headers=headers)
