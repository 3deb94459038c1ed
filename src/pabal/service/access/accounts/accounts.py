"""Creates accounts, disables and enables them, and sets their reseller codes; says which first steps are done."""

from typing import TYPE_CHECKING

from pabal.domain.base.codes import Code, Refused, Text, at_most_characters
from pabal.domain.base.dates import Instant
from pabal.domain.content import text
from pabal.domain.sends.account import NO_CODES, SenderCodes
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
        raise Refused(Code.INVALID_PARAMETER, "name", at_most_characters(MAX_NAME_CHARACTERS))
    return found


def create(tx: Tx, spelling: str, actor: Actor, now: Instant) -> int:
    """Create an account and return its id.

    Raises Refused: MISSING_PARAMETER, INVALID_PARAMETER, DUPLICATE.
    """
    name = parse_name(spelling)
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


async def get_first_steps(context: "Context", account_id: int) -> FirstSteps:
    """Return which steps an account has done."""
    return await context.store.read(accounts.read, account_id)


def set_codes(tx: Tx, account_id: int, codes: SenderCodes, actor: Actor, now: Instant) -> None:
    """Set the codes of an account, with an audit entry that names the changes.

    Raises Refused(NOT_FOUND).
    """
    if accounts.get(tx, account_id) is None:
        raise Refused(Code.NOT_FOUND)
    before = accounts.list_sender_codes(tx).get(account_id, NO_CODES)
    changes = [
        f"{name}={new or 'none'}"
        for name, old, new in zip(SenderCodes._fields, before, codes, strict=True)
        if old != new
    ]
    if changes:
        accounts.set_sender_codes(tx, account_id, codes)
        audit_log.add(tx, AuditEntry(now, *actor, account_id, "account.codes", " ".join(changes)))


async def get_codes(context: "Context", account_id: int) -> SenderCodes:
    """Return the codes of an account."""
    return (await context.store.read(accounts.list_sender_codes)).get(account_id, NO_CODES)
