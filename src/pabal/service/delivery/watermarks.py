"""Watermarks: from when on each lane of the queue has jobs, so that a claim skips what was there before.

PostgreSQL leaves the entries of delivered jobs at the front of the queue's index until vacuum removes them, which
takes a minute or, during a backup, hours.
"""

from collections.abc import Iterable, Sequence

from pabal.domain.dates import SECOND, Instant
from pabal.store.queue import Lane

RESET_INTERVAL_MS = 5 * SECOND
"""How long a job below its lane's watermark may be overlooked: it was moved there, or was stored very late."""
SAFETY_MARGIN_MS = 2 * SECOND
"""How far a watermark is below what was found: a send is stored a little later than it is due."""


class Watermarks:
    """The watermark of each lane: below it there was no job recently."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], Instant] = {}
        self._reset_at: Instant = 0

    def lanes(self, slots: Iterable[int], now: Instant) -> list[tuple[int, int, Instant]]:
        """Return the lanes of these slots with their watermarks; every few seconds these start again from zero."""
        if not 0 <= now - self._reset_at < RESET_INTERVAL_MS:
            self._known = {}
            self._reset_at = now
        return [(slot, lane, self._watermark(slot, lane)) for slot in slots for lane in (Lane.SMALL, Lane.CAMPAIGN)]

    def record(
        self, lanes: Iterable[tuple[int, int, Instant]], found: Sequence[tuple[int, int, Instant]], now: Instant
    ) -> None:
        """Set the watermarks of these lanes by the next jobs that were found in them at `now`."""
        first = {(slot, lane): at for slot, lane, at in found}
        for slot, lane, _ in lanes:
            self._known[slot, lane] = min(first.get((slot, lane), now), now) - SAFETY_MARGIN_MS

    def for_slot(self, slot: int) -> tuple[Instant, Instant]:
        """Return the watermarks of a slot's two lanes."""
        return self._watermark(slot, Lane.SMALL), self._watermark(slot, Lane.CAMPAIGN)

    def _watermark(self, slot: int, lane: int) -> Instant:
        return self._known.get((slot, lane), 0)
