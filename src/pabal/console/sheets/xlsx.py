"""Reads the first sheet of an Excel file as rows of text, as a stream."""

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from pabal.console.sheets.sheet_limits import (
    EXCEL_TOO_LARGE,
    EXCEL_UNREADABLE,
    MAX_COLUMNS,
    MAX_ROW_CELLS,
    TOO_MANY_CELLS,
    TOO_MANY_COLUMNS,
    check_row_number,
    refuse_file,
)
from pabal.console.sheets.xlsx_package import (
    MAX_UNPACKED_BYTES,
    ExcelPackage,
    NumberFormat,
    built_in_format,
    classify_format,
    local_name,
    relationships_of,
    resolve_target,
    show_iso_date,
    show_number,
)

MAX_SHARED_STRINGS_BYTES = 64 * 1024 * 1024
MAX_SHARED_STRINGS = 1_000_000
"""All shared strings are held in memory."""
MAX_CELL_CHARACTERS = 32_767
"""Excel's own limit."""
MAX_STYLES = 100_000
"""Excel's own limit is 65,490."""
MAX_RELATIONSHIPS = 10_000
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_", re.ASCII)
_COLUMN = re.compile(r"[A-Z]{1,3}", re.ASCII)


class ExcelRow(NamedTuple):
    """A row: its number, and its cells by column, counted from 0; those without a value are left out."""

    number: int
    cells: dict[int, str]


def read_sheet(file: BinaryIO) -> Iterator[list[ExcelRow]]:
    """Yield the rows of the first sheet in small lists, some of them empty, so that the caller can pause.

    Raises Refused(INVALID_PARAMETER), which says what to do, as soon as something cannot be read.
    """
    package = ExcelPackage(file)
    main = _find_workbook(package)
    book = _Workbook()
    package.parse(main, book)
    parts = _Relationships(package, main)
    sheet = next((parts.targets[each] for each in book.sheets if parts.is_worksheet(each)), None)
    if sheet is None:
        raise refuse_file(EXCEL_UNREADABLE)
    strings = _SharedStrings()
    if (name := parts.by_kind.get("sharedStrings", "")) in package:
        for _ in package.parse_chunks(name, strings, MAX_SHARED_STRINGS_BYTES):
            yield []
    styles = _Styles()
    if (name := parts.by_kind.get("styles", "")) in package:
        package.parse(name, styles)
    rows = _Rows(strings, styles.formats, is_1904=book.is_1904)
    for _ in package.parse_chunks(sheet, rows, MAX_UNPACKED_BYTES):
        yield rows.take()


def _find_workbook(package: ExcelPackage) -> str:
    found = _Relationships(package, "").by_kind if "_rels/.rels" in package else {}
    return found.get("officeDocument", "xl/workbook.xml")


class _TagReader:
    """Reads tags alone."""

    def end(self, name: str) -> None: ...

    def text(self, text: str) -> None: ...


class _Relationships(_TagReader):
    """The relationships of a part: the names of those it points to."""

    def __init__(self, package: ExcelPackage, source: str) -> None:
        self._source = source
        self._kinds: dict[str, str] = {}
        self.targets: dict[str, str] = {}
        self.by_kind: dict[str, str] = {}
        """Of several of one kind, the last."""
        package.parse(relationships_of(source), self)

    def is_worksheet(self, relationship: str) -> bool:
        return self._kinds.get(relationship) == "worksheet"

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if local_name(name) != "Relationship" or attributes.get("TargetMode") == "External":
            return
        if len(self.targets) >= MAX_RELATIONSHIPS:
            raise refuse_file(EXCEL_TOO_LARGE)
        kind = attributes.get("Type", "").rpartition("/")[2]
        target = resolve_target(self._source, attributes.get("Target", ""))
        self._kinds[attributes.get("Id", "")] = kind
        self.targets[attributes.get("Id", "")] = self.by_kind[kind] = target


class _Workbook(_TagReader):
    """The sheets of a workbook, by relationship, and where its dates begin."""

    def __init__(self) -> None:
        self.sheets: list[str] = []
        self.is_1904 = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = local_name(name)
        if tag == "sheet":
            if len(self.sheets) >= MAX_RELATIONSHIPS:
                raise refuse_file(EXCEL_TOO_LARGE)
            self.sheets += [value for key, value in attributes.items() if local_name(key) == "id"]
        elif tag == "workbookPr":
            self.is_1904 = attributes.get("date1904", "0") in ("1", "true")


class _Styles(_TagReader):
    """The number format of each cell style."""

    def __init__(self) -> None:
        self.formats: list[NumberFormat] = []
        self._custom: dict[str, NumberFormat] = {}
        self._is_in_cell_styles = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = local_name(name)
        if tag == "cellXfs":
            self._is_in_cell_styles = True
        elif tag == "numFmt" and not self._is_in_cell_styles:
            self._custom[attributes.get("numFmtId", "")] = classify_format(attributes.get("formatCode", ""))
        elif tag == "xf" and self._is_in_cell_styles:
            spelled = attributes.get("numFmtId", "0")
            built_in = built_in_format(int(spelled)) if spelled.isdecimal() and len(spelled) < 9 else None
            self.formats.append(self._custom.get(spelled) or built_in or NumberFormat.PLAIN)
        if len(self.formats) > MAX_STYLES or len(self._custom) > MAX_STYLES:
            raise refuse_file(EXCEL_TOO_LARGE)

    def end(self, name: str) -> None:
        if local_name(name) == "cellXfs":
            self._is_in_cell_styles = False


class _CellText:
    """The text of a cell or shared string that is being read; phonetic hints are left out."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._characters = 0
        self._is_open = False
        self._is_hint = False

    def start(self, tag: str) -> None:
        if tag == "rPh":
            self._is_hint = True
        self._is_open = tag in ("t", "v") and not self._is_hint

    def end(self, tag: str) -> None:
        if tag == "rPh":
            self._is_hint = False
        self._is_open = False

    def text(self, text: str) -> None:
        if self._is_open:
            self._characters += len(text)
            if self._characters > MAX_CELL_CHARACTERS:
                raise refuse_file(EXCEL_TOO_LARGE)
            self._pieces.append(text)

    def take(self) -> str:
        """Return the text, in which codes may stand for characters."""
        taken = "".join(self._pieces)
        self._pieces.clear()
        self._characters = 0
        self._is_hint = False
        return taken


class _SharedStrings:
    """The texts that cells refer to by number."""

    def __init__(self) -> None:
        self._found: list[str] = []
        self._unescaped: dict[int, str] = {}
        self._current = _CellText()
        self.text = self._current.text

    def get(self, place: int) -> str:
        """Return a text; it is unescaped when a cell refers to it first."""
        if place >= len(self._found):
            raise refuse_file(EXCEL_UNREADABLE)
        text = self._found[place]
        if "_x" not in text:  # most of them: these need no second place in memory
            return text
        if place not in self._unescaped:
            self._unescaped[place] = _unescape(text)
        return self._unescaped[place]

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._current.start(local_name(name))

    def end(self, name: str) -> None:
        tag = local_name(name)
        self._current.end(tag)
        if tag == "si":
            if len(self._found) >= MAX_SHARED_STRINGS:
                raise refuse_file(EXCEL_TOO_LARGE)
            self._found.append(self._current.take())


class _Rows:
    """The rows of a sheet; formulas count by their last value."""

    def __init__(self, strings: _SharedStrings, formats: list[NumberFormat], *, is_1904: bool) -> None:
        self._strings = strings
        self._formats = formats
        self._is_1904 = is_1904
        self._rows: list[ExcelRow] = []
        self._row: ExcelRow | None = None
        self._number = 0
        self._column = -1
        self._cells = 0
        self._columns: dict[str, int] = {}
        self._kind = self._style = ""
        self._current = _CellText()
        self.text = self._current.text

    def take(self) -> list[ExcelRow]:
        """Return the rows that have been read since the last call."""
        taken, self._rows = self._rows, []
        return taken

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name if ":" not in name else local_name(name)
        if tag == "c":
            self._cells += 1
            if self._cells > MAX_ROW_CELLS:
                raise refuse_file(TOO_MANY_CELLS)
            self._column = self._find_column(attributes.get("r"))
            self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "")
            self._current.take()
        elif tag == "row":
            self._start_row(attributes.get("r"))
        else:
            self._current.start(tag)

    def end(self, name: str) -> None:
        tag = name if ":" not in name else local_name(name)
        self._current.end(tag)
        if tag == "c":
            value = self._current.take()
            if value and self._row is not None:
                if self._column >= MAX_COLUMNS:
                    raise refuse_file(TOO_MANY_COLUMNS)
                self._row.cells[self._column] = self._show(value)
        elif tag == "row" and self._row is not None:
            self._rows.append(self._row)
            self._row = None

    def _start_row(self, spelled: str | None) -> None:
        number = _parse_number(spelled.partition(".")[0]) if spelled is not None else self._number + 1
        if number <= self._number:  # two rows with one number: which one counts would depend on the reader
            raise refuse_file(EXCEL_UNREADABLE)
        check_row_number(number)
        self._number = number
        self._column = -1
        self._cells = 0
        self._row = ExcelRow(number, {})

    def _find_column(self, spelled: str | None) -> int:
        if spelled is None:
            return self._column + 1
        letters = spelled.rstrip("0123456789")
        if letters not in self._columns:
            self._columns[letters] = _parse_column(letters)
        return self._columns[letters]

    def _show(self, value: str) -> str:
        kind = self._kind
        if kind == "n":
            style = _parse_number(self._style) if self._style else 0
            number_format = self._formats[style] if style < len(self._formats) else NumberFormat.PLAIN
            return show_number(value, number_format, is_1904=self._is_1904)
        if kind == "s":
            return self._strings.get(_parse_number(value))
        if kind == "b":
            return str(value.strip() not in ("0", "false"))
        return show_iso_date(value) if kind == "d" else _unescape(value)


def _parse_column(letters: str) -> int:
    if not _COLUMN.fullmatch(letters):
        raise refuse_file(EXCEL_UNREADABLE)
    column = 0
    for letter in letters:
        column = 26 * column + ord(letter) - ord("A") + 1
    return column - 1


def _parse_number(spelled: str) -> int:
    digits = spelled.strip()
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 10):
        raise refuse_file(EXCEL_UNREADABLE)
    return int(digits)


def _unescape(text: str) -> str:
    """Return a text with characters in place of their codes; a code is looked up once."""
    if "_x" not in text:
        return text
    pieces = _ESCAPED.split(text)
    characters = {code: _character(code) for code in set(pieces[1::2])}
    pieces[1::2] = [characters[code] for code in pieces[1::2]]
    return "".join(pieces)


def _character(code: str) -> str:
    number = int(code, 16)
    is_character = number and not 0xD800 <= number <= 0xDFFF
    return chr(number) if is_character else f"_x{code}_"
