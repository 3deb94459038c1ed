"""The address book of an account: contacts with fields, searched, imported and deleted."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text, require
from pabal.domain.base.dates import Instant
from pabal.domain.people import contact as rules
from pabal.domain.people.contact import Contact, ContactEntry, ContactGroup
from pabal.domain.people.opt_out import EVERY_SENDER, AdReceiver
from pabal.service.context import Context
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.people import contact_groups, contacts, opt_outs
from pabal.store.people.contacts import LAST as LAST  # for pages, which do not import the store
from pabal.store.people.contacts import AddressBook as AddressBook  # for pages, which do not import the store
from pabal.store.people.contacts import ContactPage, SavedContacts
from pabal.store.people.contacts import Place as Place
from pabal.store.people.hash_keys import HashKeys

SAVE_BATCH = 500
"""Most contacts that one transaction saves."""
NUMBER_TAKEN = Text("이 번호의 연락처가 이미 있습니다.", "There is a contact with this number already.")


class ListedContacts(NamedTuple):
    """A page of contacts, the groups of each, and the numbers that have opted out of advertising."""

    page: ContactPage
    groups: Mapping[int, list[int]]
    opted_out: Collection[str]


class DeletedContact(NamedTuple):
    """A contact that was deleted, and its groups: what it takes to bring it back."""

    entry: ContactEntry
    group_ids: Sequence[int]


class ImportBatch(NamedTuple):
    """Contacts to save together, the groups they are put into, and whether known numbers are updated."""

    account_id: int
    entries: Sequence[ContactEntry]
    group_ids: Sequence[int]
    updates: bool


def get_book(tx: Tx, account_id: int) -> tuple[AddressBook, list[ContactGroup]]:
    return contacts.get_book(tx, account_id), contact_groups.list_all(tx, account_id)


async def search(
    context: Context,
    account_id: int,
    typed: str,
    group: ContactGroup | None,
    after: Place,
    limit: int,
    *,
    before: Place | None = None,
    field: tuple[str, str] | None = None,
) -> ListedContacts:
    """Return some contacts whose name or number fits what was typed, of a group if one is given.

    With `before`, those just before a place; `field` is a name and a value that they have.

    Raises Refused: RATE_LIMITED, and SERVICE_UNAVAILABLE for a search that takes too long.
    """
    async with context.searches.acquire(account_id):
        return await context.store.read(
            _search, context.policy.hash_keys, account_id, typed, group, after, limit, before, field
        )


async def get_contact(context: Context, account_id: int, contact_id: int) -> tuple[Contact, list[int]]:
    """Return a contact and the ids of its groups.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    return require(await context.store.read(_read_contact, account_id, contact_id))


async def add_contact(
    context: Context, account_id: int, entry: ContactEntry, group_ids: Sequence[int], audit_entry: AuditEntry
) -> None:
    """Add one contact.

    Raises Refused: DUPLICATE where its number is there already, LIMIT_EXCEEDED for a full address book.
    """
    batch = ImportBatch(account_id, [entry], group_ids, updates=False)
    saved = await context.store.write(
        save_batch, batch, context.policy.max_contacts, context.world.now(), audit_entry
    )
    if not saved.added:
        raise Refused(Code.DUPLICATE, "phoneNumber", NUMBER_TAKEN)


def delete_contacts(
    tx: Tx, account_id: int, contact_ids: Sequence[int], audit_entry: AuditEntry | None
) -> list[DeletedContact]:
    """Delete contacts of an account; return what there was."""
    found = [each for one in sorted(set(contact_ids)) if (each := contacts.get(tx, account_id, one))]
    groups = contact_groups.groups_of(tx, [each.id for each in found])
    contacts.delete(tx, account_id, contact_ids)
    if found and audit_entry:
        audit_log.add(tx, audit_entry)
    return [
        DeletedContact(ContactEntry(each.phone, each.name, each.fields), groups.get(each.id, ())) for each in found
    ]


def update_contact(
    tx: Tx,
    account_id: int,
    contact_id: int,
    entry: ContactEntry,
    group_ids: Sequence[int],
    audit_entry: AuditEntry,
) -> None:
    """Replace a contact and its groups.

    Raises Refused: NOT_FOUND, DUPLICATE where its number is another contact's.
    """
    require(contacts.get(tx, account_id, contact_id))
    if not contacts.update(tx, account_id, contact_id, entry, audit_entry.created_at):
        raise Refused(Code.DUPLICATE, "phoneNumber", NUMBER_TAKEN)
    before = set(contact_groups.groups_of(tx, [contact_id]).get(contact_id, []))
    own = {each.id for each in contact_groups.list_all(tx, account_id)}
    for group_id in own & set(group_ids) - before:
        contact_groups.add_members(tx, account_id, group_id, [contact_id])
    for group_id in before - set(group_ids):
        contact_groups.remove_members(tx, group_id, [contact_id])
    audit_log.add(tx, audit_entry)


def set_fields(tx: Tx, account_id: int, fields: Sequence[str], audit_entry: AuditEntry) -> None:
    """Set which fields contacts may have; values of others stay stored, and are shown again if they come back.

    Raises Refused(INVALID_PARAMETER) for too many.
    """
    check_field_count(len(fields))
    contacts.set_fields(tx, account_id, fields)
    audit_log.add(tx, audit_entry)


def restore_contacts(
    tx: Tx,
    account_id: int,
    deleted: Sequence[DeletedContact],
    max_contacts: int,
    now: Instant,
    audit_entry: AuditEntry,
) -> None:
    """Add contacts again that were deleted; whose number is there already stays as it is.

    Raises Refused(LIMIT_EXCEEDED) for a full address book; then none of them is added.
    """
    for each in deleted:
        save_batch(tx, ImportBatch(account_id, [each.entry], each.group_ids, updates=False), max_contacts, now)
    audit_log.add(tx, audit_entry)


async def list_some(
    context: Context, account_id: int, group_ids: Sequence[int], after: int, limit: int
) -> list[Contact]:
    """Return some contacts of these groups, or of all, in the order of their ids, after one; each once."""
    return await context.store.read(contacts.list_after, account_id, group_ids, after, limit)


async def find_opted_out(context: Context, account_id: int, phones: Collection[str], sender: str) -> set[str]:
    """Return those numbers that want no advertising of the account, or none from this sender number."""
    return await context.store.read(_find_opted_out, context.policy.hash_keys, account_id, phones, sender)


def _find_opted_out(tx: Tx, keys: HashKeys, account_id: int, phones: Collection[str], sender: str) -> set[str]:
    wanted = {AdReceiver(account_id, phone, sender) for phone in phones}
    return {each.phone for each in opt_outs.find(tx, keys, wanted)}


def check_field_count(count: int) -> None:
    """Raise Refused(INVALID_PARAMETER) for more fields than an address book may have."""
    if count > rules.MAX_FIELDS:
        most = rules.MAX_FIELDS
        raise Refused(
            Code.INVALID_PARAMETER,
            "fields",
            Text(f"항목은 {most}개까지 만들 수 있습니다.", f"There can be at most {most} fields."),
        )


def save_batch(
    tx: Tx, batch: ImportBatch, max_contacts: int, now: Instant, audit_entry: AuditEntry | None = None
) -> SavedContacts:
    """Save contacts and put them into their groups, with an audit entry if any was added.

    Raises Refused(LIMIT_EXCEEDED) for a full address book.
    """
    saved = contacts.save_all(tx, batch.account_id, batch.entries, now, updates=batch.updates)
    if saved.added and contacts.get_book(tx, batch.account_id).contacts > max_contacts:
        raise Refused(
            Code.LIMIT_EXCEEDED,
            "",
            Text(
                f"주소록에는 연락처를 {max_contacts:,}개까지 담을 수 있습니다.",
                f"An address book can have at most {max_contacts:,} contacts.",
            ),
        )
    for group_id in batch.group_ids:
        if contact_groups.get(tx, batch.account_id, group_id):
            contact_groups.add_members(tx, batch.account_id, group_id, saved.ids.values())
    if audit_entry and saved.added:
        audit_log.add(tx, audit_entry)
    return saved


@transaction(reader=Reader.SEARCHES)
def _search(
    tx: Tx,
    keys: HashKeys,
    account_id: int,
    typed: str,
    group: ContactGroup | None,
    after: Place,
    limit: int,
    before: Place | None,
    field: tuple[str, str] | None,
) -> ListedContacts:
    wanted = rules.parse_search(typed)
    within = (group.id, group.contacts) if group else None
    page = contacts.search(tx, account_id, wanted, within, after, limit, before, field)
    ids, phones = [each.id for each in page.contacts], [each.phone for each in page.contacts]
    return ListedContacts(
        page, contact_groups.groups_of(tx, ids), _find_opted_out(tx, keys, account_id, phones, EVERY_SENDER)
    )


def _read_contact(tx: Tx, account_id: int, contact_id: int) -> tuple[Contact, list[int]] | None:
    found = contacts.get(tx, account_id, contact_id)
    return (found, contact_groups.groups_of(tx, [contact_id]).get(contact_id, [])) if found else None
