"""The history as a file for spreadsheets, CSV or Excel, written while it is read."""

import csv
import io
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing

from starlette.responses import Response, StreamingResponse

from pabal.console.history import filters
from pabal.console.history.workbook import MEDIA_TYPE, Workbook
from pabal.console.shell.page_request import Visit
from pabal.domain import identifiers, phone
from pabal.domain.codes import Refused
from pabal.service.history import timeline
from pabal.service.sending import compose
from pabal.store import audit_log
from pabal.store.engine.base import StoreUnavailable
from pabal.store.history import MessageFilter
from pabal.store.message_search import NEWEST
from pabal.store.messages import Message
from pabal.store.requests import Request

BATCH_ROWS = 1000
MAX_ROWS = 1_000_000
"""A spreadsheet holds hardly more."""
BOM = "\ufeff"
"""Without it Excel takes UTF-8 for something else."""
_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
COLUMNS = (
    "requestDate", "scheduledDate", "completedDate", "product", "receiver", "status", "resultCode", "result",
    "sender", "channelId", "templateCode", "subject", "content", "reference", "requestId", "messageId",
)  # fmt: skip

log = logging.getLogger("pabal.console")


async def export_csv(visit: Visit) -> Response:
    """Answer with every message that the visitor looks for, newest first, as CSV.

    Raises Refused for a search that cannot be understood.
    """
    return await _download(visit, _csv_chunks(visit, _read_filter(visit)), "csv", "text/csv; charset=utf-8")


async def export_xlsx(visit: Visit) -> Response:
    """Answer with the same messages as an Excel workbook.

    Raises Refused for a search that cannot be understood.
    """
    return await _download(visit, _xlsx_chunks(visit, _read_filter(visit)), "xlsx", MEDIA_TYPE)


def _read_filter(visit: Visit) -> MessageFilter | None:
    search = filters.read_search(visit.given, visit.account_id, visit.speech)
    if search.problems:
        raise Refused.from_problems(search.problems)
    return search.message_filter


async def _download(visit: Visit, chunks: AsyncIterator[bytes], extension: str, media_type: str) -> Response:
    """Answer with a file; that someone takes so many numbers away is noted."""
    await visit.context.store.write(audit_log.add, visit.deed("history.export", extension))
    name = f"pabal-{visit.speech.format_timestamp(visit.now)[:10]}.{extension}"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(chunks, media_type=media_type, headers=headers)


async def _csv_chunks(visit: Visit, wanted_filter: MessageFilter | None) -> AsyncIterator[bytes]:
    yield (BOM + csv_line(_header(visit))).encode()
    async for rows in limit_rows(
        MAX_ROWS, _row_batches(visit, wanted_filter), visit.say("export.cut", most=f"{MAX_ROWS:,}")
    ):
        yield "".join(map(csv_line, rows)).encode()


async def _xlsx_chunks(visit: Visit, wanted_filter: MessageFilter | None) -> AsyncIterator[bytes]:
    book = Workbook(visit.say("history.title"), _header(visit), visit.now)
    yield book.start()
    async for rows in limit_rows(
        MAX_ROWS, _row_batches(visit, wanted_filter), visit.say("export.cut", most=f"{MAX_ROWS:,}")
    ):
        if piece := await visit.rooms.beside.run(book.add_rows, rows):
            yield piece
    yield book.finish()


def _header(visit: Visit) -> list[str]:
    return [visit.say(f"export.{column}") for column in COLUMNS]


async def limit_rows(
    limit: int, batches: AsyncGenerator[list[list[str]], None], truncation_note: str
) -> AsyncIterator[list[list[str]]]:
    """Pass so many rows on; where there are more, a last one says so: nobody is to take a part for the whole."""
    async with aclosing(batches):
        async for rows in batches:
            yield rows if len(rows) <= limit else [*rows[:limit], [truncation_note]]
            limit -= len(rows)
            if limit < 0:
                return


async def _row_batches(visit: Visit, wanted_filter: MessageFilter | None) -> AsyncGenerator[list[list[str]], None]:
    """Yield the cells of the messages that are looked for, some rows at a time."""
    before: bytes | None = NEWEST if wanted_filter else None
    while wanted_filter and before:
        try:
            walked = await timeline.search_messages(visit.context, wanted_filter, before, BATCH_ROWS)
        except StoreUnavailable:
            log.warning("an export ends early: the store is away")
            raise
        before = walked.next_before
        if walked.found:
            yield [_cells(visit, *each) for each in walked.found]


def _cells(visit: Visit, message: Message, request: Request) -> list[str]:
    is_fallback = compose.is_fallback(message, request)
    outcome, stamp = message.outcome, visit.speech.format_timestamp
    sender = request.fallback_sender if is_fallback else request.sender
    return [
        stamp(identifiers.requested_at(request.id)),
        stamp(request.scheduled_at),
        stamp(message.completed_at) if message.completed_at is not None else "",
        visit.words(message.product.label),
        visit.number(message.receiver),
        visit.words(message.status.label),
        str(outcome.number) if outcome else "",
        visit.words(outcome.label) if outcome else "",
        phone.hyphenate(sender) if sender else "",  # spreadsheets drop the zero of bare digits
        request.channel_id or "",
        (None if is_fallback else request.template_code) or "",
        compose.subject_of(message, request) or "",
        compose.content_of(message, request),
        message.reference or "",
        request.id.hex(),
        message.id.hex(),
    ]


def csv_line(cells: Sequence[str]) -> str:
    """Return a line of a CSV file, each cell such that no spreadsheet takes it for a formula."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\r\n").writerow([_escape_formula(cell) for cell in cells])
    return written.getvalue()


def _escape_formula(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA_PREFIXES) else cell
