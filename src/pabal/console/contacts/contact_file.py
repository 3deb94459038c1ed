"""Reads a file of contacts, CSV or Excel, whose columns are mapped to number, name and fields."""

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple

from pabal.console.history.export import unescape_formula
from pabal.console.sheets import mapping, sheet
from pabal.console.sheets.mapping import FIELD, IGNORE, PHONE, FileHead, cell_of, is_number
from pabal.console.sheets.sheet import SheetRow
from pabal.domain.base.codes import Refused, Text
from pabal.domain.people import contact, phone
from pabal.domain.people.contact import Contact, ContactEntry
from pabal.service.access.contacts.contacts import SAVE_BATCH

NAME = "name"
"""A column that holds names of people."""
NAME_HEADS = ("이름", "성명", "고객명", "성함", "name", "fullname")


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

    Raises Refused as `mapping.read_head` does.
    """

    def guess(name: str, samples: Sequence[str], has_names: bool) -> str:
        return _guess(name, samples, fields, has_names=has_names)

    return mapping.read_head(file, guess)


def read_mapping(form: Mapping[str, str], head: FileHead) -> list[str]:
    """Return what each column holds, as it was chosen, or by our guess where nothing was.

    Raises Refused: INVALID_PARAMETER where no column or several hold the number, or one field is chosen twice.
    """
    roles = mapping.chosen_roles(form, head.columns) or [each.role for each in head.columns]
    mapping.check_roles(roles)
    for role in roles:
        if role not in (PHONE, NAME, IGNORE):
            contact.parse_field_name(role.removeprefix(FIELD))
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
    cells = {role: cell_of(row, place) for place, role in enumerate(roles) if role}
    fields = {role.removeprefix(FIELD): value for role, value in cells.items() if role.startswith(FIELD)}
    number = sheet.restore_phone_number(cells[PHONE].removeprefix("'"))
    fields = {name: unescape_formula(value) for name, value in fields.items()}
    return contact.parse_contact(number, unescape_formula(cells.get(NAME, "")), fields)


def _guess(name: str, samples: Sequence[str], fields: Sequence[str], *, has_names: bool) -> str:
    if mapping.is_phone_name(name) or (not has_names and samples and all(map(is_number, samples))):
        return PHONE
    if mapping.spelled(name) in NAME_HEADS:
        return NAME
    if name in fields:
        return f"{FIELD}{name}"
    try:
        return f"{FIELD}{contact.parse_field_name(name)}" if has_names and name else IGNORE
    except Refused:
        return IGNORE
