"""Maintains partitions: creates those of the next months, and drops those older than the retention."""

import logging

from pabal.service.context import Context
from pabal.store.engine.base import StoreUnavailable
from pabal.store.engine.postgres import partitions

BATCH = 500
"""Most stray rows that one transaction deletes."""

log = logging.getLogger("pabal.partitions")


async def maintain_partitions(context: Context) -> None:
    """Create and drop partitions, if the store has any; if a lock is in the way, wait for the next round."""
    store, now = context.store, context.world.now()
    before = now - context.policy.retention_ms
    due = await store.read(partitions.pending_tasks, now, before)
    try:
        if due.has_missing_months:
            await store.write(partitions.create_ahead, now)
        for month in due.expired_months:
            if await store.write(partitions.drop_month, month):
                log.info("dropped a partition older than the retention", extra={"month": month})
        if due.has_expired_default_rows:
            while await store.write(partitions.delete_expired_default_rows, before, BATCH):
                pass
    except StoreUnavailable:
        log.warning("partitions could not be maintained; retrying in the next round")
