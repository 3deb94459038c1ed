"""People who may sign in to the console, and who has invited them or changed what they may do."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.people.user import ROLE_BY_CODE, Role, User
from pabal.store.engine.base import Tx
from pabal.store.rows import Select, deletion, reader, upsert

COLUMNS = "u.id, u.account_id, a.name, u.name, u.role, u.created_at, u.disabled_at, a.disabled_at, u.full_name"
_FROM = "from users u left join accounts a on a.id = u.account_id"
from_row = reader(User, role=ROLE_BY_CODE.__getitem__, full_name=lambda name: name or "")
"""Returns the user of a row of COLUMNS."""
_USERS = Select(f"select {COLUMNS} {_FROM}", from_row)


class Credentials(NamedTuple):
    """A user, and the hash of the password; None: there is no password."""

    user: User
    hash: str | None


def add(tx: Tx, account_id: int | None, name: str, role: Role, hash: str | None, now: Instant) -> int | None:
    """Add a user and return the id, None where the name is taken; without a hash, the user has no password."""
    return tx.fetch_value(
        "insert into users (account_id, name, role, hash, created_at) values (?, ?, ?, ?, ?)"
        " on conflict (name) do nothing returning id",
        (account_id, name, role.code, hash, now),
    )


def get_by_name(tx: Tx, name: str) -> Credentials | None:
    """Return the user of this name, whatever the state."""
    row = tx.fetch_one(f"select {COLUMNS}, u.hash {_FROM} where u.name = ?", (name,))
    return Credentials(from_row(row[:-1]), row[-1]) if row else None


def get_name(tx: Tx, user_id: int) -> str:
    """Return what people call a user; empty if there is none."""
    return str(tx.fetch_value("select coalesce(full_name, name) from users where id = ?", (user_id,)) or "")


def list_all(tx: Tx) -> list[User]:
    """Return every user, oldest first."""
    return _USERS.fetch_all(tx, "order by u.id")


def list_by_account(tx: Tx, account_id: int) -> list[User]:
    """Return every user of an account, oldest first."""
    return _USERS.fetch_all(tx, "where u.account_id = ? order by u.id", (account_id,))


def get_names(tx: Tx, user_ids: Iterable[int]) -> dict[int, str]:
    """Return what people call those users who still exist, by id."""
    rows = tx.execute_list("select id, coalesce(full_name, name) from users where id in ({list})", user_ids)
    return dict(rows)


def count_active_owners(tx: Tx, account_id: int) -> int:
    """Return how many owners of an account can sign in."""
    return tx.fetch_number(
        "select count(*) from users where account_id = ? and role = ? and disabled_at is null",
        (account_id, Role.OWNER.code),
    )


def set_role(tx: Tx, user_id: int, role: Role) -> None:
    """Change what a user may do."""
    tx.execute("update users set role = ? where id = ?", (role.code, user_id))


def set_full_name(tx: Tx, user_id: int, full_name: str) -> None:
    """Change what people call a user; empty: by the name that the user signs in with."""
    tx.execute("update users set full_name = ? where id = ?", (full_name or None, user_id))


_OWNED_TABLES = (
    "sessions",
    "pending_sign_ins",
    "trusted_devices",
    "drafts",
    "recovery_codes",
    "second_factors",
    "mails",
    "notice_settings",
    "openid_identities",
)
"""Tables whose rows belong to a user each."""


def delete(tx: Tx, user_id: int) -> None:
    """Delete a user, and everything that is only theirs."""
    tx.execute("delete from invites where inviter_id = ?", (user_id,))
    for table in _OWNED_TABLES:
        tx.execute(f"delete from {table} where user_id = ?", (user_id,))
    tx.execute("delete from users where id = ?", (user_id,))


def is_empty(tx: Tx) -> bool:
    """Return whether there are no users yet."""
    return tx.fetch_one("select 1 from users limit 1") is None


def set_hash(tx: Tx, user_id: int, hash: str) -> None:
    """Change a user's password hash."""
    tx.execute("update users set hash = ? where id = ?", (hash, user_id))


def get_test_number(tx: Tx, user_id: int) -> str:
    """Return the phone that receives a user's test sends; empty if unknown."""
    return str(tx.fetch_value("select test_number from users where id = ?", (user_id,)) or "")


def set_test_number(tx: Tx, user_id: int, number: str) -> None:
    """Save the phone that receives a user's test sends."""
    tx.execute("update users set test_number = ? where id = ?", (number, user_id))


def set_disabled(tx: Tx, user_id: int, at: Instant | None) -> None:
    """Disable a user, or enable with None."""
    tx.execute("update users set disabled_at = ? where id = ?", (at, user_id))


def add_grant(tx: Tx, granter_id: int | None, user_id: int, now: Instant) -> None:
    """Record that somebody could act as a user from now on; None: the command line."""
    if granter_id is not None and granter_id != user_id:
        tx.execute(upsert("user_grants", "granter_id, user_id", "granted_at"), (granter_id, user_id, now))


def list_dependents(tx: Tx, granter_ids: Iterable[int], since: Instant) -> set[int]:
    """Return these users, and all whom they have invited or reset since, directly or through others."""
    found = set(granter_ids)
    new = found
    while new:
        rows = tx.execute_list(
            "select user_id from user_grants where granted_at > ? and granter_id in ({list})", sorted(new), (since,)
        )
        new = {int(row[0]) for row in rows} - found
        found = found | new
    return found


delete_old_grants = deletion("user_grants", "granter_id, user_id", "granted_at")
"""Deletes some that count no more."""
