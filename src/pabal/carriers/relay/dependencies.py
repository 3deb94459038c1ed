"""What the carrier of a relay needs from the service."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pabal.carriers.base import OnAnomaly
from pabal.carriers.relay.result_poller import ResultCursor
from pabal.domain.content.image import Image
from pabal.world import World

LoadImage = Callable[[bytes], Awaitable[Image | None]]
"""Returns the image of a request."""


class ImageNotSupported(Exception):
    """The image does not exist any more, is not a JPEG, or has too many pixels."""


@dataclass(frozen=True)
class Dependencies:
    """Clock, images, the cursor of results, and a counter of anomalies."""

    world: World
    load_image: LoadImage
    cursor: ResultCursor
    on_anomaly: OnAnomaly
