"""Places a new request among those that wait for its carrier, so that accounts share it."""

import asyncio
import contextlib

from pabal.domain.base.dates import SECOND, Instant
from pabal.service.context import Context
from pabal.service.fair_order import LaneKey
from pabal.service.queue_heads import read_heads
from pabal.store.engine.base import StoreUnavailable
from pabal.store.queue import slots
from pabal.store.queue.queue import Lane

REFRESH_AFTER_S = 0.5
"""How old the heads of slots may be before they are read again, in the background."""
HEAD_MARGIN_MS = 2 * SECOND
"""How far before the last head to look for the next: a send is stored a little later than it is due."""

WATCHED_BACK_MS = 30 * SECOND
"""Requests that are placed further in the past get their deadline stored at once: housekeeping has passed there."""


def place_request(
    context: Context,
    account_id: int,
    key: LaneKey,
    receivers: int,
    now: Instant,
    scheduled_at: Instant,
) -> Instant:
    """Return the time of a request's jobs: the scheduled one or later, or if it is due, its fair place."""
    if scheduled_at > now:
        return context.fair_order.place_later(account_id, key, receivers, scheduled_at)
    is_shared = context.slots.are_shared
    if is_shared:
        _refresh_heads(context, key)
    return context.fair_order.place_now(account_id, key, receivers, now, is_shared=is_shared)


async def stop_reads(context: Context) -> None:
    """End what still reads in the background, before the store is closed."""
    reads = list(context.head_reads.values())
    for task in reads:
        task.cancel()
    await asyncio.gather(*reads, return_exceptions=True)


def _refresh_heads(context: Context, key: LaneKey) -> None:
    """Read the heads of all slots, unless this process has just claimed; this send does not wait for it."""
    if context.fair_order.is_fresh(key, REFRESH_AFTER_S) or key.carrier in context.head_reads:
        return
    task = asyncio.get_running_loop().create_task(_read_heads(context, key.carrier))
    context.head_reads[key.carrier] = task
    task.add_done_callback(lambda _: context.head_reads.pop(key.carrier, None))


async def _read_heads(context: Context, carrier: str) -> None:
    lanes = [
        (slot, lane, max(0, context.fair_order.head_of(LaneKey(carrier, slot, lane)) - HEAD_MARGIN_MS))
        for slot in context.slots.numbers
        for lane in (Lane.SMALL, Lane.CAMPAIGN)
    ]
    now = context.world.now()
    with contextlib.suppress(StoreUnavailable):
        found = await read_heads(context, carrier, lanes)
        holders = await context.store.read(slots.list_holders)
        slots_by_holder: dict[bytes | None, list[int]] = {}
        for slot, holder in holders:
            slots_by_holder.setdefault(holder, []).append(slot)
        for held in slots_by_holder.values():
            context.fair_order.observe(carrier, held, [each for each in found if each.slot in held], now)
