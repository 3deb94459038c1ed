"""Keeps connections to a relay for the next call, which costs the same however many there are."""

import asyncio
import select
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import h11
import httpx

KEEPALIVE_S = 30.0
"""A connection idle for this long is closed: the server may be closing it, too."""
MAX_CONNECTIONS = 256
HEAD_START_S = 0.25
"""If a host has several addresses, how long one may take to connect before the next is tried beside it."""
MAX_HEAD_BYTES = 64 * 1024
"""A response with a longer head is not read."""
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
"""A longer body is not read."""
HTTPS = "https"

Address = tuple[str, int]
RawResponse = tuple[int, list[tuple[bytes, bytes]], bytes]
"""Status, headers and body."""


class KeptConnections(httpx.AsyncBaseTransport):
    """HTTP/1.1 connections to one host; the one used last is used next.

    The pool that comes with httpx looks at every connection several times a call: with forty of them that takes
    milliseconds.
    """

    def __init__(
        self,
        context: ssl.SSLContext,
        *,
        max_connections: int = MAX_CONNECTIONS,
        keepalive_s: float = KEEPALIVE_S,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
    ) -> None:
        context.set_alpn_protocols(["http/1.1"])
        self._context = context
        self._keepalive_s = keepalive_s
        self._max_response_bytes = max_response_bytes
        self._free = asyncio.Semaphore(max_connections)
        self._open: set[_KeptConnection] = set()
        self._idle: list[_KeptConnection] = []
        self._is_closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Make a call and return the response with its body.

        Raises httpx.HTTPError: ConnectError, ConnectTimeout and PoolTimeout if nothing was sent.
        """
        limits = request.extensions["timeout"]
        body = await request.aread()
        await self._wait_for_place(limits["pool"])
        try:
            connection = self._take_idle() or await self._connect(request.url, limits["connect"])
            try:
                status, headers, content = await connection.exchange(request, body)
            finally:
                self._put_back(connection)
        finally:
            self._free.release()
        return httpx.Response(status, headers=headers, content=content)

    async def aclose(self) -> None:
        """Close all connections; calls that run fail."""
        self._is_closed = True
        closing = list(self._open)
        for connection in closing:
            connection.abort()
        await asyncio.gather(*(connection.closed for connection in closing))

    async def _wait_for_place(self, timeout_s: float | None) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                await self._free.acquire()
        except TimeoutError:
            raise httpx.PoolTimeout("too many calls at the same time") from None

    def _take_idle(self) -> "_KeptConnection | None":
        while self._idle:
            connection = self._idle.pop()
            if connection.leave_idle():
                return connection
            connection.abort()
        return None

    def _put_back(self, connection: "_KeptConnection") -> None:
        if connection.is_reusable:
            connection.stay_idle(self._keepalive_s)
            self._idle.append(connection)
        else:
            connection.abort()

    async def _connect(self, url: httpx.URL, timeout_s: float | None) -> "_KeptConnection":
        is_secure = url.scheme == HTTPS
        host, port = url.raw_host.decode("ascii"), url.port or (443 if is_secure else 80)
        loop = asyncio.get_running_loop()

        async def connect_to(address: Address) -> _KeptConnection:
            _, connection = await loop.create_connection(
                lambda: _KeptConnection(self._forget, self._max_response_bytes),
                *address,
                ssl=self._context if is_secure else None,
                server_hostname=host if is_secure else None,
            )
            return connection

        try:
            async with asyncio.timeout(timeout_s):
                found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
                connection = await connect_to_first([(str(each[4][0]), port) for each in found], connect_to)
        except TimeoutError:
            raise httpx.ConnectTimeout("the connection timed out") from None
        except OSError as error:
            raise httpx.ConnectError("no connection") from error
        if self._is_closed:
            connection.abort()
            raise httpx.ConnectError("the service is stopping")
        self._open.add(connection)
        return connection

    def _forget(self, connection: "_KeptConnection") -> None:
        self._open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)


async def connect_to_first(
    addresses: Sequence[Address], connect: Callable[[Address], Awaitable["_KeptConnection"]]
) -> "_KeptConnection":
    """Connect to the first address that accepts; each has a head start on the next.

    Raises OSError: the error of the first address.
    """
    tasks: list[asyncio.Task[_KeptConnection]] = []
    pending: set[asyncio.Task[_KeptConnection]] = set()
    chosen: asyncio.Task[_KeptConnection] | None = None
    try:
        while chosen is None and (pending or len(tasks) < len(addresses)):
            if len(tasks) < len(addresses):
                tasks.append(asyncio.ensure_future(connect(addresses[len(tasks)])))
                pending.add(tasks[-1])
            timeout_s = HEAD_START_S if len(tasks) < len(addresses) else None
            done, pending = await asyncio.wait(pending, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            chosen = next((task for task in tasks if task in done and task.exception() is None), None)
        return (chosen or tasks[0]).result()
    finally:
        for task in tasks:
            if not task.done():
                task.cancel()
            elif task is not chosen and not task.cancelled() and task.exception() is None:
                task.result().abort()


class _KeptConnection(asyncio.Protocol):
    """One connection: a call at a time."""

    _transport: asyncio.Transport

    def __init__(self, on_close: Callable[["_KeptConnection"], None], max_response_bytes: int) -> None:
        self._on_close = on_close
        self._max_response_bytes = max_response_bytes
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
        self._answer: asyncio.Future[RawResponse] | None = None
        self._head: h11.Response | None = None
        self._parts: list[bytes] = []
        self._size = 0
        self._idle_timer: asyncio.TimerHandle | None = None

    @property
    def is_reusable(self) -> bool:
        """Whether it may be used for another call."""
        return self._http.our_state is h11.IDLE and not self._transport.is_closing()

    def stay_idle(self, keepalive_s: float) -> None:
        """Close it by itself after this time, unless it is used before."""
        self._idle_timer = asyncio.get_running_loop().call_later(keepalive_s, self.abort)

    def leave_idle(self) -> bool:
        """Return whether it can be used now: not if anything came while it was idle, such as its end."""
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
        return self.is_reusable and not _is_readable(self._transport.get_extra_info("socket"))

    def abort(self) -> None:
        """Close it at once."""
        self._transport.abort()

    async def exchange(self, request: httpx.Request, body: bytes) -> RawResponse:
        """Send a request and return the response.

        Raises httpx.HTTPError.
        """
        self._answer = asyncio.get_running_loop().create_future()
        self._head, self._parts, self._size = None, [], 0
        try:
            self._transport.write(self._encode(request, body))
            return await self._answer
        except h11.LocalProtocolError as error:
            raise httpx.LocalProtocolError(str(error)) from error
        finally:
            self._answer = None

    def _encode(self, request: httpx.Request, body: bytes) -> bytes:
        head = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
        events = (head, h11.Data(data=body), h11.EndOfMessage()) if body else (head, h11.EndOfMessage())
        return b"".join(self._http.send(event) or b"" for event in events)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are not of this class

    def data_received(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():  # it could be taken for the answer to the next call
            self.abort()
            return
        try:
            self._http.receive_data(data)
            self._read_events()
        except h11.RemoteProtocolError as error:
            self._fail(httpx.RemoteProtocolError(str(error)))

    def eof_received(self) -> None:
        self.data_received(b"")

    def connection_lost(self, exc: Exception | None) -> None:
        error = httpx.ReadError("the connection was closed")
        error.__cause__ = exc
        self._fail(error)
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self._on_close(self)
        if not self.closed.done():
            self.closed.set_result(None)

    def _read_events(self) -> None:
        """Read what has arrived.

        Raises h11.RemoteProtocolError.
        """
        while (event := self._http.next_event()) is not h11.NEED_DATA:
            if isinstance(event, h11.Response):
                self._head = event
            elif isinstance(event, h11.Data):
                self._add_part(event.data)
            elif isinstance(event, h11.EndOfMessage):
                self._finish()
                return
            elif not isinstance(event, h11.InformationalResponse):  # its end, or another protocol
                self._fail(httpx.RemoteProtocolError("the server closed the connection"))
                return

    def _add_part(self, data: Any) -> None:
        self._parts.append(bytes(data))
        self._size += len(data)
        if self._size > self._max_response_bytes:
            self._fail(httpx.RemoteProtocolError(f"a response of more than {self._max_response_bytes} bytes"))

    def _finish(self) -> None:
        assert self._head is not None
        if self._http.states == {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE} and not self._http.trailing_data[0]:
            self._http.start_next_cycle()
        if self._answer is not None and not self._answer.done():
            headers = list(self._head.headers.raw_items())
            self._answer.set_result((self._head.status_code, headers, b"".join(self._parts)))

    def _fail(self, error: Exception) -> None:
        """End the call with an error, and the connection with it."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
        self.abort()


def _is_readable(connection: socket.socket) -> bool:
    """Say whether anything has arrived that the event loop has not noticed yet."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
