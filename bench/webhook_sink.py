"""`python -m bench.webhook_sink LIVE SILENT`: servers that take every result, and https servers that never answer.

It has LIVE https servers for posts with many results, SILENT ones, and one http server for the callbacks of other
gateways, which are a request for each result.
"""

import asyncio
import contextlib
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import uvloop

from bench.environment import ACCOUNT, Environment, call_api
from bench.line_process import LineProcess, answer_lines, running_lines
from bench.server import BenchmarkFailed, Server

TLS = Path(__file__).parents[1] / "tests" / "fixtures" / "tls"
AUTHORITY = TLS / "authority.pem"
TIMEOUT_S = 120.0
POLL_INTERVAL_S = 0.1
GO_AWAY, COME_BACK = b"go away", b"come back"
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nACK/Jasmin"
"""Jasmin calls again where it reads anything else."""
_decode = msgspec.json.Decoder(dict[str, Any]).decode

Arrivals = dict[int, dict[str, float]]
"""When each result arrived at each port, in seconds of the wall clock."""


class WebhookSink(LineProcess):
    """Controls the servers."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        super().__init__(process)
        found = msgspec.json.decode(self.read(), type=tuple[list[int], list[int], int])
        self.live, self.silent, self.plain = found
        """The ports of the https servers that answer and of those that do not, and of the http server."""

    def arrivals(self) -> Arrivals:
        """Return what has arrived since the last call."""
        return msgspec.json.decode(self.ask(b""), type=Arrivals)

    def go_away(self) -> None:
        """Let the servers close every connection without an answer, until they come back."""
        self.ask(GO_AWAY)

    def come_back(self) -> None:
        self.ask(COME_BACK)

    def wait_for(self, ports: Sequence[int], results: int) -> Arrivals:
        """Return when each result arrived, once so many have arrived at each of these ports.

        Raises BenchmarkFailed if that takes too long.
        """
        found: Arrivals = {port: {} for port in ports}
        deadline = time.perf_counter() + TIMEOUT_S
        while any(len(found[port]) < results for port in ports):
            if time.perf_counter() > deadline:
                counts = [len(found[port]) for port in ports]
                raise BenchmarkFailed(
                    f"after {TIMEOUT_S:.0f} s not all results have arrived: {counts} of {results}"
                )
            time.sleep(POLL_INTERVAL_S)
            for port, arrived in self.arrivals().items():
                known = found.setdefault(port, {})
                for one, at in arrived.items():
                    known.setdefault(one, at)
        return found


@contextlib.contextmanager
def running_webhook_sink(live: int = 1, silent: int = 0) -> Iterator[WebhookSink]:
    """Run the servers until the end of the block."""
    with running_lines("bench.webhook_sink", str(live), str(silent)) as process:
        yield WebhookSink(process)


def webhook_settings(ports: Sequence[int]) -> str:
    """Return the settings that permit a service to reach webhooks at these ports."""
    allowed = ", ".join(f'"{ACCOUNT}@localhost:{port}"' for port in ports)
    return f'webhook_allow = [{allowed}]\nwebhook_tls_ca = "{AUTHORITY}"\n'


def add_webhooks(env: Environment, server: Server, ports: Sequence[int]) -> None:
    """Add a webhook for each port to a service whose settings permit it."""
    for port in ports:
        body = {"url": f"https://localhost:{port}/hook", "events": ["message.result"]}
        call_api(server, env.key, "webhook/create.v1.0", body)


class _Servers:
    def __init__(self) -> None:
        self._arrived: Arrivals = {}
        self._callbacks = 0
        self._is_away = False

    def report(self, line: bytes) -> bytes:
        if said := line.strip():
            self._is_away = said == GO_AWAY
            return b""
        arrived, self._arrived = self._arrived, {}
        return msgspec.json.encode({str(port): found for port, found in arrived.items()})

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        port = writer.get_extra_info("sockname")[1]
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                lengths = [int(each[15:]) for each in head.split(b"\r\n") if each.startswith(b"content-length:")]
                body = await reader.readexactly(lengths[0]) if lengths else b""
                if self._is_away:
                    break
                found = self._arrived.setdefault(port, {})
                now = time.time()
                for one in self._results(body):
                    found.setdefault(one, now)
                writer.write(_ANSWER)
        writer.close()

    def _results(self, body: bytes) -> list[str]:
        """Return the ids of the messages in a post; a callback without a body is counted."""
        if body:
            return [item["messageId"] for item in _decode(body)["data"]["items"]]
        self._callbacks += 1
        return [str(self._callbacks)]

    async def ignore(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while await reader.read(65536):
                pass
        writer.close()


async def _serve(live: int, silent: int) -> None:
    servers = _Servers()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "server.pem")
    handlers = [*[servers.take] * live, *[servers.ignore] * silent]
    running = [await asyncio.start_server(each, "127.0.0.1", 0, ssl=context) for each in handlers]
    running.append(await asyncio.start_server(servers.take, "127.0.0.1", 0))
    ports = [each.sockets[0].getsockname()[1] for each in running]
    await answer_lines((ports[:live], ports[live:-1], ports[-1]), servers.report)


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1]), int(sys.argv[2])))
