"""The audit log, as pages and commands use it."""

from pabal.service.context import Context
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import API_KEY_NAME as API_KEY_NAME
from pabal.store.accounts.audit_log import COMMAND_LINE_NAME as COMMAND_LINE_NAME
from pabal.store.accounts.audit_log import COMMAND_LINE_PREFIX as COMMAND_LINE_PREFIX
from pabal.store.accounts.audit_log import SIGN_IN_NAME as SIGN_IN_NAME
from pabal.store.accounts.audit_log import Actor as Actor
from pabal.store.accounts.audit_log import AuditEntry as AuditEntry
from pabal.store.accounts.audit_log import ListedEntry as ListedEntry


async def add_entry(context: Context, entry: AuditEntry) -> None:
    """Record an action that changes nothing else."""
    await context.store.write(audit_log.add, entry)


async def search_entries(
    context: Context, account_id: int | None, actor: str, before: int | None, limit: int
) -> list[ListedEntry]:
    """Return entries older than `before`, newest first; without an account or an actor, those of all."""
    return await context.store.read(audit_log.find, account_id, actor, before, limit)
