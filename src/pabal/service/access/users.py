"""Makes users of the console, changes their passwords, disables them."""

from pabal.domain import user
from pabal.domain.codes import Code, Refused, Words
from pabal.domain.dates import Instant
from pabal.domain.user import Role, User
from pabal.store import accounts, audit_log, sessions, users
from pabal.store.audit_log import AT_COMMAND_LINE, Deed, Doer
from pabal.store.engine.base import Tx

TAKEN = Words(
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
    by: Doer = AT_COMMAND_LINE,
) -> str:
    """Make a user of an account, made if new, or an operator, who has none; return the name as it is kept.

    Raises Refused: INVALID_PARAMETER, DUPLICATE.
    """
    name = user.name(spelling)
    if (account is None) is not (role is Role.OPERATOR):
        detail = Words("운영자만 계정이 없습니다.", "Operators have no account, all others have one.")
        raise Refused(Code.INVALID_PARAMETER, "account", detail)
    account_id = None if account is None else accounts.ensure_account(tx, account, now)
    if users.add(tx, account_id, name, role, hash, now) is None:
        raise Refused(Code.DUPLICATE, "name", TAKEN)
    audit_log.note(tx, Deed(now, *by, account_id, "user.create", name))
    return name


def change_password(
    tx: Tx, spelling: str, hash: str, now: Instant, by: Doer = AT_COMMAND_LINE, of: int | None = None
) -> User:
    """Give a user another password; whoever is signed in with the old one is signed out.

    With `of`, only a user of that account is known. Raises Refused(INVALID_PARAMETER) for an unknown user.
    """
    found = _found(tx, spelling, of)
    users.set_hash(tx, found.id, hash)
    sessions.end_all_of(tx, found.id)
    audit_log.note(tx, Deed(now, *by, found.account_id, "user.password", found.name))
    return found


def set_disabled(
    tx: Tx, spelling: str, is_disabled: bool, now: Instant, by: Doer = AT_COMMAND_LINE, of: int | None = None
) -> User:
    """Disable a user, who is signed out at once, or enable again.

    With `of`, only a user of that account is known. Raises Refused(INVALID_PARAMETER) for an unknown user.
    """
    found = _found(tx, spelling, of)
    users.set_disabled(tx, found.id, now if is_disabled else None)
    sessions.end_all_of(tx, found.id)
    what = "user.disable" if is_disabled else "user.enable"
    audit_log.note(tx, Deed(now, *by, found.account_id, what, found.name))
    return found


def _found(tx: Tx, spelling: str, of: int | None) -> User:
    found = users.by_name(tx, user.name(spelling))
    if found is None or (of is not None and found.user.account_id != of):
        detail = Words("없는 사용자입니다.", "There is no such user; see `pabal user list`.")
        raise Refused(Code.INVALID_PARAMETER, "name", detail)
    return found.user
