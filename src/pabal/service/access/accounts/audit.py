"""The audit log, as pages and commands use it."""

from pabal.service.context import Context
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import (
    API_KEY_NAME,
    COMMAND_LINE_NAME,
    COMMAND_LINE_PREFIX,
    SIGN_IN_NAME,
    Actor,
    AuditEntry,
    ListedEntry,
)

__all__ = [
    "API_KEY_NAME",
    "COMMAND_LINE_NAME",
    "COMMAND_LINE_PREFIX",
    "SIGN_IN_NAME",
    "Actor",
    "AuditEntry",
    "ListedEntry",
    "add_entry",
    "search_entries",
]


async def add_entry(context: Context, entry: AuditEntry) -> None:
    """Record an action that changes nothing else."""
    await context.store.write(audit_log.add, entry)


async def search_entries(
    context: Context, account_id: int | None, actor: str, before: int | None, limit: int
) -> list[ListedEntry]:
    """Return entries older than `before`, newest first; without an account or an actor, those of all."""
    return await context.store.read(audit_log.find, account_id, actor, before, limit)
