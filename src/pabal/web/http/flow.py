"""The bytes of a connection: writes and reads them only as fast as both sides can."""

import asyncio


class ByteFlow:
    """Sends and receives the bytes of a connection, and tells when its caller receives none."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.is_read_paused = False
        self._drained = asyncio.Event()
        self._drained.set()
        self._written_bytes = 0
        self._stalled_since: float | None = None
        self._flushed_before_stall = 0

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self._written_bytes += len(data)
        self._transport.write(data)

    async def drain(self) -> None:
        """Wait until the caller has received most of what was sent."""
        if not self._drained.is_set():
            await self._drained.wait()

    def pause_writing(self) -> None:
        """Let `drain` wait: the caller receives too slowly."""
        self._drained.clear()

    def resume_writing(self) -> None:
        """Let `drain` go on."""
        self._drained.set()

    def pause_reading(self) -> None:
        """Receive nothing until reading is resumed."""
        if not self.is_read_paused:
            self.is_read_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Receive again."""
        if self.is_read_paused:
            self.is_read_paused = False
            self._transport.resume_reading()

    def has_stalled(self, now: float, patience_s: float, min_bytes_per_s: int) -> bool:
        """Tell whether the caller has received less than the minimum for `patience_s`; asked twice a second."""
        unsent = self._transport.get_write_buffer_size()
        if not unsent:
            self._stalled_since = None
            return False
        flushed = self._written_bytes - unsent
        waited_s = now - self._stalled_since if self._stalled_since is not None else 0.0
        if waited_s > patience_s:
            if flushed - self._flushed_before_stall < waited_s * min_bytes_per_s:
                return True
            self._stalled_since = None
        if self._stalled_since is None:
            self._stalled_since, self._flushed_before_stall = now, flushed
        return False
