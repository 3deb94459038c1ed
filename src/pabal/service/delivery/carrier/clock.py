"""Watches the system's clock: reports its steps, and keeps the queue from waiting for a time that was set back."""

import asyncio
import logging
from collections.abc import Mapping
from typing import NamedTuple

from pabal.carriers.base import Carrier
from pabal.domain.base import identifiers
from pabal.domain.base.dates import MINUTE, SECOND, Instant
from pabal.domain.sends.route import MAX_DELAY_MS
from pabal.service.context import Context
from pabal.service.delivery.claiming.claim_tx import lease_duration_ms
from pabal.store.engine.base import StoreUnavailable, Tx
from pabal.store.messages import requests
from pabal.store.queue import queue_admin
from pabal.store.queue.queue import Lane
from pabal.store.queue.queue_admin import DueJob
from pabal.store.queue.slots import SlotNotHeld, run_if_held
from pabal.world import World

CHECK_INTERVAL_S = 1.0
"""How often the wall clock is compared with the monotonic clock."""
STEP_THRESHOLD_MS = 1 * SECOND
"""From this difference between two checks on, the clock was set; less is drift, or a correction of it."""
REPAIR_BATCH = 500
"""Most jobs that one transaction looks at."""

log = logging.getLogger("pabal.clock")


class _Cursor(NamedTuple):
    """The last job that was looked at."""

    ready_at: Instant
    id: bytes


async def watch_clock(context: Context) -> None:
    """Compare the clocks forever; report a step once, and repair the queue after a step back."""
    offset_ms, to_repair_ms = _offset_ms(context.world), 0
    while True:
        await asyncio.sleep(CHECK_INTERVAL_S)
        before_ms, offset_ms = offset_ms, _offset_ms(context.world)
        step_ms = offset_ms - before_ms
        if abs(step_ms) >= STEP_THRESHOLD_MS:
            _report(context, step_ms)
            to_repair_ms = max(to_repair_ms, -step_ms)
        if to_repair_ms:
            try:
                for slot in context.nodes.reachable(context.slots.held):
                    await repair_slot(context, slot, context.slots.holder, to_repair_ms)
                to_repair_ms = 0
            except StoreUnavailable:
                log.debug("store unavailable; repairing the queue again in a moment")
        if step_ms:
            context.wake(context.carriers)


async def repair_if_set_back(context: Context, slot: int, worker: bytes | None) -> None:
    """Repair a slot if a request in the store is from the future: the clock was set back during a stop.

    Raises SlotNotHeld, StoreUnavailable.
    """
    now = context.world.now()
    newest = await context.store.read(queue_admin.newest_request_at, now, slot)
    ahead_ms = 0 if newest is None else newest - now
    if ahead_ms >= STEP_THRESHOLD_MS:
        await repair_slot(context, slot, worker, ahead_ms)


async def repair_slot(context: Context, slot: int, worker: bytes | None, step_ms: int) -> None:
    """Move due times back after the clock was set back by `step_ms`; scheduled messages keep theirs.

    Raises StoreUnavailable.
    """
    repaired = 0
    for carrier in context.carriers.values():
        for lane in (Lane.SMALL, Lane.CAMPAIGN):
            after: _Cursor | None = _Cursor(context.world.now(), b"")
            while after:
                try:
                    after, count = await context.store.write(
                        run_if_held, slot, worker, _repair_some, slot, carrier, lane, after, step_ms, context.world
                    )
                except SlotNotHeld:
                    return
                repaired += count
    if repaired:
        log.warning("messages no longer wait for the old time", extra={"slot": slot, "messages": repaired})
        context.wake(context.carriers)


def _repair_some(
    tx: Tx, slot: int, carrier: Carrier, lane: Lane, after: _Cursor, step_ms: int, world: World
) -> tuple[_Cursor | None, int]:
    """Look at some jobs that are due later; return where to go on, if anywhere, and how many were changed.

    Due now: messages to be sent at once, and scheduled ones that were tried and whose time has come. Leases end no
    later than new ones.
    """
    now, lease_ms = world.now(), lease_duration_ms(carrier)
    longest_ms = max(lease_ms, MAX_DELAY_MS)
    until = now + step_ms + longest_ms if step_ms < MINUTE else queue_admin.ANY_TIME
    found = queue_admin.find_later(tx, slot, carrier.name, lane, after, until, REPAIR_BATCH)
    shared = requests.get(tx, {identifiers.request_id_of(job.id) for job in found})
    leased = [job.id for job in found if job.is_leased and job.ready_at > now + lease_ms]
    waiting = [job.id for job in found if not job.is_leased and _is_due_at_once(job, shared, now)]
    queue_admin.set_all(tx, leased, now + lease_ms)
    queue_admin.set_all(tx, waiting, now)
    last = found[-1] if len(found) == REPAIR_BATCH else None
    return _Cursor(last.ready_at, last.id) if last else None, len(leased) + len(waiting)


def _is_due_at_once(job: DueJob, shared: Mapping[bytes, requests.Request], now: Instant) -> bool:
    """Return whether a job waits for the clock alone: its request is not for later, or it waits for a retry."""
    request = shared[identifiers.request_id_of(job.id)]
    is_for_later = request.scheduled_at > identifiers.requested_at(request.id)
    return not is_for_later or (job.attempt > 0 and request.scheduled_at <= now)


def _report(context: Context, step_ms: int) -> None:
    direction = "forward" if step_ms > 0 else "back"
    context.metrics.clock_steps.add(1, direction)
    what_follows = (
        "scheduled messages of the skipped time are due now"
        if step_ms > 0
        else "scheduled messages wait for their time again; all others go on"
    )
    log.warning(f"the system's clock was set {direction}; {what_follows}", extra={"seconds": step_ms / SECOND})


def _offset_ms(world: World) -> int:
    return world.now() - round(world.monotonic() * SECOND)
