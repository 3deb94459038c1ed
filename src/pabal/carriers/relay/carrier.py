"""What carriers over a relay share: what they need from the service, pace, opt-outs, and submissions."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pabal.carriers.base import Inbox, OnAnomaly, OnReceipts, OnVerdicts, ProfileProvider, RelayOptOut
from pabal.carriers.pace import PacedCarrier, Pacer
from pabal.carriers.relay.http import ErrorAnswer, NoResponse, NotProcessed, OnAnswer, Throttled
from pabal.carriers.relay.result_poller import ResultCursor, ResultPoller
from pabal.carriers.relay.submission import Submission
from pabal.domain.base.dates import HOUR, Instant
from pabal.domain.content.image import Image, ImageLimits
from pabal.domain.sends.account import SenderCodes
from pabal.domain.sends.message import Attempt
from pabal.settings.relays import NhnCloudSettings, SolapiSettings
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

    async def run(self, inbox: Inbox) -> None:
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


TIMEOUT_S = 40.0
TIMEOUT_MARGIN_S = 2.0
"""Every call ends this long before the timeout."""
NOT_CONNECTED_YET = "not connected yet"

LoadImages = Callable[[bytes], Awaitable[Sequence[Image]]]
"""Returns the images of a request."""


LoadCodes = Callable[[], Awaitable[Mapping[int, SenderCodes]]]
"""Returns the codes of the accounts that have some, by account id; raises NotProcessed if they cannot be read."""


async def load_no_codes() -> Mapping[int, SenderCodes]:
    """Return that no account has codes."""
    return {}


class ImageNotSupported(Exception):
    """The images do not exist any more, or exceed what the relay takes."""


def check_images(images: Sequence[Image], limits: ImageLimits) -> None:
    """Raise ImageNotSupported, with one of a few fixed reasons, unless the relay takes images that were loaded."""
    if not images:
        raise ImageNotSupported("an image is missing")
    if excess := limits.find_excess_of_all(images):
        raise ImageNotSupported(f"the {excess} of images exceed what the relay takes")


@dataclass(frozen=True)
class Dependencies:
    """Clock, images, the cursor of results, and a counter of anomalies."""

    world: World
    load_images: LoadImages
    cursor: ResultCursor
    on_anomaly: OnAnomaly
    on_answer: OnAnswer | None = None
    """Called with every answer of the relay."""
    load_codes: LoadCodes = load_no_codes


class RelayCarrier(PacedCarrier):
    """A carrier over a relay's HTTP API."""

    can_look_up = True
    timeout_s = TIMEOUT_S
    _poller: ResultPoller

    def __init__(
        self,
        settings: NhnCloudSettings | SolapiSettings,
        dependencies: Dependencies,
        provider: ProfileProvider | None,
        opt_outs: OptOutList | None,
        log: logging.Logger,
    ) -> None:
        """`opt_outs` is the relay's list of receivers who have opted out, if it is read."""
        world = dependencies.world
        self.name = settings.name
        self.kind = settings.kind
        self.products = frozenset(settings.products)
        self.window = settings.window
        self.failover_after_s = settings.failover_seconds
        self.provider = provider
        self._world = world
        self._pacer = Pacer(settings.rate, world)
        self._inbox: Inbox | None = None
        self._opt_outs = (
            OptOutReader(settings.name, opt_outs, dependencies.cursor, world, log) if opt_outs else None
        )

    def attach_inbox(self, inbox: Inbox) -> None:
        self._inbox = inbox

    def _begin(self, attempts: Sequence[Attempt], on_verdicts: OnVerdicts) -> Submission:
        deadline = self._world.monotonic() + self.timeout_s - TIMEOUT_MARGIN_S
        return Submission(on_verdicts, self._world, deadline, attempts)

    def _beside(self) -> list[Coroutine[Any, Any, None]]:
        """Return what runs beside the poller, each until cancelled."""
        return [self._opt_outs.run(self._inbox)] if self._opt_outs and self._inbox else []

    async def run(self, on_receipts: OnReceipts) -> None:
        beside = [asyncio.create_task(each) for each in self._beside()]
        try:
            try:
                await self._poller.run(on_receipts)
            finally:
                for each in beside:
                    each.cancel()
                await asyncio.gather(*beside, return_exceptions=True)
        except asyncio.CancelledError:  # after another error the service runs it again
            await self.close()
            raise
