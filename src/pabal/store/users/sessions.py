"""Console sessions, by the hash of the browser's token."""

from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.users.user import User
from pabal.store.engine.base import Tx
from pabal.store.events import webhooks
from pabal.store.users import users


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


class ListedSession(NamedTuple):
    """A session as its user sees it."""

    hash: bytes
    browser: str
    created_at: Instant
    used_at: Instant
    expires_at: Instant


def add(
    tx: Tx,
    hash: bytes,
    user_id: int,
    account_id: int | None,
    csrf: str,
    now: Instant,
    expires_at: Instant,
    browser: str = "",
) -> None:
    """Begin a session."""
    tx.execute(
        "insert into sessions (hash, user_id, account_id, csrf, browser, created_at, used_at, expires_at)"
        " values (?, ?, ?, ?, ?, ?, ?, ?)",
        (hash, user_id, account_id, csrf, browser, now, now, expires_at),
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


def list_by_user(tx: Tx, user_id: int) -> list[ListedSession]:
    """Return every session of a user, whatever its age, the last used first."""
    rows = tx.fetch_all(
        "select hash, browser, created_at, used_at, expires_at from sessions where user_id = ?"
        " order by used_at desc, hash",
        (user_id,),
    )
    return [ListedSession(bytes(hash), *rest) for hash, *rest in rows]


def touch(tx: Tx, hash: bytes, now: Instant) -> None:
    """Record that a session is in use."""
    tx.execute("update sessions set used_at = ? where hash = ?", (now, hash))


def switch_account(tx: Tx, hash: bytes, account_id: int | None) -> None:
    """Switch an operator's session to another account, or to none."""
    tx.execute("update sessions set account_id = ? where hash = ?", (account_id, hash))


def delete(tx: Tx, hash: bytes) -> None:
    """End a session."""
    tx.execute("delete from sessions where hash = ?", (hash,))


def delete_of_user(tx: Tx, user_id: int, hash: bytes) -> bool:
    """End a session of a user; return whether there was one."""
    return bool(
        tx.fetch_all("delete from sessions where hash = ? and user_id = ? returning user_id", (hash, user_id))
    )


def delete_others(tx: Tx, user_id: int, hash: bytes) -> int:
    """End every session of a user except one; return how many."""
    return tx.execute("delete from sessions where user_id = ? and hash <> ?", (user_id, hash))


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
