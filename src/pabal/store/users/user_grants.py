"""Who has recently invited users, or has given them a password or a role."""

from collections.abc import Iterable

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion


def add(tx: Tx, granter_id: int | None, user_id: int, now: Instant) -> None:
    """Record that somebody could act as a user from now on; None: the command line."""
    if granter_id is not None and granter_id != user_id:
        tx.execute(
            "insert into user_grants (granter_id, user_id, granted_at) values (?, ?, ?)"
            " on conflict (granter_id, user_id) do update set granted_at = excluded.granted_at",
            (granter_id, user_id, now),
        )


def list_dependents(tx: Tx, granter_ids: Iterable[int], since: Instant) -> set[int]:
    """Return these users, and all whom they have invited or reset since, directly or through others."""
    found = set(granter_ids)
    new = found
    while new:
        rows = tx.execute_many(
            "select user_id from user_grants where granted_at > ? and granter_id in ({list})",
            [(each,) for each in sorted(new)],
            (since,),
        )
        new = {int(row[0]) for row in rows} - found
        found = found | new
    return found


delete_old = deletion("user_grants", "granter_id, user_id", "granted_at")
"""Deletes some that count no more."""
