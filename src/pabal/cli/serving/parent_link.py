"""The connection of a process to the one that started it: by it each learns that the other is ready or gone."""

import asyncio
import contextlib
import logging
import signal
import socket

READY = b"r"
"""What a process sends when it is ready."""

log = logging.getLogger("pabal.processes")


class ParentLink:
    """A child's end of the connection."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._socket.setblocking(False)

    def tell_ready(self) -> None:
        """Tell the parent that this process is ready."""
        with contextlib.suppress(OSError):  # the parent has died, which the other method notices
            self._socket.send(READY)

    async def stop_with_parent(self) -> None:
        """Have this process stop as at SIGTERM when its parent dies, however it dies."""
        with contextlib.suppress(ConnectionError):
            await asyncio.get_running_loop().sock_recv(self._socket, 1)
        log.warning("the parent process has died; stopping")
        signal.raise_signal(signal.SIGTERM)
