"""What the columns of a file or a pasted table hold: guessed, shown to be changed, and read from the form."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO, NamedTuple

from pabal.console.sheets import sheet
from pabal.console.sheets.sheet import SheetRow, is_number, spelled
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people.contact import NAME_FIELDS

PHONE, IGNORE, REFERENCE, FIELD = "phone", "", "reference", "field:"
"""What a column holds; a field or a variable is followed by its name."""
NAME_HEADS = ("이름", "성명", "고객명", "성함", "name", "fullname")
"""What people call the column of names."""
SAMPLES = 3
MAX_SAMPLE_CHARACTERS = 30
_COLUMN = re.compile(r"column([0-9]{1,3})", re.ASCII)
_NO_PHONE = Text("휴대폰 번호로 쓸 열을 하나 고르세요.", "Choose one column that holds the phone numbers.")
TWICE = Text("한 항목에는 열 하나만 연결할 수 있습니다.", "Only one column can be mapped to each field.")

Guess = Callable[[str, Sequence[str], bool], str]
"""Returns what a column seems to hold, by its name, some values, and whether the first row has names."""


class MappedColumn(NamedTuple):
    """A column: its name, some of its values, and what it holds."""

    name: str
    samples: Sequence[str]
    role: str


class FileHead(NamedTuple):
    """The columns of a file, its first row, and whether that names them."""

    columns: Sequence[MappedColumn]
    first_row: Sequence[str]
    has_names: bool


def read_head(file: BinaryIO, guess: Guess) -> FileHead:
    """Return the columns of a file, with what each seems to hold; nothing is held by two.

    Raises Refused, which says what to do, for a file that cannot be read or is empty.
    """
    rows: list[SheetRow] = []
    for batch in sheet.read_rows(file):
        rows += batch
        if len(rows) > SAMPLES:
            break
    if not rows:
        raise Refused(Code.INVALID_PARAMETER, "file", Text("빈 파일입니다.", "The file is empty."))
    has_names = not any(is_number(cell) for cell in rows[0].cells)
    shown = rows[1 : SAMPLES + 1] if has_names else rows[:SAMPLES]
    width = max(len(row.cells) for row in rows[: SAMPLES + 1])
    names = [rows[0].cell(place) if has_names else "" for place in range(width)]
    columns: list[MappedColumn] = []
    for place, name in enumerate(names):
        samples = [row.cell(place) for row in shown]
        role = guess(name, samples, has_names)
        is_taken = any(role == each.role for each in columns)
        shortened = [sample[:MAX_SAMPLE_CHARACTERS] for sample in samples]
        columns.append(MappedColumn(name, shortened, IGNORE if is_taken else role))
    return FileHead(columns, rows[0].cells, has_names)


def chosen_roles(form: Mapping[str, str], columns: Sequence[MappedColumn]) -> list[str] | None:
    """Return what was chosen for each column; None where nothing was."""
    roles = read_roles(form)
    return [*roles, *[IGNORE] * len(columns)][: len(columns)] if roles else None


def read_roles(form: Mapping[str, str]) -> list[str]:
    """Return what was chosen for the columns of a form, in their order; empty where nothing was."""
    chosen = {int(found[1]): value for name, value in form.items() if (found := _COLUMN.fullmatch(name))}
    return [chosen.get(place, IGNORE) for place in range(max(chosen, default=-1) + 1)]


def check_roles(roles: Sequence[str]) -> None:
    """Raise Refused(INVALID_PARAMETER) where no column or several hold the number, or one field is chosen twice."""
    if roles.count(PHONE) != 1:
        raise Refused(Code.INVALID_PARAMETER, "columns", _NO_PHONE)
    if any(role and roles.count(role) > 1 for role in roles):
        raise Refused(Code.INVALID_PARAMETER, "columns", TWICE)


def is_phone_name(name: str) -> bool:
    """Return whether a column of this name holds phone numbers."""
    return spelled(name) in sheet.PHONE_NAMES


def find_name_column(names: Sequence[str], variables: Sequence[str]) -> tuple[int, str] | None:
    """Return the column that holds the names of people under another word, and the variable that it fills in."""
    wanted = next((each for each in NAME_FIELDS if each in variables), None)
    found = [place for place, name in enumerate(names) if spelled(name) in NAME_HEADS]
    return (found[0], wanted) if wanted and len(found) == 1 else None
