"""`python -m bench.peers.callback_sink`: an http server that takes every callback, and counts."""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import cast

import msgspec
import uvloop

from bench.server import BenchmarkFailed

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nACK/Jasmin"
"""Jasmin calls again where it reads anything else."""


class CallbackSink:
    """Controls a running server of callbacks."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self.port: int = msgspec.json.decode(self._line(), type=int)

    def arrivals(self) -> list[tuple[float, int]]:
        """Return when callbacks arrived since the last call, and how many together."""
        assert self._process.stdin
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._line(), type=list[tuple[float, int]])

    def _line(self) -> bytes:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise BenchmarkFailed("the server of callbacks has exited")
        return line


@contextlib.contextmanager
def running_callback_sink() -> Iterator[CallbackSink]:
    """Run a server of callbacks."""
    command = [sys.executable, "-m", "bench.peers.callback_sink"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield CallbackSink(process)  # it exits when its input is closed


class _Connection(asyncio.Protocol):
    """One connection, which may send several requests without bodies at once."""

    def __init__(self, arrived: list[tuple[float, int]]) -> None:
        self._arrived = arrived
        self._rest = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        *whole, self._rest = (self._rest + data).split(b"\r\n\r\n")
        if whole:
            self._arrived.append((time.time(), len(whole)))
            self._transport.write(_ANSWER * len(whole))


async def _serve() -> None:
    arrived: list[tuple[float, int]] = []
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(arrived), "127.0.0.1", 0)
    _write(server.sockets[0].getsockname()[1])
    commands = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    async for _ in commands:
        _write(arrived)
        arrived.clear()


def _write(value: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    uvloop.run(_serve())
