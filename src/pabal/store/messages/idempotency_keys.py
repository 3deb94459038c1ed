"""Idempotency keys: the same request with the same key gets the same answer."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion


class IdempotencyKeyId(NamedTuple):
    """Which key: its slot, its account, and the key itself."""

    slot: int
    account_id: int
    key: str


class KeyedRequest(NamedTuple):
    """The digest of the request that came with a key, and the request id of the answer."""

    digest: bytes
    request_id: bytes
    created_at: Instant
    """When the key was first used."""


def find(tx: Tx, keys: Collection[IdempotencyKeyId]) -> dict[IdempotencyKeyId, KeyedRequest]:
    """Return the requests that were answered under these keys; a key may have expired."""
    rows = tx.execute_many(
        "select k.slot, k.account_id, k.key, k.digest, k.request_id, k.created_at"
        " from (values {rows}) as v(slot, account_id, key) join idempotency_keys k"
        " on k.slot {same} and k.account_id = v.account_id and k.key = v.key where k.slot {same_slot}",
        keys,
    )
    return {IdempotencyKeyId(*row[:3]): KeyedRequest(*row[3:]) for row in rows}


def save(tx: Tx, requests: Mapping[IdempotencyKeyId, KeyedRequest]) -> None:
    """Save the requests of keys, in place of expired ones."""
    tx.execute_many(
        "insert into idempotency_keys (slot, account_id, key, digest, request_id, created_at)"
        " select v.* from (values {rows}) as v where true"
        " on conflict (slot, account_id, key) do update set digest = excluded.digest,"
        " request_id = excluded.request_id, created_at = excluded.created_at",
        [(*key, *request) for key, request in sorted(requests.items())],
    )


delete_old = deletion("idempotency_keys", "slot, account_id, key", "created_at")
"""Deletes some keys."""
