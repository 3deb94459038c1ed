"""Sends of the console without a second user's approval, counted by their text for a day."""

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion


def count(tx: Tx, account_id: int, digest: bytes, since: Instant, except_id: bytes = b"") -> int:
    """Return how many receivers got a text since some time, one send aside."""
    row = tx.fetch_one(
        "select sum(receivers) from unapproved_sends"
        " where account_id = ? and digest = ? and sent_at > ? and send_id <> ?",
        (account_id, digest, since, except_id),
    )
    return int(row[0] or 0) if row else 0


def add(tx: Tx, account_id: int, digest: bytes, send_id: bytes, receivers: int, now: Instant) -> None:
    """Count a send, once."""
    tx.execute(
        "insert into unapproved_sends (account_id, digest, send_id, receivers, sent_at) values (?, ?, ?, ?, ?)"
        " on conflict (account_id, digest, send_id) do update"
        " set receivers = excluded.receivers, sent_at = excluded.sent_at",
        (account_id, digest, send_id, receivers, now),
    )


def delete(tx: Tx, account_id: int, digest: bytes, send_id: bytes) -> None:
    """Count a send no more."""
    tx.execute(
        "delete from unapproved_sends where account_id = ? and digest = ? and send_id = ?",
        (account_id, digest, send_id),
    )


delete_old = deletion("unapproved_sends", "account_id, digest, send_id", "sent_at")
"""Deletes some that count no more."""
