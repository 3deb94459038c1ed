"""What the HTTP server and the apps behind it hand to each other, and the answers that end a connection."""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple, Protocol

from pabal.checks.body.locale import DEFAULT_LOCALE
from pabal.domain.base.codes import Code, Problem, Text
from pabal.domain.base.dates import Instant
from pabal.web import envelope

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
