"""Looks up inbound messages."""

from pabal.domain.people.inbound import Inbound as Inbound
from pabal.service.context import Context
from pabal.store.messages import inbound

NEWEST = 2**62
"""An id above all others."""


async def list_after(context: Context, account_id: int, after: int, limit: int) -> list[Inbound]:
    """Return some messages of an account, oldest first, after an id."""
    return await context.store.read(inbound.list_after, account_id, after, limit)


async def list_before(
    context: Context, account_id: int | None, before: int, limit: int, sender: str | None = None
) -> list[Inbound]:
    """Return some messages of an account, newest first, before an id; None: those that belong to no account.

    With `sender`, only those that this number has sent.
    """
    return await context.store.read(inbound.list_before, account_id, before, limit, sender)
