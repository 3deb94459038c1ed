"""The pages of the address book: list, search, edit and delete contacts."""

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.console.shell.ticked_ids import CONTACT, GROUP, chosen_ids, parse_id
from pabal.domain.base.codes import Code, Problem, Refused
from pabal.domain.people import contact as rules
from pabal.domain.people.contact import Contact, ContactEntry, ContactGroup
from pabal.service.access.contacts import contact_groups, contacts
from pabal.service.access.contacts.contacts import AddressBook, Place

CONTACTS_PATH = "/console/contacts"
PAGE_SIZE = 50
SHOWN_GROUPS = 200
"""Groups that a contact can be put into on its page; those that it is in are always shown."""
_CURSOR = re.compile(r"([0-9a-f]{0,2000})\.([0-9]{1,18})", re.ASCII)


class ContactRow(NamedTuple):
    """A contact in the list."""

    id: int
    number: str
    name: str
    values: list[str]
    groups: list[str]
    is_opted_out: bool


class BookView(NamedTuple):
    """The address book of the account, its groups, and the group that is shown, if one is."""

    book: AddressBook
    groups: Sequence[ContactGroup]
    group: ContactGroup | None


async def list_contacts(request: PageRequest) -> Response:
    """Show a page of the contacts that a search finds, in a group if one is chosen."""
    return await _render_list(request)


async def add_contact(request: PageRequest) -> Response:
    """Add one contact."""
    view = await load_book(request)
    try:
        entry = _read_entry(request, view.book.fields)
        audit_entry = request.audit_entry("contact.add")
        await contacts.add_contact(
            request.context, request.account_id, entry, chosen_ids(request.fields, GROUP), audit_entry
        )
    except Refused as refused:
        return await _render_list(request, refused)
    return request.redirect(CONTACTS_PATH)


async def show_contact(request: PageRequest) -> Response:
    """Show a contact and the form to change it.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    found, group_ids = await contacts.get_contact(request.context, request.account_id, _contact_id(request))
    return await _render_contact(request, found, group_ids)


async def update_contact(request: PageRequest) -> Response:
    """Change a contact and its groups.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    found, _ = await contacts.get_contact(request.context, request.account_id, _contact_id(request))
    group_ids = chosen_ids(request.fields, GROUP)
    view = await load_book(request)
    try:
        entry = _read_entry(request, view.book.fields)
        hidden = {name: value for name, value in found.fields.items() if name not in view.book.fields}
        await contacts.update_contact(
            request.context,
            request.account_id,
            found.id,
            entry._replace(fields={**hidden, **entry.fields}),
            group_ids,
            request.audit_entry("contact.update", str(found.id)),
        )
    except Refused as refused:
        return await _render_contact(request, found, group_ids, refused)
    return request.redirect(CONTACTS_PATH)


async def delete_contact(request: PageRequest) -> Response:
    """Delete a contact; one that is gone already is no error."""
    contact_id = _contact_id(request)
    audit_entry = request.audit_entry("contact.delete", str(contact_id))
    await contacts.delete_contacts(request.context, request.account_id, [contact_id], audit_entry)
    return request.redirect(CONTACTS_PATH)


async def change_selected(request: PageRequest) -> Response:
    """Delete the contacts that were ticked, put them into a group, or take them out of the one that is shown.

    Raises Refused(NOT_FOUND) for a group that is gone.
    """
    ids = chosen_ids(request.fields, CONTACT)
    action, group_id = request.field("action"), parse_id(request.field("to_group"))
    shown = parse_id(request.field("group"))
    if not ids:
        return await _render_list(request, Refused(Code.MISSING_PARAMETER, "selected"))
    if action == "delete":
        audit_entry = request.audit_entry("contact.delete", f"{len(ids)}")
        await contacts.delete_contacts(request.context, request.account_id, ids, audit_entry)
    elif action == "add" and group_id:
        await contact_groups.add_members(request.context, request.account_id, group_id, ids)
    elif action == "remove" and shown:
        await contact_groups.remove_members(request.context, request.account_id, shown, ids)
    else:
        return await _render_list(request, Refused(Code.MISSING_PARAMETER, "to_group"))
    return request.redirect(list_url(request.field("q"), shown, _place(request)))


async def load_book(request: PageRequest) -> BookView:
    """Return the address book, and the group that the fields name, if it is the account's."""
    book, groups = await contacts.get_book(request.context, request.account_id)
    wanted = parse_id(request.field("group"))
    return BookView(book, groups, next((each for each in groups if each.id == wanted), None))


def list_url(typed: str = "", group: int | None = None, after: Place | None = None) -> str:
    """Return the URL of a page of the list."""
    fields = {"q": typed, "group": str(group or "")}
    if after:
        fields["after"] = f"{after.name_key.hex()}.{after.contact_id}"
    given = {name: value for name, value in fields.items() if value}
    return f"{CONTACTS_PATH}?{urlencode(given)}" if given else CONTACTS_PATH


def _place(request: PageRequest) -> Place | None:
    """Return where the page of the list begins that is shown; None: at the beginning."""
    found = _CURSOR.fullmatch(request.field("after"))
    return Place(bytes.fromhex(found[1]), int(found[2])) if found and len(found[1]) % 2 == 0 else None


def _contact_id(request: PageRequest) -> int:
    found = parse_id(str(request.http.path_params["contact"]))
    if found is None:
        raise Refused(Code.NOT_FOUND)
    return found


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


def _errors(request: PageRequest, problems: Sequence[Problem]) -> dict[str, str]:
    return {each.field: each.message(request.locale.language) for each in problems}


async def _render_list(request: PageRequest, refused: Refused | None = None) -> Response:
    view = await load_book(request)
    typed, after = request.field("q"), _place(request)
    found = await contacts.search(
        request.context, request.account_id, typed, view.group, after or Place(), PAGE_SIZE
    )
    names = {each.id: each.name for each in view.groups}
    shown_group = view.group.id if view.group else None
    return request.render(
        "contacts/address_book.html",
        refused.code.http_status if refused else 200,
        rows=[
            ContactRow(
                each.id,
                request.phone_number(each.phone),
                each.name,
                [each.fields.get(name, "") for name in view.book.fields],
                [names[one] for one in found.groups.get(each.id, ()) if one in names],
                each.phone in found.opted_out,
            )
            for each in found.page.contacts
        ],
        view=view,
        typed=typed,
        fields=request.fields if refused else {},
        errors=_errors(request, refused.problems) if refused else {},
        older=list_url(typed, shown_group, found.page.next_after) if found.page.next_after else "",
        newest=list_url(typed, shown_group) if after else "",
        after=request.field("after") if after else "",
        chosen=set(chosen_ids(request.fields, GROUP)),
        selected=set(chosen_ids(request.fields, CONTACT)),
        export=f"{CONTACTS_PATH}.csv" + (f"?group={shown_group}" if shown_group else ""),
        max_fields=rules.MAX_FIELDS,
        shown_groups=SHOWN_GROUPS,
    )


async def _render_contact(
    request: PageRequest, found: Contact, group_ids: Sequence[int], refused: Refused | None = None
) -> Response:
    view = await load_book(request)
    stored = {"phoneNumber": request.phone_number(found.phone), "name": found.name} | {
        f"field{place}": found.fields.get(name, "") for place, name in enumerate(view.book.fields)
    }
    opted_out = await contacts.find_opted_out(request.context, request.account_id, [found.phone], "")
    return request.render(
        "contacts/contact.html",
        refused.code.http_status if refused else 200,
        contact=found,
        view=view,
        fields=request.fields if refused else stored,
        errors=_errors(request, refused.problems) if refused else {},
        chosen=set(group_ids),
        is_opted_out=bool(opted_out),
        shown_groups=SHOWN_GROUPS,
    )
