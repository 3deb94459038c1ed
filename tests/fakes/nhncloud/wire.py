"""The server on a real socket: HTTP/1.1 on asyncio, with connections that can break at any point."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus
from typing import cast
from urllib.parse import parse_qsl, unquote

import httptools

from tests.fakes.nhncloud.answers import Reply, Request
from tests.fakes.relay_faults import ConnectionCut

MAX_BODY_BYTES = 32 * 1024 * 1024

Handler = Callable[[Request], Awaitable[Reply]]


class Connection(asyncio.Protocol):
    """One connection; its requests are answered one after the other."""

    def __init__(self, handler: Handler, open_connections: "set[Connection]") -> None:
        self._handler = handler
        self._open_connections = open_connections
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._waiting: list[tuple[Request, bool]] = []
        self._begin()

    def _begin(self) -> None:
        self._parser = httptools.HttpRequestParser(self)

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body = bytearray()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        self._body += body
        if len(self._body) > MAX_BODY_BYTES:
            self.abort()

    def on_message_complete(self) -> None:
        url = httptools.parse_url(self._url)
        query = dict(parse_qsl((url.query or b"").decode("latin-1"), keep_blank_values=True))
        method = self._parser.get_method().decode("ascii")
        request = Request(method, unquote(url.path.decode("latin-1")), query, self._headers, bytes(self._body))
        self._waiting.append((request, self._parser.should_keep_alive()))
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._answer())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._open_connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._open_connections.discard(self)

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.abort()

    def abort(self) -> None:
        if self._transport:
            self._transport.abort()

    async def _answer(self) -> None:
        try:
            while self._waiting:
                request, keep_alive = self._waiting.pop(0)
                reply = await self._handler(request)
                if self._transport is None:
                    return
                self._transport.write(_encode(reply, keep_alive))
                if not keep_alive:
                    self._transport.close()
        except ConnectionCut:
            self.abort()
        finally:
            self._task = None


def _encode(reply: Reply, keep_alive: bool) -> bytes:
    location = "Location: /\r\n" if reply.status == 302 else ""
    reason = HTTPStatus(reply.status).phrase
    head = (
        f"HTTP/1.1 {reply.status} {reason}\r\nContent-Type: {reply.content_type}\r\n{location}"
        f"Content-Length: {len(reply.body)}\r\nConnection: {'keep-alive' if keep_alive else 'close'}\r\n\r\n"
    )
    return head.encode("latin-1") + reply.body


class Listener:
    """A port that can be closed and opened again."""

    def __init__(self, handler: Handler, port: int = 0) -> None:
        self._handler = handler
        self._open_connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self.port = port

    async def listen(self) -> None:
        """Accept connections, on the same port as before."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self._handler, self._open_connections), "127.0.0.1", self.port
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop accepting connections, and abort the open ones."""
        if self._server:
            self._server.close()
            for each in list(self._open_connections):
                each.abort()
            await self._server.wait_closed()
            self._server = None


@contextlib.asynccontextmanager
async def listening(handler: Handler, port: int = 0) -> AsyncIterator[Listener]:
    """Answer on a port until the end of the block."""
    listener = Listener(handler, port)
    await listener.listen()
    try:
        yield listener
    finally:
        await listener.stop()
