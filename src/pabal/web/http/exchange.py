"""What the HTTP server and the apps behind it hand to each other: a request, its body, and its response."""

import asyncio
import http.client
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Any, NamedTuple, Protocol
from wsgiref.handlers import format_date_time

from pabal.checks.body.locale import DEFAULT_LOCALE
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.service.access.accounts.rate_limits import HeldBody
from pabal.web import envelope
from pabal.web.http.connections import ByteFlow
from pabal.web.http.head import RequestHead

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

HeaderLines = Sequence[tuple[bytes, bytes]]


class ClientDisconnected(Exception):
    """The caller disconnected before the request was complete."""


class ReceivedRequest(Protocol):
    """A request, whose body may still be on its way."""

    method: str
    path: str
    query: bytes
    header_lines: HeaderLines
    """The headers in their order, with names in lower case."""
    headers: dict[bytes, bytes]
    """The same by name; of one that is there several times, the last."""
    peer: str | None
    """The address that the connection comes from."""
    is_received: bool
    """Whether the whole body has arrived."""
    request_id: str
    """What the answer has as X-Request-Id and the log as `request_id`."""

    async def read(self) -> bytes:
        """Return what has arrived of the body since the last call; wait if that is nothing but not the end.

        Raises ClientDisconnected.
        """


class HttpResponse(NamedTuple):
    """A whole response; the connection adds the headers of its own."""

    status: int
    headers: HeaderLines
    body: bytes


class DirectApp(Protocol):
    """An app that answers with whole responses, without ASGI's messages."""

    def serves(self, request: ReceivedRequest) -> bool:
        """Tell whether the app answers a request."""

    async def respond(self, request: ReceivedRequest) -> HttpResponse:
        """Return the answer to a request.

        Raises ClientDisconnected.
        """


class HttpApp(NamedTuple):
    """What is served at a port."""

    asgi: AsgiApp
    """Serves what `direct` does not."""
    direct: DirectApp | None = None


RETRY_AFTER = (b"retry-after", b"1")


class ConnectionRefusal(NamedTuple):
    """An answer that ends a connection."""

    status: HTTPStatus
    code: Code
    detail: Text | None = None
    may_be_retried: bool = False

    def build_response(self, now: Instant) -> HttpResponse:
        """Return the answer."""
        body = envelope.encode_refusal([Problem(self.code, detail=self.detail)], now, DEFAULT_LOCALE)
        lines = [(b"content-type", envelope.CONTENT_TYPE), (b"content-length", b"%d" % len(body))]
        return HttpResponse(self.status, [*lines, RETRY_AFTER] if self.may_be_retried else lines, body)


MALFORMED = ConnectionRefusal(
    HTTPStatus.BAD_REQUEST,
    Code.INVALID_PARAMETER,
    Text("올바른 HTTP 요청이 아닙니다.", "The request is not valid HTTP."),
)
TIMED_OUT = ConnectionRefusal(
    HTTPStatus.REQUEST_TIMEOUT,
    Code.INVALID_PARAMETER,
    Text("요청이 제때 도착하지 않아 접수하지 않았습니다.", "It did not arrive in time and was not accepted."),
)
TOO_MANY_CONNECTIONS = ConnectionRefusal(
    HTTPStatus.SERVICE_UNAVAILABLE,
    Code.SERVICE_UNAVAILABLE,
    Text(
        "연결이 너무 많아 이 요청은 접수하지 않았습니다.",
        "There are too many connections; this request was not accepted.",
    ),
    may_be_retried=True,
)
FAILED = ConnectionRefusal(HTTPStatus.INTERNAL_SERVER_ERROR, Code.INTERNAL_ERROR)


MAX_UNREAD_BYTES = 64 * 1024
"""How much of a body is stored before its app reads it; then the caller has to wait."""
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class HttpExchange:
    """A request with the part of its body that has arrived, and the way to answer it."""

    def __init__(
        self,
        head: RequestHead,
        peer: str | None,
        flow: ByteFlow,
        now: Callable[[], Instant],
        on_finish: Callable[["HttpExchange"], None],
        *,
        request_id: str,
        keeps_alive: bool,
    ) -> None:
        self.method, self.path, self.raw_path, self.query, self.version, self.header_lines, self.headers, _ = head
        self.peer = peer
        self._flow = flow
        self._now = now
        self._on_finish = on_finish
        self.request_id = request_id
        self.keeps_alive = keeps_alive
        """Whether the connection stays open after the response."""
        self.expects_continue = self.headers.get(b"expect", b"").lower() == b"100-continue"
        self.is_received = False
        self.is_disconnected = False
        """Whether the caller has gone."""
        self._sends_no_more = False
        self.is_started = False
        """Whether a part of the response has been sent."""
        self.is_answered = False
        self._parts: list[bytes] = []
        self._unread_bytes = 0
        self._change: asyncio.Event | None = None

    # The request

    async def read(self) -> bytes:
        """Return what has arrived of the body since the last call; wait if that is nothing but not the end.

        Raises ClientDisconnected.
        """
        if self.expects_continue:
            self.expects_continue = False
            if not self.is_received:
                self._flow.write(_CONTINUE)
        if not self._parts and not self.is_received:
            await self.wait()
        if self.is_disconnected:
            raise ClientDisconnected
        body = b"".join(self._parts)
        self._parts.clear()
        self._unread_bytes = 0
        return body

    async def wait(self) -> None:
        """Wait until more of the body arrives, the response is complete, or the caller is gone."""
        if self.is_disconnected or self.is_answered:
            return
        if self._change is None:
            self._change = asyncio.Event()
        self._change.clear()
        self._flow.resume_reading()
        await self._change.wait()

    async def wait_until_left(self) -> None:
        """Wait until the response is complete, the caller is gone, or has closed its side of the connection.

        Programs may close their side and wait for the response; browsers have left then.
        """
        while not (self.is_disconnected or self.is_answered or self._sends_no_more):
            await self.wait()

    def receive(self, part: bytes) -> None:
        """Store a part of the body; nobody reads one of a request that is answered."""
        if self.is_answered:
            return
        self._parts.append(part)
        self._unread_bytes += len(part)
        if self._unread_bytes > MAX_UNREAD_BYTES:
            self._flow.pause_reading()
        self._wake()

    def receive_end(self) -> None:
        """Note that the body is complete."""
        self.is_received = True
        self._wake()

    def receive_close(self) -> None:
        """Note that the caller has closed its side of the connection."""
        self._sends_no_more = True
        self._wake()

    def disconnect(self) -> None:
        """Note that the caller is gone, or that its body will never be complete."""
        self.is_disconnected = True
        self._wake()

    def _wake(self) -> None:
        if self._change:
            self._change.set()

    # The response

    async def respond(self, response: HttpResponse) -> None:
        """Send a whole response."""
        if self._flow.is_write_paused:
            await self._flow.drain()
        body = b"" if self.method == "HEAD" else response.body
        self.write(self.encode_head(response.status, response.headers) + body)
        self.finish()

    def encode_head(self, status: int, header_lines: HeaderLines) -> bytes:
        """Return the status line and headers of the response, with the connection's own."""
        return encode_head(status, header_lines, self.request_id, self._now(), keeps_alive=self.keeps_alive)

    async def drain(self) -> None:
        """Wait until the caller has received most of what was sent."""
        await self._flow.drain()

    def write(self, data: bytes) -> None:
        """Send a part of the response."""
        if not self.is_disconnected:
            self.is_started = True
            self.expects_continue = False
            self._flow.write(data)

    def finish(self) -> None:
        """Go on to the next request: the response is complete."""
        if not self.is_disconnected:
            self.is_answered = True
            self._parts.clear()
            self._wake()
            self._on_finish(self)


def encode_head(
    status: int, header_lines: HeaderLines, request_id: str, now: Instant, *, keeps_alive: bool
) -> bytes:
    """Return the status line and headers of a response."""
    lines = b"".join([b"%b: %b\r\n" % line for line in header_lines])
    close = b"" if keeps_alive else b"connection: close\r\n"
    own = b"%bx-request-id: %b\r\n" % (_encode_date(now // 1000), request_id.encode())
    return b"%b%b%b%b\r\n" % (_STATUS_LINES[status], own, lines, close)


def _encode_status_line(status: int) -> bytes:
    return b"HTTP/1.1 %d %b\r\n" % (status, http.client.responses.get(status, "").encode())


_STATUS_LINES = {status: _encode_status_line(status) for status in range(200, 600)}


@lru_cache(maxsize=1)
def _encode_date(second: int) -> bytes:
    return b"date: %b\r\n" % format_date_time(second).encode()


def too_large_refusal(limit: int) -> Refused:
    """Return the refusal of a body that exceeds a limit."""
    detail = Text(f"최대 {limit:,}바이트입니다.", f"The limit is {limit:,} bytes.")
    return Refused(Code.PAYLOAD_TOO_LARGE, detail=detail)


async def read_body(request: ReceivedRequest, limit: int, held: HeldBody | None = None) -> bytes:
    """Return the whole body, which `held` grows with; without `held`, only measure it.

    Raises Refused: PAYLOAD_TOO_LARGE as soon as the body exceeds the limit, else as `HeldBody.grow` does.
    """
    parts: list[bytes] = []
    size = 0
    while True:
        part = await request.read()
        size += len(part)
        if size > limit:
            raise too_large_refusal(limit)
        if held:
            held.grow(size)
            parts.append(part)
        if request.is_received:
            return b"".join(parts)
