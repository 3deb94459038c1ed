"""Invitations to accounts, by the hash of the token in their link."""

from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.people.user import ROLE_BY_CODE, Role, User
from pabal.store.engine.base import Row, Tx
from pabal.store.rows import Select, deletion
from pabal.store.users import users


class Invite(NamedTuple):
    """An invitation to become a user of an account, and who has given it."""

    id: int
    account_id: int
    account: str
    account_disabled_at: Instant | None
    role: Role
    created_at: Instant
    expires_at: Instant
    inviter: User

    def is_usable(self, now: Instant) -> bool:
        """Return whether it can be accepted: its inviter must still be allowed to give it."""
        is_valid = now < self.expires_at and self.account_disabled_at is None
        role = self.inviter.role
        return is_valid and self.inviter.is_active and role.manages_team and role.may_grant(self.role)


def _from_row(row: Row) -> Invite:
    return Invite._make((*row[:4], ROLE_BY_CODE[row[4]], *row[5:7], users.from_row(row[7:])))


_INVITES = Select(
    f"select i.id, i.account_id, b.name, b.disabled_at, i.role, i.created_at, i.expires_at, {users.COLUMNS}"
    " from invites i join accounts b on b.id = i.account_id join users u on u.id = i.inviter_id"
    " left join accounts a on a.id = u.account_id",
    _from_row,
)


def add(
    tx: Tx, account_id: int, hash: bytes, role: Role, inviter_id: int, now: Instant, expires_at: Instant
) -> int:
    """Add an invitation and return its id."""
    return tx.fetch_number(
        "insert into invites (account_id, hash, role, inviter_id, created_at, expires_at)"
        " values (?, ?, ?, ?, ?, ?) returning id",
        (account_id, hash, role.code, inviter_id, now, expires_at),
    )


def get_by_hash(tx: Tx, hash: bytes) -> Invite | None:
    """Return the invitation whose token has this hash, whatever its age."""
    return _INVITES.fetch_one(tx, "where i.hash = ?", (hash,))


def list_by_account(tx: Tx, account_id: int) -> list[Invite]:
    """Return the invitations of an account, oldest first."""
    return _INVITES.fetch_all(tx, "where i.account_id = ? order by i.id", (account_id,))


def delete(tx: Tx, account_id: int, invite_id: int) -> bool:
    """Delete an invitation of an account; return whether it was there."""
    return tx.changes("delete from invites where id = ? and account_id = ?", (invite_id, account_id))


delete_expired = deletion("invites", "id", "expires_at", "<=")
"""Deletes some expired invitations."""
