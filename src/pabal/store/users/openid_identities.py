"""Who users are at an OpenID Connect provider, by its issuer and subject, and its answers that were used."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.people.user import User
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion
from pabal.store.users import users


class Identity(NamedTuple):
    """A person at a provider."""

    issuer: str
    subject: str


class LinkedIdentity(NamedTuple):
    """The identity of a user, and since when."""

    identity: Identity
    linked_at: Instant


def add(tx: Tx, identity: Identity, user_id: int, now: Instant) -> bool:
    """Link a user to an identity; return False if somebody has it, or the user has another one of this issuer."""
    return tx.changes(
        "insert into openid_identities (issuer, subject, user_id, linked_at) values (?, ?, ?, ?)"
        " on conflict do nothing",
        (*identity, user_id, now),
    )


def find_user(tx: Tx, identity: Identity) -> User | None:
    """Return the user of an identity, whatever the user's state."""
    row = tx.fetch_one(
        f"select {users.COLUMNS} from openid_identities o join users u on u.id = o.user_id"
        " left join accounts a on a.id = u.account_id where o.issuer = ? and o.subject = ?",
        tuple(identity),
    )
    return users.from_row(row) if row else None


def get(tx: Tx, user_id: int, issuer: str) -> LinkedIdentity | None:
    """Return the identity of a user at a provider."""
    row = tx.fetch_one(
        "select issuer, subject, linked_at from openid_identities where user_id = ? and issuer = ?",
        (user_id, issuer),
    )
    return LinkedIdentity(Identity(row[0], row[1]), row[2]) if row else None


def list_linked(tx: Tx, issuer: str, user_ids: Iterable[int]) -> set[int]:
    """Return those users who have an identity at a provider."""
    rows = tx.execute_list("select user_id, issuer from openid_identities where user_id in ({list})", user_ids)
    return {row[0] for row in rows if row[1] == issuer}


def delete_all_by_user(tx: Tx, user_id: int) -> bool:
    """Delete the identities of a user; return whether there were any."""
    return tx.changes("delete from openid_identities where user_id = ?", (user_id,))


def use_answer(tx: Tx, hash: bytes, expires_at: Instant) -> bool:
    """Use an answer of a provider; return False if it was used before."""
    return tx.changes(
        "insert into used_openid_answers (hash, expires_at) values (?, ?) on conflict (hash) do nothing",
        (hash, expires_at),
    )


delete_expired_answers = deletion("used_openid_answers", "hash", "expires_at", "<=")
"""Deletes some answers that could not be used any more in any case."""
