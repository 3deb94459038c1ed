"""The HTTP protocol of the server, so that even what is not HTTP gets an answer in the envelope."""

import asyncio
from collections.abc import Callable

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pabal.checks.locale import DEFAULT_LOCALE
from pabal.domain.codes import Code, Problem, Text
from pabal.web import envelope
from pabal.world import RealWorld

_CONTINUE = b"HTTP/1.1 100"
_UNREADABLE_REQUEST = Text("읽을 수 있는 HTTP 요청이 아닙니다.", "It is not an HTTP request that can be read.")
BODY_HEAD_ALLOWANCE_BYTES = 2**62
"""Within a body the head is not counted: bodies have their own limit."""


MAX_HEAD_BYTES = 256 * 1024
"""The most that may come before a request's body begins."""


class _ResponseTransport:
    """A connection, as the answer to one request sees it: its head leaves together with the first of its body."""

    def __init__(self, transport: asyncio.Transport, then: Callable[..., None]) -> None:
        self._transport = transport
        self._then = then
        self._head: bytes | None = None
        self._has_begun = False
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        """Write on; the head waits for what follows it, but leave to go on waits for nothing."""
        if self._has_begun or data.startswith(_CONTINUE):
            self._transport.write(data)
        elif self._head is None:
            self._head = data
        else:
            self._has_begun = True
            self._transport.write(self._head + data)

    def end(self) -> None:
        """Be done with the answer, also with one that had no body."""
        self._flush_head()
        self._then()

    def close(self) -> None:
        """Hang up when all is written."""
        self._flush_head()
        self._transport.close()

    def _flush_head(self) -> None:
        if self._head is not None and not self._has_begun:
            self._has_begun = True
            self._transport.write(self._head)


class HttpProtocol(HttpToolsProtocol):
    """Speaks HTTP, and says no to anything else."""

    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Read on, unless the head of a request has no end."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("the head of the request is too large")

    def on_headers_complete(self) -> None:
        """Begin with the request, its head being whole."""
        self._head_bytes = -BODY_HEAD_ALLOWANCE_BYTES
        super().on_headers_complete()
        if not isinstance(
            self.cycle.transport, _ResponseTransport
        ):  # there is none of another kind: nothing is upgraded
            joining = _ResponseTransport(self.transport, self.cycle.on_response)
            self.cycle.transport = joining  # type: ignore[assignment]
            self.cycle.on_response = joining.end

    def on_message_complete(self) -> None:
        """Be ready for the head of the next request."""
        self._head_bytes = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that cannot be read, and hang up."""
        problem = Problem(Code.INVALID_PARAMETER, detail=_UNREADABLE_REQUEST)
        body = envelope.encode_refusal([problem], RealWorld().now(), DEFAULT_LOCALE)
        head = (
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: %b\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        ) % (envelope.CONTENT_TYPE, len(body))
        self.transport.write(head + body)
        self.transport.close()
