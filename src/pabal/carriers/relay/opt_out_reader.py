"""Reads again and again who has opted out at a relay, by one process for all."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from pabal.carriers.base import Inbox, RelayOptOut
from pabal.carriers.relay.http import ErrorAnswer, NoResponse, NotProcessed, Throttled
from pabal.carriers.relay.result_poller import ResultCursor
from pabal.domain.base.dates import HOUR, Instant
from pabal.world import World

FIRST_READ_S = 60.0
"""Pause before the first read, so that a service that starts and stops makes no calls for it."""
READ_INTERVAL_S = 600.0
"""How often the list is read: webhooks may get lost, or are not configured."""
OVERLAP_MS = 1 * HOUR
"""How far a read overlaps the one before; entries that are known already change nothing."""


class OptOutList(Protocol):
    """A relay's list of receivers who have opted out."""

    name: str
    """Under which its cursor is stored."""

    @property
    def server_time(self) -> Instant | None:
        """The time of the last answer by the relay's clock."""

    def pages(self, since: Instant | None) -> AsyncIterator[Sequence[RelayOptOut]]:
        """Yield the opt-outs since an instant, or all, page by page.

        Raises NotProcessed, NoResponse, Throttled, ErrorAnswer.
        """


class OptOutReader:
    """Stores what a relay's list says."""

    def __init__(
        self, carrier: str, source: OptOutList, cursor: ResultCursor, world: World, log: logging.Logger
    ) -> None:
        self._carrier = carrier
        self._source = source
        self._cursor = cursor
        self._world = world
        self._log = log
        self._logged = ""

    @contextlib.asynccontextmanager
    async def running(self, inbox: Inbox | None) -> AsyncIterator[None]:
        """Read until the end of the block, if there is an inbox to store it in."""
        if inbox is None:
            yield
            return
        reading = asyncio.create_task(self._run(inbox))
        try:
            yield
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _run(self, inbox: Inbox) -> None:
        """Read until cancelled; a read that fails is repeated."""
        await asyncio.sleep(FIRST_READ_S)
        while True:
            if self._cursor.is_ours:
                await self._try_to_read(inbox)
            await asyncio.sleep(READ_INTERVAL_S)

    async def _try_to_read(self, inbox: Inbox) -> None:
        problem = ""
        try:
            await self._read_new(inbox)
        except (NotProcessed, NoResponse, Throttled, ErrorAnswer) as error:
            problem = str(error) or type(error).__name__
        except Exception as error:  # the store is away: the next read gets the same again
            problem = type(error).__name__
        if problem and problem != self._logged:
            self._log.warning(
                "the relay's opt-outs cannot be read; retrying",
                extra={"carrier": self._carrier, "reason": problem},
            )
        self._logged = problem

    async def _read_new(self, inbox: Inbox) -> None:
        """Store the opt-outs since the last read; the first read gets all."""
        now = self._source.server_time or self._world.now()
        since = await self._cursor.get(self._source.name)
        async for found in self._source.pages(None if since is None else since - OVERLAP_MS):
            if found:
                await inbox.on_opt_outs(found)
        await self._cursor.put(self._source.name, now)
