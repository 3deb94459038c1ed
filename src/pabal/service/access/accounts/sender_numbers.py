"""The sender numbers of an account, as pages list and change them."""

from pabal.domain.base.codes import Code, Refused
from pabal.domain.people.phone import NumberState
from pabal.service.access.accounts import numbers
from pabal.service.access.accounts.audit import AuditEntry
from pabal.service.context import Context
from pabal.store.accounts import numbers as number_store
from pabal.store.accounts.numbers import SenderNumber

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
