"""The pages that import a file of contacts with a mapping of its columns, and export contacts."""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO, NamedTuple

from starlette.responses import Response

from pabal.console.contacts.address_book import CONTACTS_PATH, load_book
from pabal.console.sheets import mapping, sheet, sheet_limits
from pabal.console.sheets.mapping import FIELD, IGNORE, PHONE, FileHead
from pabal.console.sheets.sheet import SheetRow, is_number, spelled
from pabal.console.shell.download import attach_table, dated_name, rows_behind, unescape_formula
from pabal.console.shell.file_columns import preview_columns, render_columns
from pabal.console.shell.form_fields import parse_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people import contact, phone
from pabal.domain.people import contact as rules
from pabal.domain.people.contact import Contact, ContactEntry
from pabal.service.access.accounts import audit
from pabal.service.access.contacts import contact_groups, contacts
from pabal.service.access.contacts.contacts import SAVE_BATCH, ImportBatch

IMPORT_PATH = f"{CONTACTS_PATH}/file"
SHOWN_BAD_ROWS = 50


NAME = "name"
"""A column that holds names of people."""


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


def read_contacts(
    file: BinaryIO, *, form: Mapping[str, str], fields: Sequence[str]
) -> Iterator[list[str] | ContactBatch]:
    """Yield what each column of a file holds, then its contacts in batches.

    Raises Refused as `read_mapping` and `sheet.read_rows` do.
    """
    head = read_head(file, fields)
    roles = read_mapping(form, head)
    yield roles
    yield from read_batches(file, head, roles)


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
    cells = {role: row.cell(place) for place, role in enumerate(roles) if role}
    fields = {role.removeprefix(FIELD): value for role, value in cells.items() if role.startswith(FIELD)}
    number = sheet.restore_phone_number(cells[PHONE].removeprefix("'"))
    fields = {name: unescape_formula(value) for name, value in fields.items()}
    return contact.parse_contact(number, unescape_formula(cells.get(NAME, "")), fields)


def _guess(name: str, samples: Sequence[str], fields: Sequence[str], *, has_names: bool) -> str:
    if mapping.is_phone_name(name) or (not has_names and samples and all(map(is_number, samples))):
        return PHONE
    if spelled(name) in mapping.NAME_HEADS:
        return NAME
    if name in fields:
        return f"{FIELD}{name}"
    try:
        return f"{FIELD}{contact.parse_field_name(name)}" if has_names and name else IGNORE
    except Refused:
        return IGNORE


@dataclass
class ImportResult:
    """How many rows of a file were stored, and why others were not."""

    added: int = 0
    changed: int = 0
    known: int = 0
    """Contacts that were there already, with the same values, or were to stay as they are."""
    duplicates: int = 0
    bad_count: int = 0
    bad: list[BadContact] = field(default_factory=list)
    """The first rows that cannot be contacts."""

    @property
    def has_rows(self) -> bool:
        """Whether rows were imported, or found to be there already."""
        return bool(self.added or self.changed or self.known)


async def show_columns(request: PageRequest) -> Response:
    """Answer with the columns of the chosen file, each with what it seems to hold, to be changed."""
    try:
        fields = (await load_book(request)).book.fields
        head = await preview_columns(request, read_head, fields)
    except Refused as refused:
        return render_columns(request, refused)
    named = [(f"{FIELD}{name}", name) for name in (*fields, *_new_fields(head, fields))]
    return render_columns(request, head, roles=[(NAME, request.t("word.name")), *named])


async def import_contacts(request: PageRequest) -> Response:
    """Add the contacts of a file; rows that cannot be contacts are left out and shown.

    Raises Refused: RATE_LIMITED where too many files are being read.
    """
    result = ImportResult()
    try:
        fields = (await load_book(request)).book.fields
        async with request.open_file(partial(read_contacts, form=dict(request.fields), fields=fields)) as parts:
            await _import(request, parts, result)
    except Refused as refused:
        if refused.code is Code.RATE_LIMITED:
            raise
        if result.has_rows:
            await _add_audit_entry(request, result)
        return await show_import(request, refused, result if result.has_rows else None)
    await _add_audit_entry(request, result)
    return await show_import(request, result=result)


async def export_contacts(request: PageRequest) -> Response:
    """Answer with the contacts of the account, or of a group, as a CSV file, which can be imported again."""
    await audit.add_entry(request.context, request.audit_entry("contact.export"))
    view = await load_book(request)
    fields, chosen = view.book.fields, [view.group.id] if view.group else []
    read = partial(contacts.list_some, request.context, request.account_id, chosen)
    head = [sheet.PHONE_NAMES[0], rules.NAME_FIELD, *fields]
    rows = rows_behind(read, lambda each: to_cells(each, fields))
    return attach_table(request, dated_name(request, "pabal-contacts", "csv"), head, rows)


def _new_fields(head: FileHead, known: Sequence[str]) -> list[str]:
    found = (each.role.removeprefix(FIELD) for each in head.columns if ":" in each.role)
    return [name for name in found if name not in known]


async def _add_fields(request: PageRequest, names: Sequence[str]) -> None:
    """Add the fields of a file to those of the address book.

    Raises Refused(INVALID_PARAMETER) for too many.
    """
    known = (await load_book(request)).book.fields
    new = [name for name in names if name not in known]
    if new:
        audit_entry = request.audit_entry("contact.fields")
        await request.context.store.write(contacts.set_fields, request.account_id, [*known, *new], audit_entry)


async def _chosen_groups(request: PageRequest) -> list[int]:
    """Return the group that the contacts are put into, which is created if it is new."""
    if request.field("new_group"):
        name = rules.parse_group_name(request.field("new_group"))
        view = await load_book(request)
        known = next((each.id for each in view.groups if each.name == name), None)
        audit_entry = request.audit_entry("contact.group_add")
        return [
            known
            if known is not None
            else await request.context.store.write(contact_groups.create, request.account_id, name, audit_entry)
        ]
    chosen = parse_id(request.field("group"))
    return [chosen] if chosen else []


async def _import(
    request: PageRequest, parts: AsyncGenerator[list[str] | ContactBatch, None], result: ImportResult
) -> None:
    """Save the contacts of a file; `result` counts them, also where a later row ends it.

    Raises Refused for a full address book, and for a file that cannot be read to its end.
    """
    updates = request.field("known") == "update"
    group_ids: list[int] = []
    async for part in parts:
        if isinstance(part, list):
            await _add_fields(request, fields_in(part))
            group_ids = await _chosen_groups(request)
            continue
        result.duplicates += part.duplicates
        result.bad_count += len(part.bad)
        result.bad += part.bad[: SHOWN_BAD_ROWS - len(result.bad)]
        if part.entries:
            new = ImportBatch(request.account_id, part.entries, group_ids, updates)
            saved = await request.context.store.write(
                contacts.save_batch, new, request.context.policy.max_contacts, request.now
            )
            result.added += saved.added
            result.changed += saved.changed
            result.known += len(part.entries) - saved.added - saved.changed


async def _add_audit_entry(request: PageRequest, result: ImportResult) -> None:
    await audit.add_entry(request.context, request.audit_entry("contact.import", f"{result.added:,}"))


async def show_import(
    request: PageRequest, refused: Refused | None = None, result: ImportResult | None = None
) -> Response:
    """Show the form for a file."""
    view = await load_book(request)
    return request.render(
        "contacts/import.html",
        refused,
        view=view,
        result=result,
        problems=[request.tell(each) for each in refused.problems] if refused else [],
        bad=[(each.number, each.cells, request.translate(each.reason)) for each in result.bad] if result else [],
        typed=request.fields if refused else {},
        max_rows=sheet_limits.MAX_ROWS,
        max_megabytes=sheet_limits.MAX_FILE_BYTES // (1024 * 1024),
    )


TEXTS = {
    "contacts.import": Text("파일로 가져오기", "Import a file"),
    "contacts.import.about": Text(
        "파일을 고르면 각 열을 어느 항목으로 가져올지 정할 수 있습니다. 열 이름이 맞으면 그대로 두세요.",
        "Once you choose a file, you can say which column is which field. If the names fit, leave them so.",
    ),
    "contacts.import.refused": Text(
        "파일을 가져오지 않았습니다. 고쳐서 다시 시도하세요.",
        "The file was not imported. Correct it, and try again.",
    ),
    "contacts.import.partly": Text(
        "파일의 일부만 가져왔습니다. 아래 결과를 확인하고, 원인을 해결한 뒤 같은 파일을 다시 가져오세요. 이미 "
        "가져온 번호는 중복되지 않습니다.",
        "Only a part of the file was imported; see the result below. Solve the problem, then import the same file "
        "again: numbers are never added twice.",
    ),
    "contacts.import.done": Text("가져온 결과", "Result of the import"),
    "contact_import.added": Text("새로 추가", "Added"),
    "contact_import.changed": Text("갱신", "Updated"),
    "contact_import.known": Text("이미 있어 그대로 둠", "Already there, unchanged"),
    "contact_import.duplicates": Text("파일 안에서 중복", "Repeated in the file"),
    "contact_import.bad": Text("가져올 수 없는 행", "Rows that cannot be imported"),
    "contacts.import.known.title": Text("이미 있는 번호는", "Numbers that are there already"),
    "contacts.import.update": Text("파일의 내용으로 갱신", "Update them from the file"),
    "contacts.import.keep": Text("주소록의 내용을 그대로 둠", "Leave them as they are"),
    "audit_action.contact.import": Text("주소록 파일 가져오기", "Imported contacts"),
    "audit_action.contact.export": Text("주소록 내려받기", "Downloaded the address book"),
}
