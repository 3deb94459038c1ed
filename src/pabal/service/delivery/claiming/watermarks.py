"""Watermarks: from when on each lane of the queue has jobs, so that a claim skips what was there before.

PostgreSQL leaves the entries of delivered jobs at the front of the queue's index until vacuum removes them, which
takes a minute or, during a backup, hours.
"""

from collections import deque
from collections.abc import Iterable, Sequence

from pabal.domain.base.dates import SECOND, Instant
from pabal.service.fair_order import HEAD_TTL_S
from pabal.store.queue.queue import Lane

RESET_INTERVAL_MS = 5 * SECOND
"""How long a job below its lane's watermark may be overlooked: it was moved there, or was stored very late."""
SAFETY_MARGIN_MS = 2 * SECOND
"""How far a watermark is below what was found: a send is stored a little later than it is due."""


HEADS_KEPT_MS = round(HEAD_TTL_S * SECOND) + SECOND
"""How long a watermark stays below an earlier head: another process may place a send there that it saw lately."""


class Watermarks:
    """The watermark of each lane: below it there was no job recently, in no slot of this process.

    A send may be placed at the head of its lane in another slot, so the watermarks of all slots follow the lowest.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], Instant] = {}
        self._heads: dict[int, deque[tuple[Instant, Instant]]] = {}
        """By lane, when its head was seen recently and where, both ascending: the first is the lowest."""
        self._reset_at: Instant = 0

    def lanes(self, slots: Iterable[int], now: Instant) -> list[tuple[int, int, Instant]]:
        """Return the lanes of these slots with their watermarks; every few seconds these start again from zero."""
        if not 0 <= now - self._reset_at < RESET_INTERVAL_MS:
            if now < self._reset_at:
                self._heads = {}
            self._known = {}
            self._reset_at = now
        return [(slot, lane, self._watermark(slot, lane)) for slot in slots for lane in (Lane.SMALL, Lane.CAMPAIGN)]

    def record(
        self, lanes: Iterable[tuple[int, int, Instant]], found: Sequence[tuple[int, int, Instant]], now: Instant
    ) -> None:
        """Set the watermarks of these lanes by the next jobs that were found in them at `now`."""
        lowest = {
            wanted: self._lowest(wanted, min((at for _, lane, at in found if lane == wanted), default=now), now)
            for wanted in (Lane.SMALL, Lane.CAMPAIGN)
        }
        for slot, lane, _ in lanes:
            self._known[slot, lane] = lowest[Lane(lane)] - SAFETY_MARGIN_MS

    def for_slot(self, slot: int) -> tuple[Instant, Instant]:
        """Return the watermarks of a slot's two lanes."""
        return self._watermark(slot, Lane.SMALL), self._watermark(slot, Lane.CAMPAIGN)

    def _lowest(self, lane: int, first: Instant, now: Instant) -> Instant:
        """Add the head of a lane; return the lowest of the recent ones."""
        head, heads = min(first, now), self._heads.setdefault(lane, deque())
        while heads and heads[-1][1] >= head:
            heads.pop()
        heads.append((now, head))
        while heads[0][0] < now - HEADS_KEPT_MS:
            heads.popleft()
        return heads[0][1]

    def _watermark(self, slot: int, lane: int) -> Instant:
        return self._known.get((slot, lane), 0)
