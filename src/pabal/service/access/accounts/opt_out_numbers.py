"""The numbers that receivers call to opt out of an account's advertising texts."""

from pabal.domain.base.codes import Code, Refused
from pabal.service.context import Context
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx


def set_number(tx: Tx, account_id: int, number: str | None, audit_entry: AuditEntry) -> None:
    """Set an account's number, or remove it with None, with an audit entry where that changes it.

    Raises Refused(NOT_FOUND).
    """
    if accounts.get(tx, account_id) is None:
        raise Refused(Code.NOT_FOUND)
    if accounts.get_opt_out_numbers(tx, [account_id]).get(account_id) != number:
        accounts.set_opt_out_number(tx, account_id, number)
        audit_log.add(tx, audit_entry)


async def change_number(context: Context, account_id: int, number: str | None, audit_entry: AuditEntry) -> None:
    """Set an account's number, or remove it with None; it holds within a second, in every process.

    Raises Refused(NOT_FOUND).
    """
    await context.store.write(set_number, account_id, number, audit_entry)


async def get_number(context: Context, account_id: int) -> str:
    """Return an account's own number, empty if it has none."""
    found = await context.store.read(accounts.get_opt_out_numbers, [account_id])
    return found.get(account_id, "")


async def get_default(context: Context, account_id: int) -> str:
    """Return the number of an account's advertisements that name none: its own, else the operator's, or empty."""
    return await get_number(context, account_id) or context.policy.opt_out_number
