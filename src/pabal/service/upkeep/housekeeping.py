"""Keeps house: applies deadlines, so that every message ends, and forgets what need not be known any more."""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable, Iterable, Sequence

from pabal.carriers.base import Carrier
from pabal.domain import identifiers
from pabal.domain.campaign import CampaignState
from pabal.domain.dates import DAY, HOUR, MINUTE, Instant
from pabal.domain.message import Outcome
from pabal.service.context import Context
from pabal.service.delivery.claim import hold_in_flight, lease_duration_ms
from pabal.service.delivery.finish import FinishResult, finish
from pabal.service.policy import Policy
from pabal.service.sending.cancel import cancel_deleted_profiles
from pabal.service.upkeep.partitions import maintain_partitions
from pabal.service.upkeep.statistics import STATISTICS_RETENTION_MS, update_statistics
from pabal.service.upkeep.throughput import ThroughputReporter
from pabal.store import (
    audit_log,
    campaigns,
    carrier_states,
    cursors,
    idempotency_keys,
    messages,
    profiles,
    queue,
    queue_admin,
    receipts,
    requests,
    sessions,
    sign_in_attempts,
    simulator,
    statistics,
)
from pabal.store.engine import partitions
from pabal.store.engine.base import StoreUnavailable, Tx
from pabal.store.slots import SlotNotHeld, run_if_held

ROUND_INTERVAL_S = 10.0
FULL_ROUND_EVERY = 6
"""Which carriers have jobs at all is asked only now and then: PostgreSQL may have to walk what has long ended."""
HOUSEKEEPING_SLOT = 0
"""Whoever holds this slot does for all workers what need be done only once."""
BATCH = 500
ERASE_BATCH = 5
TOKEN_RETENTION_MS = 2 * HOUR
SIMULATED_MESSAGE_RETENTION_MS = 1 * MINUTE
UNMATCHED_RECEIPT_RETENTION_MS = 1 * HOUR
"""How long a receipt may be ahead of its answer; carriers use their ids again, so it is not kept for long."""
SIGN_IN_ATTEMPT_RETENTION_MS = 1 * DAY
AUDIT_LOG_RETENTION_MS = 400 * DAY
"""How long it is known who did what: somewhat more than a year."""
DRAFT_RETENTION_MS = 7 * DAY
"""How long a campaign that was never sent keeps its file."""
_UNSENT = tuple(state for state in CampaignState if state.is_before_sending)
_SENT = (CampaignState.MADE, CampaignState.HALTED, CampaignState.CANCELLED)
_ERASED_CURSOR = "blanked"

log = logging.getLogger("pabal.keep_house")


def expire_overdue(tx: Tx, slot: int, carrier: str, policy: Policy, now: Instant) -> FinishResult:
    """End messages whose receipt has not come in time; of one in doubt nobody knows how it ended."""
    overdue = queue.find_overdue(tx, slot, carrier, now, BATCH)
    ends = [
        (one, Outcome.UNKNOWN if reference.startswith(identifiers.IN_DOUBT_PREFIX) else Outcome.TIMED_OUT)
        for one, reference in overdue
    ]
    return finish(tx, ends, policy, now)


def reassign_jobs(
    tx: Tx, slot: int, carrier: str, policy: Policy, now: Instant, *, is_orphaned: bool, are_shared: bool
) -> tuple[FinishResult, int]:
    """Give some jobs of a carrier that is configured no more to the first of their product's route.

    Without a route they end as undeliverable, but where others may know one they wait for those. What it had taken
    waits on for its receipt or its time-out. Unless the slot is an orphan, what is in hand is left to whoever has
    it. Returns also how many were found a place, or ended.
    """
    found = queue_admin.find_unsent(tx, slot, carrier, now, BATCH, includes_leased=is_orphaned)
    kept = messages.get(tx, found)
    moves = [(one, policy.routes.first(kept[one].product)) for one in found]
    moved = [queue_admin.ReroutedJob(one, name) for one, name in moves if name is not None]
    queue_admin.reroute(tx, moved)
    lost = [] if are_shared else [(one, Outcome.UNDELIVERABLE) for one, name in moves if name is None]
    messages.mark_sending(tx, [one for one, _ in lost])  # nothing fails that was only waiting
    return finish(tx, lost, policy, now), len(moved) + len(lost)


def erase_old_requests(tx: Tx, policy: Policy, now: Instant) -> int:
    """Forget numbers and texts of some requests that are older than the retention; return how many.

    Where there are months, they are dropped instead.
    """
    if partitions.is_partitioned(tx):
        return 0
    after = cursors.get(tx, _ERASED_CURSOR) or bytes(identifiers.REQUEST_ID_BYTES)
    before = identifiers.lowest_message_id(now - policy.retention_ms)[: identifiers.REQUEST_ID_BYTES]
    found = requests.ids_between(tx, after, before, ERASE_BATCH)
    for request_id in found:
        requests.erase(tx, request_id)
    if found:
        cursors.put(tx, _ERASED_CURSOR, found[-1])
    return len(found)


def trim_simulator(tx: Tx, carriers: Iterable[str], slots: Sequence[int], policy: Policy, now: Instant) -> int:
    """Drop the oldest of what the simulators' phones hold; never what a receipt is still owed for."""
    owed = [at for name in carriers if (at := simulator.next_receipt_at(tx, name, slots)) is not None]
    before = min([now, *owed]) - SIMULATED_MESSAGE_RETENTION_MS
    return simulator.trim(tx, policy.max_simulator_messages, before, now - policy.retention_ms, BATCH)


async def prepare_slot(context: Context, slot: int, worker: bytes | None = None, *, is_orphaned: bool) -> None:
    """Put a slot in order before anything is claimed from it: jobs of carriers that are no more get new ones.

    Of an orphan the leases are void: whoever held them is gone. `worker` is who holds the slot among others.
    Raises NotHeld when it has gone to another, who may have claimed from it since.
    """
    for carrier in context.carriers.values() if is_orphaned else ():
        await _release_leases(context, slot, worker, carrier)
    await _reassign_all_jobs(context, slot, worker, is_orphaned=is_orphaned)


async def _reassign_all_jobs(context: Context, slot: int, worker: bytes | None, *, is_orphaned: bool) -> None:
    """Find another carrier for what waits for one that is not known here."""
    for name in await context.store.read(queue_admin.carriers_with_jobs, slot):
        moved = 0 if name in context.carriers else BATCH
        while moved:
            finished, moved = await context.store.write(
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
            )
            context.metrics.count_ended(finished.ended)
            if moved:
                log.warning(
                    "jobs of an unknown carrier are given to others", extra={"carrier": name, "jobs": moved}
                )


async def _release_leases(context: Context, slot: int, worker: bytes | None, carrier: Carrier) -> None:
    """Let what a slot's last worker had in hand come due again; where doubt is held, let it wait for receipts."""
    store, world, name = context.store, context.world, carrier.name
    held = BATCH
    while carrier.holds_in_doubt and held:
        finished, held = await store.write(
            run_if_held, slot, worker, hold_in_flight, slot, name, context.policy, BATCH, world.now()
        )
        context.metrics.count_ended(finished.ended)
        if held:
            log.warning("messages in doubt wait for their receipts", extra={"carrier": name, "messages": held})
    longest = lease_duration_ms(carrier) + HOUR  # the clock may have been set back since
    voided = await store.write(
        run_if_held, slot, worker, queue_admin.release_leases, slot, name, world.now(), longest
    )
    if voided:
        log.info("leases of whoever had them last are void", extra={"carrier": name, "messages": voided})


async def run_housekeeping(context: Context) -> None:
    """Go round for good; the store being away only delays it."""
    pace = ThroughputReporter(context)
    for number in itertools.count():
        try:
            await pace.report()
            await run_round(context, is_full=number % FULL_ROUND_EVERY == 0)
        except StoreUnavailable:
            log.warning("housekeeping waits for the store")
        await asyncio.sleep(ROUND_INTERVAL_S)


async def run_round(context: Context, *, is_full: bool = True) -> None:
    """End what has waited too long, in small transactions; being thorough, do everything that there is to do."""
    for slot in context.slots.held:
        names = set(context.carriers)
        if is_full:
            names.update(await context.store.read(queue_admin.carriers_with_jobs, slot))
        for name in sorted(names):
            await _expire_all(context, slot, name)
        if is_full:
            with contextlib.suppress(SlotNotHeld):  # it has gone to another worker just now
                await _reassign_all_jobs(context, slot, context.slots.worker_id, is_orphaned=False)
    if HOUSEKEEPING_SLOT in context.slots.held:
        await _trim_phones(context)
        if is_full:
            await _run_global_tasks(context)
            await update_statistics(context)


async def _expire_all(context: Context, slot: int, carrier: str) -> None:
    is_done = False
    while not is_done:
        finished = await context.store.write(expire_overdue, slot, carrier, context.policy, context.world.now())
        context.metrics.count_ended(finished.ended)
        context.wake(finished.carriers_to_wake)
        is_done = len(finished.ended) < BATCH


async def _trim_phones(context: Context) -> None:
    slots, names = range(context.slots.total), list(context.carriers)
    await _repeat_until_none(
        context, lambda tx: trim_simulator(tx, names, slots, context.policy, context.world.now())
    )


async def _run_global_tasks(context: Context) -> None:
    """Do what one process does for all."""
    policy, world = context.policy, context.world
    await cancel_deleted_profiles(context)
    await _repeat_until_none(
        context, lambda tx: idempotency_keys.delete_old(tx, world.now() - policy.idempotency_ms, BATCH)
    )
    await _repeat_until_none(
        context, lambda tx: profiles.delete_expired_tokens(tx, world.now() - TOKEN_RETENTION_MS, BATCH)
    )
    await _repeat_until_none(
        context, lambda tx: receipts.delete_old_unmatched(tx, world.now() - UNMATCHED_RECEIPT_RETENTION_MS, BATCH)
    )
    await _repeat_until_none(context, lambda tx: erase_old_requests(tx, policy, world.now()))
    await maintain_partitions(context)
    await _repeat_until_none(context, lambda tx: sessions.delete_expired(tx, world.now(), BATCH))
    await _repeat_until_none(
        context, lambda tx: sign_in_attempts.delete_old(tx, world.now() - SIGN_IN_ATTEMPT_RETENTION_MS, BATCH)
    )
    await _repeat_until_none(
        context, lambda tx: statistics.delete_old(tx, world.now() - STATISTICS_RETENTION_MS, BATCH)
    )
    await _repeat_until_none(
        context, lambda tx: audit_log.delete_old(tx, world.now() - AUDIT_LOG_RETENTION_MS, BATCH)
    )
    await _repeat_until_none(
        context, lambda tx: campaigns.delete_old(tx, _UNSENT, world.now() - DRAFT_RETENTION_MS, 1)
    )
    await _repeat_until_none(
        context, lambda tx: campaigns.delete_old(tx, _SENT, world.now() - policy.retention_ms, 1)
    )
    await context.store.write(carrier_states.delete_gone_workers)
    await context.store.write(cursors.delete_old_probes, world.now() - DAY)


async def _repeat_until_none(context: Context, forget_some: Callable[[Tx], int]) -> None:
    while await context.store.write(forget_some):
        pass
