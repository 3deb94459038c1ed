"""Finds messages by the names that callers of another relay's endpoints gave them."""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion

DIGEST_BYTES = 8
"""Of two names with the same digest, the messages themselves tell whose is whose."""


class NamedMessage(NamedTuple):
    """A message, and the name that its caller gave it."""

    account_id: int
    name: str
    message_id: bytes


def add_all(tx: Tx, named: Iterable[NamedMessage]) -> None:
    """Store the names of messages."""
    tx.execute_many(
        "insert into compat_names (account_id, digest, message_id) values {rows} on conflict do nothing",
        sorted((account_id, _digest(name), message_id) for account_id, name, message_id in named),
    )


def find(tx: Tx, account_id: int, name: str, since: Instant, limit: int) -> list[bytes]:
    """Return messages that may have a name and were requested since an instant, newest first."""
    return tx.fetch_values(
        "select message_id from compat_names where account_id = ? and digest = ? and message_id >= ?"
        " order by message_id desc limit ?",
        (account_id, _digest(name), identifiers.lowest_message_id(since), limit),
    )


def forget(tx: Tx, message_ids: Iterable[bytes]) -> None:
    """Forget the names of messages."""
    tx.execute_list("delete from compat_names where message_id in ({list})", message_ids)


def forget_request(tx: Tx, request_id: bytes) -> None:
    """Forget the names of all messages of a request."""
    tx.execute(
        "delete from compat_names where message_id between ? and ?", identifiers.message_id_range(request_id)
    )


delete_old = deletion(
    "compat_names", "account_id, digest, message_id", "message_id", bound_of=identifiers.lowest_message_id
)
"""Forgets the names of some messages."""


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()[:DIGEST_BYTES]
