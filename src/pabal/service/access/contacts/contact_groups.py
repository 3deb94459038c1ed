"""Groups of the address book: made, renamed, filled, emptied and deleted."""

from collections.abc import Sequence

from pabal.domain.base.codes import Code, Refused, Text, require
from pabal.domain.people.contact import MAX_GROUPS, ContactGroup
from pabal.service.context import Context
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.people import contact_groups, contacts

MEMBERS_BATCH = 1000
"""Most members that one transaction takes out of a group."""
NAME_TAKEN = Text("같은 이름의 그룹이 있습니다.", "There is a group of this name already.")
_TOO_MANY = Text(f"그룹은 {MAX_GROUPS:,}개까지 만들 수 있습니다.", f"There can be at most {MAX_GROUPS:,} groups.")


async def get_group(context: Context, account_id: int, group_id: int) -> ContactGroup:
    """Return a group of an account.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    return require(await context.store.read(contact_groups.get, account_id, group_id))


def create(tx: Tx, account_id: int, name: str, audit_entry: AuditEntry) -> int:
    """Create a group and return its id.

    Raises Refused: DUPLICATE where the account has one of this name, LIMIT_EXCEEDED.
    """
    if len(contact_groups.list_all(tx, account_id)) >= MAX_GROUPS:
        raise Refused(Code.LIMIT_EXCEEDED, "group", _TOO_MANY)
    added = contact_groups.add(tx, account_id, name, audit_entry.created_at)
    created = require(added, Code.DUPLICATE, "group", NAME_TAKEN)
    audit_log.add(tx, audit_entry._replace(target=str(created)))
    return created


def rename(tx: Tx, account_id: int, group_id: int, name: str, audit_entry: AuditEntry) -> None:
    """Rename a group.

    Raises Refused: NOT_FOUND, DUPLICATE where another has this name.
    """
    require(contact_groups.get(tx, account_id, group_id))
    if not contact_groups.rename(tx, account_id, group_id, name):
        raise Refused(Code.DUPLICATE, "group", NAME_TAKEN)
    audit_log.add(tx, audit_entry)


def add_members(tx: Tx, account_id: int, group_id: int, contact_ids: Sequence[int]) -> int:
    """Put contacts of an account into a group of it; return how many were not in it.

    Raises Refused(NOT_FOUND).
    """
    require(contact_groups.get(tx, account_id, group_id))
    own = [one for one in contact_ids if contacts.get(tx, account_id, one)]
    return contact_groups.add_members(tx, account_id, group_id, own)


def remove_members(tx: Tx, account_id: int, group_id: int, contact_ids: Sequence[int]) -> list[int]:
    """Take contacts out of a group, and return those that were in it; they stay in the address book.

    Raises Refused(NOT_FOUND).
    """
    require(contact_groups.get(tx, account_id, group_id))
    return contact_groups.remove_members(tx, group_id, contact_ids)


async def delete(
    context: Context, account_id: int, group_id: int, audit_entry: AuditEntry, *, with_contacts: bool = False
) -> None:
    """Delete a group, and its contacts if asked for, in batches; one that is interrupted can be repeated.

    Raises Refused(NOT_FOUND).
    """
    await get_group(context, account_id, group_id)
    work = _delete_contacts if with_contacts else _empty
    while await context.store.write(work, account_id, group_id):
        pass
    await context.store.write(_delete, account_id, group_id, audit_entry)


def _empty(tx: Tx, account_id: int, group_id: int) -> int:
    members = contact_groups.list_members(tx, group_id, MEMBERS_BATCH)
    return len(contact_groups.remove_members(tx, group_id, members))


def _delete_contacts(tx: Tx, account_id: int, group_id: int) -> int:
    members = contact_groups.list_members(tx, group_id, MEMBERS_BATCH)
    contacts.delete(tx, account_id, members)
    contact_groups.remove_members(tx, group_id, members)  # whose contact is another account's or gone
    return len(members)


def _delete(tx: Tx, account_id: int, group_id: int, audit_entry: AuditEntry) -> None:
    if contact_groups.delete(tx, account_id, group_id):
        audit_log.add(tx, audit_entry)
