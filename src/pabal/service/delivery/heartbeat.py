"""Holds a fair share of the slots among all workers, and leaves them to others when it stops."""

import asyncio
import logging
from functools import partial

from pabal.service.context import Context
from pabal.service.errors import describe_error
from pabal.service.upkeep.housekeeping import prepare
from pabal.store import slots
from pabal.store.engine.base import Store, StoreAway
from pabal.store.slots import Holding

BEAT_S = 1.0
MISSED_BEATS = 5
"""A worker that does not show life while another does so often is dead.

They are counted, not timed: while the store is away nobody can show life, and the machines' clocks may differ.
"""
WATCH_S = 2.5 * BEAT_S
WORKER_ID_BITS = 128
RAISE_AFTER_S = 1.0
"""A carrier gets a larger share of its rate so much later: who had it still hands over what it has in hand."""

log = logging.getLogger("pabal.hold_slots")


async def at_work(store: Store) -> list[str]:
    """Return the names of the workers that show life while they are watched; a backup holds some that do not."""
    before = {worker.id: worker.beat for worker, _ in await store.read(slots.workers)}
    if before:
        await asyncio.sleep(WATCH_S)
    return [worker.name for worker, _ in await store.read(slots.workers) if worker.beat != before.get(worker.id)]


class Holder:
    """One worker among others: shows that it lives, and holds its share of the slots."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._mine: set[int] = set()
        self._orphans: set[int] = set()
        """Those of its slots whose last worker died, and which are not in order yet."""
        self._missed: dict[bytes, tuple[int, int]] = {}
        """The last beat of each other worker, and how many of ours have passed since."""
        self._preparing: dict[int, asyncio.Task[None]] = {}
        self._share = self._wanted_share = 0.0
        """The part of their rates that carriers keep to, and will soon."""
        self._raising: asyncio.TimerHandle | None = None
        self._joining: bytes | None = None
        """The id under which it tries to join, again and again until it knows that it has."""

    async def run(self) -> None:
        """Hold slots until cancelled; the store being away only delays it."""
        while True:
            try:
                await self.beat()
            except StoreAway:
                log.warning("slots wait for the store")
            await asyncio.sleep(BEAT_S)

    async def beat(self) -> None:
        """Show life once, and take or give up slots."""
        context = self._context
        here = context.slots
        if here.worker_id is None:
            self._joining = self._joining or context.world.bits(WORKER_ID_BITS).to_bytes(WORKER_ID_BITS // 8, "big")
            await context.store.write(slots.join, self._joining, here.worker, context.world.now())
            here.worker_id, self._joining = self._joining, None
        dead = [(one, last) for one, (last, missed) in self._missed.items() if missed >= MISSED_BEATS]
        holding = await context.store.write(slots.beat, here.worker_id, dead, frozenset(self._orphans))
        if holding is None:
            log.warning("this worker was given up for dead; it joins anew")
            here.worker_id = None
            self._mine, self._orphans, self._missed = set(), set(), {}
        else:
            self._take_in(holding)
        self._drop_preparations()
        self._share_rates()
        self._show()

    async def leave(self) -> None:
        """Give up every slot at once; what is in hand can still be settled."""
        here = self._context.slots
        worker_id = here.worker_id or self._joining
        self._mine = set()
        self._drop_preparations()
        self._share_rates()
        self._show()
        if worker_id is not None:
            here.worker_id = None
            try:
                await self._context.store.write(slots.leave, worker_id, frozenset(self._orphans))
            except StoreAway:
                log.warning("the slots could not be given up; others take them when they have missed this worker")

    def _take_in(self, holding: Holding) -> None:
        me = self._context.slots.worker_id
        for one in set(self._missed) - set(holding.beats):
            del self._missed[one]
        for one, beat in holding.beats.items():
            if one != me:
                last, missed = self._missed.get(one, (beat, -1))
                self._missed[one] = (beat, missed + 1 if last == beat else 0)
        self._mine = set(holding.held)
        self._orphans = (self._orphans | set(holding.orphans)) & self._mine
        here = self._context.slots
        for slot in self._mine - set(here.held) - set(self._preparing):
            putting_in_order = prepare(self._context, slot, me, is_orphan=slot in self._orphans)
            task = self._preparing[slot] = asyncio.create_task(putting_in_order)
            task.add_done_callback(partial(self._prepared, slot))

    def _drop_preparations(self) -> None:
        """Leave slots that went to others as they are."""
        for slot in set(self._preparing) - self._mine:
            self._preparing[slot].cancel()

    def _prepared(self, slot: int, task: asyncio.Task[None]) -> None:
        """Begin to deliver from a slot that is in order; one that is not is tried again at the next beat."""
        del self._preparing[slot]
        if task.cancelled():
            return
        if error := task.exception():
            if not isinstance(error, StoreAway | slots.NotHeld):
                log.error("a slot could not be put in order", extra={"slot": slot, **describe_error(error)})
            return
        self._orphans.discard(slot)
        self._show({slot})

    def _show(self, ready: set[int] | None = None) -> None:
        """Have the deliverers work on what is held and in order."""
        here = self._context.slots
        held = tuple(sorted((set(here.held) | (ready or set())) & self._mine))
        if held == here.held:
            return
        if not self._preparing:  # else more will follow in a moment
            log.info("slots held have changed", extra={"slots": len(held), "of": here.total})
        here.held = held
        self._context.wake(self._context.carriers)

    def _share_rates(self) -> None:
        """Have every carrier keep to the share of its rate that this worker has of the slots.

        To a smaller one at once, to a larger one soon.
        """
        share = len(self._mine) / self._context.slots.total
        if share == self._wanted_share:
            return
        self._wanted_share = share
        if self._raising:
            self._raising.cancel()
        if share > self._share > 0:
            self._raising = asyncio.get_running_loop().call_later(RAISE_AFTER_S, self._keep_to, share)
        else:
            self._keep_to(share)

    def _keep_to(self, share: float) -> None:
        self._share = share
        for carrier in self._context.carriers.values():
            carrier.set_rate_share(share)
