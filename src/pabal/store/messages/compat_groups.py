"""Groups of messages that a program for another relay fills, and sends later."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx


class OpenGroup(NamedTuple):
    """A group that is not sent yet, and how many messages it has."""

    id: bytes
    allows_duplicates: bool
    created_at: Instant
    total: int
    is_closed: bool = False
    """Whether its sending has begun."""


class GroupMessage(NamedTuple):
    """A message of a group: its receiver in digits, and all of it as JSON."""

    receiver: str
    body: str


def add(tx: Tx, account_id: int, group_id: bytes, now: Instant, *, allows_duplicates: bool) -> None:
    """Create an empty group."""
    tx.execute(
        "insert into compat_groups (id, account_id, allows_duplicates, is_closed, created_at)"
        " values (?, ?, ?, 0, ?)",
        (group_id, account_id, int(allows_duplicates), now),
    )


def get(tx: Tx, account_id: int, group_id: bytes) -> OpenGroup | None:
    """Return a group of an account that is not sent yet."""
    row = tx.fetch_one(
        "select id, allows_duplicates, created_at, is_closed from compat_groups where id = ? and account_id = ?",
        (group_id, account_id),
    )
    if row is None:
        return None
    count = tx.fetch_number("select count(*) from compat_group_messages where group_id = ?", (group_id,))
    return OpenGroup(row[0], bool(row[1]), row[2], count, bool(row[3]))


def count(tx: Tx, account_id: int) -> int:
    """Return how many groups of an account are not sent yet."""
    return tx.fetch_number("select count(*) from compat_groups where account_id = ?", (account_id,))


def add_messages(
    tx: Tx, account_id: int, group_id: bytes, messages: Sequence[GroupMessage], most: int
) -> int | None:
    """Return how many messages a group has with these, which are added unless that is more than `most`.

    None where the group is closed, or gone.
    """
    lock = "update compat_groups set created_at = created_at where id = ? and account_id = ? and is_closed = 0"
    if not tx.changes(lock, (group_id, account_id)):
        return None
    last = tx.fetch_number("select max(number) from compat_group_messages where group_id = ?", (group_id,))
    if last + len(messages) > most:
        return last + len(messages)
    tx.execute_many(
        "insert into compat_group_messages (group_id, number, account_id, receiver, body) values {rows}",
        [(group_id, last + place, account_id, *each) for place, each in enumerate(messages, 1)],
    )
    return last + len(messages)


def close(tx: Tx, account_id: int, group_id: bytes) -> list[str]:
    """Return the messages of a group; nothing can be added any more, unless there are none."""
    tx.execute("update compat_groups set is_closed = 1 where id = ? and account_id = ?", (group_id, account_id))
    found = tx.fetch_values(
        "select body from compat_group_messages where group_id = ? order by number", (group_id,)
    )
    if not found:
        tx.execute("update compat_groups set is_closed = 0 where id = ?", (group_id,))
    return found


def delete(tx: Tx, account_id: int, group_id: bytes) -> bool:
    """Delete a group with its messages; return whether there was one."""
    if not tx.changes("delete from compat_groups where id = ? and account_id = ?", (group_id, account_id)):
        return False
    tx.execute("delete from compat_group_messages where group_id = ?", (group_id,))
    return True


def delete_old(tx: Tx, before: Instant, limit: int) -> int:
    """Delete groups that were created before a time and never sent; return how many."""
    rows = tx.fetch_all(
        "select account_id, id from compat_groups where created_at < ? order by created_at limit ?", (before, limit)
    )
    for account_id, group_id in rows:
        delete(tx, account_id, group_id)
    return len(rows)


def erase(tx: Tx, account_id: int, phone: str) -> None:
    """Delete the messages to a number."""
    tx.execute("delete from compat_group_messages where account_id = ? and receiver = ?", (account_id, phone))
