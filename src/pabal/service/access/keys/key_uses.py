"""Records when API keys were used last, without a write in the path of a call."""

import asyncio
import contextlib
import logging

from pabal.domain.base.dates import Instant
from pabal.service.errors import describe_error
from pabal.store.accounts import key_usage
from pabal.store.engine.base import Store, StoreUnavailable
from pabal.world import World

WRITE_INTERVAL_S = 30.0
"""How long uses are collected before they are written together."""
MAX_COLLECTED = 10_000
"""Keys whose uses are collected at most; those of others are not recorded in that time."""

log = logging.getLogger("pabal.keys")


class KeyUses:
    """Collects the last use of each key, and writes them twice a minute while there are any."""

    def __init__(self, store: Store, world: World) -> None:
        self._store = store
        self._world = world
        self._used_at: dict[int, Instant] = {}
        self._writing: asyncio.Task[None] | None = None

    def note(self, key_id: int) -> None:
        """Note that a key is used now."""
        if key_id in self._used_at or len(self._used_at) < MAX_COLLECTED:
            self._used_at[key_id] = self._world.now()
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write_later())

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
            log.error("last uses of keys could not be stored", extra=describe_error(error))
        finally:
            self._writing = None

    async def _write(self) -> None:
        used_at, self._used_at = self._used_at, {}
        if used_at:
            with contextlib.suppress(StoreUnavailable):  # the next use of these keys is recorded
                await self._store.write_relaxed(key_usage.mark_used, used_at)
