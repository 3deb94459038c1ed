"""Counts changes of accounts' set-up: their keys, limits, sender numbers, sender profiles and templates."""

from collections.abc import Iterable

from pabal.store.engine.base import Row, Tx

BUCKETS = 64
"""Accounts share this many counters: few enough to read all of them, enough that a change affects few accounts."""


def bucket_of(account_id: int) -> int:
    """Return the count that an account's changes are added to."""
    return account_id % BUCKETS


def record(tx: Tx, account_id: int) -> None:
    """Count a change of an account's set-up: processes then drop what they have cached of it.

    Whatever changes or deletes a row of it calls this; a new row is in no cache.
    """
    bucket = bucket_of(account_id)
    tx.execute(
        "insert into setup_changes (bucket, changes) values (?, 1)"
        " on conflict (bucket) do update set changes = setup_changes.changes + 1",
        (bucket,),
    )
    tx.announce(bucket)


def record_changed(tx: Tx, rows: Iterable[Row]) -> bool:
    """Count changes of the accounts that a statement returned, in one order for all; return whether any."""
    account_ids = {row[0] for row in rows}
    for account_id in sorted(account_ids, key=bucket_of):
        record(tx, account_id)
    return bool(account_ids)


def count_all(tx: Tx) -> dict[int, int]:
    """Return how many changes there were, by bucket."""
    return dict(tx.fetch_all("select bucket, changes from setup_changes"))
