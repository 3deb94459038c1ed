"""Files that pages answer with while they are made: tables as CSV and Excel."""

import csv
import io
import logging
import re
import zipfile
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from operator import attrgetter
from typing import IO, TypeVar
from xml.sax.saxutils import escape

from starlette.responses import Response, StreamingResponse

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.dates import Instant
from pabal.service.errors import StoreUnavailable

BOM = "\ufeff"
"""Byte order mark: without it Excel does not recognize UTF-8."""
CSV_TYPE = "text/csv; charset=utf-8"
XLSX = "xlsx"
EXPORT_BATCH = 1000
_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

TableRows = AsyncGenerator[Sequence[Sequence[str]], None]
"""The rows of a table in batches, read while the file is sent."""
T = TypeVar("T")

log = logging.getLogger("pabal.console")


def attach(name: str, content: AsyncGenerator[bytes, None], media_type: str = CSV_TYPE) -> Response:
    """Answer with a file to be saved, while it is made."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(_log_early_end(content), media_type=media_type, headers=headers)


async def _log_early_end(pieces: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece
    except StoreUnavailable:
        log.warning("an export ends early: the store is away")
        raise


def file_extension(request: PageRequest) -> str:
    """Return which kind of file the URL names."""
    return str(request.http.scope["path"]).rpartition(".")[2]


def dated_name(request: PageRequest, name: str, extension: str) -> str:
    """Return the name of a file that is made today."""
    return f"{name}-{request.time(request.now)[:10]}.{extension}"


async def rows_behind(
    read: Callable[[int, int], Awaitable[Sequence[T]]],
    cells: Callable[[T], Sequence[str]],
    behind: int = 0,
    place: Callable[[T], int] = attrgetter("id"),
) -> TableRows:
    """Yield the cells of rows in batches; `read` returns so many rows behind the place of one."""
    while found := await read(behind, EXPORT_BATCH):
        behind = place(found[-1])
        yield [cells(each) for each in found]


async def rows_at_once(rows: Sequence[Sequence[str]]) -> TableRows:
    """Yield rows that are all there already."""
    yield rows


def attach_table(
    request: PageRequest, name: str, head: Sequence[str], batches: TableRows, title: str = ""
) -> Response:
    """Answer with a table under its head: an Excel workbook of this title if the file's name says so, else CSV."""
    if name.endswith(f".{XLSX}"):
        return attach(name, _xlsx_pieces(request, title, head, batches), MEDIA_TYPE)
    return attach(name, _csv_pieces(head, batches))


async def _csv_pieces(head: Sequence[str], batches: TableRows) -> AsyncGenerator[bytes, None]:
    yield (BOM + csv_line(head)).encode()
    async with aclosing(batches):
        async for rows in batches:
            yield "".join(map(csv_line, rows)).encode()


async def _xlsx_pieces(
    request: PageRequest, title: str, head: Sequence[str], batches: TableRows
) -> AsyncGenerator[bytes, None]:
    book = Workbook(title, head, request.now)
    yield book.start()
    async with aclosing(batches):
        async for rows in batches:
            if piece := await request.site.threads.run(book.add_rows, rows):
                yield piece
    yield book.finish()


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


MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_SHEET_BYTES = 1 << 30
"""A sheet this large is followed by another, so that no part of the file needs 64-bit sizes."""
MAX_CELL_CHARACTERS = 32_767
"""Excel's limit."""
COMPRESSION_LEVEL = 1
"""The fastest level: higher ones take much longer and save little."""

_INVALID_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LOOKS_ESCAPED = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_TYPES = (
    f'{_XML_DECLARATION}<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Default Extension="xml" ContentType="{_TYPE}.worksheet+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/></Types>'
)
_RELATIONS = (
    f'{_XML_DECLARATION}<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
)
_STYLES = (
    f'{_XML_DECLARATION}<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="2"><xf xfId="0"/><xf xfId="0" numFmtId="49" applyNumberFormat="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)
"""The second style is text: a cell of that style stays text when it is edited."""
_SHEET_BEGINS = f'{_XML_DECLARATION}<worksheet xmlns="{_MAIN}"><sheetData>'
_SHEET_ENDS = "</sheetData></worksheet>"
_CELL_BEGINS, _CELL_ENDS = '<c t="inlineStr" s="1"><is><t xml:space="preserve">', "</t></is></c>"


class Workbook:
    """A workbook in the making; each sheet starts with the same header."""

    def __init__(
        self, name: str, header: Sequence[str], at: Instant, *, sheet_bytes: int = MAX_SHEET_BYTES
    ) -> None:
        self._name = name
        self._header = header
        self._time = datetime.fromtimestamp(at / 1000, UTC).timetuple()[:6]
        self._sheet_bytes = sheet_bytes
        self._out = _OutputBuffer()
        self._zip = zipfile.ZipFile(self._out, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION_LEVEL)
        self._sheet: IO[bytes] | None = None
        self._sheets = 0
        self._written_bytes = 0

    def start(self) -> bytes:
        """Return the start of the file, with the header of its first sheet."""
        for part, text in (
            ("[Content_Types].xml", _TYPES),
            ("_rels/.rels", _RELATIONS),
            ("xl/styles.xml", _STYLES),
        ):
            self._zip.writestr(self._part(part), text, compresslevel=COMPRESSION_LEVEL)
        self._start_sheet()
        return self._out.take()

    def add_rows(self, rows: Iterable[Sequence[str]]) -> bytes:
        """Return the next bytes of the file after adding rows; empty while the compressor buffers them."""
        if self._written_bytes >= self._sheet_bytes:
            self._finish_sheet()
            self._start_sheet()
        self._write("".join(map(_row, rows)))
        return self._out.take()

    def finish(self) -> bytes:
        """Return the end of the file."""
        self._finish_sheet()
        numbers = range(1, self._sheets + 1)
        sheets = "".join(
            f'<sheet name="{escape(self._name)}{f" {n}" if n > 1 else ""}" sheetId="{n}" r:id="rId{n}"/>'
            for n in numbers
        )
        related = "".join(
            f'<Relationship Id="rId{n}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
            for n in numbers
        )
        styles = f'<Relationship Id="rId{self._sheets + 1}" Type="{_OFFICE}/styles" Target="styles.xml"/>'
        book = (
            f'{_XML_DECLARATION}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets></workbook>'
        )
        relations = (
            f'{_XML_DECLARATION}<Relationships xmlns="{_PACKAGE}/relationships">{related}{styles}</Relationships>'
        )
        self._zip.writestr(self._part("xl/workbook.xml"), book)
        self._zip.writestr(self._part("xl/_rels/workbook.xml.rels"), relations)
        self._zip.close()
        return self._out.take()

    def _part(self, name: str) -> zipfile.ZipInfo:
        part = zipfile.ZipInfo(name, self._time)
        part.compress_type = zipfile.ZIP_DEFLATED
        return part

    def _start_sheet(self) -> None:
        self._sheets += 1
        self._written_bytes = 0
        self._sheet = self._zip.open(self._part(f"xl/worksheets/sheet{self._sheets}.xml"), "w")
        self._write(_SHEET_BEGINS + _row(self._header))

    def _finish_sheet(self) -> None:
        assert self._sheet is not None
        self._write(_SHEET_ENDS)
        self._sheet.close()

    def _write(self, text: str) -> None:
        assert self._sheet is not None
        self._written_bytes += self._sheet.write(text.encode())


class _OutputBuffer(io.RawIOBase):
    """The output of the zip file: it cannot seek, and is emptied as it is read."""

    def __init__(self) -> None:
        super().__init__()
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, given: object) -> int:
        piece = bytes(given)  # type: ignore[call-overload]
        self._held += piece
        return len(piece)

    def take(self) -> bytes:
        """Return what was written since the last call."""
        held, self._held = bytes(self._held), bytearray()
        return held


def _row(cells: Sequence[str]) -> str:
    return f"<row>{''.join(map(_cell, cells))}</row>"


def _cell(text: str) -> str:
    """Return a cell that holds a text, whatever it starts with; an empty text makes an empty cell."""
    if not text:
        return "<c/>"
    spoken = _INVALID_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text[:MAX_CELL_CHARACTERS])
    # Excel reads _x0041_ as A, so an underscore that would start such a sequence is escaped itself.
    return f"{_CELL_BEGINS}{escape(_LOOKS_ESCAPED.sub('_x005F_', spoken))}{_CELL_ENDS}"
