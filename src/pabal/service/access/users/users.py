"""Creates, disables and unlocks users of the console; changes their names, passwords and sessions."""

from pabal.domain.base.codes import Code, Refused, Text, require
from pabal.domain.base.dates import Instant
from pabal.domain.people import user
from pabal.domain.people.user import Role, User
from pabal.service.access.users import sign_in_delays
from pabal.service.access.users.sign_in import IDLE_TIMEOUT_MS
from pabal.service.access.users.sign_in_delays import hash_token
from pabal.service.access.users.two_factor import delete_factor
from pabal.service.context import Context
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import COMMAND_LINE, Actor, AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.users import openid_identities, sessions, users
from pabal.store.users.sessions import ListedSession

NAME_TAKEN = Text(
    "같은 이름의 사용자가 이미 있습니다. 비밀번호를 보지 못했으면 새로 발급하세요.",
    "A user with this name already exists. If you did not see the password, issue a new one.",
)

NAME_TAKEN_BY_ANOTHER = Text(
    "이미 쓰고 있는 이름입니다. 다른 이름을 입력하세요.", "This name is taken. Choose another one."
)


def create(
    tx: Tx,
    account: str | None,
    spelling: str,
    role: Role,
    hash: str,
    now: Instant,
    actor: Actor = COMMAND_LINE,
) -> str:
    """Create a user of an account, which is created if new, or an operator without one; return the stored name.

    Raises Refused: INVALID_PARAMETER, DUPLICATE.
    """
    name = user.parse_name(spelling)
    if (account is None) is not (role is Role.OPERATOR):
        detail = Text(
            "운영자에게는 계정을 지정할 수 없고, 다른 사용자에게는 꼭 지정해야 합니다.",
            "Operators have no account; every other user needs one.",
        )
        raise Refused(Code.INVALID_PARAMETER, "account", detail)
    account_id = None if account is None else accounts.ensure_account(tx, account, now)
    created = require(users.add(tx, account_id, name, role, hash, now), Code.DUPLICATE, "name", NAME_TAKEN)
    users.add_grant(tx, actor.user_id, created, now)
    audit_log.add(tx, AuditEntry(now, *actor, account_id, "user.create", name))
    return name


def change_password(
    tx: Tx, spelling: str, hash: str, now: Instant, actor: Actor = COMMAND_LINE, account_id: int | None = None
) -> User:
    """Change a user's password, end the user's sessions, and lift the delays of failed sign-ins.

    With `account_id`, only users of that account are found. Raises Refused(INVALID_PARAMETER) for an unknown user.
    """
    found = find(tx, spelling, account_id)
    users.set_hash(tx, found.id, hash)
    users.add_grant(tx, actor.user_id, found.id, now)
    _end_sessions(tx, found)
    audit_log.add(tx, AuditEntry(now, *actor, found.account_id, "user.password", found.name))
    _lift(tx, found, now, actor)
    return found


def set_disabled(
    tx: Tx,
    spelling: str,
    is_disabled: bool,
    now: Instant,
    actor: Actor = COMMAND_LINE,
    account_id: int | None = None,
) -> User:
    """Disable or enable a user, and end the user's sessions.

    With `account_id`, only users of that account are found. Raises Refused(INVALID_PARAMETER) for an unknown user.
    """
    found = find(tx, spelling, account_id)
    users.set_disabled(tx, found.id, now if is_disabled else None)
    _end_sessions(tx, found)
    what = "user.disable" if is_disabled else "user.enable"
    audit_log.add(tx, AuditEntry(now, *actor, found.account_id, what, found.name))
    return found


def unlock(tx: Tx, spelling: str, now: Instant, actor: Actor = COMMAND_LINE) -> bool:
    """Lift the delays of a user's failed sign-ins; return whether there were any failures.

    Raises Refused(INVALID_PARAMETER) for an unknown user.
    """
    return _lift(tx, find(tx, spelling, None), now, actor)


def reset_two_factor(tx: Tx, spelling: str, now: Instant, actor: Actor = COMMAND_LINE) -> bool:
    """Take away a user's second factor; return whether there was one.

    Raises Refused(INVALID_PARAMETER) for an unknown user.
    """
    found = find(tx, spelling, None)
    return delete_factor(tx, found.id, AuditEntry(now, *actor, found.account_id, "two_factor.reset", found.name))


def unlink(tx: Tx, spelling: str, now: Instant, actor: Actor = COMMAND_LINE) -> bool:
    """Unlink a user from the OpenID Connect provider, and end the user's sessions; return whether there was a link.

    Raises Refused(INVALID_PARAMETER) for an unknown user.
    """
    found = find(tx, spelling, None)
    if not openid_identities.delete_all_by_user(tx, found.id):
        return False
    _end_sessions(tx, found)
    audit_log.add(tx, AuditEntry(now, *actor, found.account_id, "openid.unlink", found.name))
    return True


def _lift(tx: Tx, found: User, now: Instant, actor: Actor) -> bool:
    is_lifted = sign_in_delays.lift(tx, found.name)
    if is_lifted:
        audit_log.add(tx, AuditEntry(now, *actor, found.account_id, "user.unlock", found.name))
    return is_lifted


def _end_sessions(tx: Tx, found: User) -> None:
    sessions.delete_all_by_user(tx, found.id)


def find(tx: Tx, spelling: str, account_id: int | None) -> User:
    """Return a user by name, of one account if it is given.

    Raises Refused(INVALID_PARAMETER) for an unknown user.
    """
    found = users.get_by_name(tx, user.parse_name(spelling))
    if found is None or (account_id is not None and found.user.account_id != account_id):
        detail = Text("없는 사용자입니다.", "The user does not exist; see `pabal user list`.")
        raise Refused(Code.INVALID_PARAMETER, "name", detail)
    return found.user


async def list_sessions(context: Context, who: User) -> list[ListedSession]:
    """Return the sessions of a user that can be used now, the last used first."""
    now = context.world.now()
    found = await context.store.read(sessions.list_by_user, who.id)
    return [each for each in found if now < each.expires_at and now < each.used_at + IDLE_TIMEOUT_MS]


def end_session(tx: Tx, user_id: int, session_hash: bytes, audit_entry: AuditEntry) -> None:
    """End a session of a user; one that has ended already is no error."""
    if sessions.delete_of_user(tx, user_id, session_hash):
        audit_log.add(tx, audit_entry)


def change_full_name(tx: Tx, user_id: int, full_name: str, audit_entry: AuditEntry) -> None:
    """Change what people call a user."""
    users.set_full_name(tx, user_id, full_name)
    audit_log.add(tx, audit_entry)


def is_of_token(session: ListedSession, token: str) -> bool:
    return session.hash == hash_token(token)


def end_other_sessions(tx: Tx, user_id: int, token: str, audit_entry: AuditEntry) -> None:
    """End every session of a user except that of this token."""
    sessions.delete_pending_by_user(tx, user_id)
    if sessions.delete_others(tx, user_id, hash_token(token)):
        audit_log.add(tx, audit_entry)


def change_own_password(
    tx: Tx, who: User, hash: str, token: str, device_token: str | None, audit_entry: AuditEntry
) -> None:
    """Change a user's own password; sessions and trusted devices end, except those of this browser.

    Raises Refused(NOT_FOUND) for a user who was removed meanwhile.
    """
    found = users.get_by_name(tx, who.name)
    if found is None or found.user.id != who.id:
        raise Refused(Code.NOT_FOUND)
    users.set_hash(tx, who.id, hash)
    sessions.delete_others(tx, who.id, hash_token(token))
    sessions.delete_pending_by_user(tx, who.id)
    sessions.delete_other_devices(tx, who.id, hash_token(device_token) if device_token else b"")
    audit_log.add(tx, audit_entry)
