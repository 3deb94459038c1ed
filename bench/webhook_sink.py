"""`python -m bench.webhook_sink LIVE SILENT`: https servers that take every post, and some that never answer."""

import asyncio
import contextlib
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.server import BenchmarkFailed

TLS = Path(__file__).parents[1] / "tests" / "fixtures" / "tls"
AUTHORITY = TLS / "authority.pem"
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class WebhookSink:
    """A process with servers of webhooks."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self.live, self.silent = msgspec.json.decode(self._line(), type=tuple[list[int], list[int]])
        """The ports of the servers that answer, and of those that do not."""

    def arrivals(self) -> dict[int, dict[str, int]]:
        """Return when each message arrived at each port since the last call, in milliseconds since 1970."""
        assert self._process.stdin
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._line(), type=dict[int, dict[str, int]])

    def _line(self) -> bytes:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise BenchmarkFailed("the sink of webhooks has exited")
        return line


@contextlib.contextmanager
def running_webhook_sink(live: int, silent: int) -> Iterator[WebhookSink]:
    """Run a sink."""
    command = [sys.executable, "-m", "bench.webhook_sink", str(live), str(silent)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield WebhookSink(process)  # it exits when its input is closed


class _State:
    def __init__(self) -> None:
        self.arrived: dict[int, dict[str, int]] = {}

    async def take_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        port = writer.get_extra_info("sockname")[1]
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = next(int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
                body = _decode(await reader.readexactly(length))
                now = time.time_ns() // 1_000_000
                found = self.arrived.setdefault(port, {})
                for item in body["data"]["items"]:
                    found.setdefault(item["messageId"], now)
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    async def ignore(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while await reader.read(65536):
                pass
        writer.close()


async def _serve(live: int, silent: int) -> None:
    state = _State()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "server.pem")
    handlers = [*[state.take_all] * live, *[state.ignore] * silent]
    servers = [await asyncio.start_server(each, "127.0.0.1", 0, ssl=context) for each in handlers]
    ports = [each.sockets[0].getsockname()[1] for each in servers]
    _write((ports[:live], ports[live:]))
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    async for _ in commands:
        _write({str(port): found for port, found in state.arrived.items()})
        state.arrived = {}


def _write(value: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), int(sys.argv[2])))
