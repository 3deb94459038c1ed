"""Fair shares between accounts: where a new request stands among those that wait for the same carrier.

Start-time fair queuing: a request of an account that has nothing waiting stands at the head of its lane, and each
further one of the same account behind its last one, by how many receivers that had. The place is the time of its
jobs: for a send that is due it may lie in the past, never in the future. A worker serves the lanes of all its slots
in the order of these times, so their head is the first job in any of them. A job that stands at its own time, such
as a retry, gets a place when that time has come and the head has fallen behind.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pabal.domain.base.dates import SECOND, Instant
from pabal.store.queue.queue import Lane
from pabal.world import World

RECEIVERS_PER_MS = 20
"""How many receivers of one account stand at the same millisecond; more than any carrier sends."""
ROOM_MS = 1 * SECOND
"""How far in the past the first request of an empty lane stands, so that those that follow at once have a place."""
MAX_SCHEDULED_SPREAD_MS = 60 * SECOND
"""How far the sends of one account for one time are spread at most: a good million receivers."""
MAX_PLACES = 100_000
HEAD_TTL_S = 2.0
"""How long a head that another process may move is believed."""
_OWN_TIMES: Instant = -1
"""Stands for the jobs of an account whose own time has come: they wait for each other, not for its new sends."""


class LaneKey(NamedTuple):
    """A lane of a carrier in a slot."""

    carrier: str
    slot: int
    lane: int


class _SharedKey(NamedTuple):
    """A lane of a carrier in all slots of a worker, of which one stands for all."""

    carrier: str
    first_slot: int
    lane: int


class FairOrder:
    """The heads of lanes that this process knows, and the last place of each account in them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._first_slots: dict[int, int] = {}
        """By slot, the first one of the same worker."""
        self._heads: dict[_SharedKey, tuple[Instant, bool, float]] = {}
        """The first due job of a worker's lane, or when there was none; which of both; and when that was seen."""
        self._last: OrderedDict[tuple[int, _SharedKey, Instant | None], float] = OrderedDict()

    def observe(
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
        first_slot, seen_at = min(slots), self._world.monotonic()
        self._first_slots.update(dict.fromkeys(slots, first_slot))
        for lane, head in first.items():
            self._heads[_SharedKey(carrier, first_slot, lane)] = (head, head == now, seen_at)

    def head_of(self, key: LaneKey) -> Instant:
        """Return the head of a lane as it was last seen, 0 if it never was."""
        found = self._heads.get(self._shared(key))
        return found[0] if found else 0

    def lag_ms(self, key: LaneKey, now: Instant) -> int:
        """Return how far the head of a lane is behind the clock, 0 if nothing was due there."""
        head, is_empty, _ = self._heads.get(self._shared(key), (now, True, 0.0))
        return 0 if is_empty else max(0, now - head)

    def is_fresh(self, key: LaneKey, max_age_s: float) -> bool:
        """Say whether the head of a lane was seen this recently."""
        found = self._heads.get(self._shared(key))
        return found is not None and self._world.monotonic() - found[2] <= max_age_s

    def place_now(self, account_id: int, key: LaneKey, receivers: int, now: Instant, *, is_shared: bool) -> Instant:
        """Return the place of a send that is due.

        While other processes may serve the lane, only a head that was seen just now is believed.
        """
        shared = self._shared(key)
        head, is_empty, seen_at = self._heads.get(shared, (now, True, 0.0))
        if is_shared and (is_empty or self._world.monotonic() - seen_at > HEAD_TTL_S):
            head, is_empty = now, True
        first = head - ROOM_MS if is_empty else head
        last = (account_id, shared, None)
        place = min(float(now), max(float(first), self._last.get(last, 0.0)))
        self._remember(last, place + receivers / RECEIVERS_PER_MS)
        return int(place)

    def place_later(self, account_id: int, key: LaneKey, receivers: int, scheduled_at: Instant) -> Instant:
        """Return the place of a scheduled send: behind those of its account for the same time, never earlier."""
        shared = self._shared(key)
        place = self._last.get((account_id, shared, scheduled_at), float(scheduled_at))
        self._remember((account_id, shared, scheduled_at), place + receivers / RECEIVERS_PER_MS)
        return min(int(place), scheduled_at + MAX_SCHEDULED_SPREAD_MS)

    def place_due(
        self,
        account_id: int,
        key: LaneKey,
        due_at: Instant,
        jobs: int = 1,
        *,
        is_new: bool,
        is_again: bool = False,
    ) -> Instant:
        """Return the place of some due jobs that have none yet: the head, or behind others of their account.

        A new send, which was accepted without knowing the head, stands behind the account's new sends. Others stand
        behind those that came due before, and the account's new sends one receiver further back for each. Jobs keep
        their time if that is earlier; others stand behind them too, unless it `is_again`: they were counted before.
        """
        shared, head = self._shared(key), float(self.head_of(key))
        new, own = (account_id, shared, None), (account_id, shared, _OWN_TIMES)
        last_new = max(head, self._last.get(new, 0.0))
        place = last_new if is_new else max(head, self._last.get(own, 0.0))
        keeps_time = place >= due_at
        if keeps_time and (is_new or is_again):
            return due_at
        if not is_new:
            self._remember(own, place + jobs / RECEIVERS_PER_MS)
        self._remember(new, last_new + jobs / RECEIVERS_PER_MS)
        return due_at if keeps_time else int(place)

    def _shared(self, key: LaneKey) -> _SharedKey:
        return _SharedKey(key.carrier, self._first_slots.get(key.slot, key.slot), key.lane)

    def _remember(self, key: tuple[int, _SharedKey, Instant | None], last: float) -> None:
        self._last[key] = last
        self._last.move_to_end(key)
        if len(self._last) > MAX_PLACES:
            self._last.popitem(last=False)
