"""Writes one response of a connection: as a whole where it is known, else its head together with its first part."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

WHOLE_RESPONSE = "pabal.whole_response"
"""Name in a request's scope of `ResponseTransport.respond`, which spares the two messages of ASGI."""
_CONTINUE = b"HTTP/1.1 100"

Respond = Callable[[int, Sequence[tuple[bytes, bytes]], bytes], bool]


class RespondingConnection(Protocol):
    """A connection that sends responses one after the other."""

    transport: asyncio.Transport
    written_bytes: int

    def on_response_complete(self) -> None:
        """Go on with the next request."""


class ResponseTransport:
    """A transport for one response that sends its head together with the first part of its body."""

    def __init__(self, protocol: RespondingConnection, cycle: RequestResponseCycle) -> None:
        self._protocol = protocol
        self._cycle = cycle
        self._transport = protocol.transport
        self._then = protocol.on_response_complete
        self._head: bytes | None = None
        self._has_begun = False
        self.is_closing = protocol.transport.is_closing

    def respond(self, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> bool:
        """Write a whole response, whose headers are valid; say no where only the messages of ASGI can."""
        cycle = self._cycle
        if cycle.disconnected or cycle.response_started or cycle.flow.write_paused or not body:
            return False
        if cycle.scope["method"] == "HEAD":
            return False
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        lines = [b"%b: %b\r\n" % header for header in (*cycle.default_headers, *headers)]
        if not cycle.keep_alive:
            lines.append(b"connection: close\r\n")
        self._has_begun = True
        self._write(b"%b%b\r\n%b" % (STATUS_LINE[status], b"".join(lines), body))
        cycle.message_event.set()
        if not cycle.keep_alive:
            self._transport.close()
        self._then()
        return True

    def write(self, data: bytes) -> None:
        """Write data; hold back the head until the body follows, but send 100 Continue at once."""
        if self._has_begun or data.startswith(_CONTINUE):
            self._write(data)
        elif self._head is None:
            self._head = data
        else:
            self._has_begun = True
            self._write(self._head + data)

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
            self._write(self._head)

    def _write(self, data: bytes) -> None:
        self._protocol.written_bytes += len(data)
        self._transport.write(data)
