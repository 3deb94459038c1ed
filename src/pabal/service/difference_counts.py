"""Counts how calls of other relays' endpoints differ from what happens here, and stores that now and then."""

import asyncio
import contextlib
import logging
from zoneinfo import ZoneInfo

from pabal.domain.base import dates
from pabal.service.errors import describe_error
from pabal.store.accounts import compat_differences
from pabal.store.accounts.compat_differences import DifferenceKey
from pabal.store.engine.base import Store, StoreUnavailable
from pabal.world import World

WRITE_INTERVAL_S = 30.0
"""How long counts are collected before they are written together."""
MAX_COLLECTED = 5_000
"""Most different ones that are collected; further ones are not counted in that time."""

log = logging.getLogger("pabal.compat")


class DifferenceCounts:
    """Collects counts in memory: a call costs no more for them than a look into a table."""

    def __init__(self, store: Store, world: World, zone: ZoneInfo) -> None:
        self._store = store
        self._world = world
        self._zone = zone
        self._counts: dict[DifferenceKey, int] = {}
        self._writing: asyncio.Task[None] | None = None

    def add(self, key: DifferenceKey, uses: int = 1) -> None:
        """Count something that has just happened."""
        if key not in self._counts and len(self._counts) >= MAX_COLLECTED:
            return
        self._counts[key] = self._counts.get(key, 0) + uses
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write_later())

    def has(self, key: DifferenceKey) -> bool:
        """Tell whether it was counted a short while ago."""
        return key in self._counts

    async def stop(self) -> None:
        """Write what was collected."""
        if self._writing:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
        await self._write()

    async def _write_later(self) -> None:
        try:
            await asyncio.sleep(WRITE_INTERVAL_S)
            await self._write()
        except Exception as error:  # a bug, whose message may hold personal data
            log.error("differences of calls could not be stored", extra=describe_error(error))
        finally:
            self._writing = None

    async def _write(self) -> None:
        counts, self._counts = self._counts, {}
        if counts:
            day = dates.day_of(self._world.now(), self._zone).start or 0
            with contextlib.suppress(StoreUnavailable):  # what happens again is counted again
                await self._store.write_relaxed(compat_differences.add, day, counts)
