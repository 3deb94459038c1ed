"""The HTTP protocol of the server, so that even what is not HTTP gets an answer in the envelope."""

import asyncio
from collections.abc import Callable

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pabal.checks.locale import DEFAULT
from pabal.domain.codes import Code, Problem, Words
from pabal.web import envelope
from pabal.world import RealWorld

_CONTINUE = b"HTTP/1.1 100"
_UNREADABLE = Words("읽을 수 있는 HTTP 요청이 아닙니다.", "It is not an HTTP request that can be read.")
MAX_BODY_AHEAD = 2**62
"""Within a body the head is not counted: bodies have their own limit."""


MAX_HEAD_BYTES = 256 * 1024
"""The most that may come before a request's body begins."""


class _Joining:
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
        self._let_go()
        self._then()

    def close(self) -> None:
        """Hang up when all is written."""
        self._let_go()
        self._transport.close()

    def _let_go(self) -> None:
        if self._head is not None and not self._has_begun:
            self._has_begun = True
            self._transport.write(self._head)


class Protocol(HttpToolsProtocol):
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
        self._head_bytes = -MAX_BODY_AHEAD
        super().on_headers_complete()
        if not isinstance(self.cycle.transport, _Joining):  # there is none of another kind: nothing is upgraded
            joining = _Joining(self.transport, self.cycle.on_response)
            self.cycle.transport = joining  # type: ignore[assignment]
            self.cycle.on_response = joining.end

    def on_message_complete(self) -> None:
        """Be ready for the head of the next request."""
        self._head_bytes = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that cannot be read, and hang up."""
        problem = Problem(Code.INVALID_PARAMETER, detail=_UNREADABLE)
        body = envelope.refusal([problem], RealWorld().now(), DEFAULT)
        head = (
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: %b\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        ) % (envelope.CONTENT_TYPE, len(body))
        self.transport.write(head + body)
        self.transport.close()
