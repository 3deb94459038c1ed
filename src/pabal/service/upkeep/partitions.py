"""Keeps months: makes the store's tables of the next ones, drops those older than the retention."""

import logging

from pabal.service.context import Context
from pabal.store.engine import partitions
from pabal.store.engine.base import StoreUnavailable

BATCH = 500

log = logging.getLogger("pabal.keep_months")


async def maintain_partitions(context: Context) -> None:
    """Make and drop the months that are due, if the store has such; what others are in the way of waits a round."""
    store, now = context.store, context.world.now()
    before = now - context.policy.retention_ms
    due = await store.read(partitions.pending_tasks, now, before)
    try:
        if due.has_missing_months:
            await store.write(partitions.create_ahead, now)
        for month in due.expired_months:
            if await store.write(partitions.drop_month, month):
                log.info("a month older than the retention is dropped", extra={"month": month})
        if due.has_expired_default_rows:
            while await store.write(partitions.delete_expired_default_rows, before, BATCH):
                pass
    except StoreUnavailable:
        log.warning("months wait for the next round")
