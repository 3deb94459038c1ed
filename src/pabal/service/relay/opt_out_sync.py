"""Tells relays that keep lists of their own about opt-outs that were added or removed here."""

import asyncio
import logging

from pabal.domain.base.dates import DAY
from pabal.service.context import Context
from pabal.service.slots import HOUSEKEEPING_SLOT
from pabal.store.engine.base import StoreUnavailable
from pabal.store.people import opt_out_changes

INTERVAL_S = 30.0
"""Pause between two rounds."""
BATCH = 200
"""Changes that one round tells at a time."""
MAX_AGE_MS = 7 * DAY
"""How long a change is retried while the relay is away."""

log = logging.getLogger("pabal.relay")


async def run_opt_out_sync(context: Context) -> None:
    """Tell relays what has changed, again and again; one process does it for all."""
    while True:
        await asyncio.sleep(INTERVAL_S)
        try:
            if HOUSEKEEPING_SLOT in context.slots.held:
                await tell_relays(context)
        except StoreUnavailable:
            log.warning("store unavailable; telling relays about opt-outs later")


async def tell_relays(context: Context) -> None:
    """Tell every relay with a list of its own what has changed; what one cannot be told now waits for all."""
    before = context.world.now() - MAX_AGE_MS
    while await context.store.write(opt_out_changes.delete_old, before, BATCH):
        pass
    relays = [each for each in context.carriers.values() if each.keeps_opt_outs]
    while found := await context.store.read(opt_out_changes.list_oldest, BATCH):
        done = len(found)
        for relay in relays:
            done = min(done, len(await relay.update_opt_outs([each.change for each in found])))
        await context.store.write(opt_out_changes.delete, [each.id for each in found[:done]])
        if done < len(found):
            return
