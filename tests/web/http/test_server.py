"""The HTTP server behind apps that stream, fail, or take their time, and its stop."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import pytest

from pabal.cli.serving.serve import new_event_loop
from pabal.service.metrics import Metrics
from pabal.web.http.connections import (
    MAX_DEFAULT_CONNECTIONS,
    MIN_CONNECTIONS,
    RESERVED_FILES,
    ConnectionLimits,
    ConnectionTable,
    max_connections_for,
)
from pabal.web.http.exchange import AsgiApp, HttpApp, Receive, Scope, Send
from pabal.web.http.server import serving
from pabal.world import RealWorld

T = TypeVar("T")

LIMITS = ConnectionLimits(100, 20, 20, 20, 20, 1)
STOP_S = 20.0
GET = b"GET /page?a=b HTTP/1.1\r\nHost: a\r\n\r\n"
SECRET = "010-5555-1234"
MEGABYTE = 2**20


class Peer:
    """A caller with one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def ask(self, request: bytes) -> None:
        self.writer.write(request)
        await self.writer.drain()

    async def read_head(self) -> bytes:
        return await self.reader.readuntil(b"\r\n\r\n")

    async def read_all(self) -> bytes:
        """Return everything until the server closes the connection."""
        return await self.reader.read()


def new_table() -> ConnectionTable:
    """Return a table for many connections that may take their time."""
    return ConnectionTable(LIMITS, RealWorld(), Metrics())


@contextlib.asynccontextmanager
async def serving_app(
    app: AsgiApp, stop_s: float = STOP_S, table: ConnectionTable | None = None
) -> AsyncIterator[Callable[[], Awaitable[Peer]]]:
    """Serve an app until the end of the block; yield what connects to it."""
    listener = socket.create_server(("127.0.0.1", 0))
    address = listener.getsockname()
    table = table or new_table()

    with contextlib.ExitStack() as peers:

        async def connect() -> Peer:
            peer = Peer(*await asyncio.open_connection(*address))
            peers.callback(peer.writer.close)
            return peer

        async with serving({listener: HttpApp(app)}, table, stop_s):
            yield connect


def ask(app: AsgiApp, request: bytes) -> bytes:
    """Return everything that a connection gets for a request, after which it is closed."""

    async def scenario() -> bytes:
        async with serving_app(app) as connect:
            peer = await connect()
            await peer.ask(request.replace(b"Host", b"Connection: close\r\nHost"))
            return await peer.read_all()

    return run(scenario())


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a scenario on the event loop of the service."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(work)


def answering(*parts: bytes, **headers: str) -> AsgiApp:
    """Return an app that answers with these parts and headers."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        lines = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": lines})
        for part in parts[:-1]:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": parts[-1]})

    return app


@pytest.mark.parametrize(
    ("version", "framed"),
    [
        (b"1.1", b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"),
        (b"1.0", b"connection: close\r\n\r\nonetwo"),
    ],
)
def test_body_without_a_length_is_sent_in_chunks_where_there_are_any(version: bytes, framed: bytes) -> None:
    answer = ask(answering(b"one", b"", b"two"), GET.replace(b"1.1", version))

    assert answer.startswith(b"HTTP/1.1 200 OK\r\ndate: ")
    assert answer.endswith(framed)


def test_answer_to_head_has_no_body() -> None:
    answer = ask(answering(b"one", content_length="3"), GET.replace(b"GET", b"HEAD"))

    assert b"content-length: 3\r\n" in answer
    assert answer.endswith(b"\r\n\r\n")


async def fail(scope: Scope, receive: Receive, send: Send) -> None:
    raise ValueError(SECRET)


async def return_early(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})


BROKEN = {
    "error": fail,
    "no body": return_early,
    "line break in a header": answering(b"", x_a="a\r\nset-cookie: b"),
    "space in a header's name": answering(b"", **{"x a": "b"}),
    "body longer than its length": answering(b"one", content_length="2"),
    "body shorter than its length": answering(b"one", content_length="4"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_answer_is_an_internal_error(what: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "pabal"):
        answer = ask(BROKEN[what], GET)

    assert answer.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
    assert b'"result":"INTERNAL_ERROR"' in answer
    assert SECRET.encode() not in answer
    assert [each.message for each in caplog.records] == ["unhandled error"]
    assert SECRET not in str(vars(caplog.records[0]))


def test_answer_that_breaks_off_ends_with_the_connection() -> None:
    assert ask(answering(b"one", b"two", content_length="5"), GET).endswith(b"\r\n\r\none")


def test_app_learns_where_a_request_goes_and_where_it_comes_from() -> None:
    seen: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)
        await answering(b"")(scope, receive, send)

    ask(app, GET.replace(b"/page", b"/p%61ge"))

    (scope,) = seen
    assert (scope["path"], scope["raw_path"], scope["query_string"]) == ("/page", b"/p%61ge", b"a=b")
    assert (scope["method"], scope["http_version"], scope["headers"][-1]) == ("GET", "1.1", (b"host", b"a"))
    assert (scope["client"][0], scope["server"][0]) == ("127.0.0.1", "127.0.0.1")


def test_caller_is_told_to_continue_when_its_body_is_read() -> None:
    may_read = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await may_read.wait()
        message = await receive()
        await answering(message["body"], content_length="4")(scope, receive, send)

    async def scenario() -> None:
        async with serving_app(app) as connect:
            peer = await connect()
            await peer.ask(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
            reading = asyncio.create_task(peer.read_head())
            await asyncio.wait([reading], timeout=0.05)
            assert not reading.done()
            may_read.set()
            assert await reading == b"HTTP/1.1 100 Continue\r\n\r\n"
            await peer.ask(b"body")
            assert b"200 OK" in await peer.read_head()
            assert await peer.reader.readexactly(4) == b"body"

    run(scenario())


def test_app_waits_for_a_caller_that_receives_slowly() -> None:
    sent = 0

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal sent
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(100):
            await send({"type": "http.response.body", "body": b"a" * MEGABYTE, "more_body": True})
            sent += 1
        await send({"type": "http.response.body", "body": b""})

    async def scenario() -> None:
        async with serving_app(app, stop_s=0.1) as connect:
            peer = await connect()
            await peer.ask(GET)
            await peer.read_head()
            await peer.reader.readexactly(50 * MEGABYTE)
            assert 40 < sent < 90

    run(scenario())


def test_app_that_waits_for_the_end_of_a_connection_learns_of_it() -> None:
    arrived, ended = asyncio.Event(), asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "http.request"
        arrived.set()
        assert (await receive())["type"] == "http.disconnect"
        ended.set()

    async def scenario() -> None:
        async with serving_app(app) as connect:
            peer = await connect()
            await peer.ask(GET)
            await arrived.wait()
            own = peer.writer.get_extra_info("socket")
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # not only half of it
            peer.writer.transport.abort()
            await ended.wait()

    run(scenario())


def test_stop_answers_what_was_received_and_closes_the_rest() -> None:
    arrived, may_answer = asyncio.Event(), asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        arrived.set()
        await may_answer.wait()
        await answering(b"done", content_length="4")(scope, receive, send)

    async def scenario() -> None:
        async with contextlib.AsyncExitStack() as stack:
            connect = await stack.enter_async_context(serving_app(app))
            idle, busy = await connect(), await connect()
            await busy.ask(GET)
            await arrived.wait()
            stopping = asyncio.create_task(stack.aclose())
            assert await idle.read_all() == b""
            with pytest.raises(OSError, match="Connect"):
                await connect()
            assert not stopping.done()
            may_answer.set()
            answer = await busy.read_all()
            await stopping

        assert b"connection: close" in answer
        assert answer.endswith(b"done")

    run(scenario())


def test_stop_cancels_what_takes_too_long(caplog: pytest.LogCaptureFixture) -> None:
    was_cancelled = False
    arrived = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal was_cancelled
        arrived.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            was_cancelled = True
            raise

    async def scenario() -> None:
        async with serving_app(app, stop_s=0.05) as connect:
            peer = await connect()
            await peer.ask(GET)
            await arrived.wait()

    run(scenario())

    assert was_cancelled
    assert [each.message for each in caplog.records] == ["requests took too long and were cancelled"]


def test_stop_waits_for_nobody_once_it_is_told_so() -> None:
    arrived = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        arrived.set()
        await asyncio.Event().wait()

    async def scenario() -> None:
        table = new_table()
        async with serving_app(app, stop_s=3600, table=table) as connect:
            peer = await connect()
            await peer.ask(GET)
            await arrived.wait()
            asyncio.get_running_loop().call_later(0.05, table.close_now)
        assert await peer.read_all() == b""

    run(scenario())


def test_connection_whose_first_head_is_refused_is_counted_once() -> None:
    metrics = Metrics()
    table = ConnectionTable(LIMITS, RealWorld(), metrics)

    def count(state: str) -> float | None:
        return metrics.registry.get_sample_value("pabal_http_connections", {"state": state})

    async def scenario() -> None:
        async with serving_app(answering(b"never"), table=table) as connect:
            peer = await connect()
            await peer.ask(b"\0\r\n\r\n")
            head = await peer.read_head()
            assert head.startswith(b"HTTP/1.1 400")  # it waits for the caller's end
            assert b"x-request-id: " in head
            assert (count("all"), count("waiting")) == (1, 1)

    run(scenario())


@pytest.mark.parametrize(
    ("files", "connections"),
    [(32, MIN_CONNECTIONS), (128, 56), (256, 170), (1024, 682), (65_536, MAX_DEFAULT_CONNECTIONS)],
)
def test_default_leaves_files_to_the_store_and_carriers(files: int, connections: int) -> None:
    assert max_connections_for(files) == connections


@pytest.mark.parametrize(("wanted", "connections"), [(100, 100), (20_000, 853)])
def test_setting_is_followed_as_far_as_files_allow(wanted: int, connections: int) -> None:
    assert max_connections_for(1024, wanted) == connections
    assert connections + connections // 8 + RESERVED_FILES <= 1024
