"""What carriers over a relay share: what they need from the service, pace, opt-outs, and submissions."""

import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from pabal.carriers.base import Inbox, OnAnomaly, OnVerdicts, ProfileProvider
from pabal.carriers.pace import PacedCarrier, Pacer
from pabal.carriers.relay.http import OnAnswer
from pabal.carriers.relay.opt_out_reader import OptOutList, OptOutReader
from pabal.carriers.relay.result_poller import ResultCursor
from pabal.carriers.relay.submission import Submission
from pabal.domain.content.image import Image, ImageLimits
from pabal.domain.sends.message import Attempt
from pabal.domain.sends.sender_codes import SenderCodes
from pabal.settings.relays import NhnCloudSettings, SolapiSettings
from pabal.world import World

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

    def _reading_opt_outs(self) -> contextlib.AbstractAsyncContextManager[None]:
        """Read who has opted out at the relay until the end of the block."""
        return self._opt_outs.running(self._inbox) if self._opt_outs else contextlib.nullcontext()
