"""Prepares messages for a call: uploads their pictures, finds the ids of their templates, and encodes them."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from pabal.carriers.base import Busy, Declined, NotSent, Verdict
from pabal.carriers.relay.call_queue import SharedCalls
from pabal.carriers.relay.carrier import ImageNotSupported, LoadImages
from pabal.carriers.relay.http import NoResponse, NotProcessed, Throttled
from pabal.carriers.relay.submission import Submission
from pabal.carriers.solapi.brand import NotAtSolapi
from pabal.carriers.solapi.calls import Entry, can_be_sent, encode, image_of, template_of
from pabal.carriers.solapi.client import UPLOAD_TTL_S, SolapiClient, SolapiError, upload_image
from pabal.carriers.solapi.codes import CallError, call_error_of
from pabal.carriers.solapi.templates import TEMPLATE_TTL_S, NoSuchTemplate, SendableTemplate, find_sendable
from pabal.domain.sends.message import Attempt, Outcome
from pabal.world import World

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_EXPECTED = (NotProcessed, NoResponse, Throttled, SolapiError, ImageNotSupported, NoSuchTemplate)

OnProblem = Callable[[str], None]
"""Called with what is wrong with Solapi."""


class Preparation:
    """Encodes messages; uploads and lookups are made once for all messages that need them."""

    def __init__(
        self,
        client: SolapiClient,
        load_images: LoadImages,
        max_timeout_s: float,
        world: World,
        on_problem: OnProblem,
    ) -> None:
        self._client = client
        self._load_images = load_images
        self._max_timeout_s = max_timeout_s
        self._on_problem = on_problem
        self._images = SharedCalls(self._upload, UPLOAD_TTL_S, world)
        self._templates = SharedCalls(self._find_template, TEMPLATE_TTL_S, world)

    async def prepare(self, attempts: Sequence[Attempt], submission: Submission) -> list[Entry]:
        """Return the messages that can be sent; report the others."""
        unsupported = [one for one in attempts if not can_be_sent(one)]
        if unsupported:
            submission.report_all(unsupported, Declined(Outcome.UNDELIVERABLE))
            attempts = [one for one in attempts if can_be_sent(one)]
        images = {image_of(one) for one in attempts} - {None}
        templates = {template_of(one) for one in attempts} - {None}
        timeout_s = min(self._max_timeout_s, submission.remaining_s)
        image_ids, no_images = await _gather(images, lambda key: self._images.get(key, timeout_s))
        found, no_templates = await _gather(templates, lambda key: self._templates.get(key, timeout_s))
        entries = []
        for attempt in attempts:
            error = no_images.get(image_of(attempt)) or no_templates.get(template_of(attempt))
            if error is None:
                try:
                    entries.append(encode(attempt, image_ids, found))
                    continue
                except NotAtSolapi as missing:
                    error = missing
            submission.report([(attempt, self._verdict(error))])
        return entries

    def forget_image(self, attempt: Attempt) -> None:
        """Upload the picture of a message again when it is needed next."""
        if (image := image_of(attempt)) is not None:
            self._images.forget(image)

    def forget_template(self, attempt: Attempt) -> None:
        """Look the template of a message up again when it is needed next."""
        if (template := template_of(attempt)) is not None:
            self._templates.forget(template)

    async def _upload(self, wanted: tuple[bytes, str], timeout_s: float) -> str:
        request_id, kind = wanted
        images = await self._load_images(request_id)
        return (await upload_image(self._client, images, kind, f"{request_id.hex()}.jpg", timeout_s)).fileId

    async def _find_template(self, template: tuple[str, str], timeout_s: float) -> SendableTemplate:
        return await find_sendable(self._client, *template, timeout_s)

    def _verdict(self, error: Exception) -> Verdict:
        """Return the verdict on a message after a failed upload or lookup: nothing of it was sent."""
        if isinstance(error, ImageNotSupported | NoSuchTemplate | NotAtSolapi):
            return Declined(Outcome.UNDELIVERABLE)
        if isinstance(error, NotProcessed | Throttled):
            return NotSent()
        if isinstance(error, SolapiError):
            kind = call_error_of(error)
            if kind is CallError.ACCOUNT_CLOSED:
                self._on_problem(str(error))
                return NotSent()
            return Declined(Outcome.UNDELIVERABLE) if kind is CallError.MAY_BE_ONE_MESSAGE else Busy()
        return Busy()


async def _gather(
    keys: Iterable[K | None], get: Callable[[K], Awaitable[V]]
) -> tuple[dict[K, V], dict[K | None, Exception]]:
    """Return the values of keys, and the errors of those that have none."""
    named = [key for key in keys if key is not None]
    results = await asyncio.gather(*(get(key) for key in named), return_exceptions=True)
    values: dict[K, V] = {}
    errors: dict[K | None, Exception] = {}
    for key, result in zip(named, results, strict=True):
        if isinstance(result, _EXPECTED):
            errors[key] = result
        elif isinstance(result, BaseException):
            raise result
        else:
            values[key] = result
    return values, errors
