"""Drafts: what a user has written in a form of the console and not sent yet."""

from typing import NamedTuple

from pabal.domain.dates import Instant
from pabal.store.engine.base import Tx


class DraftKey(NamedTuple):
    """Whose draft it is: a user has one for each form of each account."""

    user_id: int
    account_id: int
    form: str


class StoredDraft(NamedTuple):
    """The fields of a form, as JSON, and when they last changed."""

    fields: str
    changed_at: Instant


class AccountDraft(NamedTuple):
    """A draft of any user of an account."""

    key: DraftKey
    fields: str


def save(tx: Tx, key: DraftKey, fields: str, now: Instant, max_drafts: int) -> None:
    """Store a draft in place of the one before; of more than `max_drafts` of a user, the oldest are deleted."""
    tx.execute(
        "insert into drafts (user_id, account_id, form, fields, changed_at) values (?, ?, ?, ?, ?)"
        " on conflict (user_id, account_id, form) do update set fields = excluded.fields,"
        " changed_at = excluded.changed_at",
        (*key, fields, now),
    )
    rows = tx.fetch_all(
        "select account_id, form from drafts where user_id = ? order by changed_at desc, account_id, form"
        " limit 100 offset ?",
        (key.user_id, max_drafts),
    )
    for account_id, form in rows:
        delete(tx, DraftKey(key.user_id, account_id, form))


def get(tx: Tx, key: DraftKey) -> StoredDraft | None:
    """Return a draft, None if there is none."""
    row = tx.fetch_one(
        "select fields, changed_at from drafts where user_id = ? and account_id = ? and form = ?", key
    )
    return StoredDraft(*row) if row else None


def delete(tx: Tx, key: DraftKey) -> None:
    """Delete a draft, if there is one."""
    tx.execute("delete from drafts where user_id = ? and account_id = ? and form = ?", key)


def delete_all_by_user(tx: Tx, user_id: int) -> None:
    """Delete every draft of a user."""
    tx.execute("delete from drafts where user_id = ?", (user_id,))


def list_by_account(tx: Tx, account_id: int, after: tuple[int, str], limit: int) -> list[AccountDraft]:
    """Return some drafts of an account, in order, after that of a user and a form."""
    rows = tx.fetch_all(
        "select user_id, form, fields from drafts where account_id = ? and (user_id, form) > (?, ?)"
        " order by user_id, form limit ?",
        (account_id, *after, limit),
    )
    return [AccountDraft(DraftKey(user_id, account_id, form), fields) for user_id, form, fields in rows]


def delete_old(tx: Tx, before: Instant, limit: int) -> int:
    """Delete some drafts that have not changed since `before`; return how many."""
    rows = tx.fetch_all(
        "select user_id, account_id, form from drafts where changed_at < ? order by changed_at limit ?",
        (before, limit),
    )
    for row in rows:
        delete(tx, DraftKey(*row))
    return len(rows)
