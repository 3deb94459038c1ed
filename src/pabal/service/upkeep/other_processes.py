"""Notices what commands write to a store that no other service shares: nobody wakes this process for it."""

import asyncio
import contextlib

from pabal.service.context import Context
from pabal.store.engine.base import StoreUnavailable

CHECK_INTERVAL_S = 4.0
"""How often to ask the store, which looks at no table for it."""


async def watch_other_processes(context: Context) -> None:
    """Have everything looked at that a command may have changed: events, webhooks and the queue."""
    while not context.slots.are_shared:
        with contextlib.suppress(StoreUnavailable):
            if await context.store.was_written_elsewhere():
                context.new_events.set()
                context.announce_webhooks()
                context.wake(context.carriers)
        await asyncio.sleep(CHECK_INTERVAL_S)
