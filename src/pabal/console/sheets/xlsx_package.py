"""The parts of an Excel file: unpacked and parsed as a stream, within limits, without document type definitions."""

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from struct import error as StructError
from typing import BinaryIO, Protocol
from xml.parsers import expat

from pabal.console.sheets.sheet_limits import excel_too_large, excel_unreadable, excel_with_dtd

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
            raise excel_unreadable() from None
        for part in self._zip.infolist():
            name = _normalize(part.filename)
            if name in self._parts:  # which of the two counts would depend on the reader
                raise excel_unreadable()
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
            raise excel_unreadable()
        if info.file_size > max_bytes:
            raise excel_too_large()
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
            raise excel_unreadable() from None

    def _check_limits(self, parser: expat.XMLParserType, fed: int, chunk: bytes) -> None:
        self._unpacked_bytes += len(chunk)
        self._tags += chunk.count(b"<")
        if self._unpacked_bytes > MAX_UNPACKED_BYTES or self._tags > MAX_TAGS:
            raise excel_too_large()
        if fed - max(0, parser.CurrentByteIndex) > MAX_TAG_BYTES + _CHUNK_BYTES or len(parser.intern) > MAX_NAMES:
            raise excel_unreadable()


class _BoundedReads:
    """A file that refuses to be read in large pieces: `zipfile` reads its directory, however long, at once."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(MAX_DIRECTORY_BYTES + 1 if size < 0 else min(size, MAX_DIRECTORY_BYTES + 1))
        if len(piece) > MAX_DIRECTORY_BYTES:
            raise excel_too_large()
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
        raise excel_unreadable()


def _refuse_dtd(*_: object) -> None:
    raise excel_with_dtd()


def _normalize(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()
