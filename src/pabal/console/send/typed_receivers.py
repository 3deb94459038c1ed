"""Reads receivers as people type or paste them: one per line, a number and the values of the variables."""

import csv
import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from pabal.domain import phone
from pabal.domain.codes import Refused, Text

SURPLUS_VALUES = Text(
    "변수보다 값이 많습니다. 쉼표가 든 값은 큰따옴표로 묶으세요.",
    "There are more values than variables. Put a value that holds a comma in double quotes.",
)
_DIGIT = re.compile(r"[0-9]", re.ASCII)


class TypedReceiver(NamedTuple):
    """A receiver as it was typed."""

    line_number: int
    phone_number: str
    values: dict[str, str]
    surplus: int = 0
    """How many values it has in excess of the variables."""

    @property
    def fields(self) -> dict[str, Any]:
        """The receiver as the interface takes it."""
        return {"phoneNumber": self.phone_number, "templateData": self.values}


class TypedReceivers(NamedTuple):
    """The receivers to send to, those whose number occurred before, and the number of lines."""

    entries: list[TypedReceiver]
    duplicates: list[TypedReceiver]
    total: int


def read_receivers(text: str, variables: Sequence[str], limit: int, *, skips_duplicates: bool) -> TypedReceivers:
    """Return the receivers that were typed; their values belong to the variables in order.

    If the first cell has no digit, the first line names the columns. Of more than `most` only as many are
    looked at, and `total` says how many there are.
    """
    rows = [(place, row) for place, row in enumerate(text.splitlines(), 1) if row.strip()]
    columns = list(variables)
    if rows and _is_head(rows[0][1]):
        columns, rows = [_variable_name(cell) for cell in _split_cells(rows[0][1])[1:]], rows[1:]
    seen: set[str] = set()
    lines: list[TypedReceiver] = []
    repeated: list[TypedReceiver] = []
    for place, row in rows[:limit]:
        line = _read_receiver(place, _split_cells(row), columns, has_variables=bool(variables))
        key = _normalize_number(line.phone_number)
        if key in seen:
            repeated.append(line)
        if key not in seen or not skips_duplicates:
            lines.append(line)
        seen.add(key)
    return TypedReceivers(lines, repeated, len(rows))


def pick_lines(text: str, numbers: Collection[int]) -> list[str]:
    """Return the lines of these numbers as they were typed, below the one that names the columns, if any does."""
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    head = [first] if _is_head(first) else []
    return head + [lines[number - 1] for number in sorted(numbers) if 0 < number <= len(lines)]


def count_lines(text: str) -> int:
    """Return how many receivers were typed."""
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) - (1 if lines and _is_head(lines[0]) else 0)


def describe_too_many(limit: int, total: int) -> Text:
    """Return the text that refuses so many receivers."""
    return Text(
        f"{limit:,}명까지 입력할 수 있는데 {total:,}명입니다. 더 많으면 ‘파일 올리기’로 보내세요.",
        f"You can type at most {limit:,} receivers; there are {total:,}. For more, upload a file.",
    )


def _read_receiver(place: int, cells: list[str], columns: Sequence[str], *, has_variables: bool) -> TypedReceiver:
    values = dict(zip(columns, cells[1:], strict=False))
    surplus = len(cells) - 1 - len(columns) if has_variables else 0
    return TypedReceiver(place, cells[0], values, max(0, surplus))


def _split_cells(row: str) -> list[str]:
    """Return the cells of a line, which are separated by tabs, as spreadsheets copy them, or by commas."""
    if "\t" in row:
        cells = row.split("\t")
    elif '"' in row and len(row) < csv.field_size_limit():
        cells = next(csv.reader([row], skipinitialspace=True))
    else:
        cells = row.split(",")
    cells = [cell.strip() for cell in cells]
    while len(cells) > 1 and not cells[-1]:
        cells.pop()  # a trailing comma starts no value
    return cells


def _is_head(row: str) -> bool:
    """Return whether a line names the columns: its first cell has no digit."""
    return bool(row.strip()) and not _DIGIT.search(_split_cells(row)[0])


def _variable_name(cell: str) -> str:
    """Return the variable that a column header names, as `name` or `#{name}`."""
    return cell.removeprefix("#{").removesuffix("}")


def _normalize_number(spelling: str) -> str:
    try:
        return phone.parse_mobile(spelling)
    except Refused:
        return spelling
