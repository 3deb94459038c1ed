"""Pictures that were uploaded through another relay's endpoint, to be sent by their ids."""

from pabal.domain.base.dates import Instant
from pabal.domain.content.image import Image
from pabal.store.engine.base import Tx

NUMBER_BYTES = 4
"""The length of an id that is a number: callers of some relays keep these in 32 bits."""


def add(tx: Tx, account_id: int, file_id: bytes, image: Image, now: Instant) -> None:
    """Store a picture; one that is there already stays as it is."""
    tx.execute(
        "insert into compat_files (account_id, id, content_type, name, body, created_at) values (?, ?, ?, ?, ?, ?)"
        " on conflict (account_id, id) do nothing",
        (account_id, file_id, *image, now),
    )


def put(tx: Tx, account_id: int, file_id: bytes, image: Image, now: Instant) -> bool:
    """Store a picture, or note that it is used again; return False where another one has this id."""
    add(tx, account_id, file_id, image, now)
    stored = get(tx, account_id, file_id)
    if stored is None or stored.body != image.body:
        return False
    tx.execute(
        "update compat_files set created_at = ? where account_id = ? and id = ? and created_at < ?",
        (now, account_id, file_id, now),
    )
    return True


def delete_numbered(tx: Tx, before: Instant, limit: int) -> int:
    """Delete pictures with a number in place of a digest from before a time; return how many."""
    rows = tx.fetch_all(
        "select account_id, id from compat_files where created_at < ? and length(id) = ?"
        " order by created_at limit ?",
        (before, NUMBER_BYTES, limit),
    )
    for row in rows:
        tx.execute("delete from compat_files where account_id = ? and id = ?", row)
    return len(rows)


def count(tx: Tx, account_id: int) -> int:
    """Return how many pictures an account has."""
    return tx.fetch_number("select count(*) from compat_files where account_id = ?", (account_id,))


def get(tx: Tx, account_id: int, file_id: bytes) -> Image | None:
    """Return a picture of an account."""
    row = tx.fetch_one(
        "select content_type, name, body from compat_files where account_id = ? and id = ?", (account_id, file_id)
    )
    return Image(*row) if row else None
