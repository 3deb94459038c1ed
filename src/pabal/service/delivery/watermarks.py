"""From when on the lanes of the queue have anything, so that a claim does not walk what was there before.

PostgreSQL keeps what was delivered at the front of the queue's index until it is tidied up, which takes a minute
or, amid a backup, hours.
"""

from collections.abc import Iterable, Sequence

from pabal.domain.dates import SECOND, Instant
from pabal.store.queue import Lane

RESET_INTERVAL_MS = 5 * SECOND
"""How long a job that comes in below its lane's floor may be overlooked: it was moved there, or took very long."""
SAFETY_MARGIN_MS = 2 * SECOND
"""Floors are so much lower than what was found: a send is kept a little later than it is due."""


class Watermarks:
    """The floor of each lane of some slots: below it, nothing waited of late."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], Instant] = {}
        self._reset_at: Instant = 0

    def lanes(self, slots: Iterable[int], now: Instant) -> list[tuple[int, int, Instant]]:
        """Return the lanes of these slots to look at, each from its floor on; every few seconds from the first."""
        if not 0 <= now - self._reset_at < RESET_INTERVAL_MS:
            self._known = {}
            self._reset_at = now
        return [(slot, lane, self._watermark(slot, lane)) for slot in slots for lane in (Lane.SMALL, Lane.CAMPAIGN)]

    def record(
        self, lanes: Iterable[tuple[int, int, Instant]], found: Sequence[tuple[int, int, Instant]], now: Instant
    ) -> None:
        """Take in what came next in these lanes, looked at when it was `now`."""
        first = {(slot, lane): at for slot, lane, at in found}
        for slot, lane, _ in lanes:
            self._known[slot, lane] = min(first.get((slot, lane), now), now) - SAFETY_MARGIN_MS

    def for_slot(self, slot: int) -> tuple[Instant, Instant]:
        """Return the floors of a slot's two lanes."""
        return self._watermark(slot, Lane.SMALL), self._watermark(slot, Lane.CAMPAIGN)

    def _watermark(self, slot: int, lane: int) -> Instant:
        return self._known.get((slot, lane), 0)
