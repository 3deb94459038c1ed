"""Holds a fair share of the slots among all workers, and leaves them to others when it stops."""

import asyncio
import logging
from functools import partial

from pabal.service.context import Context
from pabal.service.delivery.take_over import prepare_slot
from pabal.service.errors import describe_error
from pabal.store import slots
from pabal.store.engine.base import Store, StoreUnavailable
from pabal.store.slots import SlotAssignment

HEARTBEAT_INTERVAL_S = 1.0
MAX_MISSED_HEARTBEATS = 5
"""A worker that does not show life while another does so often is dead.

They are counted, not timed: while the store is away nobody can show life, and the machines' clocks may differ.
"""
LIVENESS_CHECK_S = 2.5 * HEARTBEAT_INTERVAL_S
WORKER_ID_BITS = 128
RATE_INCREASE_DELAY_S = 1.0
"""A carrier gets a larger share of its rate so much later: who had it still hands over what it has in hand."""

log = logging.getLogger("pabal.hold_slots")


async def find_live_workers(store: Store) -> list[str]:
    """Return the names of the workers that show life while they are watched; a backup holds some that do not."""
    before = {worker.id: worker.heartbeat for worker, _ in await store.read(slots.list_workers)}
    if before:
        await asyncio.sleep(LIVENESS_CHECK_S)
    return [
        worker.name
        for worker, _ in await store.read(slots.list_workers)
        if worker.heartbeat != before.get(worker.id)
    ]


class SlotHolder:
    """One worker among others: shows that it lives, and holds its share of the slots."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._assigned: set[int] = set()
        self._orphaned: set[int] = set()
        """Those of its slots whose last worker died, and which are not in order yet."""
        self._missed_heartbeats: dict[bytes, tuple[int, int]] = {}
        """The last beat of each other worker, and how many of ours have passed since."""
        self._preparing: dict[int, asyncio.Task[None]] = {}
        self._share = self._target_share = 0.0
        """The part of their rates that carriers keep to, and will soon."""
        self._pending_increase: asyncio.TimerHandle | None = None
        self._pending_worker_id: bytes | None = None
        """The id under which it tries to join, again and again until it knows that it has."""

    async def run(self) -> None:
        """Hold slots until cancelled; the store being away only delays it."""
        while True:
            try:
                await self.send_heartbeat()
            except StoreUnavailable:
                log.warning("slots wait for the store")
            await asyncio.sleep(HEARTBEAT_INTERVAL_S)

    async def send_heartbeat(self) -> None:
        """Show life once, and take or give up slots."""
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
        holding = await context.store.write(slots.heartbeat, here.worker_id, dead, frozenset(self._orphaned))
        if holding is None:
            log.warning("this worker was given up for dead; it joins anew")
            here.worker_id = None
            self._assigned, self._orphaned, self._missed_heartbeats = set(), set(), {}
        else:
            self._apply_assignment(holding)
        self._cancel_preparations()
        self._update_rate_share()
        self._publish_held_slots()

    async def leave(self) -> None:
        """Give up every slot at once; what is in hand can still be settled."""
        here = self._context.slots
        worker_id = here.worker_id or self._pending_worker_id
        self._assigned = set()
        self._cancel_preparations()
        self._update_rate_share()
        self._publish_held_slots()
        if worker_id is not None:
            here.worker_id = None
            try:
                await self._context.store.write(slots.unregister, worker_id, frozenset(self._orphaned))
            except StoreUnavailable:
                log.warning("the slots could not be given up; others take them when they have missed this worker")

    def _apply_assignment(self, holding: SlotAssignment) -> None:
        me = self._context.slots.worker_id
        for one in set(self._missed_heartbeats) - set(holding.heartbeats):
            del self._missed_heartbeats[one]
        for one, beat in holding.heartbeats.items():
            if one != me:
                last, missed = self._missed_heartbeats.get(one, (beat, -1))
                self._missed_heartbeats[one] = (beat, missed + 1 if last == beat else 0)
        self._assigned = set(holding.held)
        self._orphaned = (self._orphaned | set(holding.orphaned)) & self._assigned
        here = self._context.slots
        for slot in self._assigned - set(here.held) - set(self._preparing):
            putting_in_order = prepare_slot(self._context, slot, me, is_orphaned=slot in self._orphaned)
            task = self._preparing[slot] = asyncio.create_task(putting_in_order)
            task.add_done_callback(partial(self._finish_preparation, slot))

    def _cancel_preparations(self) -> None:
        """Leave slots that went to others as they are."""
        for slot in set(self._preparing) - self._assigned:
            self._preparing[slot].cancel()

    def _finish_preparation(self, slot: int, task: asyncio.Task[None]) -> None:
        """Begin to deliver from a slot that is in order; one that is not is tried again at the next beat."""
        del self._preparing[slot]
        if task.cancelled():
            return
        if error := task.exception():
            if not isinstance(error, StoreUnavailable | slots.SlotNotHeld):
                log.error("a slot could not be put in order", extra={"slot": slot, **describe_error(error)})
            return
        self._orphaned.discard(slot)
        self._publish_held_slots({slot})

    def _publish_held_slots(self, ready: set[int] | None = None) -> None:
        """Have the deliverers work on what is held and in order."""
        here = self._context.slots
        held = tuple(sorted((set(here.held) | (ready or set())) & self._assigned))
        if held == here.held:
            return
        if not self._preparing:  # else more will follow in a moment
            log.info("slots held have changed", extra={"slots": len(held), "of": here.total})
        here.held = held
        self._context.wake(self._context.carriers)

    def _update_rate_share(self) -> None:
        """Have every carrier keep to the share of its rate that this worker has of the slots.

        To a smaller one at once, to a larger one soon.
        """
        share = len(self._assigned) / self._context.slots.total
        if share == self._target_share:
            return
        self._target_share = share
        if self._pending_increase:
            self._pending_increase.cancel()
        if share > self._share > 0:
            self._pending_increase = asyncio.get_running_loop().call_later(
                RATE_INCREASE_DELAY_S, self._apply_rate_share, share
            )
        else:
            self._apply_rate_share(share)

    def _apply_rate_share(self, share: float) -> None:
        self._share = share
        for carrier in self._context.carriers.values():
            carrier.set_rate_share(share)
