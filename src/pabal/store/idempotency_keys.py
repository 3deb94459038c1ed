"""What an Idempotency-Key was answered with, so that the same request gets the same answer."""

from typing import NamedTuple

from pabal.domain.dates import Instant
from pabal.store.engine.base import Tx


class KeyedRequest(NamedTuple):
    """The digest of the request that a key stood on, and the id it was answered with."""

    digest: bytes
    request_id: bytes


def find(tx: Tx, slot: int, account_id: int, key: str, since: Instant) -> KeyedRequest | None:
    """Return the answer that a key got at `since` or later."""
    row = tx.fetch_one(
        "select digest, request_id from idempotency_keys where slot = ? and account_id = ? and key = ? and"
        " created_at >= ?",
        (slot, account_id, key, since),
    )
    return KeyedRequest(*row) if row else None


def save(tx: Tx, slot: int, account_id: int, key: str, request: KeyedRequest, now: Instant) -> None:
    """Remember a key's answer; one that was kept too long ago to be found gives way."""
    tx.execute(
        "insert into idempotency_keys (slot, account_id, key, digest, request_id, created_at) values (?, ?, ?,"
        " ?, ?, ?)"
        " on conflict (slot, account_id, key) do update set digest = excluded.digest,"
        " request_id = excluded.request_id, created_at = excluded.created_at",
        (slot, account_id, key, *request, now),
    )


def delete_old(tx: Tx, before: Instant, limit: int) -> int:
    """Drop answers kept before `before`; return how many."""
    rows = tx.fetch_all(
        "delete from idempotency_keys where (slot, account_id, key) in"
        " (select slot, account_id, key from idempotency_keys where created_at < ? limit ?) returning key",
        (before, limit),
    )
    return len(rows)
