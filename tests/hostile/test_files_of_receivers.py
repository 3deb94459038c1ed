"""Hostile files of receivers: small ones cannot take much memory or time, and each is refused with its reason."""

import io
import struct
import time
import tracemalloc
import zipfile

import pytest

from pabal.console.sheets import sheet, sheet_limits, xlsx, xlsx_package
from pabal.console.sheets.sheet import SheetRow
from pabal.domain.base.codes import Code, Refused
from tests.fixtures.sheets import MAIN, PARTS, excel_of, excel_with, sheet_xml

pytestmark = pytest.mark.slow

MAX_PEAK_BYTES = 40 * 1024 * 1024
MAX_CPU_S = 2.0
BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x" * 1000}">' for n in range(6))
"""A billion laughs: the last entity has 100 million characters."""


def read(body: bytes) -> list[SheetRow]:
    return [row for batch in sheet.read_rows(io.BytesIO(body)) for row in batch]


def refusal_of(body: bytes, *, is_measured: bool = True) -> str:
    """Return why a file is refused; fail where that takes much memory, which is slow to measure."""
    if is_measured:
        tracemalloc.start()
    try:
        with pytest.raises(Refused) as refused:
            read(body)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < MAX_PEAK_BYTES
    assert refused.value.code in (Code.INVALID_PARAMETER, Code.TOO_MANY_RECEIVERS)
    return refused.value.problems[0].message("en")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("dtd", ["<!DOCTYPE x>", f"<!DOCTYPE x [{BOMB}]>"], ids=["dtd", "entities"])
def test_dtd_in_any_part_and_encoding_is_refused(part: str, dtd: str, encoding: str) -> None:
    marked = ("\ufeff" if encoding in ("utf-16-le", "utf-16-be") else "") + dtd + str(PARTS[part])
    assert "not allowed" in refusal_of(excel_with({part: marked.encode(encoding)}))


@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"])
def test_entities_are_refused_before_they_multiply(part: str) -> None:
    """The parser itself stops only what grows by more than 100 times."""
    entity = f'<!DOCTYPE x [<!ENTITY e "{"x" * 10_000_000}">]>'
    text = f"<t>{'&e;' * 95}</t>"
    cell = f'<row><c t="inlineStr"><is>{text}</is></c></row>'
    body = sheet_xml(cell) if part.endswith("sheet1.xml") else f'<sst xmlns="{MAIN}"><si>{text}</si></sst>'
    packed = excel_with({part: entity + body})
    assert len(packed) < 20_000
    assert "document type definition" in refusal_of(packed)


@pytest.mark.parametrize("encoding", ["cp500", "utf-7", "punycode", "idna", "unknown", "iso-8859-1"])
def test_parts_in_other_encodings_are_refused(encoding: str) -> None:
    declared = f'<?xml version="1.0" encoding="{encoding}"?>{PARTS["xl/workbook.xml"]!s}'
    assert "cannot be read" in refusal_of(excel_with({"xl/workbook.xml": declared}))


def test_file_in_utf_16_without_dtd_is_read() -> None:
    parts = {name: str(part).encode("utf-16") for name, part in PARTS.items()}
    assert read(excel_with(parts)) == [SheetRow(1, ("phone",))]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ('<row r="1"><c r="XFD1"><v>1</v></c></row>', "columns"),
        ("".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, 50_000)), "columns"),
        (f"<row>{'<c><v>1</v></c>' * 200_000}</row>", "columns"),
        (f"<row><c><v>{'1' * 20_000_000}</v></c></row>", "too large"),
        (f'<row><c r="{"A" * 20_000_000}"/></row>', "cannot be read"),
        (f'<row x="{"A" * 20_000_000}"/>', "cannot be read"),
        (f"<!--{'x' * 20_000_000}-->", "cannot be read"),
        ("".join(f"<n{n}/>" for n in range(200_000)), "cannot be read"),
        ('<row r="1048570"/>' + "<row/>" * 10, "including blank ones"),
        ('<row r="2"/><row r="1"/>', "cannot be read"),
        ('<row r="-1"/>', "cannot be read"),
        (f'<row r="{"9" * 5000}"/>', "cannot be read"),
        ('<row><c t="s"><v>7</v></c></row>', "cannot be read"),
        ('<row><c t="s"><v>-1</v></c></row>', "cannot be read"),
        ('<row><c r="1A"><v>1</v></c></row>', "cannot be read"),
    ],
    ids=[
        "last column", "last column in many rows", "many cells", "long cell", "long cell name", "long attribute",
        "long comment", "many names", "blank rows", "rows backwards", "negative row", "long row number",
        "unknown string", "negative string", "cell name",
    ],
)  # fmt: skip
def test_hostile_rows_are_refused_with_little_memory(rows: str, said: str) -> None:
    assert said in refusal_of(excel_of(rows))


def test_millions_of_empty_cells_in_one_row_are_refused_in_little_time() -> None:
    bomb = excel_of(f"<row>{'<c/>' * 12_000_000}</row>")
    began_s = time.process_time()

    assert "including empty ones" in refusal_of(bomb, is_measured=False)

    assert len(bomb) < 50_000
    assert time.process_time() - began_s < MAX_CPU_S


def test_cells_without_a_value_cost_nothing_in_whatever_column() -> None:
    empty = "".join(f'<row r="{n}"><c r="XFD{n}" s="1"/></row>' for n in range(2, 20_000))
    body = excel_of(f'<row r="1"><c r="A1" t="s"><v>0</v></c></row>{empty}')
    assert read(body) == [SheetRow(1, ("phone",))]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ('<c s="1"><v>1e300</v></c>', "#VALUE!"),
        ('<c s="1"><v>-99999999</v></c>', "#VALUE!"),
        ('<c s="3"><v>1e300</v></c>', "#VALUE!"),
        ("<c><v>1e400</v></c>", "#NUM!"),
        ("<c><v>nan</v></c>", "#NUM!"),
        (f"<c><v>{'9' * 5000}</v></c>", "#NUM!"),
        ('<c t="d"><v>99999-99-99</v></c>', "99999-99-99"),
        ('<c s="2"><v>45000</v></c>', "2023-03-15"),
        ('<c s="99999"><v>1</v></c>', "1"),
    ],
)
def test_numbers_and_dates_out_of_range_become_formula_errors(cell: str, shown: str) -> None:
    assert read(excel_of(f"<row>{cell}</row>")) == [SheetRow(1, (shown,))]


def test_long_text_named_by_every_cell_is_refused() -> None:
    strings = f'<sst xmlns="{MAIN}"><si><t>{"x" * 30_000}</t></si></sst>'
    row = "<row>" + '<c t="s"><v>0</v></c>' * 16 + "</row>"
    assert "characters in all" in refusal_of(excel_of(row * 200, sharedStrings=strings))
    assert "A row can have" in refusal_of(excel_of(row.replace("</row>", row[5:]), sharedStrings=strings))


def test_too_many_shared_strings_are_refused() -> None:
    strings = f'<sst xmlns="{MAIN}">{"<si/>" * (xlsx.MAX_SHARED_STRINGS + 1)}</sst>'
    assert "too large" in refusal_of(excel_of("", sharedStrings=strings), is_measured=False)


def test_part_that_unpacks_too_large_is_refused_before_it_is_unpacked() -> None:
    blanks = " " * (xlsx.MAX_SHARED_STRINGS_BYTES + 1)
    assert "too large" in refusal_of(excel_of("", sharedStrings=f"<sst>{blanks}</sst>"))
    styles = " " * (xlsx_package.MAX_SMALL_PART_BYTES + 1)
    assert "too large" in refusal_of(excel_of("", styles=f"<styleSheet>{styles}</styleSheet>"))


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_unusual_compression_is_refused(method: int) -> None:
    assert "cannot be read" in refusal_of(excel_with({}, method))


def test_parts_with_one_name_are_refused() -> None:
    body = excel_with({"xl/WORKBOOK.xml": PARTS["xl/workbook.xml"]})
    assert "cannot be read" in refusal_of(body)


def test_directory_of_many_parts_is_refused_before_it_is_read() -> None:
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", *[0] * 18)
    directory = entry * 500_000
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(directory), 4, 0)
    assert "too large" in refusal_of(b"PK\x03\x04" + directory + end)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"," * 8_000_000, "A row can have"),
        (b"x" * 8_000_000, "A row can have"),
        (b'phone\n"' + b"x\n" * 4_000_000, "Line"),
        (b'phone\n"' + b'x\n","' * 2_000_000, "A row can have"),
        (b"phone" + b",a" * 300, "columns"),
        (b"phone\n" + b"x" * 200_000, "Line"),
    ],
    ids=["many columns", "long line", "open quote", "long row", "columns", "field"],
)
def test_hostile_csv_is_refused_with_little_memory(body: bytes, said: str) -> None:
    assert said in refusal_of(body)


@pytest.mark.parametrize("line", [b"\n", b",,,\n"])
def test_blank_lines_count_as_rows(line: bytes) -> None:
    body = b"phone\n" + line * sheet_limits.MAX_ROW_NUMBER
    assert "including blank ones" in refusal_of(body, is_measured=False)


def test_long_column_names_are_shortened_in_messages() -> None:
    names = tuple("x" * 1000 + str(n) for n in range(100)) * 2
    with pytest.raises(Refused) as refused:
        sheet.find_columns(names, [])
    assert len(refused.value.problems[0].message("ko")) < 2000
