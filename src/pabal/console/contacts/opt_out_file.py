"""Reads a file of opt-outs, CSV or Excel: validated as a whole, then added in batches."""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from pabal.console.sheets import sheet
from pabal.console.sheets.sheet import SheetRow
from pabal.console.shell.problem_texts import spell_problem
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.people import opt_out, phone
from pabal.domain.people.opt_out import MAX_PHONE_NUMBERS
from pabal.service.access.contacts.opt_outs import OptOut, OptOutEntry

MAX_NAMED_ROWS = 20
"""Rows that a refusal names."""
SENDER_NAMES = ("발신번호", "sendernumber", "sender")
REASON_NAMES = ("사유", "reason")
HEADER = (sheet.PHONE_NAMES[0], SENDER_NAMES[0], REASON_NAMES[0])
"""The columns of an exported file, which can be imported again."""


class _Columns(NamedTuple):
    """Which column holds what; None: none does."""

    phone: int
    sender: int | None
    reason: int | None


def read_opt_outs(file: BinaryIO) -> Iterator[int | list[OptOutEntry]]:
    """Yield how many opt-outs a file has, then these in batches, some of them empty.

    Raises Refused before the first one, as `_check_file` does.
    """
    yield _check_file(file)
    for columns, rows in _read(file):
        for first in range(0, len(rows), MAX_PHONE_NUMBERS):
            yield [_parse(row, columns) for row in rows[first : first + MAX_PHONE_NUMBERS]]


def _check_file(file: BinaryIO) -> int:
    """Return how many opt-outs a file has.

    Raises Refused: what is wrong with the file, or with which of its rows.
    """
    problems: list[Problem] = []
    count = 0
    for columns, rows in _read(file):
        for row in rows:
            count += 1
            try:
                _parse(row, columns)
            except Refused as refused:
                detail = refused.problems[0]
                ko, en = spell_problem(detail)
                problems.append(
                    Problem(detail.code, "file", Text(f"{row.number}행: {ko}", f"Row {row.number}: {en}"))
                )
            if len(problems) == MAX_NAMED_ROWS:
                break
        if len(problems) == MAX_NAMED_ROWS:
            break
    if problems:
        raise Refused.from_problems(problems)
    if not count:
        raise Refused(Code.MISSING_PARAMETER, "file", Text("번호가 없습니다.", "It has no numbers."))
    return count


def to_cells(each: OptOut) -> list[str]:
    """Return an opt-out as the cells of a row under HEADER."""
    return [
        phone.hyphenate(each.phone),
        phone.hyphenate(each.sender) if each.sender else "",
        each.reason or "",
    ]


def _read(file: BinaryIO) -> Iterator[tuple[_Columns, list[SheetRow]]]:
    """Yield the rows below the names of the columns, in batches."""
    columns: _Columns | None = None
    for rows in sheet.read_rows(file):
        if columns is None and rows:
            columns = _find_columns(rows[0])
            rows = rows[1:]
        if columns is not None:
            yield columns, rows


def _find_columns(row: SheetRow) -> _Columns:
    found = sheet.find_columns(row.cells, ())
    places = {name: place for place, name in enumerate(found.names)}
    return _Columns(found.phone, sheet.find_named(places, SENDER_NAMES), sheet.find_named(places, REASON_NAMES))


def _parse(row: SheetRow, columns: _Columns) -> OptOutEntry:
    """Raises Refused: INVALID_PHONE_NUMBER, INVALID_PARAMETER."""
    number, sender, reason = ("" if place is None else row.cell(place) for place in columns)
    return OptOutEntry(
        phone.parse_mobile(sheet.restore_phone_number(number)),
        phone.parse_sender(sender) if sender else "",
        opt_out.check_reason(reason.removeprefix("'")),
    )
