"""The pages of the address book: list, search, edit and delete contacts."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
from starlette.responses import Response

from pabal.console.shell.form_fields import CONTACT, GROUP, page_url, parse_id, require_id, ticked_ids
from pabal.console.shell.page_request import PageRequest, Toast
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people import contact as rules
from pabal.domain.people.contact import Contact, ContactEntry, ContactGroup
from pabal.service.access.accounts.audit import AuditEntry
from pabal.service.access.contacts import contact_groups, contacts
from pabal.service.access.contacts.contacts import AddressBook, DeletedContact, Place

CONTACTS_PATH = "/console/contacts"
PAGE_SIZE = 50
SHOWN_GROUPS = 200
"""Groups that a contact can be put into on its page; those that it is in are always shown."""
SEARCH_FIELDS = ("q", "group", "field", "value")
DELETED = "deleted"
"""The field that brings contacts back."""
AFTER, BEFORE = "after", "before"
"""The fields that say where a page of the list begins, or ends."""
_CURSOR = re.compile(r"([0-9a-f]{0,2000})\.([0-9]{1,18})", re.ASCII)


class BookView(NamedTuple):
    """The address book of the account, its groups, and the group that is shown, if one is."""

    book: AddressBook
    groups: Sequence[ContactGroup]
    group: ContactGroup | None


async def add_contact(request: PageRequest) -> Response:
    """Add one contact."""
    view = await load_book(request)
    entry = _read_entry(request, view.book.fields)
    audit_entry = request.audit_entry("contact.add")
    await contacts.add_contact(
        request.context, request.account_id, entry, ticked_ids(request.fields, GROUP), audit_entry
    )
    return request.redirect(CONTACTS_PATH)


async def update_contact(request: PageRequest) -> Response:
    """Change a contact and its groups."""
    found, _ = await _find_contact(request)
    view = await load_book(request)
    entry = _read_entry(request, view.book.fields)
    hidden = {name: value for name, value in found.fields.items() if name not in view.book.fields}
    await request.context.store.write(
        contacts.update_contact,
        request.account_id,
        found.id,
        entry._replace(fields={**hidden, **entry.fields}),
        ticked_ids(request.fields, GROUP),
        request.audit_entry("contact.update", str(found.id)),
    )
    return request.redirect(CONTACTS_PATH)


async def _find_contact(request: PageRequest) -> tuple[Contact, Sequence[int]]:
    """Return the contact that the URL names, and the ids of its groups.

    Raises Refused(NOT_FOUND).
    """
    contact_id = require_id(request.http.path_params["contact"])
    return await contacts.get_contact(request.context, request.account_id, contact_id)


async def delete_contact(request: PageRequest) -> Response:
    """Delete a contact; one that is gone already is no error."""
    contact_id = require_id(request.http.path_params["contact"])
    audit_entry = request.audit_entry("contact.delete", str(contact_id))
    return await _delete(request, [contact_id], audit_entry, CONTACTS_PATH)


async def restore_contacts(request: PageRequest) -> Response:
    """Add contacts again that were just deleted."""
    deleted = _read_deleted(request.field(DELETED))
    audit_entry = request.audit_entry("contact.add", f"n={len(deleted)}")
    await request.context.store.write(
        contacts.restore_contacts,
        request.account_id,
        deleted,
        request.context.policy.max_contacts,
        request.now,
        audit_entry,
    )
    return request.redirect(_here(request))


async def _delete(request: PageRequest, ids: Sequence[int], audit_entry: AuditEntry, url: str) -> Response:
    """Delete contacts and show the list, as it is at this URL, with the way to undo it."""
    deleted = await request.context.store.write(contacts.delete_contacts, request.account_id, ids, audit_entry)
    if not deleted:
        return request.redirect(url)
    fields = [(DELETED, msgspec.json.encode(deleted).decode()), *_fields_of_place(request)]
    told = request.t("contacts.deleted", count=f"{len(deleted):,}")
    return await _show_done(request, Toast(told, f"{CONTACTS_PATH}/restore", fields), url)


async def _show_done(request: PageRequest, toast: Toast, url: str) -> Response:
    response = await list_contacts(request, toast=toast)
    response.headers["content-location"] = url
    return response


async def change_selected(request: PageRequest) -> Response:
    """Delete the contacts that were ticked, put them into a group, or take them out of the one that is shown."""
    ids = ticked_ids(request.fields, CONTACT)
    action, group_id = request.field("action"), parse_id(request.field("to_group"))
    shown = parse_id(request.field("group"))
    if not ids:
        raise Refused(Code.MISSING_PARAMETER, "selected")
    if action == "delete":
        audit_entry = request.audit_entry("contact.delete", f"n={len(ids)}")
        return await _delete(request, ids, audit_entry, _here(request))
    elif action == "add" and group_id:
        await request.context.store.write(contact_groups.add_members, request.account_id, group_id, ids)
    elif action == "remove" and shown:
        removed = await request.context.store.write(contact_groups.remove_members, request.account_id, shown, ids)
        told = request.t("contacts.taken_out", count=f"{len(removed):,}")
        undo = [("action", "add"), ("to_group", str(shown)), *((f"{CONTACT}{one}", "1") for one in removed)]
        if removed:
            toast = Toast(told, f"{CONTACTS_PATH}/selected", [*undo, *_fields_of_place(request)])
            return await _show_done(request, toast, _here(request))
    else:
        raise Refused(Code.MISSING_PARAMETER, "to_group")
    return request.redirect(_here(request))


async def load_book(request: PageRequest) -> BookView:
    """Return the address book, and the group that the fields name, if it is the account's."""
    book, groups = await request.context.store.read(contacts.get_book, request.account_id)
    wanted = parse_id(request.field("group"))
    return BookView(book, groups, next((each for each in groups if each.id == wanted), None))


def list_url(fields: Mapping[str, str], after: Place | None = None, before: Place | None = None) -> str:
    """Return the URL of a page of the list: what is searched for, and where the page begins or ends."""
    wanted = {name: fields.get(name, "") for name in SEARCH_FIELDS}
    for name, place in ((AFTER, after), (BEFORE, before)):
        wanted[name] = f"{place.name_key.hex()}.{place.contact_id}" if place else ""
    return page_url(CONTACTS_PATH, wanted)


def _here(request: PageRequest) -> str:
    """Return the URL of the page that a form was on."""
    return page_url(CONTACTS_PATH, dict(_fields_of_place(request)))


def _fields_of_place(request: PageRequest) -> list[tuple[str, str]]:
    """Return the fields that lead back to the page of the list that a form was on."""
    return [(name, request.field(name)) for name in (*SEARCH_FIELDS, AFTER, BEFORE) if request.field(name)]


def _read_deleted(typed: str) -> list[DeletedContact]:
    """Return the contacts that a toast brings back.

    Raises Refused, for what no toast has made.
    """
    try:
        found = msgspec.json.decode(typed, type=list[DeletedContact])
    except msgspec.DecodeError:
        raise Refused(Code.INVALID_PARAMETER) from None
    return [
        each._replace(entry=rules.parse_contact(each.entry.phone, each.entry.name, _named(each.entry.fields)))
        for each in found
    ]


def _named(fields: Mapping[str, str]) -> dict[str, str]:
    return {rules.parse_field_name(name): value for name, value in fields.items()}


def _place(request: PageRequest, name: str) -> Place | None:
    """Return where the page of the list begins or ends that is shown; None: at the beginning."""
    found = _CURSOR.fullmatch(request.field(name))
    return Place(bytes.fromhex(found[1]), int(found[2])) if found and len(found[1]) % 2 == 0 else None


def _read_entry(request: PageRequest, fields: Sequence[str]) -> ContactEntry:
    """Return what was typed.

    Raises Refused, naming the field.
    """
    if not request.field("phoneNumber"):
        raise Refused(Code.MISSING_PARAMETER, "phoneNumber")
    values = {name: request.field(f"field{place}") for place, name in enumerate(fields)}
    try:
        return rules.parse_contact(request.field("phoneNumber"), request.field("name"), values)
    except Refused as refused:
        problem = refused.problems[0]
        field = f"field{fields.index(problem.field)}" if problem.field in fields else problem.field
        raise Refused(problem.code, field or "phoneNumber", problem.detail) from None


async def list_contacts(
    request: PageRequest, refused: Refused | None = None, toast: Toast | None = None
) -> Response:
    """Show a page of the contacts that a search finds, in a group if one is chosen."""
    view = await load_book(request)
    typed, after, before = request.field("q"), _place(request, AFTER), _place(request, BEFORE)
    field = request.field("field") if request.field("field") in view.book.fields else ""
    value = request.field("value") if field else ""
    found = await contacts.search(
        request.context,
        request.account_id,
        typed,
        view.group,
        after or Place(),
        PAGE_SIZE,
        before=before,
        field=(field, value) if value else None,
    )
    wanted = {"q": typed, "group": str(view.group.id) if view.group else "", "field": field, "value": value}
    page = found.page
    names = {each.id: each.name for each in view.groups}
    shown_group = view.group.id if view.group else None
    return request.render(
        "contacts/address_book.html",
        refused,
        rows=[
            (
                each,
                [names[one] for one in found.groups.get(each.id, ()) if one in names],
                each.phone in found.opted_out,
            )
            for each in found.page.contacts
        ],
        toast=toast,
        view=view,
        typed=typed,
        fields=request.fields if refused else {},
        wanted=wanted,
        is_searched=any(wanted.values()),
        places={AFTER: request.field(AFTER) if after else "", BEFORE: request.field(BEFORE) if before else ""},
        pages=[
            ("first", list_url(wanted) if page.previous_before else ""),
            ("previous", list_url(wanted, before=page.previous_before) if page.previous_before else ""),
            ("next", list_url(wanted, page.next_after) if page.next_after else ""),
            ("last", list_url(wanted, before=contacts.LAST) if page.next_after else ""),
        ],
        chosen=set(ticked_ids(request.fields, GROUP)),
        selected=set(ticked_ids(request.fields, CONTACT)),
        export=f"{CONTACTS_PATH}.csv" + (f"?group={shown_group}" if shown_group else ""),
        max_fields=rules.MAX_FIELDS,
        shown_groups=SHOWN_GROUPS,
    )


async def show_contact(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show a contact and the form to change it."""
    found, group_ids = await _find_contact(request)
    view = await load_book(request)
    stored = {"phoneNumber": request.phone_number(found.phone), "name": found.name} | {
        f"field{place}": found.fields.get(name, "") for place, name in enumerate(view.book.fields)
    }
    opted_out = await contacts.find_opted_out(request.context, request.account_id, [found.phone], "")
    return request.render(
        "contacts/contact.html",
        refused,
        contact=found,
        view=view,
        fields=request.fields if refused else stored,
        chosen=set(ticked_ids(request.fields, GROUP) if refused else group_ids),
        is_opted_out=bool(opted_out),
        shown_groups=SHOWN_GROUPS,
    )


TEXTS = {
    "menu.contacts": Text("주소록", "Contacts"),
    "contacts.title": Text("주소록", "Address book"),
    "contacts.about": Text(
        "그룹에 메시지를 보내면 이름과 추가 항목이 같은 이름의 변수에 들어갑니다. 수신거부한 번호로는 광고를 "
        "보내지 않습니다.",
        "When you send to a group, names and fields fill in the variables of the same name. Numbers that have "
        "opted out get no advertising.",
    ),
    "contacts.total": Text("{count}명", "{count} in all"),
    "contacts.nameless": Text("이름 없음", "No name"),
    "contacts.groups": Text("그룹", "Groups"),
    "contacts.groups.manage": Text("그룹과 항목 관리", "Groups and fields"),
    "contacts.groups.none": Text(
        "아직 그룹이 없습니다. 이름을 정해 만드세요.", "There are no groups yet. Name one to create it."
    ),
    "contacts.group": Text("그룹", "Group"),
    "contacts.group.none": Text("넣지 않음", "None"),
    "contacts.group.choose": Text("그룹 선택", "Choose a group"),
    "contacts.group.new": Text("새 그룹 이름", "Name of a new group"),
    "contacts.group.add": Text("그룹 만들기", "Create group"),
    "contacts.members": Text("연락처", "Contacts"),
    "contacts.search": Text("이름이나 번호", "Name or number"),
    "contacts.search.how": Text("홍길, 5678, 010-1234-5678", "Kim, 5678, 010-1234-5678"),
    "contacts.pages.first": Text("처음", "First"),
    "contacts.pages.previous": Text("이전", "Previous"),
    "contacts.pages.next": Text("다음", "Next"),
    "contacts.pages.last": Text("마지막", "Last"),
    "contacts.field": Text("추가 항목", "Field"),
    "contacts.value": Text("값", "Value"),
    "contacts.choose_all": Text("이 화면의 연락처 모두 선택", "Choose all on this page"),
    "contacts.chosen": Text("{count}명 선택", "{count} chosen"),
    "contacts.none": Text(
        "주소록이 비어 있습니다. 연락처를 추가하거나 파일로 가져오세요.",
        "The address book is empty. Add a contact, or import a file.",
    ),
    "contacts.none_found": Text(
        "조건에 맞는 연락처가 없습니다. 조건을 바꾸거나 전체를 보세요.",
        "No contact fits. Change the search, or show all.",
    ),
    "contacts.new": Text("연락처 추가", "Add a contact"),
    "contacts.choose": Text("선택", "Choose"),
    "contacts.choose_some": Text("연락처를 선택하세요.", "Choose some contacts."),
    "contacts.choose_group": Text("그룹을 선택하세요.", "Choose a group."),
    "contacts.to_group": Text("넣을 그룹", "Put into group"),
    "contacts.put": Text("선택한 연락처를 그룹에 넣기", "Put chosen contacts into it"),
    "contacts.take_out": Text("선택한 연락처를 이 그룹에서 빼기", "Take chosen contacts out of this group"),
    "contacts.delete.ask": Text(
        "연락처를 주소록에서 삭제하시겠습니까?", "Delete what you chose from the address book?"
    ),
    "contacts.deleted": Text("연락처 {count}명을 삭제했습니다.", "{count} deleted from the address book."),
    "contacts.taken_out": Text("연락처 {count}명을 그룹에서 뺐습니다.", "{count} taken out of the group."),
    "contacts.opted_out": Text("수신거부", "Opted out"),
    "contacts.opted_out.about": Text(
        "이 번호는 광고를 수신거부했습니다. 광고는 보내지 않고 그 밖의 메시지는 보냅니다.",
        "This number has opted out of advertising. Other messages are sent to it.",
    ),
    "contacts.send": Text("{group} 그룹에 보내기", "Send to {group}"),
    "contacts.send.short": Text("보내기", "Send"),
    "contacts.export": Text("CSV 내려받기", "Download CSV"),
    "contacts.fields": Text("추가 항목", "Fields"),
    "contacts.fields.about": Text(
        "연락처마다 적어 둘 항목입니다. 한 줄에 하나씩, {most}개까지. 같은 이름의 변수(#{{항목}})에 들어갑니다.",
        "What each contact can have besides, one a line, up to {most}. A field fills in the variable of its name.",
    ),
    "contacts.fields.names": Text("항목 이름", "Names of the fields"),
    "send.groups": Text("주소록 그룹", "Groups of the address book"),
    "send.groups.about": Text(
        "선택한 그룹의 연락처와 위에 입력한 번호에 함께 보냅니다. 같은 번호에는 한 번만 보냅니다.",
        "Contacts of the chosen groups get the message together with the numbers typed above, once per number.",
    ),
    "send.groups.more": Text(
        "그룹이 더 있습니다. 주소록에서 그룹을 열어 보내세요.",
        "There are more groups. Open one in the address book.",
    ),
}
