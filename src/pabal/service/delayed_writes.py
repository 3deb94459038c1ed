"""What is collected in memory and written twice a minute: last uses of keys, and counts of differing calls."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar
from zoneinfo import ZoneInfo

from pabal.domain.base import dates
from pabal.domain.base.dates import Instant
from pabal.service.errors import describe_error
from pabal.store.accounts import accounts, compat_differences
from pabal.store.accounts.compat_differences import DifferenceKey
from pabal.store.engine.base import Store, StoreUnavailable, Tx
from pabal.world import World

WRITE_INTERVAL_S = 30.0
"""How long it is collected before it is written together."""
MAX_KEYS = 10_000
"""Keys whose uses are collected at most; those of others are not recorded in that time."""
MAX_DIFFERENCES = 5_000
"""Different ones that are counted at most; further ones are not counted in that time."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

log = logging.getLogger("pabal.store")


class _DelayedWrites(Generic[K, V]):
    """Collects values, and writes them a while after the first; a kill of the process loses that while."""

    def __init__(self, store: Store, world: World, most: int, write: Callable[[Tx, Mapping[K, V]], None]) -> None:
        self._store = store
        self._world = world
        self._most = most
        self._write = write
        self._collected: dict[K, V] = {}
        self._writing: asyncio.Task[None] | None = None

    def has(self, key: K) -> bool:
        """Tell whether there is a value that is not written yet."""
        return key in self._collected

    async def stop(self) -> None:
        """Write what was collected."""
        if self._writing:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
        with contextlib.suppress(StoreUnavailable):
            await self._write_collected()

    def _collect(self, key: K, value: V) -> None:
        if key not in self._collected and len(self._collected) >= self._most:
            return
        self._collected[key] = value
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write_later())

    async def _write_later(self) -> None:
        try:
            await asyncio.sleep(WRITE_INTERVAL_S)
            with contextlib.suppress(StoreUnavailable):  # what happens again is collected again
                await self._write_collected()
        except Exception as error:  # a bug, whose message may hold personal data
            log.error("what was collected could not be stored", extra=describe_error(error))
        finally:
            self._writing = None

    async def _write_collected(self) -> None:
        collected, self._collected = self._collected, {}
        if collected:
            await self._store.write_relaxed(self._write, collected)


class KeyUses(_DelayedWrites[int, Instant]):
    """Collects the last use of each key."""

    def __init__(self, store: Store, world: World) -> None:
        super().__init__(store, world, MAX_KEYS, accounts.mark_used)

    def note(self, key_id: int) -> None:
        """Note that a key is used now."""
        self._collect(key_id, self._world.now())


class DifferenceCounts(_DelayedWrites[DifferenceKey, int]):
    """Counts how calls of other relays' endpoints differ; that costs a call no more than a look into a table."""

    def __init__(self, store: Store, world: World, zone: ZoneInfo) -> None:
        super().__init__(store, world, MAX_DIFFERENCES, self._add_today)
        self._zone = zone

    def add(self, key: DifferenceKey, uses: int = 1) -> None:
        """Count something that has just happened."""
        self._collect(key, self._collected.get(key, 0) + uses)

    def _add_today(self, tx: Tx, counts: Mapping[DifferenceKey, int]) -> None:
        day = dates.day_of(self._world.now(), self._zone).start or 0
        compat_differences.add(tx, day, counts)
