"""Sign-ins with the right password that wait for a code, by the hash of the token in their form."""

from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.users.user import User
from pabal.store.engine.base import Tx
from pabal.store.users import users


class PendingSignIn(NamedTuple):
    """Who has entered the right password, how many codes were wrong since, and how long it may take."""

    user: User
    failures: int
    expires_at: Instant


def add(tx: Tx, hash: bytes, user_id: int, expires_at: Instant) -> None:
    """Add a sign-in that waits for a code."""
    tx.execute(
        "insert into pending_sign_ins (hash, user_id, failures, expires_at) values (?, ?, 0, ?)",
        (hash, user_id, expires_at),
    )


def get(tx: Tx, hash: bytes) -> PendingSignIn | None:
    """Return the sign-in whose token has this hash, whatever its age."""
    row = tx.fetch_one(
        f"select {users.COLUMNS}, p.failures, p.expires_at from pending_sign_ins p"
        " join users u on u.id = p.user_id left join accounts a on a.id = u.account_id where p.hash = ?",
        (hash,),
    )
    if row is None:
        return None
    *user, failures, expires_at = row
    return PendingSignIn(users.from_row(tuple(user)), failures, expires_at)


def count_failure(tx: Tx, hash: bytes) -> None:
    """Count a wrong code."""
    tx.execute("update pending_sign_ins set failures = failures + 1 where hash = ?", (hash,))


def delete(tx: Tx, hash: bytes) -> bool:
    """Delete a sign-in; return whether it was there."""
    return bool(tx.fetch_all("delete from pending_sign_ins where hash = ? returning user_id", (hash,)))


def delete_all_by_user(tx: Tx, user_id: int) -> None:
    """Delete every sign-in of a user that waits for a code."""
    tx.execute("delete from pending_sign_ins where user_id = ?", (user_id,))


def delete_expired(tx: Tx, now: Instant, limit: int) -> int:
    """Delete some sign-ins that have waited too long; return how many."""
    return tx.execute(
        "delete from pending_sign_ins where hash in"
        " (select hash from pending_sign_ins where expires_at <= ? order by expires_at limit ?)",
        (now, limit),
    )
