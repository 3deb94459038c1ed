"""Reads a file of contacts, CSV or Excel, whose columns are mapped to number, name and fields."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple

from pabal.console.history.export import unescape_formula
from pabal.console.sheets import sheet
from pabal.console.sheets.sheet import SheetRow
from pabal.domain import contact, phone
from pabal.domain.codes import Code, Refused, Text
from pabal.domain.contact import Contact, ContactEntry
from pabal.service.access.contacts import SAVE_BATCH

PHONE, NAME, IGNORE, FIELD = "phone", "name", "", "field:"
"""What a column holds; a field is followed by its name."""
NAME_HEADS = ("이름", "성명", "고객명", "성함", "name", "fullname")
SAMPLES = 3
MAX_SAMPLE_CHARACTERS = 30
_COLUMN = re.compile(r"column([0-9]{1,3})", re.ASCII)
_NO_PHONE = Text("휴대폰번호로 쓸 열을 하나 고르세요.", "Choose one column that holds the phone numbers.")
_TWICE = Text("한 항목에는 열 하나만 연결할 수 있습니다.", "Only one column can be mapped to each field.")


class ContactColumn(NamedTuple):
    """A column of a file: its name, some of its values, and what it holds by our guess."""

    name: str
    samples: Sequence[str]
    role: str


class FileHead(NamedTuple):
    """The columns of a file, and whether its first row names them."""

    columns: Sequence[ContactColumn]
    has_names: bool


class BadContact(NamedTuple):
    """A row that cannot be a contact, and why."""

    number: int
    cells: tuple[str, ...]
    reason: Text


class ContactBatch(NamedTuple):
    """Some contacts of a file, the rows that are none, and how many repeat a number."""

    entries: list[ContactEntry]
    bad: list[BadContact]
    duplicates: int


def read_head(file: BinaryIO, fields: Sequence[str]) -> FileHead:
    """Return the columns of a file, with what each seems to hold.

    Raises Refused, which says what to do, for a file that cannot be read or is empty.
    """
    rows: list[SheetRow] = []
    for batch in sheet.read_rows(file):
        rows += batch
        if len(rows) > SAMPLES:
            break
    if not rows:
        raise Refused(Code.INVALID_PARAMETER, "file", Text("빈 파일입니다.", "The file is empty."))
    has_names = not any(_is_number(cell) for cell in rows[0].cells)
    shown = rows[1 : SAMPLES + 1] if has_names else rows[:SAMPLES]
    width = max(len(row.cells) for row in rows[: SAMPLES + 1])
    names = [_cell(rows[0], place) if has_names else "" for place in range(width)]
    roles: list[str] = []
    for place, name in enumerate(names):
        samples = [_cell(row, place) for row in shown]
        role = _guess(name, samples, fields, has_names=has_names)
        roles.append(role if role not in roles else IGNORE)
    return FileHead(
        [
            ContactColumn(name, [_cell(row, place)[:MAX_SAMPLE_CHARACTERS] for row in shown], role)
            for place, (name, role) in enumerate(zip(names, roles, strict=True))
        ],
        has_names,
    )


def read_mapping(form: Mapping[str, str], head: FileHead) -> list[str]:
    """Return what each column holds, as it was chosen, or by our guess where nothing was.

    Raises Refused: INVALID_PARAMETER where no column or several hold the number, or one field is chosen twice.
    """
    chosen = {int(found[1]): value for name, value in form.items() if (found := _COLUMN.fullmatch(name))}
    roles = [chosen.get(place, "" if chosen else each.role) for place, each in enumerate(head.columns)]
    if roles.count(PHONE) != 1:
        raise Refused(Code.INVALID_PARAMETER, "columns", _NO_PHONE)
    for role in roles:
        if role not in (PHONE, NAME, IGNORE):
            contact.parse_field_name(role.removeprefix(FIELD))
        if role and roles.count(role) > 1:
            raise Refused(Code.INVALID_PARAMETER, "columns", _TWICE)
    return roles


def fields_in(roles: Sequence[str]) -> list[str]:
    """Return the names of the fields that columns hold."""
    return [contact.parse_field_name(role.removeprefix(FIELD)) for role in roles if role.startswith(FIELD)]


def read_batches(file: BinaryIO, head: FileHead, roles: Sequence[str]) -> Iterator[ContactBatch]:
    """Yield the contacts of a file in batches, some of them empty; of rows with one number the first counts.

    Raises Refused as `sheet.read_rows` does.
    """
    seen: set[int] = set()
    is_first = head.has_names
    for rows in sheet.read_rows(file):
        if rows and is_first:
            rows, is_first = rows[1:], False
        for start in range(0, max(1, len(rows)), SAVE_BATCH):
            yield _read_batch(rows[start : start + SAVE_BATCH], roles, seen)


def to_cells(each: Contact, fields: Sequence[str]) -> list[str]:
    """Return a contact as the cells of an exported row: number, name and fields."""
    return [phone.hyphenate(each.phone), each.name, *(each.fields.get(name, "") for name in fields)]


def _read_batch(rows: Sequence[SheetRow], roles: Sequence[str], seen: set[int]) -> ContactBatch:
    entries: list[ContactEntry] = []
    bad: list[BadContact] = []
    duplicates = 0
    for row in rows:
        try:
            entry = _parse(row, roles)
        except Refused as refused:
            problem = refused.problems[0]
            bad.append(BadContact(row.number, row.cells, Text(problem.message("ko"), problem.message("en"))))
            continue
        if int(entry.phone) in seen:
            duplicates += 1
            continue
        seen.add(int(entry.phone))
        entries.append(entry)
    return ContactBatch(entries, bad, duplicates)


def _parse(row: SheetRow, roles: Sequence[str]) -> ContactEntry:
    cells = {role: _cell(row, place) for place, role in enumerate(roles) if role}
    fields = {role.removeprefix(FIELD): value for role, value in cells.items() if role.startswith(FIELD)}
    number = sheet.restore_phone_number(cells[PHONE].removeprefix("'"))
    fields = {name: unescape_formula(value) for name, value in fields.items()}
    return contact.parse_contact(number, unescape_formula(cells.get(NAME, "")), fields)


def _guess(name: str, samples: Sequence[str], fields: Sequence[str], *, has_names: bool) -> str:
    spelled = re.sub(r"[\s_-]", "", name).casefold()
    if spelled in sheet.PHONE_NAMES or (not has_names and samples and all(map(_is_number, samples))):
        return PHONE
    if spelled in NAME_HEADS:
        return NAME
    if name in fields:
        return f"{FIELD}{name}"
    try:
        return f"{FIELD}{contact.parse_field_name(name)}" if has_names and name else IGNORE
    except Refused:
        return IGNORE


def _is_number(cell: str) -> bool:
    try:
        phone.parse_mobile(sheet.restore_phone_number(cell))
    except Refused:
        return False
    return True


def _cell(row: SheetRow, place: int) -> str:
    return row.cells[place] if place < len(row.cells) else ""
