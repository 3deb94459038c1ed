"""Writes one response of a connection: its head together with the first part of its body."""

import asyncio
from typing import Protocol

_CONTINUE = b"HTTP/1.1 100"


class RespondingConnection(Protocol):
    """A connection that sends responses one after the other."""

    transport: asyncio.Transport
    written_bytes: int

    def on_response_complete(self) -> None:
        """Go on with the next request."""


class ResponseTransport:
    """A transport for one response that sends its head together with the first part of its body."""

    def __init__(self, protocol: RespondingConnection) -> None:
        self._protocol = protocol
        self._transport = protocol.transport
        self._then = protocol.on_response_complete
        self._head: bytes | None = None
        self._has_begun = False
        self.is_closing = protocol.transport.is_closing

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
