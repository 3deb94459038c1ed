"""Groups and fields of the address book: made, renamed and deleted."""

from starlette.responses import Response

from pabal.console.contacts.address_book import CONTACTS_PATH, list_url
from pabal.console.shell.form_fields import require_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused, Text
from pabal.domain.people import contact as rules
from pabal.service.access.contacts import contact_groups, contacts

MAX_DELETED_AT_ONCE = 20_000
"""A larger group is deleted in the background: the list shows how many contacts are left in it."""


async def create_group(request: PageRequest) -> Response:
    """Create a group."""
    name = rules.parse_group_name(request.field("name"))
    audit_entry = request.audit_entry("contact.group_add")
    await request.context.store.write(contact_groups.create, request.account_id, name, audit_entry)
    return request.redirect(f"{CONTACTS_PATH}/groups")


async def rename_group(request: PageRequest) -> Response:
    """Rename a group."""
    group_id = require_id(request.http.path_params["group"])
    name = rules.parse_group_name(request.field("name"))
    audit_entry = request.audit_entry("contact.group_rename", str(group_id))
    await request.context.store.write(contact_groups.rename, request.account_id, group_id, name, audit_entry)
    return request.redirect(f"{CONTACTS_PATH}/groups")


async def delete_group(request: PageRequest) -> Response:
    """Delete a group, with its contacts if asked for."""
    group_id = require_id(request.http.path_params["group"])
    audit_entry = request.audit_entry("contact.group_delete", str(group_id))
    with_contacts = request.field("with") == "contacts"
    group = await contact_groups.get_group(request.context, request.account_id, group_id)
    deletion = contact_groups.delete(
        request.context, request.account_id, group_id, audit_entry, with_contacts=with_contacts
    )
    if group.contacts > MAX_DELETED_AT_ONCE:
        request.site.run_in_background(deletion)
    else:
        await deletion
    return request.redirect(f"{CONTACTS_PATH}/groups")


async def set_fields(request: PageRequest) -> Response:
    """Set which fields contacts have, one a line."""
    try:
        lines = [line for line in request.fields.get("fields", "").splitlines() if line.strip()]
        contacts.check_field_count(len(lines))
        names = list(dict.fromkeys(rules.parse_field_name(line) for line in lines))
        audit_entry = request.audit_entry("contact.fields")
        await request.context.store.write(contacts.set_fields, request.account_id, names, audit_entry)
    except Refused as refused:
        raise Refused(refused.code, "fields", refused.problems[0].detail) from None
    return request.redirect(f"{CONTACTS_PATH}/groups")


async def show_groups(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show the groups and the fields of the address book."""
    book, groups = await request.context.store.read(contacts.get_book, request.account_id)
    errors = request.errors_by_field(refused)
    return request.render(
        "contacts/groups.html",
        refused,
        groups=[(each, list_url({"group": str(each.id)})) for each in groups],
        book=book,
        errors={("name" if field == "group" else field): why for field, why in errors.items()},
        typed={
            "name": request.field("name") if refused else "",
            "fields": request.fields.get("fields", "") if "fields" in errors else "\n".join(book.fields),
        },
        max_fields=rules.MAX_FIELDS,
    )


TEXTS = {
    "contacts.group.delete.ask": Text(
        "이 그룹을 삭제하시겠습니까? 되돌릴 수 없습니다. 연락처는 주소록에 남습니다.",
        "Delete this group? This cannot be undone. Its contacts stay in the address book.",
    ),
    "contacts.group.delete_all": Text("연락처 {count}명도 함께 삭제", "Delete its {count} contacts, too"),
    "audit_action.contact.add": Text("연락처 추가", "Added a contact"),
    "audit_action.contact.update": Text("연락처 수정", "Changed a contact"),
    "audit_action.contact.delete": Text("연락처 삭제", "Deleted contacts"),
    "audit_action.contact.fields": Text("주소록 항목 변경", "Changed the fields of contacts"),
    "audit_action.contact.group_add": Text("주소록 그룹 생성", "Created a group of contacts"),
    "audit_action.contact.group_rename": Text("주소록 그룹 이름 변경", "Renamed a group of contacts"),
    "audit_action.contact.group_delete": Text("주소록 그룹 삭제", "Deleted a group of contacts"),
}
