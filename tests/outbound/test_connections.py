"""Kept connections over real sockets, on both event loops: which are used again, and which never."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pabal.outbound.calls import Failure, HttpRequest, NotConnected, Unanswered
from pabal.outbound.connections import HttpConnections
from tests.fixtures.certificates import AUTHORITY, server_context

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

pytestmark = [pytest.mark.real_time, pytest.mark.usefixtures("loop_factory")]


class Peer:
    """A server that answers each call with the same bytes, and counts its connections."""

    def __init__(self, answer: bytes, then_closes: bool) -> None:
        self.answer = answer
        self.then_closes = then_closes
        self.after = b""
        """What follows on a connection without a call, once it is read."""
        self.follow = asyncio.Event()
        self.holds = False
        """Whether it answers nothing."""
        self.port = 0
        self.connections = 0
        self.calls: asyncio.Queue[bytes] = asyncio.Queue()
        self.ended: asyncio.Queue[None] = asyncio.Queue()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.calls.put_nowait(head)
                if self.holds:
                    continue
                writer.write(self.answer)
                if self.after or self.then_closes:
                    await writer.drain()
                    await self.follow.wait()
                    writer.write(self.after)
                if self.then_closes:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            self.ended.put_nowait(None)


@asynccontextmanager
async def talking(
    answer: bytes = OK, *, then_closes: bool = False, is_secure: bool = False, **limits: Any
) -> AsyncIterator[tuple[Peer, HttpConnections]]:
    peer = Peer(answer, then_closes)
    context = server_context() if is_secure else None
    server = await asyncio.start_server(peer.serve, "127.0.0.1", 0, ssl=context)
    peer.port = server.sockets[0].getsockname()[1]
    transport = HttpConnections(ssl.create_default_context(cafile=AUTHORITY), **limits)
    try:
        yield peer, transport
    finally:
        await transport.close()
        server.close()


async def call(peer: Peer, transport: HttpConnections, scheme: str = "http", method: str = "GET") -> str:
    host = "localhost" if scheme == "https" else "127.0.0.1"
    request = HttpRequest(method, f"{scheme}://{host}:{peer.port}/path?a=%7C", {"Accept": "*/*"})
    return (await transport.send(request)).body.decode()


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_calls_after_each_other_share_a_connection(scheme: str) -> None:
    async with talking(is_secure=scheme == "https") as (peer, transport):
        assert [await call(peer, transport, scheme) for _ in range(5)] == ["ok"] * 5
        assert peer.connections == 1
        assert peer.calls.get_nowait().startswith(b"GET /path?a=%7C HTTP/1.1\r\nHost: ")


async def test_calls_at_the_same_time_have_a_connection_each() -> None:
    async with talking() as (peer, transport):
        for _ in range(3):
            assert await asyncio.gather(*(call(peer, transport) for _ in range(20))) == ["ok"] * 20
        assert peer.connections == 20


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_connection_that_the_server_closed_is_not_used(scheme: str) -> None:
    async with talking(then_closes=True, is_secure=scheme == "https") as (peer, transport):
        for number in range(1, 4):
            assert await call(peer, transport, scheme) == "ok"
            peer.follow.set()
            await peer.ended.get()
            peer.follow.clear()
            assert peer.connections == number


@pytest.mark.parametrize("then_closes", [True, False])
async def test_answer_that_nobody_asked_for_is_not_taken(then_closes: bool) -> None:
    async with talking(then_closes=then_closes) as (peer, transport):
        peer.after = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 3\r\n\r\nold"
        assert await call(peer, transport) == "ok"
        peer.follow.set()
        for _ in range(20):  # until it has arrived
            await asyncio.sleep(0)
        assert await call(peer, transport) == "ok"
        assert peer.connections == 2


@pytest.mark.parametrize(
    ("answer", "body", "is_kept"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", "ok", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", False),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, "ok", True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n", "ok", True),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "", True),
        (OK + OK, "ok", False),
    ],
)
async def test_every_form_of_answer_is_read(answer: bytes, body: str, is_kept: bool) -> None:
    async with talking(answer) as (peer, transport):
        assert [await call(peer, transport) for _ in range(3)] == [body] * 3
        assert peer.connections == (1 if is_kept else 3)


async def test_answer_may_end_with_the_connection() -> None:
    async with talking(b"HTTP/1.1 200 OK\r\n\r\nok", then_closes=True) as (peer, transport):
        peer.follow.set()
        assert await call(peer, transport) == "ok"


async def test_compressed_answer_is_unpacked() -> None:
    packed = gzip.compress(b"long " * 1000)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    async with talking(head + packed) as (peer, transport):
        assert await call(peer, transport) == "long " * 1000


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + b"x" * 99,
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000,
    ],
)
async def test_answer_of_the_wrong_form_or_length_is_an_error(answer: bytes) -> None:
    async with talking(answer, max_body_bytes=70) as (peer, transport):
        with pytest.raises(Unanswered) as failed:
            await call(peer, transport)
        assert failed.value.failure in (Failure.ANSWER, Failure.LENGTH)
        peer.answer = OK
        assert await call(peer, transport) == "ok"


async def test_endless_interim_answers_are_read_up_to_a_limit() -> None:
    async with talking(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, max_answer_bytes=10_000) as (peer, transport):
        with pytest.raises(Unanswered) as failed:
            await call(peer, transport)
        assert failed.value.failure is Failure.LENGTH


async def test_long_body_is_sent_whole() -> None:
    body = bytes(range(256)) * 20_000
    found: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        found.extend((head, await reader.readexactly(len(body))))
        writer.write(OK)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    transport = HttpConnections(ssl.create_default_context())
    assert (await transport.send(HttpRequest("POST", f"http://127.0.0.1:{port}/", {}, body))).body == b"ok"
    await transport.close()
    server.close()

    assert b"content-length: %d\r\n" % len(body) in found[0].lower()
    assert found[1] == body


async def test_connection_of_a_cancelled_call_is_closed() -> None:
    async with talking() as (peer, transport):
        peer.holds = True
        task = asyncio.create_task(call(peer, transport))
        await peer.calls.get()
        task.cancel()
        await peer.ended.get()
        peer.holds = False
        assert await call(peer, transport) == "ok"


async def test_idle_connections_are_closed_in_time() -> None:
    async with talking(keepalive_s=0.01) as (peer, transport):
        assert await call(peer, transport) == "ok"
        await peer.ended.get()


async def test_closing_ends_idle_connections_and_calls() -> None:
    async with talking() as (peer, transport):
        await asyncio.gather(call(peer, transport), call(peer, transport))
        while not peer.calls.empty():
            peer.calls.get_nowait()
        peer.holds = True
        task = asyncio.create_task(call(peer, transport))
        await peer.calls.get()
        await transport.close()
        with pytest.raises(Unanswered):
            await task
        for _ in range(2):
            await peer.ended.get()
        with pytest.raises(NotConnected):
            await call(peer, transport)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
async def test_no_call_is_repeated_when_its_connection_is_lost(method: str) -> None:
    async with talking() as (peer, transport):
        assert await call(peer, transport, method=method) == "ok"
        peer.answer, peer.then_closes = b"", True
        peer.follow.set()
        with pytest.raises(Unanswered, match="the connection was closed"):
            await call(peer, transport, method=method)
        assert (peer.calls.qsize(), peer.connections) == (2, 1)


async def test_answer_that_grows_when_it_is_unpacked_is_too_long() -> None:
    packed = gzip.compress(b"x" * 1_000_000)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    async with talking(head + packed, max_body_bytes=100_000) as (peer, transport):
        with pytest.raises(Unanswered) as failed:
            await call(peer, transport)
        assert failed.value.failure is Failure.LENGTH


async def test_only_given_addresses_are_connected_to_also_if_the_host_is_an_address() -> None:
    async with talking(addresses=["127.0.0.2"]) as (peer, transport):
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(NotConnected):
                await transport.send(HttpRequest("GET", f"http://{host}:{peer.port}/", {}))
    async with talking(addresses=["127.0.0.1"]) as (peer, transport):
        for host in ("127.0.0.1", "localhost", "elsewhere.invalid"):
            assert (await transport.send(HttpRequest("GET", f"http://{host}:{peer.port}/", {}))).body == b"ok"
