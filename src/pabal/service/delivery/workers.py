"""Keeps the slots of this process by heartbeats, and takes over those that it gets."""

import asyncio
import logging
from collections.abc import Mapping
from functools import partial

from pabal.carriers.base import Carrier
from pabal.domain.base.dates import DAY, SECOND, Instant
from pabal.domain.sends.message import Outcome, Product
from pabal.domain.sends.route import SIMULATOR_KIND
from pabal.service.context import Context
from pabal.service.delivery.carrier.clock import repair_if_set_back
from pabal.service.delivery.carrier.rate_shares import RateShares
from pabal.service.delivery.claiming.claim_tx import hold_in_doubt, lease_duration_ms
from pabal.service.delivery.outcome.finish import FinishResult, finish
from pabal.service.errors import describe_error
from pabal.service.loops import run_rounds
from pabal.service.open_attempts import InFlight
from pabal.service.policy import Policy
from pabal.store.engine.base import Store, StoreUnavailable, Tx
from pabal.store.messages import messages
from pabal.store.queue import attempts, carriers, queue_admin, slots
from pabal.store.queue.slots import SlotAssignment, mark_prepared, run_if_held
from pabal.world import new_unique_id

HEARTBEAT_INTERVAL_S = 1.0
"""Pause between two heartbeats of a worker."""
MAX_MISSED_HEARTBEATS = 5
"""A worker is dead after this many missed heartbeats.

They are counted against the heartbeats of another worker, not timed: while the store is unavailable nobody can
send one, and the clocks of machines may differ.
"""
LIVENESS_CHECK_S = 2.5 * HEARTBEAT_INTERVAL_S
"""How long to watch for a heartbeat of a live worker."""

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
        """Send heartbeats until cancelled."""
        await run_rounds(self.send_heartbeat, HEARTBEAT_INTERVAL_S)

    async def send_heartbeat(self) -> None:
        """Send one heartbeat, and take or give up slots."""
        context = self._context
        here = context.slots
        if here.worker_id is None:
            self._pending_worker_id = self._pending_worker_id or new_unique_id(context.world)
            await context.store.write(slots.register, self._pending_worker_id, here.worker, context.world.now())
            here.worker_id, self._pending_worker_id = self._pending_worker_id, None
        dead = [
            (one, last)
            for one, (last, missed) in self._missed_heartbeats.items()
            if missed >= MAX_MISSED_HEARTBEATS
        ]
        began_at = context.world.monotonic()
        assignment = await context.store.write(
            slots.heartbeat,
            here.worker_id,
            dead,
            context.world.now(),
            self._rates.offer(began_at),
            {slot: place.node for slot, place in context.nodes.places.items()},
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
        here.are_noted = self._context.nodes.is_distributed and assignment.all_know_holders
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


BATCH = 500
"""Most messages that one transaction takes over."""
PROGRESS_INTERVAL_S = 10.0
"""How often the log tells how many jobs have gone to other carriers."""
MAX_LEASES = 20_000
"""Most messages that the last worker of a slot can have in flight: twice the largest window of a carrier."""

take_over_log = logging.getLogger("pabal.take_over")


async def prepare_slot(context: Context, slot: int, worker: bytes | None = None, *, is_orphaned: bool) -> None:
    """Prepare a slot before anything is claimed from it; `worker` is who holds it among others.

    An orphaned slot's leases are released, for its last worker is dead. Otherwise its last worker may still settle
    them, whatever our clock says about their end. Jobs of carriers that are no longer configured go to others.

    Raises SlotNotHeld when another worker has got the slot: it may have claimed from it since. Raises
    StoreUnavailable, at once if the node of the slot is known to be lost.
    """
    context.nodes.check(slot)
    if context.nodes.is_distributed and worker is not None:  # first: then the last worker claims nothing more there
        await context.store.write(slots.hold, slot, worker)
    await repair_if_set_back(context, slot, worker)
    for carrier in context.carriers.values():
        if is_orphaned:
            await _release_leases(context, slot, worker, carrier)
        else:
            await _respect_leases(context, slot, carrier)
    await reassign_unknown_carriers(context, slot, worker, is_orphaned=is_orphaned)
    if is_orphaned and worker is not None:
        await context.store.write(run_if_held, slot, worker, mark_prepared, slot)


async def reassign_unknown_carriers(
    context: Context, slot: int, worker: bytes | None, *, is_orphaned: bool
) -> None:
    """Give the jobs of carriers that are not configured to the carriers of their routes.

    Raises SlotNotHeld.
    """
    for name in await context.store.read(queue_admin.carriers_with_jobs, slot):
        if name in context.carriers:
            continue
        jobs, told_at, reassigned = 0, context.world.monotonic(), BATCH
        while reassigned:
            finished, reassigned = await context.store.write(
                run_if_held,
                slot,
                worker,
                reassign_jobs,
                slot,
                name,
                context.policy,
                context.world.now(),
                is_orphaned=is_orphaned,
                are_shared=context.slots.are_shared,
                kinds=context.kinds,
            )
            context.count_ended(finished.ended)
            jobs += reassigned
            is_time = context.world.monotonic() - told_at >= PROGRESS_INTERVAL_S
            if jobs and (is_time or not reassigned):
                take_over_log.warning(
                    "carrier is not configured; its jobs go to other carriers",
                    extra={"carrier": name, "jobs": jobs},
                )
                told_at = context.world.monotonic()


def reassign_jobs(
    tx: Tx,
    slot: int,
    carrier: str,
    policy: Policy,
    now: Instant,
    *,
    is_orphaned: bool,
    are_shared: bool,
    kinds: Mapping[str, str],
) -> tuple[FinishResult, int]:
    """Give some jobs of a carrier that is not configured to the first suitable carrier of their product's route.

    Jobs of a real carrier go to real carriers only, and those of a simulator to simulators only: others wait until
    their carrier is configured again or an operator decides. Jobs without a route end as undeliverable, but wait
    where other workers may have a route. Messages that await a receipt go on waiting for it. Leased jobs are left
    to their worker unless the slot is orphaned.

    Returns also how many jobs were reassigned or ended.
    """
    targets = choose_targets(policy, kinds, was_simulator=carriers.get_kinds(tx).get(carrier) == SIMULATOR_KIND)
    without_route = () if are_shared else [each.number for each in Product if not policy.routes.first(each)]
    found = queue_admin.find_unsent(
        tx, slot, carrier, [*targets, *without_route], now, BATCH, includes_leased=is_orphaned
    )
    queue_admin.reroute(
        tx, [queue_admin.ReroutedJob(one, targets[product]) for one, product in found if product in targets], now
    )
    ending = [one for one, product in found if product not in targets]
    messages.mark_sending(tx, ending)
    return finish(tx, [(one, Outcome.UNDELIVERABLE) for one in ending], policy, now), len(found)


def choose_targets(policy: Policy, kinds: Mapping[str, str], *, was_simulator: bool) -> dict[int, str]:
    """Return the carrier for each product's messages of a carrier that is gone; none where they have to wait."""
    suitable = {name for name, kind in kinds.items() if (kind == SIMULATOR_KIND) == was_simulator}
    found = {
        product.number: next((name for name in policy.routes.carriers_for(product) if name in suitable), None)
        for product in Product
    }
    return {number: name for number, name in found.items() if name is not None}


async def _respect_leases(context: Context, slot: int, carrier: Carrier) -> None:
    """Claim nothing that the slot's last worker has in flight, for as long as it may take to settle it."""
    leased = await context.store.read(attempts.find_in_flight, slot, carrier.name, MAX_LEASES)
    context.in_flight.add_of_others(leased, lease_duration_ms(carrier) / SECOND)


async def _release_leases(context: Context, slot: int, worker: bytes | None, carrier: Carrier) -> None:
    """Make what the slot's last worker had in flight due again, or hold it for its receipts.

    That worker may have been this process, before it was evicted: what it still has in flight stays so.
    """
    store, world, name = context.store, context.world, carrier.name
    held = BATCH
    while not carrier.max_resends and not carrier.can_look_up and held:
        finished, held = await store.write(
            run_if_held, slot, worker, hold_in_flight, slot, name, context.policy, world.now(), context.in_flight
        )
        context.count_ended(finished.ended)
        if held:
            take_over_log.warning(
                "previous worker's messages are in doubt; waiting for their receipts",
                extra={"carrier": name, "messages": held},
            )
    max_lease_ms = lease_duration_ms(carrier) + DAY  # the clock may have been set back since
    released = await store.write(
        run_if_held,
        slot,
        worker,
        queue_admin.release_leases,
        slot,
        name,
        world.now(),
        max_lease_ms,
        context.in_flight,
    )
    if released:
        take_over_log.info(
            "released the previous worker's leases; submitting their messages again",
            extra={"carrier": name, "messages": released},
        )


def hold_in_flight(
    tx: Tx, slot: int, carrier: str, policy: Policy, now: Instant, in_flight: InFlight
) -> tuple[FinishResult, int]:
    """Hold some messages that a slot's last worker had in flight, unless they still are so here.

    Returns what ended, and how many there were.
    """
    leased = attempts.find_in_flight(tx, slot, carrier, BATCH + len(in_flight))
    found = [job for job in leased if job not in in_flight][:BATCH]
    in_doubt = messages.get(tx, [job.id for job in found])
    unreadable = finish(tx, [(job.id, Outcome.UNKNOWN) for job in found if job.id not in in_doubt], policy, now)
    return hold_in_doubt(tx, carrier, list(in_doubt.values()), policy, now).joined(unreadable), len(found)
