"""Watches the nodes of a distributed store, and catches up when one is back."""

import asyncio
import contextlib
import logging

from pabal.carriers.base import Receipt
from pabal.service.context import Context
from pabal.service.delivery.receipts import ReceiveResult, announce_received, receive
from pabal.service.policy import Policy
from pabal.service.slots import HOUSEKEEPING_SLOT, PROBE_INTERVAL_S, REFRESH_INTERVAL_S
from pabal.store.engine.base import NodeUnavailable, StoreUnavailable, Tx
from pabal.store.engine.citus.problems import oldest_prepared_s
from pabal.store.queue import receipts
from pabal.store.queue.receipts import PostponedReceipt

BATCH = 200
"""Most postponed receipts that one transaction processes."""
PREPARED_INTERVAL_S = 60.0
"""How often to ask for prepared transactions: Citus opens a connection to each node for that."""

log = logging.getLogger("pabal.nodes")


async def watch_nodes(context: Context) -> None:
    """Probe lost nodes every second, and read where the slots are now and then; ends where there are no nodes."""
    clock = context.world.monotonic
    read_at = asked_at = clock()
    while context.nodes.is_distributed:
        try:
            if clock() - read_at >= REFRESH_INTERVAL_S:
                await context.nodes.refresh()
                read_at = clock()
            if clock() - asked_at >= PREPARED_INTERVAL_S:
                asked_at = clock()
                await _watch_prepared(context)
            if await context.nodes.probe():
                context.wake(context.carriers)
                context.new_events.set()
            await process_postponed(context)
        except StoreUnavailable:
            log.debug("store unavailable; the nodes are watched again in a moment")
        await asyncio.sleep(PROBE_INTERVAL_S)


async def _watch_prepared(context: Context) -> None:
    """Show how old the oldest prepared transaction is; one process asks the nodes for all."""
    is_mine = HOUSEKEEPING_SLOT in context.slots.held
    ages = await context.store.read(oldest_prepared_s) if is_mine else {}
    context.metrics.prepared_transactions_oldest_seconds.set(max(ages.values(), default=0))


async def process_postponed(context: Context) -> None:
    """Process the receipts that were postponed, where the node of their message is back.

    One process does it for all. Raises StoreUnavailable.
    """
    if HOUSEKEEPING_SLOT not in context.slots.held:
        return
    for carrier, slot in await context.store.read(receipts.list_postponed_slots):
        with contextlib.suppress(NodeUnavailable):  # those of other slots go on
            await _process_slot(context, carrier, slot)


async def _process_slot(context: Context, carrier: str, slot: int) -> None:
    while context.nodes.is_reachable(slot):
        some = await context.store.read(receipts.list_postponed, carrier, slot, BATCH)
        if not some:
            break
        received = await context.store.write(receive_postponed, carrier, some, context.policy, context.world.now())
        announce_received(context, carrier, received)


def receive_postponed(
    tx: Tx, carrier: str, some: list[PostponedReceipt], policy: Policy, now: int
) -> ReceiveResult:
    """Process postponed receipts as if they came now, and delete them."""
    incoming = [Receipt(each.reference, each.outcome, each.in_doubt_reference, each.code) for each in some]
    receipts.delete_postponed(tx, some)
    return receive(tx, carrier, incoming, policy, now)
