"""Keeps house: applies deadlines, so that every message ends, and forgets what need not be known any more."""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable, Iterable, Sequence

from pabal.carriers.base import Carrier
from pabal.domain import identifiers
from pabal.domain.campaign import State
from pabal.domain.dates import DAY, HOUR, MINUTE, Instant
from pabal.domain.message import Outcome
from pabal.service.context import Context
from pabal.service.delivery.claim import hold_in_hand, lease_of
from pabal.service.delivery.finish import Finished, finish
from pabal.service.policy import Policy
from pabal.service.sending.cancel import sweep_deleted
from pabal.service.upkeep.partitions import keep_months
from pabal.service.upkeep.statistics import KEPT_FOR, count
from pabal.service.upkeep.throughput import Pace
from pabal.store import (
    audit_log,
    campaigns,
    carrier_states,
    cursors,
    idempotency_keys,
    messages,
    profiles,
    queue,
    receipts,
    requests,
    sessions,
    sign_in_attempts,
    simulator,
    statistics,
)
from pabal.store.engine import partitions
from pabal.store.engine.base import StoreAway, Tx
from pabal.store.slots import NotHeld, while_held

ROUND_S = 10.0
ROUNDS_A_THOROUGH_ONE = 6
"""Which carriers have jobs at all is asked only now and then: PostgreSQL may have to walk what has long ended."""
HOUSEKEEPING_SLOT = 0
"""Whoever holds this slot does for all workers what need be done only once."""
BATCH = 500
BLANK_REQUESTS = 5
TOKENS_FOR = 2 * HOUR
SIMULATED_FOR = 1 * MINUTE
UNMATCHED_FOR = 1 * HOUR
"""How long a receipt may be ahead of its answer; carriers use their ids again, so it is not kept for long."""
TRIES_FOR = 1 * DAY
DEEDS_FOR = 400 * DAY
"""How long it is known who did what: somewhat more than a year."""
DRAFTS_FOR = 7 * DAY
"""How long a campaign that was never sent keeps its file."""
_UNSENT = tuple(state for state in State if state.is_before_sending)
_SENT = (State.MADE, State.HALTED, State.CANCELLED)
_BLANKED = "blanked"

log = logging.getLogger("pabal.keep_house")


def expire(tx: Tx, slot: int, carrier: str, policy: Policy, now: Instant) -> Finished:
    """End messages whose receipt has not come in time; of one in doubt nobody knows how it ended."""
    overdue = queue.overdue(tx, slot, carrier, now, BATCH)
    ends = [
        (one, Outcome.UNKNOWN if reference.startswith(identifiers.IN_DOUBT) else Outcome.TIMED_OUT)
        for one, reference in overdue
    ]
    return finish(tx, ends, policy, now)


def rehome(
    tx: Tx, slot: int, carrier: str, policy: Policy, now: Instant, *, is_orphan: bool, are_shared: bool
) -> tuple[Finished, int]:
    """Give some jobs of a carrier that is configured no more to the first of their product's route.

    Without a route they end as undeliverable, but where others may know one they wait for those. What it had taken
    waits on for its receipt or its time-out. Unless the slot is an orphan, what is in hand is left to whoever has
    it. Returns also how many were found a place, or ended.
    """
    found = queue.to_send(tx, slot, carrier, now, BATCH, has_leased=is_orphan)
    kept = messages.get(tx, found)
    moves = [(one, policy.routes.first(kept[one].product)) for one in found]
    moved = [(one, name) for one, name in moves if name is not None]
    queue.reroute(tx, moved)
    lost = [] if are_shared else [(one, Outcome.UNDELIVERABLE) for one, name in moves if name is None]
    messages.begin_sending(tx, [one for one, _ in lost])  # nothing fails that was only waiting
    return finish(tx, lost, policy, now), len(moved) + len(lost)


def blank(tx: Tx, policy: Policy, now: Instant) -> int:
    """Forget numbers and texts of some requests that are older than the retention; return how many.

    Where there are months, they are dropped instead.
    """
    if partitions.are_kept(tx):
        return 0
    after = cursors.get(tx, _BLANKED) or bytes(identifiers.REQUEST_ID_BYTES)
    before = identifiers.first_since(now - policy.retention)[: identifiers.REQUEST_ID_BYTES]
    found = requests.between(tx, after, before, BLANK_REQUESTS)
    for request_id in found:
        requests.blank(tx, request_id)
    if found:
        cursors.put(tx, _BLANKED, found[-1])
    return len(found)


def trim(tx: Tx, carriers: Iterable[str], slots: Sequence[int], policy: Policy, now: Instant) -> int:
    """Drop the oldest of what the simulators' phones hold; never what a receipt is still owed for."""
    owed = [at for name in carriers if (at := simulator.next_owed_at(tx, name, slots)) is not None]
    before = min([now, *owed]) - SIMULATED_FOR
    return simulator.trim(tx, policy.simulator_messages, before, now - policy.retention, BATCH)


async def prepare(context: Context, slot: int, worker: bytes | None = None, *, is_orphan: bool) -> None:
    """Put a slot in order before anything is claimed from it: jobs of carriers that are no more get new ones.

    Of an orphan the leases are void: whoever held them is gone. `worker` is who holds the slot among others.
    Raises NotHeld when it has gone to another, who may have claimed from it since.
    """
    for carrier in context.carriers.values() if is_orphan else ():
        await _void(context, slot, worker, carrier)
    await _rehome_all(context, slot, worker, is_orphan=is_orphan)


async def _rehome_all(context: Context, slot: int, worker: bytes | None, *, is_orphan: bool) -> None:
    """Find another carrier for what waits for one that is not known here."""
    for name in await context.store.read(queue.carriers, slot):
        moved = 0 if name in context.carriers else BATCH
        while moved:
            finished, moved = await context.store.write(
                while_held,
                slot,
                worker,
                rehome,
                slot,
                name,
                context.policy,
                context.world.now(),
                is_orphan=is_orphan,
                are_shared=context.slots.are_shared,
            )
            context.metrics.count_ended(finished.ended)
            if moved:
                log.warning(
                    "jobs of an unknown carrier are given to others", extra={"carrier": name, "jobs": moved}
                )


async def _void(context: Context, slot: int, worker: bytes | None, carrier: Carrier) -> None:
    """Let what a slot's last worker had in hand come due again; where doubt is held, let it wait for receipts."""
    store, world, name = context.store, context.world, carrier.name
    held = BATCH
    while carrier.holds_in_doubt and held:
        finished, held = await store.write(
            while_held, slot, worker, hold_in_hand, slot, name, context.policy, BATCH, world.now()
        )
        context.metrics.count_ended(finished.ended)
        if held:
            log.warning("messages in doubt wait for their receipts", extra={"carrier": name, "messages": held})
    longest = lease_of(carrier) + HOUR  # the clock may have been set back since
    voided = await store.write(while_held, slot, worker, queue.void_leases, slot, name, world.now(), longest)
    if voided:
        log.info("leases of whoever had them last are void", extra={"carrier": name, "messages": voided})


async def keep_house(context: Context) -> None:
    """Go round for good; the store being away only delays it."""
    pace = Pace(context)
    for number in itertools.count():
        try:
            await pace.tell()
            await go_round(context, is_thorough=number % ROUNDS_A_THOROUGH_ONE == 0)
        except StoreAway:
            log.warning("housekeeping waits for the store")
        await asyncio.sleep(ROUND_S)


async def go_round(context: Context, *, is_thorough: bool = True) -> None:
    """End what has waited too long, in small transactions; being thorough, do everything that there is to do."""
    for slot in context.slots.held:
        names = set(context.carriers)
        if is_thorough:
            names.update(await context.store.read(queue.carriers, slot))
        for name in sorted(names):
            await _expire_all(context, slot, name)
        if is_thorough:
            with contextlib.suppress(NotHeld):  # it has gone to another worker just now
                await _rehome_all(context, slot, context.slots.worker_id, is_orphan=False)
    if HOUSEKEEPING_SLOT in context.slots.held:
        await _trim_phones(context)
        if is_thorough:
            await _tidy(context)
            await count(context)


async def _expire_all(context: Context, slot: int, carrier: str) -> None:
    is_done = False
    while not is_done:
        finished = await context.store.write(expire, slot, carrier, context.policy, context.world.now())
        context.metrics.count_ended(finished.ended)
        context.wake(finished.carriers)
        is_done = len(finished.ended) < BATCH


async def _trim_phones(context: Context) -> None:
    slots, names = range(context.slots.total), list(context.carriers)
    await _until_none(context, lambda tx: trim(tx, names, slots, context.policy, context.world.now()))


async def _tidy(context: Context) -> None:
    """Do what one process does for all."""
    policy, world = context.policy, context.world
    await sweep_deleted(context)
    await _until_none(context, lambda tx: idempotency_keys.forget(tx, world.now() - policy.idempotency, BATCH))
    await _until_none(context, lambda tx: profiles.forget_tokens(tx, world.now() - TOKENS_FOR, BATCH))
    await _until_none(context, lambda tx: receipts.forget_unmatched(tx, world.now() - UNMATCHED_FOR, BATCH))
    await _until_none(context, lambda tx: blank(tx, policy, world.now()))
    await keep_months(context)
    await _until_none(context, lambda tx: sessions.forget(tx, world.now(), BATCH))
    await _until_none(context, lambda tx: sign_in_attempts.forget(tx, world.now() - TRIES_FOR, BATCH))
    await _until_none(context, lambda tx: statistics.forget(tx, world.now() - KEPT_FOR, BATCH))
    await _until_none(context, lambda tx: audit_log.forget(tx, world.now() - DEEDS_FOR, BATCH))
    await _until_none(context, lambda tx: campaigns.forget(tx, _UNSENT, world.now() - DRAFTS_FOR, 1))
    await _until_none(context, lambda tx: campaigns.forget(tx, _SENT, world.now() - policy.retention, 1))
    await context.store.write(carrier_states.forget_workers)
    await context.store.write(cursors.forget_probes, world.now() - DAY)


async def _until_none(context: Context, forget_some: Callable[[Tx], int]) -> None:
    while await context.store.write(forget_some):
        pass
