"""Idempotency keys: the same request with the same key gets the same answer."""

from typing import NamedTuple

from pabal.domain.dates import Instant
from pabal.store.engine.base import Tx


class KeyedRequest(NamedTuple):
    """The digest of the request that came with a key, and the request id of the answer."""

    digest: bytes
    request_id: bytes


def find(tx: Tx, slot: int, account_id: int, key: str, since: Instant) -> KeyedRequest | None:
    """Return the request that was answered under a key at `since` or later."""
    row = tx.fetch_one(
        "select digest, request_id from idempotency_keys where slot = ? and account_id = ? and key = ? and"
        " created_at >= ?",
        (slot, account_id, key, since),
    )
    return KeyedRequest(*row) if row else None


def save(tx: Tx, slot: int, account_id: int, key: str, request: KeyedRequest, now: Instant) -> None:
    """Save the request of a key, in place of an expired one."""
    tx.execute(
        "insert into idempotency_keys (slot, account_id, key, digest, request_id, created_at) values (?, ?, ?,"
        " ?, ?, ?)"
        " on conflict (slot, account_id, key) do update set digest = excluded.digest,"
        " request_id = excluded.request_id, created_at = excluded.created_at",
        (slot, account_id, key, *request, now),
    )


def delete_old(tx: Tx, before: Instant, limit: int) -> int:
    """Delete keys older than `before`; return how many."""
    rows = tx.fetch_all(
        "delete from idempotency_keys where (slot, account_id, key) in"
        " (select slot, account_id, key from idempotency_keys where created_at < ? limit ?) returning key",
        (before, limit),
    )
    return len(rows)
