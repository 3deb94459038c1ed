"""Gives jobs that stand at a time of the clock a fair place once that has come, where new sends would pass them.

Retries, scheduled sends, fallbacks and jobs of another carrier stand at their own time, and so does a send that was
accepted where nobody knew the head of its lane. While a lane never runs empty, its head falls behind the clock, and
new sends stand before all of them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.dates import SECOND, Instant
from pabal.service.context import Context
from pabal.service.delivery.deadline import store_deadlines
from pabal.service.fair_order import ROOM_MS, LaneKey
from pabal.service.policy import Policy
from pabal.service.queue_heads import read_heads
from pabal.service.sending.placement import WATCHED_BACK_MS
from pabal.store import due_times, expiry, requests
from pabal.store.due_times import DueJob, MovedJob
from pabal.store.engine.base import Tx
from pabal.store.queue import Lane
from pabal.store.slots import SlotNotHeld, run_if_held

MAX_LAG_MS = 3 * SECOND
"""From this lag of a lane's head on, jobs at their own time get places; below it they soon come first anyway."""
INTERVAL_S = 1.0
"""How often to look for jobs that have come due."""
BUSY_INTERVAL_S = 0.1
"""How soon to go on where a look did not get to the end."""
OVERLAP_MS = ROOM_MS + 2 * SECOND
"""How much of the clock's time is looked at again: a job is stored a little later than it is due."""
BATCH = 1000
"""Most jobs that one transaction looks at."""
MAX_BATCHES = 10
"""Most batches of one look, so that claims go on."""


class _Cursor(NamedTuple):
    """The last job of a lane that was looked at."""

    ready_at: Instant
    id: bytes = b""


class OwnTimes:
    """Looks for due jobs of one carrier that lack a place, in the slots that this process holds."""

    def __init__(self, context: Context, carrier: str) -> None:
        self._context = context
        self._carrier = carrier
        self._cursors: dict[tuple[int, int], _Cursor] = {}
        """By slot and lane, while the lane lags: before it, every job has a place."""
        self._look_at = 0.0

    async def place_due(self) -> None:
        """Give places to jobs that have come due since the last look; reads nothing unless a lane lags.

        Raises StoreUnavailable.
        """
        context, clock = self._context, self._context.world.monotonic()
        if clock < self._look_at or not context.slots.held:
            return
        now, cursors = context.world.now(), dict[tuple[int, int], _Cursor]()
        for lane in (Lane.SMALL, Lane.CAMPAIGN):
            key = LaneKey(self._carrier, context.slots.held[0], lane)  # its slots have one head
            if context.fair_order.lag_ms(key, now) > MAX_LAG_MS:
                head = _Cursor(context.fair_order.head_of(key))
                for slot in context.slots.held:
                    known = self._cursors.get((slot, lane), head)
                    cursors[slot, lane] = known if known.ready_at <= now else head  # else the clock was set back
        self._cursors = cursors
        if cursors:
            is_done = await self._look(now)
            self._look_at = clock + (INTERVAL_S if is_done else BUSY_INTERVAL_S)

    async def _look(self, now: Instant) -> bool:
        """Look through the lanes that lag, up to now; return whether that was all."""
        wanted = [(slot, lane, cursor.ready_at) for (slot, lane), cursor in self._cursors.items()]
        found = await read_heads(self._context, self._carrier, wanted)
        waiting = [(slot, lane) for slot, lane, at in sorted(found, key=lambda each: each.at) if at <= now]
        batches = 0
        for slot, lane in self._cursors:
            if (slot, lane) not in waiting and self._context.nodes.is_reachable(slot):
                self._advance(slot, lane, None, now)
        for slot, lane in waiting:
            after: _Cursor | None = self._cursors[slot, lane]
            while after:
                if batches == MAX_BATCHES:
                    return False
                batches += 1
                after = await self._place_some(slot, lane, after, now)
                self._advance(slot, lane, after, now)
        return True

    async def _place_some(self, slot: int, lane: int, after: _Cursor, now: Instant) -> _Cursor | None:
        """Give places to some jobs of a lane; return where to go on, if anywhere."""
        context, key = self._context, LaneKey(self._carrier, slot, lane)
        jobs, account_ids = await context.store.read(find_due, slot, self._carrier, lane, after, now, BATCH)
        moved = []
        for job in jobs:
            account_id = account_ids.get(identifiers.request_id_of(job.id))
            if account_id is not None and lacks_place(job, now):
                is_new = not is_at_own_time(job, now)
                place = context.fair_order.place_due(account_id, key, job.ready_at, is_new=is_new)
                if place < job.ready_at:
                    moved.append(MovedJob(job.id, job.ready_at, place))
        if moved:
            try:
                await context.store.write(
                    run_if_held, slot, context.slots.worker_id, move_to_places, moved, context.policy, now
                )
            except SlotNotHeld:
                return None
        return _after(jobs[-1], now) if len(jobs) == BATCH else None

    def _advance(self, slot: int, lane: int, after: _Cursor | None, now: Instant) -> None:
        """Set from where on the next look goes on: what was stored late is looked at again."""
        latest = _Cursor(now - OVERLAP_MS)
        self._cursors[slot, lane] = max(self._cursors[slot, lane], min(after or latest, latest))


def is_at_own_time(job: DueJob, now: Instant) -> bool:
    """Say whether a job was due later than its request; or earlier, where the clock was set back meanwhile."""
    return job.attempt > 0 or not job.ready_at <= identifiers.requested_at(job.id) <= now


def lacks_place(job: DueJob, now: Instant) -> bool:
    """Say whether a job stands at a time of the clock: its own, or that of a send that knew of no other."""
    return is_at_own_time(job, now) or job.ready_at >= identifiers.requested_at(job.id) - ROOM_MS


def find_due(
    tx: Tx, slot: int, carrier: str, lane: int, after: tuple[Instant, bytes], now: Instant, limit: int
) -> tuple[list[DueJob], dict[bytes, int]]:
    """Return some due jobs of a lane after a place, and the accounts of the requests of those that lack one."""
    jobs = due_times.find_later(tx, slot, carrier, lane, after, now, limit)
    wanted = dict.fromkeys(identifiers.request_id_of(job.id) for job in jobs if lacks_place(job, now))
    return jobs, requests.account_ids(tx, wanted)


def move_to_places(tx: Tx, moved: Sequence[MovedJob], policy: Policy, now: Instant) -> None:
    """Move jobs to their places, and store the deadlines of those that housekeeping would overlook there."""
    due_times.move(tx, moved)
    far_back = dict.fromkeys(
        identifiers.request_id_of(job.id) for job in moved if job.ready_at < now - WATCHED_BACK_MS
    )
    store_deadlines(tx, expiry.find_unwatched(tx, far_back), policy)


def _after(job: DueJob, now: Instant) -> _Cursor:
    """Return where to go on after a job; where it has a place, the others of its request have the same."""
    request_id = identifiers.request_id_of(job.id)
    last_id = job.id if lacks_place(job, now) else identifiers.message_id_range(request_id)[1]
    return _Cursor(job.ready_at, last_id)
