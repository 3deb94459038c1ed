"""Console sessions, by the hash of the browser's token."""

from typing import NamedTuple

from pabal.domain.dates import Instant
from pabal.domain.user import User
from pabal.store import users, webhooks
from pabal.store.engine.base import Tx


class ConsoleSession(NamedTuple):
    """Who is signed in, and which account they see."""

    user: User
    account_id: int | None
    account: str | None
    csrf: str
    used_at: Instant
    expires_at: Instant
    paused_webhooks: int = 0
    """How many webhooks of the account are paused."""
    paused_webhook: int | None = None
    """The first of them."""


def add(
    tx: Tx, hash: bytes, user_id: int, account_id: int | None, csrf: str, now: Instant, expires_at: Instant
) -> None:
    """Begin a session."""
    tx.execute(
        "insert into sessions (hash, user_id, account_id, csrf, created_at, used_at, expires_at)"
        " values (?, ?, ?, ?, ?, ?, ?)",
        (hash, user_id, account_id, csrf, now, now, expires_at),
    )


def get(tx: Tx, hash: bytes) -> ConsoleSession | None:
    """Return the session with this hash, whatever its age."""
    paused = f"from webhooks w where {webhooks.IS_PAUSED} and w.account_id = s.account_id"
    row = tx.fetch_one(
        f"select {users.COLUMNS}, s.account_id, b.name, s.csrf, s.used_at, s.expires_at,"
        f" (select count(*) {paused}), (select min(w.id) {paused}) from sessions s"
        " join users u on u.id = s.user_id left join accounts a on a.id = u.account_id"
        " left join accounts b on b.id = s.account_id where s.hash = ?",
        (hash,),
    )
    return ConsoleSession(users.from_row(row[:-7]), *row[-7:]) if row else None


def touch(tx: Tx, hash: bytes, now: Instant) -> None:
    """Record that a session is in use."""
    tx.execute("update sessions set used_at = ? where hash = ?", (now, hash))


def switch_account(tx: Tx, hash: bytes, account_id: int | None) -> None:
    """Switch an operator's session to another account, or to none."""
    tx.execute("update sessions set account_id = ? where hash = ?", (account_id, hash))


def delete(tx: Tx, hash: bytes) -> None:
    """End a session."""
    tx.execute("delete from sessions where hash = ?", (hash,))


def delete_all_by_user(tx: Tx, user_id: int) -> None:
    """End every session of a user."""
    tx.execute("delete from sessions where user_id = ?", (user_id,))


def delete_expired(tx: Tx, now: Instant, limit: int) -> int:
    """Delete some expired sessions; return how many."""
    return tx.execute(
        "delete from sessions where hash in"
        " (select hash from sessions where expires_at <= ? order by expires_at limit ?)",
        (now, limit),
    )
