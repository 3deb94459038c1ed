"""Removes erased data from the files of the store, behind everything else."""

import asyncio
import logging

from pabal.service.context import Context
from pabal.service.slots import HOUSEKEEPING_SLOT
from pabal.store.engine.base import StoreUnavailable
from pabal.store.people import personal_data

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
    for table in await context.store.read(personal_data.list_erased):
        if await context.store.vacuum(table.name, context.world.now() - table.erased_at):
            await context.store.write(personal_data.delete_erased, table)
