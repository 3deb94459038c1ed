"""The workbook writer: invalid characters, full sheets, and constant memory."""

import tracemalloc
from hashlib import sha256

from pabal.console.shell.download import Workbook
from tests.fixtures.sheets import read_sheets
from tests.fixtures.virtual import NOON


def test_workbook_handles_invalid_xml_characters_and_overlong_cells() -> None:
    book = Workbook("a&b", ["head"], NOON)

    body = (
        book.start()
        + book.add_rows([["a\0b\x1bc\ufffe"], ["가" * 40_000], ["  spaced  "], [""], ["😀"]])
        + book.finish()
    )

    (rows,) = read_sheets(body).values()
    assert rows == [["head"], ["a\ufffdb\ufffdc\ufffd"], ["가" * 32_767], ["  spaced  "], [""], ["😀"]]


def test_full_sheet_is_followed_by_another_with_same_header() -> None:
    book = Workbook("history", ["head"], NOON, sheet_bytes=2000)
    pieces = [book.start()]
    for number in range(60):
        pieces.append(book.add_rows([[str(number)]]))
    pieces.append(book.finish())

    found = read_sheets(b"".join(pieces))

    assert list(found) == ["history", "history 2", "history 3"]
    assert all(rows[0] == ["head"] for rows in found.values())
    assert [row[0] for rows in found.values() for row in rows[1:]] == [str(number) for number in range(60)]


def test_workbook_does_not_hold_written_rows_in_memory() -> None:
    book = Workbook("history", ["head"] * 16, NOON)
    rows = [[sha256(bytes([row, column])).hexdigest() for column in range(16)] for row in range(100)]
    book.start()
    book.add_rows(rows)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        written = sum(len(book.add_rows(rows)) for _ in range(100))
        after, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert written > 2_000_000
    assert after - before < 100_000
    assert most - before < 2_000_000
