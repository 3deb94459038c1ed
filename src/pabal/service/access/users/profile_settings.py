"""What users change about themselves: the password, and the browsers that they are signed in with."""

from pabal.domain.base.codes import Code, Refused
from pabal.domain.people.user import User
from pabal.service.access.sign_in.sign_in import IDLE_TIMEOUT_MS
from pabal.service.access.sign_in.throttle import hash_token
from pabal.service.context import Context
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.users import sessions, users
from pabal.store.users.sessions import ListedSession as ListedSession  # for pages, which do not import the store


async def list_sessions(context: Context, who: User) -> list[ListedSession]:
    """Return the sessions of a user that can be used now, the last used first."""
    now = context.world.now()
    found = await context.store.read(sessions.list_by_user, who.id)
    return [each for each in found if now < each.expires_at and now < each.used_at + IDLE_TIMEOUT_MS]


async def end_session(context: Context, who: User, session_hash: bytes, audit_entry: AuditEntry) -> None:
    """End a session of a user; one that has ended already is no error."""
    await context.store.write(_end_session, who.id, session_hash, audit_entry)


async def end_other_sessions(context: Context, who: User, token: str, audit_entry: AuditEntry) -> None:
    """End every session of a user except that of this token."""
    await context.store.write(_end_others, who.id, hash_token(token), audit_entry)


async def change_full_name(context: Context, who: User, full_name: str, audit_entry: AuditEntry) -> None:
    """Change what people call a user."""
    await context.store.write(_change_full_name, who.id, full_name, audit_entry)


async def change_password(
    context: Context, who: User, hash: str, token: str, device_token: str | None, audit_entry: AuditEntry
) -> None:
    """Change a user's own password; sessions and trusted devices end, except those of this browser.

    Raises Refused(NOT_FOUND) for a user who was removed meanwhile.
    """
    device = hash_token(device_token) if device_token else b""
    is_changed = await context.store.write(_change_password, who, hash, hash_token(token), device, audit_entry)
    if not is_changed:
        raise Refused(Code.NOT_FOUND)


def is_of_token(session: ListedSession, token: str) -> bool:
    return session.hash == hash_token(token)


def _end_session(tx: Tx, user_id: int, session_hash: bytes, audit_entry: AuditEntry) -> None:
    if sessions.delete_of_user(tx, user_id, session_hash):
        audit_log.add(tx, audit_entry)


def _end_others(tx: Tx, user_id: int, session_hash: bytes, audit_entry: AuditEntry) -> None:
    sessions.delete_pending_by_user(tx, user_id)
    if sessions.delete_others(tx, user_id, session_hash):
        audit_log.add(tx, audit_entry)


def _change_full_name(tx: Tx, user_id: int, full_name: str, audit_entry: AuditEntry) -> None:
    users.set_full_name(tx, user_id, full_name)
    audit_log.add(tx, audit_entry)


def _change_password(
    tx: Tx, who: User, hash: str, session_hash: bytes, device: bytes, audit_entry: AuditEntry
) -> bool:
    found = users.get_by_name(tx, who.name)
    if found is None or found.user.id != who.id:
        return False
    users.set_hash(tx, who.id, hash)
    sessions.delete_others(tx, who.id, session_hash)
    sessions.delete_pending_by_user(tx, who.id)
    sessions.delete_other_devices(tx, who.id, device)
    audit_log.add(tx, audit_entry)
    return True
