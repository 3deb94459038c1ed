"""Gives jobs with a due time of their own a fair position once that has come, where new sends would pass them.

Retries, scheduled sends, fallbacks and jobs of another carrier are due at a time of the clock, and so is a send
that was accepted where nobody knew its lane. While a lane never runs empty, it lags behind the clock, and new sends
get positions before all of them.
"""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import SECOND, Instant
from pabal.service.context import Context
from pabal.service.fair_queue import EMPTY_LANE_OFFSET_MS, SWEPT_BEFORE_MS, LaneKey
from pabal.service.next_due import read_next_due
from pabal.service.policy import Policy
from pabal.store.engine.base import Tx, transaction
from pabal.store.messages import requests
from pabal.store.queue import deadlines, queue_admin, slots
from pabal.store.queue.queue import Lane
from pabal.store.queue.queue_admin import DueJob, MovedJob
from pabal.store.queue.slots import SlotNotHeld

MAX_LAG_MS = 3 * SECOND
"""From this lag of a lane on, jobs at their own time get positions; below it they soon come first anyway."""
INTERVAL_S = 1.0
"""How often to look for jobs that have come due."""
BUSY_INTERVAL_S = 0.1
"""How soon to go on where a look did not get to the end."""
OVERLAP_MS = EMPTY_LANE_OFFSET_MS + 2 * SECOND
"""How much of the clock's time is looked at again: a job is stored a little later than it is due."""
BATCH = 2000
"""Most jobs that one transaction looks at, and about as many as one look does, so that claims go on."""
MOVES_PER_WRITE = 500
MAX_JOBS_PER_POSITION = 100
"""Jobs of one request that get a position together; those of another account do not wait long behind them."""
POSITIONS_PER_TURN = 250
"""Positions that are found in one step of the event loop: about a millisecond."""


class JobsOfOneTime(NamedTuple):
    """Jobs of one request with the same due time, which is not a position."""

    account_id: int
    ready_at: Instant
    is_new: bool
    """Whether it is the time of a send that knew of no other; else it is their own."""
    is_code: bool
    ids: list[bytes]


class DuePage(NamedTuple):
    """What a look at some due jobs of a lane has found."""

    to_position: list[JobsOfOneTime]
    looked_at: int
    last_at: Instant
    """The time of the last one looked at."""
    go_on_at: Instant | None
    """From when on there may be more."""


class DueRequeuer:
    """Looks for due jobs of one carrier that have no position, in the slots that this process holds."""

    def __init__(self, context: Context, carrier: str) -> None:
        self._context = context
        self._carrier = carrier
        self._cursors: dict[tuple[int, int], Instant] = {}
        """By slot and lane, while the lane lags: before this time, every job has a position."""
        self._counted: dict[tuple[int, int], Instant] = {}
        """The same, up to when jobs were looked at: jobs until then are not counted again."""
        self._look_at = 0.0

    async def requeue(self) -> None:
        """Give positions to jobs that have come due since the last look; reads nothing unless a lane lags.

        Raises StoreUnavailable.
        """
        context, clock = self._context, self._context.world.monotonic()
        if clock < self._look_at or not context.slots.held:
            return
        now, cursors = context.world.now(), dict[tuple[int, int], Instant]()
        for lane in (Lane.SMALL, Lane.CAMPAIGN):
            key = LaneKey(self._carrier, context.slots.held[0], lane)  # its slots are served as one
            if context.fair_queue.lag_ms(key, now) > MAX_LAG_MS:
                first = context.fair_queue.next_due_at(key)
                for slot in context.slots.held:
                    known = self._cursors.get((slot, lane), first)
                    cursors[slot, lane] = known if known <= now else first  # else the clock was set back
        self._cursors = cursors
        self._counted = {each: at for each, at in self._counted.items() if each in cursors and at <= now}
        if cursors:
            is_done = await self._look(now)
            self._look_at = clock + (INTERVAL_S if is_done else BUSY_INTERVAL_S)

    async def _look(self, now: Instant) -> bool:
        """Look through the lanes that lag, up to now; return whether that was all."""
        wanted = [(slot, lane, cursor) for (slot, lane), cursor in self._cursors.items()]
        found = await read_next_due(self._context, self._carrier, wanted)
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
                count, since = await self._requeue_some(slot, lane, since, now)
                looked_at += count
                self._advance(slot, lane, since, now)
        return True

    async def _requeue_some(self, slot: int, lane: int, since: Instant, now: Instant) -> tuple[int, Instant | None]:
        """Give positions to some jobs of a lane; return how many were looked at, and from when to go on, if so."""
        context, key = self._context, LaneKey(self._carrier, slot, lane)
        page = await context.store.read(find_due, slot, self._carrier, lane, since, now, BATCH)
        counted, go_on_at, moved = self._counted.get((slot, lane), 0), page.go_on_at, list[MovedJob]()
        for begin in range(0, len(page.to_position), POSITIONS_PER_TURN):
            if begin:
                await asyncio.sleep(0)  # others run
            for account_id, ready_at, is_new, is_code, ids in page.to_position[begin : begin + POSITIONS_PER_TURN]:
                is_again = ready_at <= counted
                position = context.fair_queue.position_retried(
                    account_id, key, ready_at, len(ids), is_new=is_new, is_again=is_again, is_code=is_code
                )
                if position < ready_at:
                    moved += [MovedJob(one, ready_at, position) for one in ids]
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
        context, here = self._context, self._context.slots
        for begin in range(0, len(moved), MOVES_PER_WRITE):
            some = moved[begin : begin + MOVES_PER_WRITE]
            await context.store.write(reschedule, slot, here.holder, here.are_noted, some, context.policy, now)

    def _advance(self, slot: int, lane: int, since: Instant | None, now: Instant) -> None:
        """Set where the next search starts: what was stored late is read again."""
        latest = now - OVERLAP_MS
        self._cursors[slot, lane] = max(self._cursors[slot, lane], latest if since is None else min(since, latest))


class _SameTime(NamedTuple):
    """What jobs of one request with the same due time have in common."""

    request_id: bytes
    ready_at: Instant
    was_tried: bool

    def is_own(self, now: Instant) -> bool:
        """Return whether they were due later than their request; or earlier, where the clock was set back since."""
        return self.was_tried or not self.ready_at <= identifiers.requested_at(self.request_id) <= now

    def is_of_clock(self, now: Instant) -> bool:
        """Return whether that is a time of the clock: their own, or that of a send that knew of no other."""
        return self.is_own(now) or self.ready_at >= identifiers.requested_at(self.request_id) - EMPTY_LANE_OFFSET_MS


@transaction(slot_of=lambda slot, *_: slot, stays_in_slot=lambda *_: True)
def find_due(tx: Tx, slot: int, carrier: str, lane: int, since: Instant, now: Instant, limit: int) -> DuePage:
    """Look at some due jobs of a lane from a time on."""
    jobs, go_on_at = _split(queue_admin.find_since(tx, slot, carrier, lane, since, now, limit), limit)
    groups: dict[_SameTime, list[bytes]] = {}
    for one, ready_at, attempt, _ in jobs:
        groups.setdefault(_SameTime(identifiers.request_id_of(one), ready_at, attempt > 0), []).append(one)
    found = [(same, ids) for same, ids in groups.items() if same.is_of_clock(now)]
    owners = requests.find_owners(tx, dict.fromkeys(same.request_id for same, _ in found))
    to_position = [
        JobsOfOneTime(
            owners[same.request_id][0],
            same.ready_at,
            not same.is_own(now),
            owners[same.request_id][1],
            ids[begin : begin + MAX_JOBS_PER_POSITION],
        )
        for same, ids in found
        if same.request_id in owners
        for begin in range(0, len(ids), MAX_JOBS_PER_POSITION)
    ]
    return DuePage(to_position, len(jobs), jobs[-1].ready_at if jobs else since, go_on_at)


@transaction(
    slot_of=lambda slot, *_: slot, stays_in_slot=lambda slot, holder, are_noted, *_: holder is None or are_noted
)
def reschedule(
    tx: Tx,
    slot: int,
    holder: bytes | None,
    are_noted: bool,
    moved: Sequence[MovedJob],
    policy: Policy,
    now: Instant,
) -> None:
    """Give jobs their positions, and store the deadlines of those that the sweep would overlook there.

    Raises SlotNotHeld where another worker has got the slot, or where that is noted beside its jobs.
    """
    is_held = slots.is_noted if are_noted else slots.is_held
    if holder is not None and not is_held(tx, slot, holder):
        raise SlotNotHeld(slot)
    queue_admin.reschedule(tx, moved)
    far_back = dict.fromkeys(
        identifiers.request_id_of(job.id) for job in moved if job.ready_at < now - SWEPT_BEFORE_MS
    )
    deadlines.watch(tx, far_back, policy.lifetime_ms)


def _split(found: Sequence[DueJob], limit: int) -> tuple[Sequence[DueJob], Instant | None]:
    """Return what to look at of what was found, and from when to go on: there may be more of the last time."""
    if len(found) < limit:
        return found, None
    last = found[-1].ready_at
    return [job for job in found if job.ready_at < last] or found, last
