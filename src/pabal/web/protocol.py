"""The server's HTTP protocol, which also answers unreadable requests in the envelope."""

import asyncio
from collections.abc import Callable

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pabal.checks.locale import DEFAULT_LOCALE
from pabal.domain.codes import Code, Problem, Text
from pabal.web import envelope
from pabal.world import RealWorld

_CONTINUE = b"HTTP/1.1 100"
_UNREADABLE_REQUEST = Text("올바른 HTTP 요청이 아닙니다.", "The request is not valid HTTP.")
BODY_HEAD_ALLOWANCE_BYTES = 2**62
"""Subtracted while a body is read: bodies have a limit of their own."""


MAX_HEAD_BYTES = 256 * 1024
"""Limit of a request's line and headers."""


class _ResponseTransport:
    """A transport for one response that sends its head together with the first part of its body."""

    def __init__(self, transport: asyncio.Transport, then: Callable[..., None]) -> None:
        self._transport = transport
        self._then = then
        self._head: bytes | None = None
        self._has_begun = False
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        """Write data; hold back the head until the body follows, but send 100 Continue at once."""
        if self._has_begun or data.startswith(_CONTINUE):
            self._transport.write(data)
        elif self._head is None:
            self._head = data
        else:
            self._has_begun = True
            self._transport.write(self._head + data)

    def end(self) -> None:
        """Finish the response, also one without a body."""
        self._flush_head()
        self._then()

    def close(self) -> None:
        """Close the connection after everything is written."""
        self._flush_head()
        self._transport.close()

    def _flush_head(self) -> None:
        if self._head is not None and not self._has_begun:
            self._has_begun = True
            self._transport.write(self._head)


class HttpProtocol(HttpToolsProtocol):
    """HTTP/1.1; answers anything else with 400."""

    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Parse data; refuse a request whose head is too large."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("the head of the request is too large")

    def on_headers_complete(self) -> None:
        """Start the request; its head is complete."""
        self._head_bytes = -BODY_HEAD_ALLOWANCE_BYTES
        super().on_headers_complete()
        if not isinstance(self.cycle.transport, _ResponseTransport):  # an upgrade starts no new cycle
            response = _ResponseTransport(self.transport, self.cycle.on_response)
            self.cycle.transport = response  # type: ignore[assignment]
            self.cycle.on_response = response.end

    def on_message_complete(self) -> None:
        """Prepare for the next request's head."""
        self._head_bytes = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer an unreadable request and close the connection."""
        problem = Problem(Code.INVALID_PARAMETER, detail=_UNREADABLE_REQUEST)
        body = envelope.encode_refusal([problem], RealWorld().now(), DEFAULT_LOCALE)
        head = (
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: %b\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        ) % (envelope.CONTENT_TYPE, len(body))
        self.transport.write(head + body)
        self.transport.close()
