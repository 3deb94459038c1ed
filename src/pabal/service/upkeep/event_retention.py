"""Deletes events that are older than their retention, in the slots that this process holds."""

from pabal.domain.base.dates import Instant
from pabal.service.context import Context
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.events import events

BATCH = 500
"""Most events that one transaction deletes."""


class EventRetention:
    """Deletes old events; every account is visited once a day, and once after a start."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._deleted: dict[int, int] = {}
        """By slot, the number up to which all events have been deleted."""

    async def run(self) -> None:
        """Delete what is too old by now.

        Raises StoreUnavailable.
        """
        context = self._context
        before = context.world.now() - context.policy.results_retention_ms
        for slot in context.slots.held:
            if await context.store.read(events.has_old, slot, before, self._deleted.get(slot, 0)):
                await self._delete(slot, before)
        self._deleted = {slot: number for slot, number in self._deleted.items() if slot in context.slots.held}

    async def _delete(self, slot: int, before: Instant) -> None:
        store = self._context.store
        until = await store.write(events.mark_deleted, slot, before)
        account = await store.read(_next_account, slot, 0)
        while account is not None:
            while await store.write(events.delete_old, account, slot, until, BATCH):
                pass
            account = await store.read(_next_account, slot, account)
        self._deleted[slot] = until


@transaction(reader=Reader.BACKGROUND)
def _next_account(tx: Tx, slot: int, after: int) -> int | None:
    return events.next_account(tx, slot, after)
