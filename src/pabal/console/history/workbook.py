"""Writes an Excel workbook of plain text row by row, without holding it in memory."""

import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import IO
from xml.sax.saxutils import escape

from pabal.domain.base.dates import Instant

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
