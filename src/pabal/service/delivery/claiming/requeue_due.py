"""Gives jobs that stand at a time of the clock a fair place once that has come, where new sends would pass them.

Retries, scheduled sends, fallbacks and jobs of another carrier stand at their own time, and so does a send that was
accepted where nobody knew the head of its lane. While a lane never runs empty, its head falls behind the clock, and
new sends stand before all of them.
"""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import SECOND, Instant
from pabal.service.context import Context
from pabal.service.fair_order import ROOM_MS, LaneKey
from pabal.service.policy import Policy
from pabal.service.queue_heads import read_heads
from pabal.service.sending.placement import WATCHED_BACK_MS
from pabal.store.engine.base import Tx
from pabal.store.messages import requests
from pabal.store.queue import deadlines, due_times
from pabal.store.queue.due_times import DueJob, MovedJob
from pabal.store.queue.queue import Lane
from pabal.store.queue.slots import SlotNotHeld, run_if_held

MAX_LAG_MS = 3 * SECOND
"""From this lag of a lane's head on, jobs at their own time get places; below it they soon come first anyway."""
INTERVAL_S = 1.0
"""How often to look for jobs that have come due."""
BUSY_INTERVAL_S = 0.1
"""How soon to go on where a look did not get to the end."""
OVERLAP_MS = ROOM_MS + 2 * SECOND
"""How much of the clock's time is looked at again: a job is stored a little later than it is due."""
BATCH = 2000
"""Most jobs that one transaction looks at, and about as many as one look does, so that claims go on."""
MOVES_PER_WRITE = 500
MAX_JOBS_PER_PLACE = 100
"""Jobs of one request that get a place together; those of another account do not wait long behind them."""
PLACES_PER_TURN = 250
"""Places that are found in one turn of the event loop: about a millisecond."""


class PlacelessJobs(NamedTuple):
    """Jobs of one request that stand at the same time and lack a place."""

    account_id: int
    ready_at: Instant
    is_new: bool
    """Whether it is the time of a send that knew of no other; else it is their own."""
    ids: list[bytes]


class DuePage(NamedTuple):
    """What a look at some due jobs of a lane has found."""

    placeless: list[PlacelessJobs]
    looked_at: int
    last_at: Instant
    """The time of the last one looked at."""
    go_on_at: Instant | None
    """From when on there may be more."""


class OwnTimes:
    """Looks for due jobs of one carrier that lack a place, in the slots that this process holds."""

    def __init__(self, context: Context, carrier: str) -> None:
        self._context = context
        self._carrier = carrier
        self._cursors: dict[tuple[int, int], Instant] = {}
        """By slot and lane, while the lane lags: before this time, every job has a place."""
        self._counted: dict[tuple[int, int], Instant] = {}
        """The same, up to when jobs were looked at: jobs until then are not counted again."""
        self._look_at = 0.0

    async def place_due(self) -> None:
        """Give places to jobs that have come due since the last look; reads nothing unless a lane lags.

        Raises StoreUnavailable.
        """
        context, clock = self._context, self._context.world.monotonic()
        if clock < self._look_at or not context.slots.held:
            return
        now, cursors = context.world.now(), dict[tuple[int, int], Instant]()
        for lane in (Lane.SMALL, Lane.CAMPAIGN):
            key = LaneKey(self._carrier, context.slots.held[0], lane)  # its slots have one head
            if context.fair_order.lag_ms(key, now) > MAX_LAG_MS:
                head = context.fair_order.head_of(key)
                for slot in context.slots.held:
                    known = self._cursors.get((slot, lane), head)
                    cursors[slot, lane] = known if known <= now else head  # else the clock was set back
        self._cursors = cursors
        self._counted = {each: at for each, at in self._counted.items() if each in cursors and at <= now}
        if cursors:
            is_done = await self._look(now)
            self._look_at = clock + (INTERVAL_S if is_done else BUSY_INTERVAL_S)

    async def _look(self, now: Instant) -> bool:
        """Look through the lanes that lag, up to now; return whether that was all."""
        wanted = [(slot, lane, cursor) for (slot, lane), cursor in self._cursors.items()]
        found = await read_heads(self._context, self._carrier, wanted)
        waiting = [(slot, lane) for slot, lane, at in sorted(found, key=lambda each: each.at) if at <= now]
        looked_at = 0
        for slot, lane in self._cursors:
            if (slot, lane) not in waiting and self._context.nodes.is_reachable(slot):
                self._advance(slot, lane, None, now)
        for slot, lane in waiting:
            since: Instant | None = self._cursors[slot, lane]
            while since is not None:
                if looked_at >= BATCH:
                    return False
                count, since = await self._place_some(slot, lane, since, now)
                looked_at += count
                self._advance(slot, lane, since, now)
        return True

    async def _place_some(self, slot: int, lane: int, since: Instant, now: Instant) -> tuple[int, Instant | None]:
        """Give places to some jobs of a lane; return how many were looked at, and from when to go on, if at all."""
        context, key = self._context, LaneKey(self._carrier, slot, lane)
        page = await context.store.read(find_due, slot, self._carrier, lane, since, now, BATCH)
        counted, go_on_at, moved = self._counted.get((slot, lane), 0), page.go_on_at, list[MovedJob]()
        for begin in range(0, len(page.placeless), PLACES_PER_TURN):
            if begin:
                await asyncio.sleep(0)  # others get their turn
            for account_id, ready_at, is_new, ids in page.placeless[begin : begin + PLACES_PER_TURN]:
                place = context.fair_order.place_due(
                    account_id, key, ready_at, len(ids), is_new=is_new, is_again=ready_at <= counted
                )
                if place < ready_at:
                    moved += [MovedJob(one, ready_at, place) for one in ids]
        if page.looked_at:
            self._counted[slot, lane] = max(counted, page.last_at)
        if moved:
            try:
                await self._move(slot, moved, now)
            except SlotNotHeld:
                return page.looked_at, None
        elif go_on_at is not None and page.last_at == go_on_at:
            go_on_at += 1  # the others of so many at one time keep it like these
        return page.looked_at, go_on_at

    async def _move(self, slot: int, moved: Sequence[MovedJob], now: Instant) -> None:
        """Move jobs, in writes between which single sends can be stored."""
        context = self._context
        for begin in range(0, len(moved), MOVES_PER_WRITE):
            some = moved[begin : begin + MOVES_PER_WRITE]
            await context.store.write(
                run_if_held, slot, context.slots.holder, move_to_places, some, context.policy, now
            )

    def _advance(self, slot: int, lane: int, since: Instant | None, now: Instant) -> None:
        """Set from where on the next look goes on: what was stored late is looked at again."""
        latest = now - OVERLAP_MS
        self._cursors[slot, lane] = max(self._cursors[slot, lane], latest if since is None else min(since, latest))


class _SameTime(NamedTuple):
    """What jobs of one request have in common that stand at the same time."""

    request_id: bytes
    ready_at: Instant
    was_tried: bool

    def is_own(self, now: Instant) -> bool:
        """Say whether they were due later than their request; or earlier, where the clock was set back since."""
        return self.was_tried or not self.ready_at <= identifiers.requested_at(self.request_id) <= now

    def is_of_clock(self, now: Instant) -> bool:
        """Say whether they stand at a time of the clock: their own, or that of a send that knew of no other."""
        return self.is_own(now) or self.ready_at >= identifiers.requested_at(self.request_id) - ROOM_MS


def find_due(tx: Tx, slot: int, carrier: str, lane: int, since: Instant, now: Instant, limit: int) -> DuePage:
    """Look at some due jobs of a lane from a time on."""
    jobs, go_on_at = _split(due_times.find_since(tx, slot, carrier, lane, since, now, limit), limit)
    groups: dict[_SameTime, list[bytes]] = {}
    for one, ready_at, attempt, _ in jobs:
        groups.setdefault(_SameTime(identifiers.request_id_of(one), ready_at, attempt > 0), []).append(one)
    found = [(same, ids) for same, ids in groups.items() if same.is_of_clock(now)]
    account_ids = requests.account_ids(tx, dict.fromkeys(same.request_id for same, _ in found))
    placeless = [
        PlacelessJobs(
            account_ids[same.request_id],
            same.ready_at,
            not same.is_own(now),
            ids[begin : begin + MAX_JOBS_PER_PLACE],
        )
        for same, ids in found
        if same.request_id in account_ids
        for begin in range(0, len(ids), MAX_JOBS_PER_PLACE)
    ]
    return DuePage(placeless, len(jobs), jobs[-1].ready_at if jobs else since, go_on_at)


def move_to_places(tx: Tx, moved: Sequence[MovedJob], policy: Policy, now: Instant) -> None:
    """Move jobs to their places, and store the deadlines of those that housekeeping would overlook there."""
    due_times.move(tx, moved)
    far_back = dict.fromkeys(
        identifiers.request_id_of(job.id) for job in moved if job.ready_at < now - WATCHED_BACK_MS
    )
    deadlines.watch(tx, far_back, policy.lifetime_ms)


def _split(found: Sequence[DueJob], limit: int) -> tuple[Sequence[DueJob], Instant | None]:
    """Return what to look at of what was found, and from when to go on: there may be more of the last time."""
    if len(found) < limit:
        return found, None
    last = found[-1].ready_at
    return [job for job in found if job.ready_at < last] or found, last
