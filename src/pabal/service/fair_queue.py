"""Fair shares between accounts: the position of a request among those that wait for the same carrier.

Start-time fair queuing: a request of an account that has nothing waiting gets the position of the first due job of
its lane, and each further one of the same account a position behind its last one, by how many receivers that had.
The position is the due time of its jobs: for a send that is due it may lie in the past, never in the future. A
worker serves the lanes of all its slots in the order of these times. A job with a due time of its own, such as a
retry, gets a position when that time has come and the lane lags behind the clock.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.base.newest import Newest
from pabal.store.queue.queue import Lane
from pabal.world import World

RECEIVERS_PER_MS = 20
"""How many receivers of one account share a millisecond; more than any carrier sends."""
EMPTY_LANE_OFFSET_MS = 1 * SECOND
"""How far in the past the first request of an empty lane is, so that those that follow at once get positions."""
MAX_SCHEDULED_SPREAD_MS = 60 * SECOND
"""How far the sends of one account for one time are spread at most: a good million receivers."""
MAX_POSITIONS = 100_000
"""Last positions of accounts that a process remembers."""
NEXT_DUE_TTL_S = 2.0
"""How long the first due time of a lane is believed that another process may change."""
SWEPT_BEFORE_MS = 30 * SECOND
"""Jobs that get a position further in the past get their deadline stored at once: the sweep has passed there."""
_OWN_TIMES: Instant = -1
"""The key of an account's jobs that come due by their own time: they wait for each other, not for its new sends."""
_CODES: Instant = -2
"""The key of an account's one-time codes: they wait for each other, and its other sends for them."""


class LaneKey(NamedTuple):
    """A lane of a carrier in a slot."""

    carrier: str
    slot: int
    lane: int


class WorkerLane(NamedTuple):
    """A lane of a carrier in all slots of a worker, named by the first of them."""

    carrier: str
    first_slot: int
    lane: int


class _NextDue(NamedTuple):
    """What was last seen of a worker's lane, and when, on the monotonic clock."""

    at: Instant
    """When its first job is due, or if none was due, when that was seen."""
    is_empty: bool
    seen_at_s: float


class FairQueue:
    """The first due times of lanes that this process knows, and the last position of each account in them."""

    def __init__(self, world: World) -> None:
        self.reads: dict[str, asyncio.Task[None]] = {}
        """By carrier, the running read of its first due times."""
        self._world = world
        self._first_slots: dict[int, int] = {}
        """By slot, the first one of the same worker."""
        self._next_due: dict[WorkerLane, _NextDue] = {}
        self._last: Newest[tuple[int, WorkerLane, Instant | None], float] = Newest(MAX_POSITIONS)

    def record_next_due(
        self,
        carrier: str,
        slots: Sequence[int],
        found: Iterable[tuple[int, int, Instant]],
        now: Instant,
    ) -> None:
        """Record what comes next in the slots of one worker: slot, lane and time of the first job in each lane."""
        if not slots:
            return  # the worker has just lost all of them
        first = dict.fromkeys((Lane.SMALL, Lane.CAMPAIGN), now)
        for _, lane, at in found:
            first[Lane(lane)] = min(at, first[Lane(lane)])
        first_slot, seen_at_s = min(slots), self._world.monotonic()
        self._first_slots.update(dict.fromkeys(slots, first_slot))
        for lane, at in first.items():
            self._next_due[WorkerLane(carrier, first_slot, lane)] = _NextDue(at, at == now, seen_at_s)

    def next_due_at(self, key: LaneKey) -> Instant:
        """Return the first due time of a lane as it was last seen, 0 if it never was."""
        found = self._next_due.get(self._worker_lane(key))
        return found.at if found else 0

    def lag_ms(self, key: LaneKey, now: Instant) -> int:
        """Return how far a lane lags behind the clock, 0 if nothing was due there."""
        found = self._next_due.get(self._worker_lane(key))
        return 0 if found is None or found.is_empty else max(0, now - found.at)

    def is_fresh(self, key: LaneKey, max_age_s: float) -> bool:
        """Return whether the first due time of a lane was seen this recently."""
        found = self._next_due.get(self._worker_lane(key))
        return found is not None and self._world.monotonic() - found.seen_at_s <= max_age_s

    def position_new(
        self,
        account_id: int,
        key: LaneKey,
        receivers: int,
        now: Instant,
        *,
        is_shared: bool,
        is_code: bool = False,
    ) -> Instant:
        """Return the position of a send that is due; a one-time code is only behind other codes of its account.

        While other processes may serve the lane, only a first due time that was seen just now is believed.
        """
        lane = self._worker_lane(key)
        known, is_empty, seen_at_s = self._next_due.get(lane, (now, True, 0.0))
        if is_shared and (is_empty or self._world.monotonic() - seen_at_s > NEXT_DUE_TTL_S):
            known, is_empty = now, True
        first = known - EMPTY_LANE_OFFSET_MS if is_empty else known
        new = (account_id, lane, None)
        own = (account_id, lane, _CODES) if is_code else new
        position = min(float(now), max(float(first), self._last.get(own, 0.0)))
        if is_code:  # its other sends give way, so that codes do not add to its share
            self._last[new] = max(float(first), self._last.get(new, 0.0)) + receivers / RECEIVERS_PER_MS
        self._last[own] = position + receivers / RECEIVERS_PER_MS
        return int(position)

    def position_scheduled(self, account_id: int, key: LaneKey, receivers: int, scheduled_at: Instant) -> Instant:
        """Return the position of a scheduled send: behind those of its account for the same time, never earlier."""
        last = (account_id, self._worker_lane(key), scheduled_at)
        position = self._last.get(last, float(scheduled_at))
        self._last[last] = position + receivers / RECEIVERS_PER_MS
        return min(int(position), scheduled_at + MAX_SCHEDULED_SPREAD_MS)

    def position_retried(
        self,
        account_id: int,
        key: LaneKey,
        due_at: Instant,
        jobs: int = 1,
        *,
        is_new: bool,
        is_again: bool = False,
        is_code: bool = False,
    ) -> Instant:
        """Return the position of some due jobs that have none: the lane's first, or behind others of their account.

        A new send, which was accepted without knowing the lane, goes behind the account's new sends. Others, such
        as retries, go behind those that came due before, and the account's new sends one receiver further back for
        each. Jobs keep their time if that is earlier; others go behind them too, unless it `is_again`: they were
        counted before. One-time codes go behind other codes alone.
        """
        lane, first = self._worker_lane(key), float(self.next_due_at(key))
        new = (account_id, lane, None)
        own = (account_id, lane, _CODES if is_code else None if is_new else _OWN_TIMES)
        last_new = max(first, self._last.get(new, 0.0))
        position = max(first, self._last.get(own, 0.0))
        keeps_time = position >= due_at
        if keeps_time and (is_new or is_again):
            return due_at
        self._last[new] = last_new + jobs / RECEIVERS_PER_MS
        self._last[own] = position + jobs / RECEIVERS_PER_MS
        return due_at if keeps_time else int(position)

    def _worker_lane(self, key: LaneKey) -> WorkerLane:
        return WorkerLane(key.carrier, self._first_slots.get(key.slot, key.slot), key.lane)
