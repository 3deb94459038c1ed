"""Reads a file of receivers, CSV or Excel, as rows of text cells; the first row names the columns."""

import codecs
import csv
import datetime
import io
import itertools
import lzma
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple
from xml.etree.ElementTree import ParseError

from pabal.console.upload.xlsx_limits import LimitedZipFile
from pabal.domain import phone
from pabal.domain.codes import Code, Refused, Text

MAX_FILE_BYTES = 32 * 1024 * 1024
MAX_ROWS = 200_000
MAX_ROW_NUMBER = 1_048_576
"""Excel's own limit; empty rows are skipped."""
MAX_COLUMNS = 200
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
_EXCEL_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    ParseError,
    KeyError,
    ValueError,
    OSError,
    EOFError,
    TypeError,
    AttributeError,
    RuntimeError,
    lzma.LZMAError,
)
"""What the Excel reader raises for a file that is damaged or no Excel file."""


class SheetRow(NamedTuple):
    """A row of the file: its number, as spreadsheets count, and its cells."""

    number: int
    cells: tuple[str, ...]


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


def read_rows(file: BinaryIO) -> Iterator[SheetRow]:
    """Yield the rows of a file that are not empty, as they are read.

    Raises Refused(INVALID_PARAMETER), which says what to do, as soon as something cannot be read.
    """
    file.seek(0)
    begin = file.read(4)
    if begin == _OLD_EXCEL:
        raise _refusal(
            "예전 Excel 형식(.xls)이거나 암호가 걸려 있습니다. Excel에서 암호 없이 .xlsx나 CSV로 저장해 올리세요.",
            "The file is in the old Excel format (.xls) or has a password. Save it as .xlsx or CSV, unprotected.",
        )
    found = _read_excel(file) if begin == _ZIP else _read_csv(file)
    return (row for row in found if any(row.cells))


def find_columns(row: SheetRow, variables: Sequence[str]) -> Columns:
    """Return which column holds what, by the names in the first row.

    Raises Refused(INVALID_PARAMETER) where names are missing or occur twice.
    """
    names = tuple(_column_name(cell) for cell in row.cells)
    if any(_is_phone_number(cell) for cell in row.cells):
        raise _refusal(
            "첫 행에는 열 이름이 있어야 하는데 전화번호가 있습니다. 맨 위에 열 이름 행을 넣으세요.",
            "The first row must name the columns, but contains a phone number. Insert a row of names at the top.",
        )
    known = [name for name in names if name]
    twice = sorted({name for name in known if known.count(name) > 1})
    if twice:
        listed = ", ".join(twice)
        raise _refusal(
            f"이름이 같은 열이 있습니다: {listed}. 서로 다르게 바꾸세요.",
            f"Several columns have the same name: {listed}. Rename them.",
        )
    places = {name: index for index, name in enumerate(names) if name}
    values = {name: places[name] for name in variables if name in places}
    missing = ", ".join(name for name in variables if name not in places)
    if missing:
        raise _refusal(
            f"변수의 열이 없습니다: {missing}. 양식을 내려받아 열 이름을 똑같이 맞추세요.",
            f"There is no column for: {missing}. Use the column names of the template file.",
        )
    others = {name: index for name, index in places.items() if name not in values}
    number = _find_column(others, PHONE_NAMES)
    if number is None:
        raise _refusal(
            f"수신번호 열이 없습니다. 첫 행에 이름이 {PHONE_NAMES[0]}인 열을 넣으세요.",
            f"There is no column of phone numbers. Name one {PHONE_NAMES[0]} (or phone) in the first row.",
        )
    reference = _find_column(others, REFERENCE_NAMES)
    unused = tuple(name for name, index in others.items() if index not in (number, reference))
    return Columns(names, number, reference, values, unused)


def restore_phone_number(cell: str) -> str:
    """Return a phone number with its leading zero, which spreadsheets drop."""
    digits = cell.strip()
    return f"0{digits}" if _LOST_ZERO.fullmatch(digits) else digits


def _find_column(columns: dict[str, int], names: Sequence[str]) -> int | None:
    spelled = {re.sub(r"[\s_-]", "", name).casefold(): index for name, index in columns.items()}
    return next((spelled[name] for name in names if name in spelled), None)


def _column_name(cell: str) -> str:
    name = unicodedata.normalize("NFC", cell.strip())
    return name[2:-1] if name.startswith("#{") and name.endswith("}") else name


def _is_phone_number(cell: str) -> bool:
    try:
        phone.parse_mobile(restore_phone_number(cell))
    except Refused:
        return False
    return True


def _read_csv(file: BinaryIO) -> Iterator[SheetRow]:
    text = io.TextIOWrapper(file, encoding=_detect_encoding(file), newline="")
    text.seek(0)
    first = text.readline()
    text.seek(0)
    reader = csv.reader(text, delimiter=max(_DELIMITERS, key=first.count))
    try:
        for number, cells in enumerate(reader, 1):
            yield _check_row(number, cells)
    except csv.Error:
        raise _refusal(
            f"{reader.line_num}번째 줄을 읽을 수 없습니다. CSV로 다시 저장해 올리세요.",
            f"Line {reader.line_num} cannot be read. Save the file as CSV again and upload it.",
        ) from None
    finally:
        if not file.closed:  # whoever opened the file closes it, perhaps before this generator ends
            text.detach()


def _detect_encoding(file: BinaryIO) -> str:
    """Return the encoding of a text: UTF-8, UTF-16, or CP949, which Korean Excel writes.

    Raises Refused(INVALID_PARAMETER).
    """
    file.seek(0)
    is_marked = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    for encoding in ("utf-16",) if is_marked else ("utf-8-sig", "cp949"):
        if _is_encoded_as(file, encoding):
            return encoding
    raise _refusal(
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


def _read_excel(file: BinaryIO) -> Iterator[SheetRow]:
    from openpyxl.reader.excel import (
        ExcelReader,  # importing it takes 0.2 s, which the start of the console should not pay
    )
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        reader = ExcelReader(file, read_only=True, data_only=True, keep_links=False)
        reader.archive = LimitedZipFile(file)
        reader.read()
        reader.archive.is_for_rows = True
        sheet = reader.wb.worksheets[0]
        sheet.reset_dimensions()  # some programs write wrong ones
        for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
            if number > MAX_ROW_NUMBER:
                raise _too_many()
            yield _check_row(number, [_cell_text(cell) for cell in itertools.islice(cells, MAX_COLUMNS + 1)])
    except (*_EXCEL_ERRORS, IndexError, InvalidFileException):
        raise _refusal(
            "Excel 파일을 읽을 수 없습니다. 암호를 풀고 .xlsx로 다시 저장하거나 CSV로 올리세요.",
            "The Excel file cannot be read. Save it as .xlsx again, without a password, or as CSV.",
        ) from None


def _check_row(number: int, cells: Sequence[str]) -> SheetRow:
    if len(cells) > MAX_COLUMNS and any(cells[MAX_COLUMNS:]):
        raise _refusal(
            f"열은 {MAX_COLUMNS}개까지입니다. 쓰지 않는 열을 지우세요.",
            f"A file can have up to {MAX_COLUMNS} columns. Delete those that are not needed.",
        )
    return SheetRow(number, tuple(cell.strip() for cell in cells[:MAX_COLUMNS]))


def _cell_text(cell: Any) -> str:
    """Return a cell of an Excel file as Excel shows it."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime.datetime):
        has_time = cell.time() != datetime.time.min
        return cell.strftime("%Y-%m-%d %H:%M" if has_time else "%Y-%m-%d")
    return str(cell)


def _refusal(ko: str, en: str) -> Refused:
    return Refused(Code.INVALID_PARAMETER, "file", Text(ko, en))


def limit_rows(rows: Iterable[SheetRow]) -> Iterator[SheetRow]:
    """Yield rows, up to the limit of a file.

    Raises Refused(TOO_MANY_RECEIVERS).
    """
    for place, row in enumerate(rows, 1):
        if place > MAX_ROWS:
            raise _too_many()
        yield row


def _too_many() -> Refused:
    text = Text(f"파일 하나에 {MAX_ROWS:,}행까지입니다.", f"A file can have up to {MAX_ROWS:,} rows.")
    return Refused(Code.TOO_MANY_RECEIVERS, "file", text)
