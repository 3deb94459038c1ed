"""The sender numbers of an account, as pages list and change them."""

from pabal.domain.dates import Instant
from pabal.service.access import numbers
from pabal.service.access.audit import AuditEntry
from pabal.service.context import Context
from pabal.store import accounts


async def list_numbers(context: Context, account_id: int) -> list[tuple[str, Instant]]:
    """Return the registered numbers of an account, each with its time of registration."""
    return await context.store.read(accounts.list_numbers_by_account, account_id)


async def has_number(context: Context, account_id: int, number: str) -> bool:
    """Return whether a number is registered for an account."""
    return await context.store.read(accounts.has_number, account_id, number)


async def register_number(context: Context, account_id: int, number: str, audit_entry: AuditEntry) -> None:
    """Register a number for an account.

    Raises Refused: DUPLICATE, or INVALID_PARAMETER where the account has too many.
    """
    await context.store.write(numbers.register, account_id, number, audit_entry)


async def remove_number(context: Context, account_id: int, number: str, audit_entry: AuditEntry) -> None:
    """Remove a number of an account.

    Raises Refused(NOT_FOUND).
    """
    await context.store.write(numbers.remove, account_id, number, audit_entry)
