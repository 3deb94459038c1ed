"""Files of receivers: every usual way to write them is read, and what cannot be read is told in words."""

import datetime
from pathlib import Path

import pytest

from pabal.console.sheets import sheet, sheet_limits
from pabal.console.sheets.sheet import SheetRow
from pabal.domain.base.codes import Code, Refused
from tests.fixtures.engines import sqlite_only
from tests.fixtures.sheets import MAIN, excel, excel_of

pytestmark = sqlite_only

TEXT = "휴대폰번호,이름\n010-1234-5678,홍길동\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "list"


def read(path: Path, body: bytes) -> list[SheetRow]:
    path.write_bytes(body)
    with path.open("rb") as file:
        return [row for batch in sheet.read_rows(file) for row in batch]


def refusal(path: Path, body: bytes) -> Refused:
    with pytest.raises(Refused) as refused:
        read(path, body)
    return refused.value


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949", "utf-16"])
def test_csv_is_read_in_all_usual_encodings(path: Path, encoding: str) -> None:
    assert read(path, TEXT.encode(encoding)) == [
        SheetRow(1, ("휴대폰번호", "이름")),
        SheetRow(2, ("010-1234-5678", "홍길동")),
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiter_is_taken_from_the_first_row(path: Path, delimiter: str) -> None:
    body = TEXT.replace(",", delimiter).encode()
    assert [len(row.cells) for row in read(path, body)] == [2, 2]


def test_empty_rows_are_skipped_and_rows_keep_their_numbers(path: Path) -> None:
    body = 'phone,이름\n\n,\n010-1,"두 줄\n이름"\n010-2,x\n'.encode()
    assert read(path, body) == [
        SheetRow(1, ("phone", "이름")),
        SheetRow(4, ("010-1", "두 줄\n이름")),
        SheetRow(5, ("010-2", "x")),
    ]


def test_excel_cells_are_read_as_displayed(path: Path) -> None:
    day = datetime.datetime(2026, 11, 15)
    body = excel(["휴대폰번호", "금액", "날짜"], [1012345678, 1500.0, day], [None, None, None], ["010", 1.5, True])
    assert [row.cells for row in read(path, body)] == [
        ("휴대폰번호", "금액", "날짜"),
        ("1012345678", "1500", "2026-11-15"),
        ("010", "1.5", "True"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"PK\x03\x04nothing",
        b"\xd0\xcf\x11\xe0old",
        b"\xff\x00\xfe\x81\x00",
        b"a,b\n\x00\x81\xff\n",
        TEXT.encode("utf-16")[:-1],
        b"\xff\xfe\x00\xd8a\x00",
    ],
    ids=["no zip", "old excel", "no text", "no letters", "half a letter", "half of a pair"],
)
def test_unreadable_files_are_refused_with_a_message(path: Path, body: bytes) -> None:
    refused = refusal(path, body)

    assert refused.code is Code.INVALID_PARAMETER
    assert refused.problems[0].detail is not None


def test_endless_rows_are_refused(path: Path) -> None:
    body = excel_of('<row r="2000000000"><c><v>1</v></c></row>')
    assert refusal(path, body).code is Code.TOO_MANY_RECEIVERS


def test_excel_dates_times_and_durations_are_read_as_displayed(path: Path) -> None:
    body = excel(
        ["phone", "a", "b"],
        [datetime.datetime(2026, 11, 15, 9, 30), datetime.time(9, 30), datetime.timedelta(hours=30)],
        ["_x005F_x000D_", "줄\n바꿈", -1.5e300],
    )
    assert [row.cells for row in read(path, body)] == [
        ("phone", "a", "b"),
        ("2026-11-15 09:30", "09:30:00", "1 day, 6:00:00"),
        ("_x000D_", "줄\n바꿈", "-1.5e+300"),
    ]


def test_excel_text_is_read_from_all_kinds_of_cells(path: Path) -> None:
    rich = "<si><r><t>홍</t></r><r><t>길동</t></r><rPh><t>hint</t></rPh></si>"
    body = excel_of(
        '<row r="3"><c r="B3" t="s"><v>0</v></c><c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c>'
        '<c t="str"><f>A1</f><v>shown</v></c><c t="e"><v>#N/A</v></c><c t="d"><v>2026-11-15T00:00:00</v></c>'
        '<c t="b"><v>0</v></c></row>',
        sharedStrings=f'<sst xmlns="{MAIN}">{rich}</sst>',
    )
    cells = ("", "홍길동", "inline", "shown", "#N/A", "2026-11-15", "False")
    assert read(path, body) == [SheetRow(3, cells)]


def test_rows_with_formatting_only_are_skipped(path: Path) -> None:
    empty = '<row ht="20" customHeight="1"/>' * 100_000
    body = excel_of(
        f'<row><c t="inlineStr"><is><t>phone</t></is></c></row>{empty}<row><c><v>1012345678</v></c></row>'
    )
    assert [row.cells for row in read(path, body)] == [("phone",), ("1012345678",)]


def test_encrypted_excel_part_is_refused_with_a_message(path: Path) -> None:
    body = bytearray(excel(["phone"]))
    place = -1
    while (place := body.find(b"PK\x01\x02", place + 1)) >= 0:
        body[place + 8] |= 1  # encrypted, says the table of contents
    assert "without a password" in str(refusal(path, bytes(body)).problems[0].detail)


def test_too_many_rows_or_columns_are_refused(path: Path) -> None:
    many = b"phone\n" + b"1\n" * sheet_limits.MAX_ROWS
    assert refusal(path, many).code is Code.TOO_MANY_RECEIVERS
    wide = ",".join("c" * (sheet_limits.MAX_COLUMNS + 1)).encode()
    assert refusal(path, wide).code is Code.INVALID_PARAMETER


def test_columns_are_found_by_their_names() -> None:
    names = ("이름", " Phone Number ", "#{코드}", "", "메모", "reference")

    found = sheet.find_columns(names, ["이름", "코드"])

    assert (found.phone, found.reference, found.values) == (1, 5, {"이름": 0, "코드": 2})
    assert found.unused == ("메모",)


def test_variable_may_be_named_like_the_phone_column() -> None:
    found = sheet.find_columns(("번호", "휴대폰"), ["번호"])
    assert (found.phone, found.values) == (1, {"번호": 0})


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (("휴대폰번호",), "There is no column for: 이름"),
        (("이름",), "no column of phone numbers"),
        (("010-1234-5678", "이름"), "must name the columns"),
        (("1012345678", "이름"), "must name the columns"),
        (("휴대폰", "이름", "이름"), "the same name: 이름"),
    ],
)
def test_missing_and_duplicate_columns_are_named(cells: tuple[str, ...], said: str) -> None:
    with pytest.raises(Refused) as refused:
        sheet.find_columns(cells, ["이름"])
    assert said in refused.value.problems[0].message("en")


@pytest.mark.parametrize(
    ("cell", "meant"),
    [("1012345678", "01012345678"), ("111234567", "0111234567"), ("010-1", "010-1"), ("15881588", "15881588")],
)
def test_leading_zero_of_phone_numbers_is_restored(cell: str, meant: str) -> None:
    assert sheet.restore_phone_number(cell) == meant
