"""Sessions of the console, by the hash of what the browser holds."""

from typing import NamedTuple

from pabal.domain.dates import Instant
from pabal.domain.user import User
from pabal.store import users
from pabal.store.engine.base import Tx


class Session(NamedTuple):
    """Who is signed in, and whose things they look at."""

    user: User
    account_id: int | None
    account: str | None
    csrf: str
    used_at: Instant
    expires_at: Instant


def add(
    tx: Tx, hash: bytes, user_id: int, account_id: int | None, csrf: str, now: Instant, expires_at: Instant
) -> None:
    """Begin a session."""
    tx.run(
        "insert into sessions (hash, user_id, account_id, csrf, created_at, used_at, expires_at)"
        " values (?, ?, ?, ?, ?, ?, ?)",
        (hash, user_id, account_id, csrf, now, now, expires_at),
    )


def by_hash(tx: Tx, hash: bytes) -> Session | None:
    """Return the session with this hash, whatever its age."""
    row = tx.row(
        f"select {users.COLUMNS}, s.account_id, b.name, s.csrf, s.used_at, s.expires_at from sessions s"
        " join users u on u.id = s.user_id left join accounts a on a.id = u.account_id"
        " left join accounts b on b.id = s.account_id where s.hash = ?",
        (hash,),
    )
    return Session(users.read(row[:-5]), *row[-5:]) if row else None


def touch(tx: Tx, hash: bytes, now: Instant) -> None:
    """Note that a session is in use."""
    tx.run("update sessions set used_at = ? where hash = ?", (now, hash))


def look_at(tx: Tx, hash: bytes, account_id: int) -> None:
    """Have an operator look at another account."""
    tx.run("update sessions set account_id = ? where hash = ?", (account_id, hash))


def end(tx: Tx, hash: bytes) -> None:
    """End a session."""
    tx.run("delete from sessions where hash = ?", (hash,))


def end_all_of(tx: Tx, user_id: int) -> None:
    """End every session of a user."""
    tx.run("delete from sessions where user_id = ?", (user_id,))


def forget(tx: Tx, now: Instant, most: int) -> int:
    """Drop some sessions that are over; return how many."""
    return tx.run(
        "delete from sessions where hash in"
        " (select hash from sessions where expires_at <= ? order by expires_at limit ?)",
        (now, most),
    )
