"""Reads a file of receivers, CSV or Excel, as rows of text cells; the first row names the columns."""

import codecs
import csv
import io
import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple

from pabal.console.sheets import xlsx
from pabal.console.sheets.sheet_limits import (
    MAX_COLUMNS,
    MAX_ROW_CHARACTERS,
    MAX_ROWS,
    MAX_TEXT_CHARACTERS,
    ROW_TOO_LONG,
    TOO_MANY_COLUMNS,
    TOO_MANY_ROWS,
    TOO_MUCH_TEXT,
    check_row_number,
    refusal,
    refuse_file,
)
from pabal.domain.base.codes import Code, Refused
from pabal.domain.people import phone

MAX_SHOWN_NAMES = 20
MAX_SHOWN_CHARACTERS = 60
"""Names of columns in a message."""
PHONE_NAMES = (
    "휴대폰번호", "휴대폰", "휴대전화", "휴대전화번호", "전화번호", "수신번호", "수신자번호", "연락처", "번호",
    "phonenumber", "phone", "mobile", "receiver", "number",
)  # fmt: skip
REFERENCE_NAMES = ("참조id", "참조", "reference")
FORMULA_ERRORS = frozenset(
    (
        "#N/A",
        "#REF!",
        "#VALUE!",
        "#DIV/0!",
        "#NAME?",
        "#NUM!",
        "#NULL!",
        "#SPILL!",
        "#CALC!",
        "#FIELD!",
        "#BLOCKED!",
    )
)
"""What a failed formula shows: no receiver should read that."""
_CHUNK_BYTES = 1024 * 1024
_ZIP, _OLD_EXCEL = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_DELIMITERS = (",", "\t", ";")
_LOST_ZERO = re.compile(r"1[0-9]{8,9}", re.ASCII)
_ROWS_PER_BATCH = 500
"""Lines of a CSV file that are read without a pause."""


class SheetRow(NamedTuple):
    """A row of the file: its number, as spreadsheets count, and its cells."""

    number: int
    cells: tuple[str, ...]

    def cell(self, place: int) -> str:
        """Return a cell; empty beyond the end of the row."""
        return self.cells[place] if place < len(self.cells) else ""


class Columns(NamedTuple):
    """Which column holds what."""

    names: tuple[str, ...]
    phone: int
    reference: int | None
    values: dict[str, int]
    unused: tuple[str, ...]

    def formula_error(self, row: SheetRow) -> str:
        """Return the formula error in a cell that would be sent, empty if there is none."""
        places = (self.phone, self.reference, *self.values.values())
        cells = (row.cells[place] for place in places if place is not None and place < len(row.cells))
        return next((cell for cell in cells if cell in FORMULA_ERRORS), "")


def read_rows(file: BinaryIO) -> Iterator[list[SheetRow]]:
    """Yield short lists of the file's non-empty rows; a list may be empty, so that the caller can pause.

    Raises Refused, which says what to do, as soon as something cannot be read or exceeds a limit.
    """
    file.seek(0)
    begin = file.read(4)
    if begin == _OLD_EXCEL:
        raise refusal(
            "예전 Excel 형식(.xls)이거나 암호가 걸려 있습니다. Excel에서 암호 없이 .xlsx나 CSV로 저장해 올리세요.",
            "The file is in the old Excel format (.xls) or has a password. Save it as .xlsx or CSV, unprotected.",
        )
    return _limit(_read_excel(file) if begin == _ZIP else _read_csv(file))


def find_columns(first_row: Sequence[str], variables: Sequence[str]) -> Columns:
    """Return which column holds what, by the names in the first row.

    Raises Refused(INVALID_PARAMETER) where names are missing or occur twice.
    """
    names = tuple(unicodedata.normalize("NFC", bare_name(cell.strip())) for cell in first_row)
    if any(map(is_number, first_row)):
        raise refusal(
            "첫 행에는 열 이름이 있어야 하는데 전화번호가 있습니다. 맨 위에 열 이름 행을 넣으세요.",
            "The first row must name the columns, but contains a phone number. Insert a row of names at the top.",
        )
    known = [name for name in names if name]
    twice = sorted({name for name in known if known.count(name) > 1})
    if twice:
        listed = _list_names(twice)
        raise refusal(
            f"이름이 같은 열이 있습니다: {listed}. 서로 다르게 바꾸세요.",
            f"Several columns have the same name: {listed}. Rename them.",
        )
    places = {name: index for index, name in enumerate(names) if name}
    values = {name: places[name] for name in variables if name in places}
    missing = _list_names([name for name in variables if name not in places])
    if missing:
        raise refusal(
            f"변수의 열이 없습니다: {missing}. 양식을 내려받아 열 이름을 똑같이 맞추세요.",
            f"There is no column for: {missing}. Use the column names of the template file.",
        )
    others = {name: index for name, index in places.items() if name not in values}
    number = find_named(others, PHONE_NAMES)
    if number is None:
        raise refusal(
            f"수신번호 열이 없습니다. 첫 행에 이름이 {PHONE_NAMES[0]}인 열을 넣으세요.",
            f"There is no column of phone numbers. Name one {PHONE_NAMES[0]} (or phone) in the first row.",
        )
    reference = find_named(others, REFERENCE_NAMES)
    unused = tuple(name for name, index in others.items() if index not in (number, reference))
    return Columns(names, number, reference, values, unused)


def restore_phone_number(cell: str) -> str:
    """Return a phone number with its leading zero, which spreadsheets drop."""
    digits = cell.strip()
    return f"0{digits}" if _LOST_ZERO.fullmatch(digits) else digits


def find_named(places: Mapping[str, int], wanted: Sequence[str]) -> int | None:
    """Return the place of the column that has one of these names, in whatever spelling; None: none has."""
    by_spelling = {spelled(name): place for name, place in places.items()}
    return next((by_spelling[name] for name in wanted if name in by_spelling), None)


def spelled(name: str) -> str:
    """Return a column's name without what people spell in different ways."""
    return re.sub(r"[\s_-]", "", name).casefold()


def bare_name(name: str) -> str:
    """Return a column's name as that of the variable which it may be spelled as."""
    return name[2:-1] if name.startswith("#{") and name.endswith("}") else name


def is_number(cell: str) -> bool:
    """Return whether a cell holds a mobile phone number."""
    try:
        phone.parse_mobile(restore_phone_number(cell))
    except Refused:
        return False
    return True


def _read_csv(file: BinaryIO) -> Iterator[list[SheetRow]]:
    text = io.TextIOWrapper(file, encoding=_detect_encoding(file), newline="")
    text.seek(0)
    first = text.readline(MAX_ROW_CHARACTERS)
    text.seek(0)
    lines = _BoundedLines(text)
    reader = csv.reader(lines, delimiter=max(_DELIMITERS, key=first.count))
    try:
        number = 0
        while True:
            rows: list[SheetRow] = []
            began = number
            for cells in itertools.islice(reader, _ROWS_PER_BATCH):
                lines.row_characters = 0
                number += 1
                if any(cells):
                    rows.append(_check_row(number, cells))
            if number == began:
                break
            check_row_number(number)
            yield rows
    except csv.Error:
        raise refusal(
            f"{reader.line_num}번째 줄을 읽을 수 없습니다. CSV로 다시 저장해 올리세요.",
            f"Line {reader.line_num} cannot be read. Save the file as CSV again and upload it.",
        ) from None
    finally:
        if not file.closed:  # whoever opened the file closes it, perhaps before this generator ends
            text.detach()


class _BoundedLines:
    """The lines of a text: refuses a row of the file, which may be many lines, before it is held whole."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self.row_characters = 0
        """Since the last row ended."""

    def __iter__(self) -> "_BoundedLines":
        return self

    def __next__(self) -> str:
        line = self._text.readline(MAX_ROW_CHARACTERS + 1)
        if not line:
            raise StopIteration
        self.row_characters += len(line)
        if self.row_characters > MAX_ROW_CHARACTERS:
            raise refuse_file(ROW_TOO_LONG)
        return line


def _detect_encoding(file: BinaryIO) -> str:
    """Return the encoding of a text: UTF-8, UTF-16, or CP949, which Korean Excel writes.

    Raises Refused(INVALID_PARAMETER).
    """
    file.seek(0)
    is_marked = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    for encoding in ("utf-16",) if is_marked else ("utf-8-sig", "cp949"):
        if _is_encoded_as(file, encoding):
            return encoding
    raise refusal(
        "글자를 읽을 수 없습니다. Excel 파일(.xlsx)이나 UTF-8 CSV로 저장해 올리세요.",
        "The text cannot be read. Save the file as Excel (.xlsx) or as CSV in UTF-8.",
    )


def _is_encoded_as(file: BinaryIO, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    file.seek(0)
    try:
        while chunk := file.read(_CHUNK_BYTES):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _read_excel(file: BinaryIO) -> Iterator[list[SheetRow]]:
    for found in xlsx.read_sheet(file):
        rows: list[SheetRow] = []
        for number, by_column in found:
            if by_column:
                cells = [""] * (max(by_column) + 1)
                for column, cell in by_column.items():
                    cells[column] = cell
                rows.append(_check_row(number, cells))
        yield rows


def _check_row(number: int, cells: Sequence[str]) -> SheetRow:
    if len(cells) > MAX_COLUMNS and any(cells[MAX_COLUMNS:]):
        raise refuse_file(TOO_MANY_COLUMNS)
    if sum(map(len, cells)) > MAX_ROW_CHARACTERS:
        raise refuse_file(ROW_TOO_LONG)
    return SheetRow(number, tuple(map(str.strip, cells[:MAX_COLUMNS])))


def _limit(batches: Iterator[list[SheetRow]]) -> Iterator[list[SheetRow]]:
    """Yield the rows that are not empty, up to the limits of a file.

    Raises Refused: TOO_MANY_RECEIVERS, INVALID_PARAMETER.
    """
    rows = characters = 0
    for batch in batches:
        kept = [row for row in batch if any(row.cells)]
        rows += len(kept)
        characters += sum([sum(map(len, row.cells)) for row in kept])
        if rows > MAX_ROWS:
            raise refuse_file(TOO_MANY_ROWS, Code.TOO_MANY_RECEIVERS)
        if characters > MAX_TEXT_CHARACTERS:
            raise refuse_file(TOO_MUCH_TEXT)
        yield kept


def _list_names(names: Sequence[str]) -> str:
    """Return names of columns for a message, shortened."""
    shown = [name if len(name) <= MAX_SHOWN_CHARACTERS else f"{name[:MAX_SHOWN_CHARACTERS]}…" for name in names]
    more = ["…"] if len(shown) > MAX_SHOWN_NAMES else []
    return ", ".join(shown[:MAX_SHOWN_NAMES] + more)
