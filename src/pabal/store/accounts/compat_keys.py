"""Keys of programs that were written for another relay: a public id, and a secret that they sign with or send."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text
from pabal.store.accounts import accounts
from pabal.store.accounts.accounts import ApiKey
from pabal.store.engine.base import Tx

HIDDEN_ID_PREFIX = "#"
"""Begins what is stored of an id that is the secret: no chosen id begins so."""
_ID_IN_USE = Text("다른 키가 이미 쓰는 ID입니다.", "Another key has this id.")


class CompatKey(NamedTuple):
    """An API key with the secret of its caller, as it is stored: encrypted, or a hash."""

    key: ApiKey
    secret: bytes


class PublicId(NamedTuple):
    """The relay that a key is for, and the id that its caller sends."""

    kind: str
    public_id: str

    @property
    def is_hidden(self) -> bool:
        """Whether the id is all that callers send, and stored as a hash."""
        return self.public_id.startswith(HIDDEN_ID_PREFIX)


def add(tx: Tx, key_id: int, public_id: PublicId, secret: bytes) -> None:
    """Store what a key has besides.

    Raises Refused(DUPLICATE) where another key of its kind has this id; the id of a revoked key is free.
    """
    earlier = find(tx, public_id)
    if earlier is not None:
        if earlier.key.revoked_at is None:
            raise Refused(Code.DUPLICATE, "id", _ID_IN_USE)
        tx.execute("delete from compat_keys where key_id = ?", (earlier.key.id,))
    tx.execute(
        "insert into compat_keys (key_id, kind, public_id, secret) values (?, ?, ?, ?)",
        (key_id, *public_id, secret),
    )


def find(tx: Tx, public_id: PublicId) -> CompatKey | None:
    """Return the key of this kind and id, whatever its state."""
    row = tx.fetch_one("select key_id, secret from compat_keys where kind = ? and public_id = ?", public_id)
    key = accounts.get_key(tx, row[0]) if row else None
    return CompatKey(key, bytes(row[1])) if row and key else None


class SigningKey(NamedTuple):
    """The stored secret of a key."""

    key_id: int
    public_id: PublicId
    secret: bytes


def list_secrets(tx: Tx, kinds: Sequence[str]) -> list[SigningKey]:
    """Return the secrets of all keys of these kinds."""
    rows = tx.fetch_all("select key_id, kind, public_id, secret from compat_keys order by key_id")
    return [SigningKey(row[0], PublicId(row[1], row[2]), bytes(row[3])) for row in rows if row[1] in kinds]


def replace_secret(tx: Tx, key: SigningKey, secret: bytes) -> bool:
    """Store a secret in another form, unless it was changed meanwhile; return whether it was stored."""
    return tx.changes(
        "update compat_keys set secret = ? where key_id = ? and secret = ?", (secret, key.key_id, key.secret)
    )


def list_public_ids(tx: Tx, key_ids: Iterable[int]) -> dict[int, PublicId]:
    """Return kind and public id by the id of each of these keys that has them."""
    rows = tx.execute_list("select key_id, kind, public_id from compat_keys where key_id in ({list})", key_ids)
    return {row[0]: PublicId(row[1], row[2]) for row in rows}
