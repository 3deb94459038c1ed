"""Pictures that were uploaded through another relay's endpoint, to be sent by their ids."""

from pabal.domain.base.dates import Instant
from pabal.domain.content.image import Image
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion

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


delete_numbered = deletion(
    "compat_files", "account_id, id", "created_at", condition=f"length(id) = {NUMBER_BYTES:d}"
)
"""Deletes some pictures with a number in place of a digest."""


def count(tx: Tx, account_id: int) -> int:
    """Return how many pictures an account has."""
    return tx.fetch_number("select count(*) from compat_files where account_id = ?", (account_id,))


def get(tx: Tx, account_id: int, file_id: bytes) -> Image | None:
    """Return a picture of an account."""
    row = tx.fetch_one(
        "select content_type, name, body from compat_files where account_id = ? and id = ?", (account_id, file_id)
    )
    return Image(*row) if row else None
