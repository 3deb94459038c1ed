"""The parts of an Excel file, parsed as a stream within limits, and its numbers as Excel shows them."""

import datetime
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from enum import Enum
from struct import error as StructError
from typing import BinaryIO, Protocol
from xml.parsers import expat

from pabal.console.sheets.sheet_limits import EXCEL_TOO_LARGE, EXCEL_UNREADABLE, EXCEL_WITH_DTD, refuse_file

MAX_DIRECTORY_BYTES = 1024 * 1024
"""The zip directory is held in memory; this is enough for about 10,000 parts; a workbook has dozens."""
MAX_UNPACKED_BYTES = 512 * 1024 * 1024
"""A larger file is no list of receivers."""
MAX_SMALL_PART_BYTES = 16 * 1024 * 1024
"""For parts that say where others are, and for styles."""
MAX_TAGS = 20_000_000
"""Limits the time: 200,000 rows of 24 columns, four tags a cell."""
MAX_TAG_BYTES = 256 * 1024
"""The parser scans a tag from its start again with every chunk, and holds it."""
MAX_NAMES = 10_000
"""The parser holds every name of an element or attribute."""
_CHUNK_BYTES = 64 * 1024
_ENCODINGS = (None, "", "utf-8", "utf-16", "us-ascii", "ascii")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What Excel uses; other methods can ask for gigabytes."""
_UNREADABLE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    expat.ExpatError,
    StructError,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
)
"""What `zipfile` and the parser raise for a file that is damaged, encrypted, or no Excel file."""


class PartHandler(Protocol):
    """Takes what a part contains, element by element."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...

    def end(self, name: str) -> None: ...

    def text(self, text: str) -> None: ...


class ExcelPackage:
    """An opened Excel file; each part is unpacked while it is parsed.

    Every method raises Refused(INVALID_PARAMETER), which says what is wrong.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._unpacked_bytes = 0
        self._tags = 0
        self._parts: dict[str, zipfile.ZipInfo] = {}
        try:
            self._zip = zipfile.ZipFile(_BoundedReads(file))
        except _UNREADABLE_ERRORS:
            raise refuse_file(EXCEL_UNREADABLE) from None
        for part in self._zip.infolist():
            name = _normalize(part.filename)
            if name in self._parts:  # which of the two counts would depend on the reader
                raise refuse_file(EXCEL_UNREADABLE)
            self._parts[name] = part

    def __contains__(self, name: str) -> bool:
        return _normalize(name) in self._parts

    def parse(self, name: str, handler: PartHandler, max_bytes: int = MAX_SMALL_PART_BYTES) -> None:
        """Parse a part to its end."""
        for _ in self.parse_chunks(name, handler, max_bytes):
            pass

    def parse_chunks(self, name: str, handler: PartHandler, max_bytes: int) -> Iterator[None]:
        """Parse a part, and yield after each chunk of it, so that the caller can pause or stop."""
        info = self._parts.get(_normalize(name))
        if info is None or info.compress_type not in _METHODS:
            raise refuse_file(EXCEL_UNREADABLE)
        if info.file_size > max_bytes:
            raise refuse_file(EXCEL_TOO_LARGE)
        parser = _create_parser(handler)
        fed = 0
        try:
            with self._zip.open(info) as part:
                while chunk := part.read(_CHUNK_BYTES):
                    fed += len(chunk)
                    parser.Parse(chunk)
                    self._check_limits(parser, fed, chunk)
                    yield
                parser.Parse(b"", True)
        except _UNREADABLE_ERRORS:
            raise refuse_file(EXCEL_UNREADABLE) from None

    def _check_limits(self, parser: expat.XMLParserType, fed: int, chunk: bytes) -> None:
        self._unpacked_bytes += len(chunk)
        self._tags += chunk.count(b"<")
        if self._unpacked_bytes > MAX_UNPACKED_BYTES or self._tags > MAX_TAGS:
            raise refuse_file(EXCEL_TOO_LARGE)
        if fed - max(0, parser.CurrentByteIndex) > MAX_TAG_BYTES + _CHUNK_BYTES or len(parser.intern) > MAX_NAMES:
            raise refuse_file(EXCEL_UNREADABLE)


class _BoundedReads:
    """A file that refuses to be read in large pieces: `zipfile` reads its directory, however long, at once."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(MAX_DIRECTORY_BYTES + 1 if size < 0 else min(size, MAX_DIRECTORY_BYTES + 1))
        if len(piece) > MAX_DIRECTORY_BYTES:
            raise refuse_file(EXCEL_TOO_LARGE)
        return piece


def resolve_target(source: str, target: str) -> str:
    """Return the name of the part that a relationship of `source` points to."""
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(source), target)).lstrip("/")


def relationships_of(source: str) -> str:
    """Return the name of the part that holds the relationships of another."""
    folder, name = posixpath.split(source)
    return posixpath.join(folder, "_rels", f"{name}.rels")


def local_name(name: str) -> str:
    """Return a name without its prefix."""
    return name.rpartition(":")[2]


def _create_parser(handler: PartHandler) -> expat.XMLParserType:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    parser.XmlDeclHandler = _check_declaration
    # The parser tells these in any encoding. No program writes them, and entities multiply what a file holds.
    parser.StartDoctypeDeclHandler = _refuse_dtd
    parser.EntityDeclHandler = _refuse_dtd
    return parser


def _check_declaration(version: str, encoding: str | None, standalone: int) -> None:
    if (encoding or "").lower() not in _ENCODINGS:
        raise refuse_file(EXCEL_UNREADABLE)


def _refuse_dtd(*_: object) -> None:
    raise refuse_file(EXCEL_WITH_DTD)


def _normalize(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


MAX_FORMAT_CHARACTERS = 255
"""Excel's own limit."""
NUMBER_ERROR = "#NUM!"
DATE_ERROR = "#VALUE!"
_EPOCH = datetime.datetime(1899, 12, 30)
_EPOCH_1904 = datetime.datetime(1904, 1, 1)
_MS_PER_DAY = 86_400_000
_MAX_WHOLE_NUMBER = 1e15
"""Beyond it Excel shows powers of ten."""
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_NOT_SHOWN = re.compile(r'"[^"]*"|\[(?!hh?\]|mm?\]|ss?\])[^\]]*\]', re.IGNORECASE)
_DATE_LETTER = re.compile(r"(?<![_\\])[dmhys]", re.IGNORECASE)
_DURATION = re.compile(r"\[(?:hh?|mm?|ss?)\]", re.IGNORECASE)


class NumberFormat(Enum):
    """How a number is shown."""

    PLAIN = "plain"
    DATE = "date"
    DURATION = "duration"


_DURATION_ID = 46
_DATE_IDS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
"""Excel's built-in formats, with those of East Asian editions."""


def built_in_format(format_id: int) -> NumberFormat:
    """Return what one of Excel's built-in formats shows."""
    if format_id == _DURATION_ID:
        return NumberFormat.DURATION
    return NumberFormat.DATE if format_id in _DATE_IDS else NumberFormat.PLAIN


def classify_format(code: str) -> NumberFormat:
    """Return what a format code, such as yyyy-mm-dd, shows."""
    shown = _NOT_SHOWN.sub("", code[:MAX_FORMAT_CHARACTERS].split(";")[0])
    if _DURATION.search(shown):
        return NumberFormat.DURATION
    return NumberFormat.DATE if _DATE_LETTER.search(shown) else NumberFormat.PLAIN


def show_number(spelled: str, number_format: NumberFormat, *, is_1904: bool) -> str:
    """Return a number as Excel shows it, or a formula error where it cannot be shown."""
    if number_format is NumberFormat.PLAIN and _WHOLE_NUMBER.fullmatch(spelled):
        return str(int(spelled))
    try:
        number = float(spelled)
        if not abs(number) < float("inf"):
            return NUMBER_ERROR
    except ValueError:
        return NUMBER_ERROR
    if number_format is NumberFormat.PLAIN:
        return str(int(number)) if number.is_integer() and abs(number) < _MAX_WHOLE_NUMBER else str(number)
    try:
        return _show_date(number, number_format, _EPOCH_1904 if is_1904 else _EPOCH)
    except (OverflowError, ValueError):
        return DATE_ERROR


def show_iso_date(spelled: str) -> str:
    """Return a date that is written as ISO 8601 as Excel shows it; anything else as it is."""
    try:
        return _show_datetime(datetime.datetime.fromisoformat(spelled))
    except ValueError:
        return spelled


def _show_date(number: float, number_format: NumberFormat, epoch: datetime.datetime) -> str:
    day, fraction = divmod(number, 1)
    time = datetime.timedelta(milliseconds=round(fraction * _MS_PER_DAY))
    if number_format is NumberFormat.DURATION:
        return str(datetime.timedelta(days=day) + time)
    if 0 <= number < 1 and not time.days:
        return str((datetime.datetime.min + time).time())
    if 0 < number < 60 and epoch is _EPOCH:
        day += 1  # Excel believes that there was a 29 February 1900
    return _show_datetime(epoch + datetime.timedelta(days=day) + time)


def _show_datetime(shown: datetime.datetime) -> str:
    if shown.time() == datetime.time.min:
        return shown.date().isoformat()
    return shown.replace(tzinfo=None).isoformat(" ", "minutes")
