"""Drafts: what a user has written in a form of the console and not sent yet."""

from typing import NamedTuple

from pabal.domain.base.dates import HOUR, Instant
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion, select, upsert

SENT_MS = 1 * HOUR
"""How long it is remembered at least which page has sent a draft."""


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


def save(tx: Tx, key: DraftKey, fields: str, page: str, now: Instant, max_drafts: int) -> bool:
    """Store a draft in place of the one before; of more than `max_drafts` of a user, the oldest are deleted.

    Says no for one of a page that has sent its draft already: a request may arrive late.
    """
    saved = tx.fetch_all(
        "insert into drafts (user_id, account_id, form, fields, changed_at, sent_page) values (?, ?, ?, ?, ?, '')"
        " on conflict (user_id, account_id, form) do update set fields = excluded.fields,"
        " changed_at = excluded.changed_at where drafts.sent_page = '' or drafts.sent_page <> ? returning user_id",
        (*key, fields, now, page),
    )
    if not saved:
        return False
    rows = tx.fetch_all(
        "select account_id, form from drafts where user_id = ? and fields <> ''"
        " order by changed_at desc, account_id, form limit 100 offset ?",
        (key.user_id, max_drafts),
    )
    for account_id, form in rows:
        delete(tx, DraftKey(key.user_id, account_id, form))
    return True


def end(tx: Tx, key: DraftKey, page: str, now: Instant) -> None:
    """Delete a draft that a page has sent, and remember the page for a while."""
    tx.execute(
        "delete from drafts where user_id = ? and fields = '' and changed_at < ?", (key.user_id, now - SENT_MS)
    )
    tx.execute(
        "insert into drafts (user_id, account_id, form, fields, changed_at, sent_page) values (?, ?, ?, '', ?, ?)"
        " on conflict (user_id, account_id, form) do update set fields = '', changed_at = excluded.changed_at,"
        " sent_page = excluded.sent_page",
        (*key, now, page),
    )


def get(tx: Tx, key: DraftKey) -> StoredDraft | None:
    """Return a draft, None if there is none."""
    where = "where user_id = ? and account_id = ? and form = ? and fields <> ''"
    return select(StoredDraft, "drafts").fetch_one(tx, where, key)


def delete(tx: Tx, key: DraftKey) -> None:
    """Delete a draft, if there is one."""
    tx.execute("delete from drafts where user_id = ? and account_id = ? and form = ?", key)


def list_by_account(tx: Tx, account_id: int, after: tuple[int, str], limit: int) -> list[AccountDraft]:
    """Return some drafts of an account, in order, after that of a user and a form."""
    rows = tx.fetch_all(
        "select user_id, form, fields from drafts where account_id = ? and fields <> ''"
        " and (user_id, form) > (?, ?) order by user_id, form limit ?",
        (account_id, *after, limit),
    )
    return [AccountDraft(DraftKey(user_id, account_id, form), fields) for user_id, form, fields in rows]


delete_old = deletion("drafts", "user_id, account_id, form", "changed_at")
"""Deletes some drafts that have not changed."""


class SavedText(NamedTuple):
    """A message without receivers and time, as the fields of a form in JSON."""

    id: int
    name: str
    kind: str
    fields: str
    changed_at: Instant


_TEXTS = select(SavedText, "saved_texts")


def save_text(tx: Tx, account_id: int, name: str, kind: str, fields: str, now: Instant) -> int:
    """Store a text in place of the one of the same name, if there is one, and return its id."""
    statement = upsert("saved_texts", "account_id, name", "kind, fields, changed_at")
    return tx.fetch_number(f"{statement} returning id", (account_id, name, kind, fields, now))


def get_text(tx: Tx, account_id: int, text_id: int) -> SavedText | None:
    return _TEXTS.fetch_one(tx, "where id = ? and account_id = ?", (text_id, account_id))


def list_texts(tx: Tx, account_id: int, limit: int) -> list[SavedText]:
    """Return the saved texts of an account, by name."""
    return _TEXTS.fetch_all(tx, "where account_id = ? order by name, id limit ?", (account_id, limit))


def count_texts(tx: Tx, account_id: int) -> int:
    """Return how many texts an account has saved."""
    return tx.fetch_number("select count(*) from saved_texts where account_id = ?", (account_id,))


def delete_text(tx: Tx, account_id: int, text_id: int) -> bool:
    """Delete a saved text of an account; return whether it was there."""
    return tx.changes("delete from saved_texts where id = ? and account_id = ?", (text_id, account_id))
