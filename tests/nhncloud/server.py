"""A local server that answers as NHN Cloud's public documentation says: SMS v3.0 and KakaoTalk Bizmessage v2.x.

It was written from the documentation alone. Where that contradicts itself or says nothing, this was chosen:

"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl

import httpx

from tests.nhncloud import alimtalk, sms, sms_lists
from tests.nhncloud.answers import Json, No, Reply, Request, header, json_reply
from tests.nhncloud.meddling import THROTTLED, Cut, Meddle, Meddling, NobodyThere
from tests.nhncloud.state import Call, Clock, Draft, Manners, Profile, SendNumber, State, Template
from tests.nhncloud.wire import Listener, listening

Handler = Callable[[State, Request], Json]

SMS_BASE = "/sms/v3.0/appKeys/{appKey}/"
ALIMTALK_BASE = "/alimtalk/v2.3/appkeys/{appkey}/"
SENDINGS = frozenset(("sms", "mms", "ad-sms", "ad-mms"))
LISTS = frozenset(("sms", "mms"))

_ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("POST", SMS_BASE + "sender/{kind}", sms.send),
    ("POST", SMS_BASE + "attachfile/binaryUpload", sms.upload),
    ("GET", SMS_BASE + "sender/{kind}", sms_lists.search),
    ("GET", SMS_BASE + "sender/{kind}/{requestId}", sms_lists.one),
    ("GET", SMS_BASE + "message-results", sms_lists.results),
    ("GET", SMS_BASE + "sendNos", sms_lists.numbers),
    ("POST", ALIMTALK_BASE + "raw-messages", alimtalk.send_raw),
    ("POST", ALIMTALK_BASE + "messages", alimtalk.send_filled),
    ("GET", ALIMTALK_BASE + "messages", alimtalk.search),
    ("GET", ALIMTALK_BASE + "messages/{requestId}/{recipientSeq}", alimtalk.one),
    ("GET", ALIMTALK_BASE + "message-results", alimtalk.results),
    ("GET", ALIMTALK_BASE + "message-results/count", alimtalk.count_results),
)
_BY_LENGTH: dict[tuple[str, int], list[tuple[str, list[str], Handler]]] = {}
for _method, _path, _handler in _ROUTES:
    _BY_LENGTH.setdefault((_method, _path.count("/")), []).append((_path, _path.split("/"), _handler))


def real_clock() -> int:
    """Return the moment by this machine, in epoch milliseconds."""
    return time.time_ns() // 1_000_000


class Relay(State):
    """The server: an ASGI application, with everything it keeps as plain attributes."""

    def __init__(self, clock: Clock = real_clock, seed: int | None = None, **manners: Any) -> None:
        super().__init__(clock, seed, Manners(**manners))
        self.sms_app_key, self.sms_secret_key = "smsAppKey0123456", "smsSecret"
        self.talk_app_key, self.talk_secret_key = "talkAppKey012345", "talkSecret"
        self.meddling = Meddling()
        self.add_number("15880000")
        self.unsubscribe_numbers.add("0801234567")

    # What its console would do.

    def add_number(self, number: str) -> SendNumber:
        """Register a sender number."""
        self.numbers[number] = SendNumber(number, self.clock())
        return self.numbers[number]

    def add_profile(self, channel: str = "@pabal", category: str = "00100010001") -> Profile:
        """Register a sender profile, proved already."""
        key = self.new_key()
        self.profiles[key] = Profile(channel, key, "01012345678", category, self.clock())
        return self.profiles[key]

    def add_template(self, sender_key: str, code: str, content: str, **fields: Any) -> Template:
        """Register a template, approved already; `fields` as a registration has them."""
        now = self.clock()
        given = {"templateCode": code, "templateName": code, "templateContent": content, **fields}
        draft = Draft(given, now, "TSC03", updated_at=now)
        self.templates[sender_key, code] = Template(sender_key, code, self.new_key(), draft)
        return self.templates[sender_key, code]

    def meddle(self, kind: str, on: str = "", times: float = 1, **more: Any) -> Meddle:
        """Let something go wrong; see meddling.py for the kinds. `on` is part of "METHOD path"."""
        return self.meddling.add(Meddle(kind, on, times, **more))

    # How it answers.

    async def answer(self, request: Request) -> Reply:
        """Return the answer to a request. Raises Cut where the connection is to be broken."""
        before = len(self.calls)
        reply = await self.meddling.through(request, self._answer)
        if len(self.calls) == before:
            self._record(request, request.path, reply.status, None)
        return reply

    async def _answer(self, request: Request) -> Reply:
        if self.meddling.is_too_fast(self.clock(), self.manners.most_calls_a_second):
            return THROTTLED
        self.settle()
        path, code = request.path, 0
        try:
            path, handler = _route(request)
            self._check(request)
            reply = json_reply({**header(), **handler(self, request)})
        except No as no:
            code = no.code
            reply = json_reply({**header(no.code, no.message), **no.extra})
        self._record(request, path, reply.status, code)
        return reply

    def _record(self, request: Request, path: str, status: int, code: int | None) -> None:
        key = request.headers.get("x-nc-api-idempotency-key")
        self.calls.append(Call(self.clock(), request.method, path, request.size, key, status, code))

    def _check(self, request: Request) -> None:
        """Raises No for wrong keys and for a body that is no JSON."""
        is_sms = "appKey" in request.parts
        app_key = request.parts["appKey"] if is_sms else request.parts["appkey"]
        secret_key = request.headers.get("x-secret-key")
        if app_key != (self.sms_app_key if is_sms else self.talk_app_key):
            raise No(-1000, "Invalid appKey.")
        if secret_key != (self.sms_secret_key if is_sms else self.talk_secret_key):
            raise No(-1000, "Invalid appKey.") if is_sms else No(-1001, "Invalid secretKey.")
        content_type = request.headers.get("content-type", "")
        if request.body and not content_type.startswith(("application/json", "multipart/form-data")):
            raise No(-9996, "Only application/json Content-type is supported.")

    async def __call__(self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        """Answer as an ASGI application. Raises Cut where the connection is to be broken."""
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        reply = await self.answer(Request(scope["method"], scope["path"], query, headers, body))
        sent = [(b"content-type", reply.content_type.encode()), (b"content-length", b"%d" % len(reply.body))]
        await send({"type": "http.response.start", "status": reply.status, "headers": sent})
        await send({"type": "http.response.body", "body": reply.body})

    def transport(self) -> httpx.AsyncBaseTransport:
        """Return a transport for httpx that needs no sockets, for use on a virtual clock."""
        return Transport(self)


class Transport(httpx.AsyncBaseTransport):
    """Calls the server in this process; it keeps to the caller's time limit and breaks as connections do."""

    def __init__(self, relay: Relay) -> None:
        self._inner = httpx.ASGITransport(relay)
        self.is_gone = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        within_s = request.extensions.get("timeout", {}).get("read")
        try:
            if self.is_gone:
                raise NobodyThere
            async with asyncio.timeout(within_s):
                return await self._inner.handle_async_request(request)
        except TimeoutError:
            raise httpx.ReadTimeout("no answer in time", request=request) from None
        except NobodyThere:
            raise httpx.ConnectError("All connection attempts failed", request=request) from None
        except Cut:
            why = "Server disconnected without sending a response."
            raise httpx.RemoteProtocolError(why, request=request) from None


def _route(request: Request) -> tuple[str, Handler]:
    """Return the path as the documentation has it and who answers it; what it names is put into the request."""
    given = request.path.split("/")
    for path, segments, handler in _BY_LENGTH.get((request.method, len(given) - 1), ()):
        if all(want == have or want[:1] == "{" for want, have in zip(segments, given, strict=True)):
            parts = {want[1:-1]: have for want, have in zip(segments, given, strict=True) if want[:1] == "{"}
            if "kind" in parts and parts["kind"] not in (SENDINGS if request.method == "POST" else LISTS):
                break
            request.parts = parts
            return path.replace("{kind}", parts.get("kind", "")), handler
    raise No(-9998, "Not exist API.")


class Served(Relay):
    """A server that is listening."""

    listener: Listener

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.listener.port}"

    async def gone(self) -> None:
        """Listen no more, and break all connections."""
        await self.listener.be_gone()

    async def back(self) -> None:
        """Listen again, where it did before."""
        await self.listener.listen()


@contextlib.asynccontextmanager
async def serving(port: int = 0, **options: Any) -> AsyncIterator[Served]:
    """Run a server in this event loop until the end of the block; options are those of Relay."""
    relay = Served(**options)
    async with listening(relay.answer, port) as relay.listener:
        yield relay
