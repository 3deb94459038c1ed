"""Sends the messages of a rehearsal, follows them to their results, and compares what the relay says."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pabal.build_context import build_relay
from pabal.carriers.base import Accepted, Carrier, Receipt, Rejected, Unknown, Verdict
from pabal.carriers.nhncloud import documented_shapes as nhncloud
from pabal.carriers.relay.carrier import NOT_CONNECTED_YET, Dependencies
from pabal.carriers.relay.documented_shapes import Difference, DifferenceKind, RelayDocuments, find_differences
from pabal.carriers.solapi import documented_shapes as solapi
from pabal.cli.serving.serve import build_table
from pabal.domain.base.codes import Refused
from pabal.domain.base.dates import MINUTE, Instant
from pabal.domain.content.image import Image
from pabal.domain.sends.message import Attempt, Outcome
from pabal.domain.sends.price import strip_friend_mark
from pabal.outbound.calls import HttpAnswer
from pabal.service.metrics import Metrics
from pabal.settings.relays import NhnCloudSettings, SolapiSettings
from pabal.settings.settings import Settings
from pabal.web.http.exchange import HttpApp
from pabal.web.http.server import serving
from pabal.world import World

RelaySettings = NhnCloudSettings | SolapiSettings

FIRST_ERROR_STATUS = 400
PAUSE_S = 0.1
"""How often it is looked at whether something has happened."""
CONNECT_S = 30.0
LOOK_UP_S = 30.0
"""How long a message is looked up: lists may lag behind."""
STOP_S = 1.0
MAX_WEBHOOK_BYTES = 10_000_000


@dataclass
class Heard:
    """The result of a message, and how many seconds after its submission it came."""

    outcome: Outcome
    code: str
    after_s: float


@dataclass
class Followed:
    """A message, and what has become of it."""

    attempt: Attempt
    verdict: Verdict | None = None
    accepted_s: float = 0.0
    by_webhook: Heard | None = None
    by_list: Heard | None = None
    looked_up: Verdict | None = None

    @property
    def reference(self) -> str | None:
        return self.verdict.reference if isinstance(self.verdict, Accepted) else None

    @property
    def is_found(self) -> bool:
        """Whether a look-up has found the message."""
        return isinstance(self.looked_up, Accepted) or (
            isinstance(self.looked_up, Rejected) and self.looked_up.outcome is not Outcome.EXPIRED
        )

    def is_complete(self, *, has_webhook: bool) -> bool:
        """Return whether everything that is documented of a delivered message was seen."""
        heard = [self.by_list, self.by_webhook] if has_webhook else [self.by_list]
        return self.is_found and all(each and each.outcome is Outcome.DELIVERED for each in heard)


@dataclass
class Observer:
    """Compares what the relay says with its documents."""

    documents: RelayDocuments
    differences: dict[tuple[str, Difference], int] = field(default_factory=dict)
    """How often each was seen, by the call, or the webhook, and the difference."""
    webhooks: int = 0

    def note_answer(self, method: str, path: str, answer: HttpAnswer) -> None:
        """Compare an answer."""
        if (call := self.documents.find_call(method, path)) is not None:
            is_error = answer.status >= FIRST_ERROR_STATUS
            self._compare(f"{method} {call.path}", self.documents.error if is_error else call.shape, answer.body)

    def note_webhook(self, body: bytes) -> None:
        """Compare a webhook call."""
        self.webhooks += 1
        self._compare("webhook", self.documents.webhook, body)

    def _compare(self, where: str, shape: Any, body: bytes) -> None:
        try:
            found = find_differences(shape, msgspec.json.decode(body))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            found = [Difference("", DifferenceKind.TYPE, "≠ JSON")]
        for each in found:
            self.differences[where, each] = self.differences.get((where, each), 0) + 1


class _Cursor:
    """How far results were read: from shortly before the rehearsal; nothing is stored."""

    is_ours = True

    def __init__(self, start: Instant) -> None:
        self._start = start
        self._read: dict[str, Instant] = {}

    async def get(self, source: str) -> Instant | None:
        return self._read.get(source, self._start)

    async def put(self, source: str, at: Instant) -> None:
        self._read[source] = at


def build_carrier(settings: RelaySettings, world: World, observer: Observer, image: Image | None) -> Carrier:
    """Return a carrier that stores nothing. Raises BadSetting."""

    async def load_images(_: bytes) -> list[Image]:
        return [image] if image else []

    cursor = _Cursor(world.now() - MINUTE)
    return build_relay(settings, Dependencies(world, load_images, cursor, lambda _: None, observer.note_answer))


def documents_of(settings: RelaySettings) -> RelayDocuments:
    return solapi.DOCUMENTS if isinstance(settings, SolapiSettings) else nhncloud.DOCUMENTS


class Rehearsal:
    """One rehearsal. The carrier that sends has no webhooks, so that it reads every result from the lists too."""

    def __init__(
        self,
        settings: Settings,
        relay: RelaySettings,
        world: World,
        observer: Observer,
        image: Image | None,
        wait_s: float,
    ) -> None:
        self._settings = settings
        self._world = world
        self._observer = observer
        self._wait_s = wait_s
        self._receiver = build_carrier(relay, world, observer, None)
        quiet: dict[str, Any] = (
            {"webhook_secret": ""}
            if isinstance(relay, SolapiSettings)
            else {"webhook_signature": "", "lookup_after_seconds": 0}  # every call has been answered by then
        )
        self._sender = build_carrier(replace(relay, **quiet), world, observer, image)
        self._began_at = 0.0
        self._by_webhook: dict[str, Heard] = {}
        self._by_list: dict[str, Heard] = {}

    async def run(self, attempts: Sequence[Attempt], listener: socket.socket | None) -> list[Followed]:
        """Send the messages and return what became of them; webhooks are received at `listener`."""
        followed = [Followed(attempt) for attempt in attempts]
        self._began_at = self._world.monotonic()
        async with self._receiving(listener), self._reading_lists():
            await self._wait_for(lambda: NOT_CONNECTED_YET not in self._sender.problem, CONNECT_S)
            await asyncio.gather(*(self._submit(each) for each in followed))
            sent = [each for each in followed if isinstance(each.verdict, Accepted | Unknown)]
            await self._wait_for(lambda: self._has_ended(sent, has_webhook=listener is not None), self._wait_s)
            await asyncio.gather(*(self._look_up(each) for each in sent))
        for each in followed:
            each.by_webhook = self._by_webhook.get(each.reference or "")
            each.by_list = self._by_list.get(each.reference or "")
        return followed

    @property
    def problem(self) -> str:
        """Why the relay cannot be reached; empty if it can."""
        return self._sender.problem

    async def _submit(self, followed: Followed) -> None:
        began = self._world.monotonic()
        followed.verdict = await self._ask(followed.attempt)
        followed.accepted_s = self._world.monotonic() - began

    async def _look_up(self, followed: Followed) -> None:
        """Look a message up as if it were in doubt; being past its deadline, it is never sent again."""
        until = self._world.monotonic() + LOOK_UP_S
        asked = followed.attempt._replace(number=2, is_in_doubt=True, expires_at=self._world.now())
        while not followed.is_found and self._world.monotonic() < until:
            followed.looked_up = await self._ask(asked)
            if not followed.is_found:
                await asyncio.sleep(PAUSE_S * 10)

    async def _ask(self, attempt: Attempt) -> Verdict | None:
        verdicts: list[Verdict] = []
        await self._sender.submit([attempt], lambda reported: verdicts.extend(each for _, each in reported))
        return verdicts[-1] if verdicts else None

    def _has_ended(self, sent: Sequence[Followed], *, has_webhook: bool) -> bool:
        references = {each.reference for each in sent if each.reference}
        return references <= self._by_list.keys() and (not has_webhook or references <= self._by_webhook.keys())

    async def _wait_for(self, is_done: Callable[[], bool], limit_s: float) -> None:
        for _ in range(round(limit_s / PAUSE_S)):
            if is_done():
                return
            await asyncio.sleep(PAUSE_S)

    def _note(self, heard: dict[str, Heard], receipts: Sequence[Receipt]) -> None:
        after_s = self._world.monotonic() - self._began_at
        for each in receipts:
            heard.setdefault(each.reference, Heard(each.outcome, strip_friend_mark(each.code) or "", after_s))

    @contextlib.asynccontextmanager
    async def _reading_lists(self) -> AsyncIterator[None]:
        async def on_receipts(receipts: Sequence[Receipt]) -> None:
            self._note(self._by_list, receipts)

        reading = asyncio.create_task(self._sender.run(on_receipts))
        try:
            yield
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    @contextlib.asynccontextmanager
    async def _receiving(self, listener: socket.socket | None) -> AsyncIterator[None]:
        if listener is None:
            yield
            return
        app = Starlette(routes=[Route(f"/hooks/{self._receiver.name}", self._receive, methods=["GET", "POST"])])
        table = build_table(Metrics(), self._settings)
        async with serving({listener: HttpApp(app)}, table, STOP_S):
            yield

    async def _receive(self, request: Request) -> Response:
        """Take a webhook call as the service does, and answer so that the relay does not repeat it."""
        if request.method == "GET":
            return JSONResponse({})

        async def read_body() -> bytes:
            body = bytearray()
            async for part in request.stream():
                body += part
                if len(body) > MAX_WEBHOOK_BYTES:
                    break
            self._observer.note_webhook(bytes(body))
            return bytes(body)

        async def on_receipts(receipts: Sequence[Receipt]) -> None:
            self._note(self._by_webhook, receipts)

        try:
            await self._receiver.handle_webhook(request.headers, read_body, on_receipts)
        except Refused as refused:
            return JSONResponse({}, refused.problems[0].code.http_status)
        return JSONResponse({})
