"""The history as a file for spreadsheets, CSV or Excel, written while it is read."""

import csv
import io
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing

from starlette.responses import Response, StreamingResponse

from pabal.console.history import filters
from pabal.console.history.workbook import KIND, Workbook
from pabal.console.shell.page_request import Visit
from pabal.domain import identifiers, phone
from pabal.domain.codes import Refused
from pabal.service.history import timeline
from pabal.service.sending import compose
from pabal.store import audit_log
from pabal.store.engine.base import StoreAway
from pabal.store.history import Filter
from pabal.store.message_search import NEWEST
from pabal.store.messages import Message
from pabal.store.requests import Request

BATCH = 1000
MOST_ROWS = 1_000_000
"""A spreadsheet holds hardly more."""
BOM = "\ufeff"
"""Without it Excel takes UTF-8 for something else."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
COLUMNS = (
    "requestDate", "scheduledDate", "completedDate", "product", "receiver", "status", "resultCode", "result",
    "sender", "channelId", "templateCode", "subject", "content", "reference", "requestId", "messageId",
)  # fmt: skip

log = logging.getLogger("pabal.console")


async def export(visit: Visit) -> Response:
    """Answer with every message that the visitor looks for, newest first, as CSV.

    Raises Refused for a search that cannot be understood.
    """
    return await _file(visit, _as_csv(visit, _wanted(visit)), "csv", "text/csv; charset=utf-8")


async def export_workbook(visit: Visit) -> Response:
    """Answer with the same messages as an Excel workbook.

    Raises Refused for a search that cannot be understood.
    """
    return await _file(visit, _as_workbook(visit, _wanted(visit)), "xlsx", KIND)


def _wanted(visit: Visit) -> Filter | None:
    search = filters.read(visit.given, visit.account_id, visit.speech)
    if search.problems:
        raise Refused.for_all(search.problems)
    return search.wanted


async def _file(visit: Visit, written: AsyncIterator[bytes], ending: str, kind: str) -> Response:
    """Answer with a file; that someone takes so many numbers away is noted."""
    await visit.context.store.write(audit_log.note, visit.deed("history.export", ending))
    name = f"pabal-{visit.speech.stamp(visit.now)[:10]}.{ending}"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(written, media_type=kind, headers=headers)


async def _as_csv(visit: Visit, wanted: Filter | None) -> AsyncIterator[bytes]:
    yield (BOM + line(_head(visit))).encode()
    async for rows in up_to(MOST_ROWS, _rows(visit, wanted), visit.say("export.cut", most=f"{MOST_ROWS:,}")):
        yield "".join(map(line, rows)).encode()


async def _as_workbook(visit: Visit, wanted: Filter | None) -> AsyncIterator[bytes]:
    book = Workbook(visit.say("history.title"), _head(visit), visit.now)
    yield book.begin()
    async for rows in up_to(MOST_ROWS, _rows(visit, wanted), visit.say("export.cut", most=f"{MOST_ROWS:,}")):
        if piece := await visit.rooms.beside.do(book.add, rows):
            yield piece
    yield book.end()


def _head(visit: Visit) -> list[str]:
    return [visit.say(f"export.{column}") for column in COLUMNS]


async def up_to(
    most: int, batches: AsyncGenerator[list[list[str]], None], last: str
) -> AsyncIterator[list[list[str]]]:
    """Pass so many rows on; where there are more, a last one says so: nobody is to take a part for the whole."""
    async with aclosing(batches):
        async for rows in batches:
            yield rows if len(rows) <= most else [*rows[:most], [last]]
            most -= len(rows)
            if most < 0:
                return


async def _rows(visit: Visit, wanted: Filter | None) -> AsyncGenerator[list[list[str]], None]:
    """Yield the cells of the messages that are looked for, some rows at a time."""
    before: bytes | None = NEWEST if wanted else None
    while wanted and before:
        try:
            walked = await timeline.look_through(visit.context, wanted, before, BATCH)
        except StoreAway:
            log.warning("an export ends early: the store is away")
            raise
        before = walked.further
        if walked.found:
            yield [_cells(visit, *each) for each in walked.found]


def _cells(visit: Visit, message: Message, request: Request) -> list[str]:
    is_fallback = compose.is_fallback(message, request)
    outcome, stamp = message.outcome, visit.speech.stamp
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
        phone.hyphenated(sender) if sender else "",  # spreadsheets drop the zero of bare digits
        request.channel_id or "",
        (None if is_fallback else request.template_code) or "",
        compose.subject_of(message, request) or "",
        compose.content_of(message, request),
        message.reference or "",
        request.id.hex(),
        message.id.hex(),
    ]


def line(cells: Sequence[str]) -> str:
    """Return a line of a CSV file, each cell such that no spreadsheet takes it for a formula."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\r\n").writerow([_harmless(cell) for cell in cells])
    return written.getvalue()


def _harmless(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
