"""Creates accounts, disables and enables them, and says which steps of their set-up are done."""

from typing import TYPE_CHECKING

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.content import text
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.accounts import FirstSteps
from pabal.store.accounts.audit_log import Actor, AuditEntry
from pabal.store.engine.base import Tx

if TYPE_CHECKING:  # commands that use the store alone do without
    from pabal.service.context import Context

MAX_NAME_CHARACTERS = 64


def parse_name(spelling: str) -> str:
    """Return the normalized name of an account.

    Raises Refused: MISSING_PARAMETER, INVALID_PARAMETER.
    """
    found = text.normalize(spelling).strip()
    if not found:
        raise Refused(Code.MISSING_PARAMETER, "name")
    if len(found) > MAX_NAME_CHARACTERS or not found.isprintable():
        limit = MAX_NAME_CHARACTERS
        raise Refused(
            Code.INVALID_PARAMETER, "name", Text(f"{limit}자 이하여야 합니다.", f"At most {limit} characters.")
        )
    return found


def create(tx: Tx, name: str, actor: Actor, now: Instant) -> int:
    """Create an account and return its id.

    Raises Refused(DUPLICATE).
    """
    if any(each.name == name for each in accounts.list_accounts(tx)):
        raise Refused(
            Code.DUPLICATE,
            "name",
            Text("같은 이름의 계정이 이미 있습니다.", "An account with this name already exists."),
        )
    account_id = accounts.ensure_account(tx, name, now)
    audit_log.add(tx, AuditEntry(now, *actor, account_id, "account.create"))
    return account_id


def set_disabled(tx: Tx, account_id: int, is_disabled: bool, actor: Actor, now: Instant) -> None:
    """Disable or enable an account, and with it its keys and users."""
    found = accounts.get(tx, account_id)
    if found is None or (found.disabled_at is not None) is is_disabled:
        return
    accounts.set_disabled(tx, found.name, now if is_disabled else None)
    what = "account.disable" if is_disabled else "account.enable"
    audit_log.add(tx, AuditEntry(now, *actor, account_id, what))


__all__ = ["FirstSteps", "get_first_steps"]


async def get_first_steps(context: "Context", account_id: int) -> FirstSteps:
    """Return which steps an account has done."""
    return await context.store.read(accounts.read, account_id)
