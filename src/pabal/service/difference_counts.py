"""Counts how calls of other relays' endpoints differ from what happens here, and stores that now and then."""

from zoneinfo import ZoneInfo

from pabal.domain.base import dates
from pabal.service.delayed_writes import DelayedWrites
from pabal.store.accounts import compat_differences
from pabal.store.accounts.compat_differences import DifferenceKey
from pabal.store.engine.base import Store
from pabal.world import World

MAX_COLLECTED = 5_000
"""Most different ones that are collected; further ones are not counted in that time."""


class DifferenceCounts(DelayedWrites):
    """Collects counts: a call costs no more for them than a look into a table."""

    def __init__(self, store: Store, world: World, zone: ZoneInfo) -> None:
        super().__init__(store, world)
        self._zone = zone
        self._counts: dict[DifferenceKey, int] = {}

    def add(self, key: DifferenceKey, uses: int = 1) -> None:
        """Count something that has just happened."""
        if key not in self._counts and len(self._counts) >= MAX_COLLECTED:
            return
        self._counts[key] = self._counts.get(key, 0) + uses
        self._write_soon()

    def has(self, key: DifferenceKey) -> bool:
        """Tell whether it was counted a short while ago."""
        return key in self._counts

    async def _write(self) -> None:
        counts, self._counts = self._counts, {}
        if counts:
            day = dates.day_of(self._world.now(), self._zone).start or 0
            await self._store.write_relaxed(compat_differences.add, day, counts)
