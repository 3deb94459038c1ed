"""Reads receivers as people type or paste them: one per line, a number and the values of the variables."""

import csv
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from pabal.console.sheets.mapping import (
    FIELD,
    IGNORE,
    MAX_SAMPLE_CHARACTERS,
    PHONE,
    SAMPLES,
    MappedColumn,
    find_name_column,
    is_phone_name,
)
from pabal.console.sheets.sheet import bare_name, is_number
from pabal.domain.base.codes import Refused, Text
from pabal.domain.people import phone

SURPLUS_VALUES = Text(
    "변수보다 값이 많습니다. 쉼표가 든 값은 큰따옴표로 묶으세요.",
    "There are more values than variables. Put a value that holds a comma in double quotes.",
)
MAX_CHOICE_CHARACTERS = 100_000
"""Most characters in the lists of variables, one for each column; beyond, columns go by name or order alone."""
COLUMN_CHARACTERS = 100
"""What a column has beside its list."""
OPTION_CHARACTERS = 30
"""What a variable in a list has beside its name."""
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
        """The receiver as the API takes it."""
        return {"phoneNumber": self.phone_number, "templateData": self.values}


class TypedReceivers(NamedTuple):
    """The receivers to send to, those whose number occurred before, and the number of lines."""

    entries: list[TypedReceiver]
    duplicates: list[TypedReceiver]
    total: int
    columns: Sequence[MappedColumn] = ()
    """What the columns of a table hold; of single numbers there is nothing to say."""


class _Table(NamedTuple):
    """How the cells of a line are read: where the number is, and what the other columns hold."""

    phone: int
    names: Mapping[int, str]
    """Names of values by column."""
    width: int
    """How many cells a line may have."""
    has_head: bool
    columns: Sequence[MappedColumn]


def read_receivers(
    text: str, variables: Sequence[str], limit: int, *, skips_duplicates: bool, chosen: Sequence[str] = ()
) -> TypedReceivers:
    """Return the receivers that were typed or pasted.

    If no cell of the first line is a number, it names the columns; else the values belong to the variables in
    order. `chosen` says what the columns hold, if there are as many. Of more than `limit` only as many are looked
    at, and `total` says how many there are.
    """
    rows = [(place, row) for place, row in enumerate(text.splitlines(), 1) if row.strip()]
    table = _find_columns([row for _, row in rows[: SAMPLES + 1]], variables, chosen)
    rows = rows[1:] if table.has_head else rows
    seen: set[str] = set()
    lines: list[TypedReceiver] = []
    repeated: list[TypedReceiver] = []
    for place, row in rows[:limit]:
        line = _read_receiver(place, _split_cells(row), table, has_variables=bool(variables))
        key = normalize_number(line.phone_number)
        if key in seen:
            repeated.append(line)
        if key not in seen or not skips_duplicates:
            lines.append(line)
        seen.add(key)
    return TypedReceivers(lines, repeated, len(rows), table.columns)


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


def _find_columns(rows: Sequence[str], variables: Sequence[str], chosen: Sequence[str]) -> _Table:
    """Return what the columns hold, by the first lines: as it was chosen, else by names or by their order."""
    cells = [_split_cells(row) for row in rows]
    has_head = bool(rows) and _is_head(rows[0])
    head = cells[0] if has_head else []
    shown = cells[1:] if has_head else cells[:SAMPLES]
    width = max((len(row) for row in cells), default=1)
    place = _find_phone(head, shown)
    others = [each for each in range(width) if each != place]
    if has_head:
        names = {each: bare_name(head[each]) for each in others if each < len(head)}
        named = find_name_column(head, variables)
        if named and names.get(named[0]) not in variables:
            names[named[0]] = named[1]
        most = len(head)
    else:
        names = dict(zip(others, variables, strict=False))
        most = 1 + len(variables)
    if len(chosen) == width:
        place = chosen.index(PHONE) if PHONE in chosen else 0
        names = {each: role.removeprefix(FIELD) for each, role in enumerate(chosen) if role.startswith(FIELD)}
        most = width
    columns = [
        MappedColumn(
            head[each] if each < len(head) else "",
            [row[each][:MAX_SAMPLE_CHARACTERS] for row in shown if each < len(row)],
            PHONE if each == place else f"{FIELD}{names[each]}" if names.get(each) in variables else IGNORE,
        )
        for each in (range(width) if _offers_choice(width, variables) else ())
    ]
    return _Table(place, names, most, has_head, columns)


def _offers_choice(width: int, variables: Sequence[str]) -> bool:
    """Return whether the page lets users choose what each of so many columns holds."""
    listed = sum(OPTION_CHARACTERS + len(name) for name in variables)
    return width > 1 and width * (COLUMN_CHARACTERS + listed) <= MAX_CHOICE_CHARACTERS


def _find_phone(head: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the column that holds the numbers: the first, unless another one does by its name or its values."""
    sample = rows[0] if rows else []
    if is_number(sample[0] if sample else "") or (head and is_phone_name(head[0])):
        return 0
    named = [place for place, name in enumerate(head) if is_phone_name(name)]
    valued = [place for place, cell in enumerate(sample) if is_number(cell)]
    return next(iter((*named, *valued)), 0)


def _read_receiver(place: int, cells: list[str], table: _Table, *, has_variables: bool) -> TypedReceiver:
    values = {name: cells[each] for each, name in table.names.items() if each < len(cells)}
    surplus = len(cells) - table.width if has_variables else 0
    number = cells[table.phone] if table.phone < len(cells) else ""
    return TypedReceiver(place, number, values, max(0, surplus))


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
    """Return whether a line names the columns: its first cell has no digit, and no cell is a number."""
    cells = _split_cells(row)
    return bool(row.strip()) and not _DIGIT.search(cells[0]) and not any(map(is_number, cells))


def normalize_number(spelling: str) -> str:
    """Return a number without what separates its digits; what is no number stays as it was typed."""
    try:
        return phone.parse_mobile(spelling)
    except Refused:
        return spelling
