"""Browsers in which a user has signed in before, by the hash of a token in a cookie."""

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx

MAX_DEVICES_PER_USER = 20
"""The devices that expire first are forgotten beyond this."""


def trust(tx: Tx, hash: bytes, former: bytes | None, user_id: int, expires_at: Instant) -> None:
    """Trust a device for a user, under a new token; other users of its former token are carried over."""
    if former is not None:
        tx.execute("delete from trusted_devices where hash = ? and user_id = ?", (former, user_id))
        tx.execute("update trusted_devices set hash = ? where hash = ?", (hash, former))
    tx.execute(
        "insert into trusted_devices (hash, user_id, expires_at) values (?, ?, ?)", (hash, user_id, expires_at)
    )
    tx.execute(
        "delete from trusted_devices where user_id = ? and hash not in"
        " (select hash from trusted_devices where user_id = ? order by expires_at desc, hash limit ?)",
        (user_id, user_id, MAX_DEVICES_PER_USER),
    )


def is_trusted(tx: Tx, hash: bytes, user_id: int, now: Instant) -> bool:
    """Return whether a device is trusted for a user."""
    row = tx.fetch_one("select expires_at from trusted_devices where hash = ? and user_id = ?", (hash, user_id))
    return row is not None and now < row[0]


def delete(tx: Tx, hash: bytes, user_id: int) -> None:
    """Stop trusting a device for a user."""
    tx.execute("delete from trusted_devices where hash = ? and user_id = ?", (hash, user_id))


def delete_others(tx: Tx, user_id: int, hash: bytes) -> None:
    """Stop trusting every device of a user except one."""
    tx.execute("delete from trusted_devices where user_id = ? and hash <> ?", (user_id, hash))


def delete_all_by_user(tx: Tx, user_id: int) -> None:
    """Stop trusting every device of a user."""
    tx.execute("delete from trusted_devices where user_id = ?", (user_id,))


def delete_expired(tx: Tx, now: Instant, limit: int) -> int:
    """Delete some expired devices; return how many."""
    return tx.execute(
        "delete from trusted_devices where (hash, user_id) in"
        " (select hash, user_id from trusted_devices where expires_at <= ? order by expires_at limit ?)",
        (now, limit),
    )
