"""Files that pages answer with: CSV that spreadsheets read, whole or while it is made."""

import csv
import io
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing

from starlette.responses import Response, StreamingResponse

from pabal.console.shell.page_request import PageRequest
from pabal.service.errors import StoreUnavailable

BOM = "\ufeff"
"""Byte order mark: without it Excel does not recognize UTF-8."""
CSV_TYPE = "text/csv; charset=utf-8"
_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

log = logging.getLogger("pabal.console")


def attach(name: str, content: bytes | AsyncGenerator[bytes, None], media_type: str = CSV_TYPE) -> Response:
    """Answer with a file to be saved, whole or while it is made."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    if isinstance(content, bytes):
        return Response(content, media_type=media_type, headers=headers)
    return StreamingResponse(_log_early_end(content), media_type=media_type, headers=headers)


async def _log_early_end(pieces: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece
    except StoreUnavailable:
        log.warning("an export ends early: the store is away")
        raise


def dated_name(request: PageRequest, name: str, extension: str) -> str:
    """Return the name of a file that is made today."""
    return f"{name}-{request.time(request.now)[:10]}.{extension}"


def csv_line(cells: Sequence[str]) -> str:
    """Return a line of a CSV file; no cell of it is read as a formula."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\r\n").writerow([_escape_formula(cell) for cell in cells])
    return written.getvalue()


def unescape_formula(cell: str) -> str:
    """Return a cell of one of our files as it was before `csv_line` wrote it."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA_PREFIXES) else cell


def _escape_formula(cell: str) -> str:
    """Return a cell that no spreadsheet reads as a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA_PREFIXES) else cell
