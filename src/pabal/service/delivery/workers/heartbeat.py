"""Heartbeats of a worker: with each one it takes or gives up slots until it has its fair share."""

import asyncio
import logging
from functools import partial

from pabal.service.context import Context
from pabal.service.delivery.carrier.rate_shares import RateShares
from pabal.service.delivery.workers.take_over import prepare_slot
from pabal.service.errors import describe_error
from pabal.store.engine.base import Store, StoreUnavailable
from pabal.store.queue import slots
from pabal.store.queue.slots import SlotAssignment

HEARTBEAT_INTERVAL_S = 1.0
"""Pause between two heartbeats of a worker."""
MAX_MISSED_HEARTBEATS = 5
"""A worker is dead after this many missed heartbeats.

They are counted against the heartbeats of another worker, not timed: while the store is unavailable nobody can
send one, and the clocks of machines may differ.
"""
LIVENESS_CHECK_S = 2.5 * HEARTBEAT_INTERVAL_S
"""How long to watch for a heartbeat of a live worker."""
WORKER_ID_BITS = 128

log = logging.getLogger("pabal.heartbeat")


async def find_live_workers(store: Store) -> list[str]:
    """Return the names of the workers that send heartbeats; a restored backup lists some that do not."""
    before = {worker.id: worker.heartbeat for worker, _ in await store.read(slots.list_workers)}
    if before:
        await asyncio.sleep(LIVENESS_CHECK_S)
    return [
        worker.name
        for worker, _ in await store.read(slots.list_workers)
        if worker.heartbeat != before.get(worker.id)
    ]


class SlotHolder:
    """Holds this worker's share of the slots, by sending heartbeats."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._assigned: set[int] = set()
        self._orphaned: set[int] = set()
        """The assigned slots whose last worker died, and which were not prepared at the last heartbeat."""
        self._missed_heartbeats: dict[bytes, tuple[int, int]] = {}
        """The last heartbeat of each other worker, and how many of ours have passed since."""
        self._preparing: dict[int, asyncio.Task[None]] = {}
        self._rates = RateShares(context)
        self._pending_worker_id: bytes | None = None
        """The id of a registration that is not confirmed yet: it is repeated until it is."""

    async def run(self) -> None:
        """Send heartbeats until cancelled; while the store is unavailable, try again."""
        while True:
            try:
                await self.send_heartbeat()
            except StoreUnavailable:
                log.warning("store unavailable; heartbeat will be sent again")
            await asyncio.sleep(HEARTBEAT_INTERVAL_S)

    async def send_heartbeat(self) -> None:
        """Send one heartbeat, and take or give up slots."""
        context = self._context
        here = context.slots
        if here.worker_id is None:
            self._pending_worker_id = self._pending_worker_id or context.world.random_bits(WORKER_ID_BITS).to_bytes(
                WORKER_ID_BITS // 8, "big"
            )
            await context.store.write(slots.register, self._pending_worker_id, here.worker, context.world.now())
            here.worker_id, self._pending_worker_id = self._pending_worker_id, None
        dead = [
            (one, last)
            for one, (last, missed) in self._missed_heartbeats.items()
            if missed >= MAX_MISSED_HEARTBEATS
        ]
        began_at = context.world.monotonic()
        assignment = await context.store.write(
            slots.heartbeat, here.worker_id, dead, context.world.now(), self._rates.offer(began_at)
        )
        if assignment is None:
            log.warning(f"worker evicted after {MAX_MISSED_HEARTBEATS} missed heartbeats; rejoining")
            here.worker_id = None
            self._assigned, self._orphaned, self._missed_heartbeats = set(), set(), {}
        else:
            self._apply_assignment(assignment)
        self._cancel_preparations()
        share = len(self._assigned) / here.total
        self._rates.update(share, here.worker_id, assignment.rates if assignment else {}, began_at)
        self._publish_held_slots()

    async def leave(self) -> None:
        """Give up all slots; what is in flight can still be settled."""
        here = self._context.slots
        worker_id = here.worker_id or self._pending_worker_id
        self._assigned = set()
        self._cancel_preparations()
        self._rates.update(0.0, None, {}, self._context.world.monotonic())
        self._publish_held_slots()
        if worker_id is not None:
            here.worker_id = None
            try:
                await self._context.store.write(slots.unregister, worker_id)
            except StoreUnavailable:
                log.warning("slots could not be given up; other workers take them after missed heartbeats")

    def _apply_assignment(self, assignment: SlotAssignment) -> None:
        me = self._context.slots.worker_id
        for one in set(self._missed_heartbeats) - set(assignment.heartbeats):
            del self._missed_heartbeats[one]
        for one, beat in assignment.heartbeats.items():
            if one != me:
                last, missed = self._missed_heartbeats.get(one, (beat, -1))
                self._missed_heartbeats[one] = (beat, missed + 1 if last == beat else 0)
        self._assigned = set(assignment.held)
        self._orphaned = set(assignment.orphaned)
        here = self._context.slots
        for slot in self._assigned - set(here.held) - set(self._preparing):
            preparation = prepare_slot(self._context, slot, me, is_orphaned=slot in self._orphaned)
            task = self._preparing[slot] = asyncio.create_task(preparation)
            task.add_done_callback(partial(self._finish_preparation, slot))

    def _cancel_preparations(self) -> None:
        """Stop preparing slots that other workers have got."""
        for slot in set(self._preparing) - self._assigned:
            self._preparing[slot].cancel()

    def _finish_preparation(self, slot: int, task: asyncio.Task[None]) -> None:
        """Deliver from a prepared slot; after an error the next heartbeat prepares it again."""
        del self._preparing[slot]
        if task.cancelled():
            return
        if error := task.exception():
            if not isinstance(error, StoreUnavailable | slots.SlotNotHeld):
                log.error(
                    "slot could not be prepared; retrying at the next heartbeat",
                    extra={"slot": slot, **describe_error(error)},
                )
            return
        self._publish_held_slots({slot})

    def _publish_held_slots(self, ready: set[int] | None = None) -> None:
        """Tell the deliverers which slots are held and prepared."""
        here = self._context.slots
        held = tuple(sorted((set(here.held) | (ready or set())) & self._assigned))
        if held == here.held:
            return
        if not self._preparing:  # otherwise more slots follow in a moment
            log.info("number of held slots changed", extra={"slots": len(held), "of": here.total})
        here.held = held
        self._context.wake(self._context.carriers)
