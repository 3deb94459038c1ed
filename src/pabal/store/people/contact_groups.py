"""Groups of contacts, and who is in them."""

from collections.abc import Iterable

from pabal.domain.base.dates import Instant
from pabal.domain.people.contact import ContactGroup
from pabal.store.engine.base import Tx
from pabal.store.rows import Select

_GROUPS = Select("select id, name, contacts from contact_groups", ContactGroup._make)


def add(tx: Tx, account_id: int, name: str, now: Instant) -> int | None:
    """Add a group and return its id, None where the account has one of this name."""
    return tx.fetch_value(
        "insert into contact_groups (account_id, name, contacts, created_at) values (?, ?, 0, ?)"
        " on conflict (account_id, name) do nothing returning id",
        (account_id, name, now),
    )


def rename(tx: Tx, account_id: int, group_id: int, name: str) -> bool:
    """Rename a group; return False if it is gone, or another has this name."""
    if tx.fetch_one(
        "select 1 from contact_groups where account_id = ? and name = ? and id <> ?", (account_id, name, group_id)
    ):
        return False
    return tx.changes(
        "update contact_groups set name = ? where id = ? and account_id = ?", (name, group_id, account_id)
    )


def list_all(tx: Tx, account_id: int) -> list[ContactGroup]:
    """Return the groups of an account, by name."""
    return _GROUPS.fetch_all(tx, "where account_id = ? order by name, id", (account_id,))


def get(tx: Tx, account_id: int, group_id: int) -> ContactGroup | None:
    return _GROUPS.fetch_one(tx, "where id = ? and account_id = ?", (group_id, account_id))


def add_members(tx: Tx, account_id: int, group_id: int, contact_ids: Iterable[int]) -> int:
    """Put contacts of an account into a group of it; return how many were not in it.

    It changes the row of the address book, as deletions of contacts do: of both at the same time one comes first,
    and the other is repeated and sees it. Otherwise a group would count somebody who is gone.
    """
    tx.execute("update address_books set contacts = contacts where account_id = ?", (account_id,))
    rows = tx.execute_many(
        "insert into contact_members (group_id, contact_id) values {rows}"
        " on conflict (group_id, contact_id) do nothing returning contact_id",
        [(group_id, one) for one in sorted(contact_ids)],
    )
    _count(tx, group_id, len(rows))
    return len(rows)


def remove_members(tx: Tx, group_id: int, contact_ids: Iterable[int]) -> list[int]:
    """Take contacts out of a group; return those that were in it."""
    rows = tx.execute_list(
        "delete from contact_members where group_id = ? and contact_id in ({list}) returning contact_id",
        sorted(contact_ids),
        (group_id,),
    )
    _count(tx, group_id, -len(rows))
    return [row[0] for row in rows]


def list_members(tx: Tx, group_id: int, limit: int) -> list[int]:
    """Return the ids of some contacts of a group."""
    return tx.fetch_values(
        "select contact_id from contact_members where group_id = ? order by contact_id limit ?", (group_id, limit)
    )


def groups_of(tx: Tx, contact_ids: Iterable[int]) -> dict[int, list[int]]:
    rows = tx.execute_list(
        "select contact_id, group_id from contact_members where contact_id in ({list})", contact_ids
    )
    found: dict[int, list[int]] = {}
    for contact_id, group_id in sorted(rows):
        found.setdefault(contact_id, []).append(group_id)
    return found


def delete(tx: Tx, account_id: int, group_id: int) -> bool:
    """Delete an empty group; return False if it is gone, or somebody is in it."""
    return tx.changes(
        "delete from contact_groups where id = ? and account_id = ? and not exists"
        " (select 1 from contact_members m where m.group_id = contact_groups.id)",
        (group_id, account_id),
    )


def _count(tx: Tx, group_id: int, change: int) -> None:
    if change:
        tx.execute("update contact_groups set contacts = contacts + ? where id = ?", (change, group_id))
