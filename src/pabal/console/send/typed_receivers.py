"""Receivers as people type or paste them: one a line, a number and the values of the variables."""

import csv
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from pabal.domain import phone
from pabal.domain.codes import Refused, Text

SURPLUS = Text(
    "변수보다 값이 많습니다. 쉼표가 든 값은 큰따옴표로 묶으세요.",
    "There are more values than variables. Put a value that holds a comma in double quotes.",
)
_DIGIT = re.compile(r"[0-9]", re.ASCII)


class Line(NamedTuple):
    """A receiver: where it stands, its number and its values as they were typed."""

    place: int
    number: str
    values: dict[str, str]
    surplus: int = 0
    """How many values it has beyond the variables."""

    @property
    def fields(self) -> dict[str, Any]:
        """The receiver as the interface is sent it."""
        return {"phoneNumber": self.number, "templateData": self.values}


class Typed(NamedTuple):
    """What was typed: the receivers to send to, those whose number was there before, and how many lines."""

    lines: list[Line]
    repeated: list[Line]
    total: int


def read(typed: str, names: Sequence[str], most: int, *, is_once: bool) -> Typed:
    """Return the receivers that were typed, values under the names of the variables in their order.

    A first line without any digit in its first cell names the columns. Of more than `most` only as many are
    looked at, and `total` says how many there are.
    """
    rows = [(place, row) for place, row in enumerate(typed.splitlines(), 1) if row.strip()]
    columns = list(names)
    if rows and not _DIGIT.search((first := _cells(rows[0][1]))[0]):
        columns, rows = [_name(cell) for cell in first[1:]], rows[1:]
    seen: set[str] = set()
    lines: list[Line] = []
    repeated: list[Line] = []
    for place, row in rows[:most]:
        line = _line(place, _cells(row), columns, has_variables=bool(names))
        key = _digits(line.number)
        if key in seen:
            repeated.append(line)
        if key not in seen or not is_once:
            lines.append(line)
        seen.add(key)
    return Typed(lines, repeated, len(rows))


def too_many(most: int, total: int) -> Text:
    """Return why so many lines are refused."""
    return Text(f"{most}명까지인데 {total}명입니다.", f"At most {most} receivers; there are {total}.")


def _line(place: int, cells: list[str], columns: Sequence[str], *, has_variables: bool) -> Line:
    values = dict(zip(columns, cells[1:], strict=False))
    surplus = len(cells) - 1 - len(columns) if has_variables else 0
    return Line(place, cells[0], values, max(0, surplus))


def _cells(row: str) -> list[str]:
    """Return the cells of a line: parted by tabs, as spreadsheets copy them, or by commas."""
    if "\t" in row:
        cells = row.split("\t")
    elif '"' in row and len(row) < csv.field_size_limit():
        cells = next(csv.reader([row], skipinitialspace=True))
    else:
        cells = row.split(",")
    cells = [cell.strip() for cell in cells]
    while len(cells) > 1 and not cells[-1]:
        cells.pop()  # a comma at the end begins no value
    return cells


def _name(cell: str) -> str:
    """Return the variable that heads a column, however it is spelled."""
    return cell.removeprefix("#{").removesuffix("}")


def _digits(spelling: str) -> str:
    try:
        return phone.parse_mobile(spelling)
    except Refused:
        return spelling
