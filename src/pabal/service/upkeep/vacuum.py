"""Removes erased data from the files of the store, behind everything else."""

import asyncio
import logging

from pabal.service.context import Context
from pabal.service.slots import HOUSEKEEPING_SLOT
from pabal.store.engine.base import StoreUnavailable
from pabal.store.people import erased_tables

INTERVAL_S = 60.0
"""Pause between two looks for tables from which something was erased."""

log = logging.getLogger("pabal.housekeeping")


async def run_vacuum(context: Context) -> None:
    """Vacuum tables from which personal data was erased, forever; housekeeping does not wait for it."""
    while True:
        await asyncio.sleep(INTERVAL_S)
        try:
            if HOUSEKEEPING_SLOT in context.slots.held:
                await vacuum_erased(context)
        except StoreUnavailable:
            log.debug("store unavailable; erased tables are vacuumed later")


async def vacuum_erased(context: Context) -> None:
    """Vacuum one table after the other; one that is in use, or that older transactions still read, waits.

    Raises StoreUnavailable.
    """
    for table in await context.store.read(erased_tables.list_all):
        if await context.store.vacuum(table.name, context.world.now() - table.erased_at):
            await context.store.write(erased_tables.delete, table)
