"""Reads when the next jobs of lanes are due: for claims, and for the positions of new sends."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterable, Sequence

from pabal.domain.base.dates import SECOND, Instant
from pabal.service.context import Context
from pabal.service.fair_queue import NEXT_DUE_TTL_S, LaneKey
from pabal.store.engine.base import NodeUnavailable, StoreUnavailable
from pabal.store.queue import queue, slots
from pabal.store.queue.queue import Lane, LaneDue

REFRESH_AFTER_S = 0.5
"""How old the first due times of lanes may be before they are read again, in the background."""
SAFETY_MARGIN_MS = 2 * SECOND
"""How far before the last first due time to look for the next: a send is stored a little later than it is due."""
RESET_INTERVAL_MS = 5 * SECOND
"""How long a job below its lane's watermark may be overlooked: it was moved there, or was stored very late."""
FIRST_KEPT_MS = round(NEXT_DUE_TTL_S * SECOND) + SECOND
"""How long a watermark stays below an earlier first due time: another process may still use that for a position."""

SlotLane = tuple[int, int, Instant]
"""A slot, a lane, and from when on to look."""


async def read_next_due(context: Context, carrier: str, lanes: Sequence[SlotLane]) -> list[LaneDue]:
    """Return when the next job of each lane is due, if any; of nodes that cannot be reached, nothing.

    A distributed store is read node by node. Raises StoreUnavailable.
    """
    found: list[LaneDue] = []
    for slots_there in context.nodes.by_node(dict.fromkeys(slot for slot, _, _ in lanes)):
        asked = [lane for lane in lanes if lane[0] in slots_there]
        with contextlib.suppress(NodeUnavailable):
            found += await context.store.read(queue.next_due_by_lane, carrier, asked)
    return found


def refresh_next_due(context: Context, key: LaneKey) -> None:
    """Read the first due times of all slots, unless this process has just claimed; no caller waits for it."""
    reads = context.fair_queue.reads
    if context.fair_queue.is_fresh(key, REFRESH_AFTER_S) or key.carrier in reads:
        return
    task = asyncio.get_running_loop().create_task(_refresh(context, key.carrier))
    reads[key.carrier] = task
    task.add_done_callback(lambda _: reads.pop(key.carrier, None))


async def stop_reads(context: Context) -> None:
    """End what still reads in the background, before the store is closed."""
    reads = list(context.fair_queue.reads.values())
    for task in reads:
        task.cancel()
    await asyncio.gather(*reads, return_exceptions=True)


class Watermarks:
    """The watermark of each lane: below it there was no job recently, in no slot of this process.

    A claim skips what is below: PostgreSQL leaves the entries of delivered jobs at the front of the queue's index
    until vacuum removes them, which takes a minute or, during a backup, hours. A send may get the position of the
    first job in another slot, so the watermarks of all slots follow the lowest.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], Instant] = {}
        self._first: dict[int, deque[tuple[Instant, Instant]]] = {}
        """By lane, when its first due time was seen recently and what it was, both ascending."""
        self._reset_at: Instant = 0

    def lanes(self, slots: Iterable[int], now: Instant) -> list[SlotLane]:
        """Return the lanes of these slots with their watermarks; every few seconds these start again from zero."""
        if not 0 <= now - self._reset_at < RESET_INTERVAL_MS:
            if now < self._reset_at:
                self._first = {}
            self._known = {}
            self._reset_at = now
        return [(slot, lane, self._watermark(slot, lane)) for slot in slots for lane in (Lane.SMALL, Lane.CAMPAIGN)]

    def record(self, lanes: Iterable[SlotLane], found: Sequence[tuple[int, int, Instant]], now: Instant) -> None:
        """Set the watermarks of these lanes by the next jobs that were found in them at `now`."""
        lowest = {
            wanted: self._lowest(wanted, min((at for _, lane, at in found if lane == wanted), default=now), now)
            for wanted in (Lane.SMALL, Lane.CAMPAIGN)
        }
        for slot, lane, _ in lanes:
            self._known[slot, lane] = lowest[Lane(lane)] - SAFETY_MARGIN_MS

    def for_slot(self, slot: int) -> tuple[Instant, Instant]:
        """Return the watermarks of a slot's two lanes."""
        return self._watermark(slot, Lane.SMALL), self._watermark(slot, Lane.CAMPAIGN)

    def _lowest(self, lane: int, found: Instant, now: Instant) -> Instant:
        """Add the first due time of a lane; return the lowest of the recent ones."""
        at, recent = min(found, now), self._first.setdefault(lane, deque())
        while recent and recent[-1][1] >= at:
            recent.pop()
        recent.append((now, at))
        while recent[0][0] < now - FIRST_KEPT_MS:
            recent.popleft()
        return recent[0][1]

    def _watermark(self, slot: int, lane: int) -> Instant:
        return self._known.get((slot, lane), 0)


async def _refresh(context: Context, carrier: str) -> None:
    lanes = [
        (slot, lane, max(0, context.fair_queue.next_due_at(LaneKey(carrier, slot, lane)) - SAFETY_MARGIN_MS))
        for slot in context.slots.numbers
        for lane in (Lane.SMALL, Lane.CAMPAIGN)
    ]
    now = context.world.now()
    with contextlib.suppress(StoreUnavailable):
        found = await read_next_due(context, carrier, lanes)
        holders = await context.store.read(slots.list_holders)
        slots_by_holder: dict[bytes | None, list[int]] = {}
        for slot, holder in holders:
            slots_by_holder.setdefault(holder, []).append(slot)
        for held in slots_by_holder.values():
            context.fair_queue.record_next_due(carrier, held, [each for each in found if each.slot in held], now)
