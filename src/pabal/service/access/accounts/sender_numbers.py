"""The sender numbers of an account and its number for opting out, as pages list and change them."""

from pabal.domain.base.codes import Code, Refused
from pabal.domain.people.phone import NumberState
from pabal.service.access.accounts import numbers
from pabal.service.context import Context
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts import numbers as number_store
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.accounts.numbers import SenderNumber
from pabal.store.engine.base import Tx

__all__ = [
    "SenderNumber", "approve_number", "has_number", "list_numbers", "list_pending", "register_number",
    "reject_number", "remove_number", "request_number",
]  # fmt: skip

MAX_LISTED = 200
"""Pending numbers that are shown at once."""


async def list_numbers(context: Context, account_id: int) -> list[SenderNumber]:
    """Return the numbers of an account, in any state."""
    return await context.store.read(number_store.list_by_account, account_id)


async def list_pending(context: Context) -> list[SenderNumber]:
    """Return the oldest numbers of all accounts that wait for an operator."""
    return await context.store.read(number_store.list_pending, MAX_LISTED)


async def has_number(context: Context, account_id: int, number: str) -> bool:
    """Return whether an account has a number, in any state."""
    return await context.store.read(number_store.get, account_id, number) is not None


async def request_number(context: Context, account_id: int, number: str, audit_entry: AuditEntry) -> NumberState:
    """Register a number as an owner; return whether it is approved or pending.

    Raises Refused: DUPLICATE, or INVALID_PARAMETER where the account has too many.
    """
    is_trusted = context.policy.trusts_own_numbers
    return await context.store.write(numbers.request, account_id, number, is_trusted, audit_entry)


async def register_number(context: Context, account_id: int, number: str, audit_entry: AuditEntry) -> None:
    """Register a number for an account, as an operator.

    Raises Refused: DUPLICATE, also where another account has it, or INVALID_PARAMETER where there are too many.
    """
    if not await context.store.write(numbers.register, account_id, number, audit_entry):
        raise Refused(Code.DUPLICATE, "number", numbers.ALREADY_REGISTERED)


async def approve_number(context: Context, account_id: int, number: str, audit_entry: AuditEntry) -> None:
    """Approve a number.

    Raises Refused: NOT_FOUND, INVALID_STATE, DUPLICATE where another account has it.
    """
    await context.store.write(numbers.approve, account_id, number, audit_entry)


async def reject_number(
    context: Context, account_id: int, number: str, comment: str, audit_entry: AuditEntry
) -> None:
    """Reject a pending number.

    Raises Refused: NOT_FOUND, INVALID_STATE, INVALID_PARAMETER for a long comment.
    """
    await context.store.write(numbers.reject, account_id, number, comment, audit_entry)


async def remove_number(context: Context, account_id: int, number: str, audit_entry: AuditEntry) -> None:
    """Remove a number of an account.

    Raises Refused(NOT_FOUND).
    """
    await context.store.write(numbers.remove, account_id, number, audit_entry)


def set_opt_out_number(tx: Tx, account_id: int, number: str | None, audit_entry: AuditEntry) -> None:
    """Set an account's number, or remove it with None, with an audit entry where that changes it.

    Raises Refused(NOT_FOUND).
    """
    if accounts.get(tx, account_id) is None:
        raise Refused(Code.NOT_FOUND)
    if accounts.get_opt_out_numbers(tx, [account_id]).get(account_id) != number:
        accounts.set_opt_out_number(tx, account_id, number)
        audit_log.add(tx, audit_entry)


async def change_opt_out_number(
    context: Context, account_id: int, number: str | None, audit_entry: AuditEntry
) -> None:
    """Set an account's number, or remove it with None; it holds within a second, in every process.

    Raises Refused(NOT_FOUND).
    """
    await context.store.write(set_opt_out_number, account_id, number, audit_entry)


async def get_opt_out_number(context: Context, account_id: int) -> str:
    """Return an account's own number, empty if it has none."""
    found = await context.store.read(accounts.get_opt_out_numbers, [account_id])
    return found.get(account_id, "")


async def get_default_opt_out_number(context: Context, account_id: int) -> str:
    """Return the number of an account's advertisements that name none: its own, else the operator's, or empty."""
    return await get_opt_out_number(context, account_id) or context.policy.opt_out_number
