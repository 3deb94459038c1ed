"""In-memory connections: two linked asyncio transports without sockets or real time."""

import asyncio
import errno
from collections.abc import Callable
from typing import Any

WIRE_BYTES = 64 * 1024
"""How many unread bytes fit between two ends before the writer must buffer the rest."""
HIGH_WATER_BYTES, LOW_WATER_BYTES = 64 * 1024, 16 * 1024
"""The write buffer limits of asyncio: above the first, writing is paused; below the second, it resumes."""


class Pipe(asyncio.Transport):
    """One end of a connection.

    As with a socket, data reaches the other end in later iterations of the loop, in chunks as large as
    possible. Data in transit when an end closes is still read. Each protocol gets connection_lost once.
    """

    def __init__(self, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._protocol = protocol
        self._other: Pipe | None = None
        self._unsent = bytearray()
        self._wire = bytearray()
        """Data that arrived and is not yet read."""
        self._is_paused = False
        self._is_closing = False
        self._is_lost = False
        self._has_fin = False
        """Whether the other end has finished writing."""
        self._has_reported_eof = False
        self._is_broken = False
        self._is_full = False
        self._is_awake = False

    @property
    def other(self) -> "Pipe":
        assert self._other is not None
        return self._other

    # The interface of asyncio.Transport.

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def is_closing(self) -> bool:
        return self._is_closing

    def get_write_buffer_size(self) -> int:
        return len(self._unsent)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closing and not self._unsent:
            return
        if self._is_broken:
            self._break()
            return
        self._unsent += data
        self._flush()
        if len(self._unsent) > HIGH_WATER_BYTES and not self._is_full:
            self._is_full = True
            self._protocol.pause_writing()

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        self._is_paused = False
        self._wake()

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._flush()

    def abort(self) -> None:
        """Close at once: data in transit still arrives, buffered data does not."""
        self._is_closing = True
        self._is_full = False
        self._unsent.clear()
        self._flush()

    def reset(self) -> None:
        """Close at once and discard what the other end has not read; it notices when it reads or writes."""
        self._is_closing = True
        self._unsent.clear()
        self._loop.call_soon(self._lose, None)
        self.other._wire.clear()
        self.other._is_broken = True
        self.other._wake()

    # Internals.

    def _flush(self) -> None:
        """Move buffered data to the other end; when nothing is left, complete a close."""
        if self._is_lost:
            return
        other = self.other
        if other._is_lost:
            self._unsent.clear()
        room = WIRE_BYTES - len(other._wire)
        if self._unsent and room > 0:
            other._wire += self._unsent[:room]
            del self._unsent[:room]
            other._wake()
        if not self._unsent and self._is_closing and not other._has_fin:
            other._has_fin = True
            other._wake()
        if not self._unsent and self._is_closing:
            self._loop.call_soon(self._lose, None)
        if self._is_full and len(self._unsent) <= LOW_WATER_BYTES:
            self._is_full = False
            self._protocol.resume_writing()

    def _wake(self) -> None:
        if not self._is_awake:
            self._is_awake = True
            self._loop.call_soon(self._read)

    def _read(self) -> None:
        self._is_awake = False
        if self._is_paused or self._is_closing:
            return
        if self._is_broken:
            self._break()
        elif self._wire:
            data = bytes(self._wire)
            self._wire.clear()
            self._notify(self._protocol.data_received, data)
            self.other._flush()
            if self._has_fin:
                self._wake()
        elif self._has_fin and not self._has_reported_eof:
            self._has_reported_eof = True
            if not self._notify(self._protocol.eof_received):
                self.close()

    def _notify(self, callback: Callable[..., Any], *arguments: Any) -> Any:
        """Call the protocol; if it fails, abort and report to the loop's exception handler."""
        try:
            return callback(*arguments)
        except Exception as error:
            self._loop.call_exception_handler({"message": "a protocol failed", "exception": error})
            self.abort()
            return None

    def _break(self) -> None:
        self._is_closing = True
        self._loop.call_soon(self._lose, ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"))

    def _lose(self, error: Exception | None) -> None:
        if not self._is_lost:
            self._is_lost = True
            self._protocol.connection_lost(error)
            self.other._flush()


async def connect(factory: Callable[[], asyncio.Protocol], peer: asyncio.Protocol) -> Pipe:
    """Connect a new protocol to a peer, and return our end of the connection."""
    near = Pipe(factory())
    far = Pipe(peer)
    near._other, far._other = far, near
    loop = asyncio.get_running_loop()
    loop.call_soon(peer.connection_made, far)
    loop.call_soon(near._protocol.connection_made, near)
    await asyncio.sleep(0)
    return near
