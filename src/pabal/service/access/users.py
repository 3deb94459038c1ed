"""Makes users of the console, changes their passwords, disables them."""

from pabal.domain import user
from pabal.domain.codes import Code, Refused, Text
from pabal.domain.dates import Instant
from pabal.domain.user import Role, User
from pabal.store import accounts, audit_log, sessions, users
from pabal.store.audit_log import COMMAND_LINE, Actor, AuditEntry
from pabal.store.engine.base import Tx

NAME_TAKEN = Text(
    "이미 있는 사용자입니다. 비밀번호를 보지 못했으면 새로 발급하세요.",
    "There is such a user already. If you did not see the password, give the user another.",
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
    """Make a user of an account, made if new, or an operator, who has none; return the name as it is kept.

    Raises Refused: INVALID_PARAMETER, DUPLICATE.
    """
    name = user.parse_name(spelling)
    if (account is None) is not (role is Role.OPERATOR):
        detail = Text("운영자만 계정이 없습니다.", "Operators have no account, all others have one.")
        raise Refused(Code.INVALID_PARAMETER, "account", detail)
    account_id = None if account is None else accounts.ensure_account(tx, account, now)
    if users.add(tx, account_id, name, role, hash, now) is None:
        raise Refused(Code.DUPLICATE, "name", NAME_TAKEN)
    audit_log.add(tx, AuditEntry(now, *actor, account_id, "user.create", name))
    return name


def change_password(
    tx: Tx, spelling: str, hash: str, now: Instant, actor: Actor = COMMAND_LINE, account_id: int | None = None
) -> User:
    """Give a user another password; whoever is signed in with the old one is signed out.

    With `of`, only a user of that account is known. Raises Refused(INVALID_PARAMETER) for an unknown user.
    """
    found = _find(tx, spelling, account_id)
    users.set_hash(tx, found.id, hash)
    sessions.delete_all_by_user(tx, found.id)
    audit_log.add(tx, AuditEntry(now, *actor, found.account_id, "user.password", found.name))
    return found


def set_disabled(
    tx: Tx,
    spelling: str,
    is_disabled: bool,
    now: Instant,
    actor: Actor = COMMAND_LINE,
    account_id: int | None = None,
) -> User:
    """Disable a user, who is signed out at once, or enable again.

    With `of`, only a user of that account is known. Raises Refused(INVALID_PARAMETER) for an unknown user.
    """
    found = _find(tx, spelling, account_id)
    users.set_disabled(tx, found.id, now if is_disabled else None)
    sessions.delete_all_by_user(tx, found.id)
    what = "user.disable" if is_disabled else "user.enable"
    audit_log.add(tx, AuditEntry(now, *actor, found.account_id, what, found.name))
    return found


def _find(tx: Tx, spelling: str, account_id: int | None) -> User:
    found = users.get_by_name(tx, user.parse_name(spelling))
    if found is None or (account_id is not None and found.user.account_id != account_id):
        detail = Text("없는 사용자입니다.", "There is no such user; see `pabal user list`.")
        raise Refused(Code.INVALID_PARAMETER, "name", detail)
    return found.user
