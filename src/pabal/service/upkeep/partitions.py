"""Keeps months: makes the store's tables of the next ones, drops those older than the retention."""

import logging

from pabal.service.context import Context
from pabal.store.engine import partitions
from pabal.store.engine.base import StoreAway

BATCH = 500

log = logging.getLogger("pabal.keep_months")


async def keep_months(context: Context) -> None:
    """Make and drop the months that are due, if the store has such; what others are in the way of waits a round."""
    store, now = context.store, context.world.now()
    before = now - context.policy.retention
    due = await store.read(partitions.chores, now, before)
    try:
        if due.are_missing:
            await store.write(partitions.make_ahead, now)
        for month in due.over:
            if await store.write(partitions.drop, month):
                log.info("a month older than the retention is dropped", extra={"month": month})
        if due.has_old_strays:
            while await store.write(partitions.forget_strays, before, BATCH):
                pass
    except StoreAway:
        log.warning("months wait for the next round")
