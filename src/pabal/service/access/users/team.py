"""The team of an account: invitations, roles and removal; its last owner stays."""

from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import HOUR, Instant
from pabal.domain.people import user
from pabal.domain.people.user import Role, User
from pabal.service.access.users import sign_in_delays, users
from pabal.service.access.users.sign_in import new_secret
from pabal.service.access.users.sign_in_delays import hash_token
from pabal.service.access.users.two_factor import delete_factor
from pabal.service.context import Context
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import Actor, AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.users import invites, openid_identities, second_factors
from pabal.store.users import users as user_store
from pabal.store.users.invites import Invite

INVITE_LIFETIME_MS = 72 * HOUR
MAX_OPEN_INVITES = 50
"""Invitations of an account that are neither used nor expired."""
_TOO_MANY = Text(
    f"사용하지 않은 초대가 {MAX_OPEN_INVITES}개 있습니다. 필요 없는 초대를 취소한 뒤 다시 초대하세요.",
    f"There are {MAX_OPEN_INVITES} invitations that nobody has used. Withdraw some of them first.",
)
_LAST_OWNER = Text(
    "계정에 관리자가 한 명은 있어야 합니다. 다른 사용자를 먼저 관리자로 바꾸세요.",
    "An account needs an owner. Make another user an owner first.",
)
_HIGHER_ROLE = Text("자신보다 높은 역할은 줄 수 없습니다.", "You cannot give a role that is higher than your own.")
_OWN_PAGE = Text(
    "자신의 비밀번호와 2단계 인증은 내 정보에서 현재 비밀번호를 입력하고 바꾸세요.",
    "Change your own password and two-factor sign-in on your own page, with your current password.",
)
INVITE_GONE = Text(
    "초대가 만료되었거나 이미 사용되었습니다. 초대한 사람에게 새 초대를 요청하세요.",
    "The invitation has expired or was used already. Ask for a new one.",
)


class Team(NamedTuple):
    """The users of an account, and its invitations that can still be accepted."""

    users: list[User]
    invites: list[Invite]
    two_factor_ids: set[int]
    """The users whose sign-in needs a code of an app."""
    linked_ids: set[int]
    """The users who can sign in through the OpenID Connect provider."""
    delayed_names: set[str]
    """The users who may have to wait because of failed sign-ins."""


async def get_team(context: Context, account_id: int) -> Team:
    issuer = context.openid.registration.issuer if context.openid else ""
    return await context.store.read(_read_team, account_id, issuer, context.world.now())


async def invite(context: Context, account_id: int, role: Role, audit_entry: AuditEntry) -> str:
    """Create an invitation, good for one user within 72 hours, and return its token, which is not stored.

    Raises Refused: FORBIDDEN for a higher role than the inviter's, LIMIT_EXCEEDED.
    """
    token = new_secret(context.world)
    await context.store.write(_invite, account_id, hash_token(token), role, audit_entry)
    return token


def withdraw(tx: Tx, account_id: int, invite_id: int, audit_entry: AuditEntry) -> None:
    """Delete an invitation; one that is gone already is no error."""
    if invites.delete(tx, account_id, invite_id):
        audit_log.add(tx, audit_entry)


async def find_invite(context: Context, token: str) -> Invite:
    """Return the invitation of a token.

    Raises Refused(INVALID_STATE) where it is unknown, used, withdrawn or expired.
    """
    found = await context.store.read(invites.get_by_hash, hash_token(token))
    return _check_usable(found, context.world.now())


async def accept_invite(context: Context, token: str, name: str, password_hash: str, full_name: str = "") -> str:
    """Create the user that an invitation is for; return the name as it is stored. It works once.

    Raises Refused: INVALID_STATE, INVALID_PARAMETER, DUPLICATE where the name is taken.
    """
    now = context.world.now()
    created = await context.store.write(accept, hash_token(token), name, password_hash, now, full_name)
    return created.name


async def check_new_name(context: Context, spelling: str) -> str:
    """Return the name of a new user as it would be stored, if nobody has it.

    Raises Refused: INVALID_PARAMETER, DUPLICATE.
    """
    name = user.parse_name(spelling)
    if await context.store.read(user_store.get_by_name, name):
        raise Refused(Code.DUPLICATE, "name", users.NAME_TAKEN_BY_ANOTHER)
    return name


def change_role(tx: Tx, account_id: int, name: str, role: Role, audit_entry: AuditEntry) -> None:
    """Give a user of an account another role, which counts from the next request on.

    Raises Refused: INVALID_PARAMETER for an unknown user, FORBIDDEN, INVALID_STATE for the last owner.
    """
    accounts.lock(tx, account_id)
    found = users.find(tx, name, account_id)
    actor = _check_may_grant(tx, account_id, audit_entry, found.role, role)
    if role is not Role.OWNER:
        _check_other_owner(tx, found)
    if role is not found.role:
        user_store.set_role(tx, found.id, role)
        user_store.add_grant(tx, actor.id, found.id, audit_entry.created_at)
        audit_log.add(tx, audit_entry._replace(target=f"{found.name} {role.code}"))


def remove(tx: Tx, account_id: int, name: str, audit_entry: AuditEntry) -> None:
    """Delete a user of an account with sessions, drafts and invitations.

    Raises Refused: INVALID_PARAMETER for an unknown user, FORBIDDEN, INVALID_STATE for the last owner.
    """
    accounts.lock(tx, account_id)
    found = users.find(tx, name, account_id)
    _check_may_grant(tx, account_id, audit_entry, found.role)
    _check_other_owner(tx, found)
    delete_user(tx, found)
    audit_log.add(tx, audit_entry._replace(target=found.name))


def reset_two_factor(tx: Tx, account_id: int, name: str, audit_entry: AuditEntry) -> None:
    """Take away the second factor of a user who has lost the app and the recovery codes.

    Raises Refused: INVALID_PARAMETER for an unknown user, FORBIDDEN, also for oneself.
    """
    found = users.find(tx, name, account_id)
    actor = _check_may_grant(tx, account_id, audit_entry, found.role)
    _check_colleague(actor, found)
    if delete_factor(tx, found.id, audit_entry._replace(target=found.name)):
        user_store.add_grant(tx, actor.id, found.id, audit_entry.created_at)


def reset_password(tx: Tx, account_id: int, name: str, password_hash: str, audit_entry: AuditEntry) -> str:
    """Give a user of an account a new password and sign the user out; return the name as it is stored.

    Raises Refused: INVALID_PARAMETER for an unknown user, FORBIDDEN, also for oneself.
    """
    found = users.find(tx, name, account_id)
    actor = _check_may_grant(tx, account_id, audit_entry, found.role)
    _check_colleague(actor, found)
    who, now = Actor(actor.id, actor.name), audit_entry.created_at
    return users.change_password(tx, name, password_hash, now, who, account_id).name


def unlock(tx: Tx, account_id: int, name: str, audit_entry: AuditEntry) -> None:
    """End the delay of a user's sign-ins.

    Raises Refused: INVALID_PARAMETER for an unknown user, FORBIDDEN.
    """
    found = users.find(tx, name, account_id)
    actor = _check_may_grant(tx, account_id, audit_entry, found.role)
    users.unlock(tx, found.name, audit_entry.created_at, Actor(actor.id, actor.name))


def unlink(tx: Tx, account_id: int, name: str, audit_entry: AuditEntry) -> None:
    """Have a user not sign in through the OpenID Connect provider any more, and end the user's sessions.

    Raises Refused: INVALID_PARAMETER for an unknown user, FORBIDDEN.
    """
    found = users.find(tx, name, account_id)
    actor = _check_may_grant(tx, account_id, audit_entry, found.role)
    users.unlink(tx, found.name, audit_entry.created_at, Actor(actor.id, actor.name))


def delete_user(tx: Tx, found: User) -> None:
    """Delete a user and everything that is only theirs."""
    sign_in_delays.lift(tx, found.name)
    user_store.delete(tx, found.id)


def _read_team(tx: Tx, account_id: int, issuer: str, now: Instant) -> Team:
    members = user_store.list_by_account(tx, account_id)
    ids = [each.id for each in members]
    return Team(
        members,
        _open_invites(tx, account_id, now),
        second_factors.list_enabled(tx, ids),
        openid_identities.list_linked(tx, issuer, ids) if issuer else set(),
        sign_in_delays.list_delayed(tx, [each.name for each in members], now),
    )


def _open_invites(tx: Tx, account_id: int, now: Instant) -> list[Invite]:
    return [each for each in invites.list_by_account(tx, account_id) if each.is_usable(now)]


def _invite(tx: Tx, account_id: int, hash: bytes, role: Role, audit_entry: AuditEntry) -> None:
    now = audit_entry.created_at
    accounts.lock(tx, account_id)
    inviter = _check_may_grant(tx, account_id, audit_entry, role)
    if len(_open_invites(tx, account_id, now)) >= MAX_OPEN_INVITES:
        raise Refused(Code.LIMIT_EXCEEDED, "role", _TOO_MANY)
    invites.add(tx, account_id, hash, role, inviter.id, now, now + INVITE_LIFETIME_MS)
    audit_log.add(tx, audit_entry._replace(target=role.code))


def accept(
    tx: Tx, hash: bytes, spelling: str, password_hash: str | None, now: Instant, full_name: str = ""
) -> User:
    """Create the user that the invitation with this hash is for, and return the user; without a password if None.

    Raises Refused: INVALID_STATE, INVALID_PARAMETER, DUPLICATE where the name is taken.
    """
    found = _check_usable(invites.get_by_hash(tx, hash), now)
    if not invites.delete(tx, found.account_id, found.id):
        raise Refused(Code.INVALID_STATE, "", INVITE_GONE)
    name = user.parse_name(spelling)
    created = user_store.add(tx, found.account_id, name, found.role, password_hash, now)
    if created is None:
        raise Refused(Code.DUPLICATE, "name", users.NAME_TAKEN_BY_ANOTHER)
    if full_name:
        user_store.set_full_name(tx, created, full_name)
    user_store.add_grant(tx, found.inviter.id, created, now)
    audit_log.add(tx, AuditEntry(now, created, name, found.account_id, "user.join", found.inviter.name))
    return users.find(tx, name, found.account_id)


def _check_usable(found: Invite | None, now: Instant) -> Invite:
    if found is None or not found.is_usable(now):
        raise Refused(Code.INVALID_STATE, "", INVITE_GONE)
    return found


def _check_may_grant(tx: Tx, account_id: int, audit_entry: AuditEntry, *roles: Role) -> User:
    """Return the user who acts, with the role of this moment: it may have changed since the page was opened.

    Raises Refused(FORBIDDEN).
    """
    found = user_store.get_by_name(tx, audit_entry.actor)
    if found is None or found.user.id != audit_entry.user_id or not found.user.is_active:
        raise Refused(Code.FORBIDDEN)
    if found.user.account_id not in (account_id, None) or not found.user.role.manages_team:
        raise Refused(Code.FORBIDDEN)
    if not all(found.user.role.may_grant(role) for role in roles):
        raise Refused(Code.FORBIDDEN, "role", _HIGHER_ROLE)
    return found.user


def _check_colleague(actor: User, found: User) -> None:
    """Raise Refused(FORBIDDEN) for oneself: on the own page that needs the password, which a thief may not know."""
    if actor.id == found.id:
        raise Refused(Code.FORBIDDEN, "user", _OWN_PAGE)


def _check_other_owner(tx: Tx, found: User) -> None:
    """Raise Refused(INVALID_STATE) for the last owner of an account who can sign in."""
    if found.role is not Role.OWNER or found.disabled_at is not None or found.account_id is None:
        return
    if user_store.count_active_owners(tx, found.account_id) <= 1:
        raise Refused(Code.INVALID_STATE, "role", _LAST_OWNER)
