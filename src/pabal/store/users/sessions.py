"""Console sessions, by the hash of the browser's token."""

from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.people.user import User
from pabal.store.campaigns.campaign_list import WAITS_FOR_USER
from pabal.store.engine.base import Tx
from pabal.store.events import webhooks
from pabal.store.rows import deletion, select
from pabal.store.users import users


class ConsoleSession(NamedTuple):
    """Who is signed in, and which account they see."""

    user: User
    account_id: int | None
    account: str | None
    csrf: str
    used_at: Instant
    expires_at: Instant
    stopped_webhooks: int = 0
    """How many webhooks of the account are paused."""
    stopped_webhook: int | None = None
    """The first of them."""
    to_approve: int = 0
    """How many sends of the account wait for this user, or another one, to approve them."""


class ListedSession(NamedTuple):
    """A session as its user sees it."""

    hash: bytes
    browser: str
    created_at: Instant
    used_at: Instant
    expires_at: Instant


_SESSIONS = select(ListedSession, "sessions", hash=bytes)


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
    paused, gone = (
        f"from webhooks w where {condition} and w.account_id = s.account_id"
        for condition in (webhooks.IS_PAUSED, webhooks.IS_GONE)
    )
    row = tx.fetch_one(
        f"select {users.COLUMNS}, s.account_id, b.name, s.csrf, s.used_at, s.expires_at,"
        f" (select count(*) {paused}) + (select count(*) {gone}),"
        f" coalesce((select min(w.id) {paused}), (select min(w.id) {gone})),"
        f" (select count(*) from campaigns c where c.account_id = s.account_id and {WAITS_FOR_USER})"
        " from sessions s"
        " join users u on u.id = s.user_id left join accounts a on a.id = u.account_id"
        " left join accounts b on b.id = s.account_id where s.hash = ?",
        (hash,),
    )
    return ConsoleSession(users.from_row(row[:-8]), *row[-8:]) if row else None


def list_by_user(tx: Tx, user_id: int) -> list[ListedSession]:
    """Return every session of a user, whatever its age, the last used first."""
    return _SESSIONS.fetch_all(tx, "where user_id = ? order by used_at desc, hash", (user_id,))


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
    return tx.changes("delete from sessions where hash = ? and user_id = ?", (hash, user_id))


def delete_others(tx: Tx, user_id: int, hash: bytes) -> int:
    """End every session of a user except one; return how many."""
    return tx.execute("delete from sessions where user_id = ? and hash <> ?", (user_id, hash))


def delete_all_by_user(tx: Tx, user_id: int) -> None:
    """End every session of a user, begun or waiting for a code, and stop trusting every device."""
    for table in ("sessions", "pending_sign_ins", "trusted_devices"):
        tx.execute(f"delete from {table} where user_id = ?", (user_id,))


delete_expired = deletion("sessions", "hash", "expires_at", "<=")
"""Deletes some expired sessions."""


class PendingSignIn(NamedTuple):
    """Who has entered the right password, how many codes were wrong since, and how long it may take."""

    user: User
    failures: int
    expires_at: Instant


def add_pending(tx: Tx, hash: bytes, user_id: int, expires_at: Instant) -> None:
    """Add a sign-in that waits for a code."""
    tx.execute(
        "insert into pending_sign_ins (hash, user_id, failures, expires_at) values (?, ?, 0, ?)",
        (hash, user_id, expires_at),
    )


def get_pending(tx: Tx, hash: bytes) -> PendingSignIn | None:
    """Return the sign-in whose token has this hash, whatever its age."""
    row = tx.fetch_one(
        f"select {users.COLUMNS}, p.failures, p.expires_at from pending_sign_ins p"
        " join users u on u.id = p.user_id left join accounts a on a.id = u.account_id where p.hash = ?",
        (hash,),
    )
    return PendingSignIn(users.from_row(row[:-2]), *row[-2:]) if row else None


def count_pending_failure(tx: Tx, hash: bytes) -> None:
    """Count a wrong code."""
    tx.execute("update pending_sign_ins set failures = failures + 1 where hash = ?", (hash,))


def delete_pending(tx: Tx, hash: bytes) -> bool:
    """Delete a sign-in; return whether it was there."""
    return tx.changes("delete from pending_sign_ins where hash = ?", (hash,))


def delete_pending_by_user(tx: Tx, user_id: int) -> None:
    """Delete every sign-in of a user that waits for a code."""
    tx.execute("delete from pending_sign_ins where user_id = ?", (user_id,))


delete_expired_pending = deletion("pending_sign_ins", "hash", "expires_at", "<=")
"""Deletes some sign-ins that have waited too long."""


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


def delete_device(tx: Tx, hash: bytes, user_id: int) -> None:
    """Stop trusting a device for a user."""
    tx.execute("delete from trusted_devices where hash = ? and user_id = ?", (hash, user_id))


def delete_other_devices(tx: Tx, user_id: int, hash: bytes) -> None:
    """Stop trusting every device of a user except one."""
    tx.execute("delete from trusted_devices where user_id = ? and hash <> ?", (user_id, hash))


delete_expired_devices = deletion("trusted_devices", "hash, user_id", "expires_at", "<=")
"""Deletes some expired devices."""
