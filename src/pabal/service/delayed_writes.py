"""What is collected in memory and written twice a minute, since each single one is not worth a write."""

import asyncio
import contextlib
import logging
from abc import ABC, abstractmethod

from pabal.service.errors import describe_error
from pabal.store.engine.base import Store, StoreUnavailable
from pabal.world import World

WRITE_INTERVAL_S = 30.0
"""How long it is collected before it is written together."""

log = logging.getLogger("pabal.store")


class DelayedWrites(ABC):
    """Collects something, and writes it a while after the first of it; a kill of the process loses that while."""

    def __init__(self, store: Store, world: World) -> None:
        self._store = store
        self._world = world
        self._writing: asyncio.Task[None] | None = None

    @abstractmethod
    async def _write(self) -> None:
        """Write what was collected, and forget it.

        Raises StoreUnavailable.
        """

    def _write_soon(self) -> None:
        """See to it that what was collected is written."""
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write_later())

    async def stop(self) -> None:
        """Write what was collected."""
        if self._writing:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
        with contextlib.suppress(StoreUnavailable):
            await self._write()

    async def _write_later(self) -> None:
        try:
            await asyncio.sleep(WRITE_INTERVAL_S)
            with contextlib.suppress(StoreUnavailable):  # what happens again is collected again
                await self._write()
        except Exception as error:  # a bug, whose message may hold personal data
            log.error("what was collected could not be stored", extra=describe_error(error))
        finally:
            self._writing = None
