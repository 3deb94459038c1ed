"""Saved texts: messages that an account keeps under a name, to be sent again and again."""

from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx

_COLUMNS = "id, name, kind, fields, changed_at"


class SavedText(NamedTuple):
    """A message without receivers and time, as the fields of a form in JSON."""

    id: int
    name: str
    kind: str
    fields: str
    changed_at: Instant


def save(tx: Tx, account_id: int, name: str, kind: str, fields: str, now: Instant) -> int:
    """Store a text in place of the one of the same name, if there is one, and return its id."""
    rows = tx.fetch_all(
        "insert into saved_texts (account_id, name, kind, fields, changed_at) values (?, ?, ?, ?, ?)"
        " on conflict (account_id, name) do update set kind = excluded.kind, fields = excluded.fields,"
        " changed_at = excluded.changed_at returning id",
        (account_id, name, kind, fields, now),
    )
    return int(rows[0][0])


def get(tx: Tx, account_id: int, text_id: int) -> SavedText | None:
    """Return a saved text of an account."""
    row = tx.fetch_one(f"select {_COLUMNS} from saved_texts where id = ? and account_id = ?", (text_id, account_id))
    return SavedText(*row) if row else None


def list_all(tx: Tx, account_id: int, limit: int) -> list[SavedText]:
    """Return the saved texts of an account, by name."""
    rows = tx.fetch_all(
        f"select {_COLUMNS} from saved_texts where account_id = ? order by name, id limit ?", (account_id, limit)
    )
    return [SavedText(*row) for row in rows]


def count(tx: Tx, account_id: int) -> int:
    """Return how many texts an account has saved."""
    row = tx.fetch_one("select count(*) from saved_texts where account_id = ?", (account_id,))
    return int(row[0]) if row else 0


def delete(tx: Tx, account_id: int, text_id: int) -> bool:
    """Delete a saved text of an account; return whether it was there."""
    return bool(
        tx.fetch_all("delete from saved_texts where id = ? and account_id = ? returning id", (text_id, account_id))
    )
