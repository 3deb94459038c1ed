"""Kept connections over real sockets, on both event loops: which are used again, and which never."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvloop

from pabal.carriers.relay.kept_connections import Address, KeptConnections, connect_to_first

TLS = Path(__file__).parents[2] / "fixtures" / "tls"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Run = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    return asyncio.run if request.param == "asyncio" else uvloop.run


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
) -> AsyncIterator[tuple[Peer, KeptConnections]]:
    peer = Peer(answer, then_closes)
    context = None
    if is_secure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(TLS / "server.pem")
    server = await asyncio.start_server(peer.serve, "127.0.0.1", 0, ssl=context)
    peer.port = server.sockets[0].getsockname()[1]
    transport = KeptConnections(ssl.create_default_context(cafile=TLS / "authority.pem"), **limits)
    try:
        yield peer, transport
    finally:
        await transport.aclose()
        server.close()


async def call(peer: Peer, transport: KeptConnections, scheme: str = "http", pool_s: float = 10.0) -> str:
    host = "localhost" if scheme == "https" else "127.0.0.1"
    request = httpx.Request(
        "GET", f"{scheme}://{host}:{peer.port}/path?a=b", extensions={"timeout": {"connect": 10.0, "pool": pool_s}}
    )
    return (await transport.handle_async_request(request)).text


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_calls_after_each_other_share_a_connection(run: Run, scheme: str) -> None:
    async def main() -> None:
        async with talking(is_secure=scheme == "https") as (peer, transport):
            assert [await call(peer, transport, scheme) for _ in range(5)] == ["ok"] * 5
            assert peer.connections == 1
            assert peer.calls.get_nowait().startswith(b"GET /path?a=b HTTP/1.1\r\nHost: ")

    run(main())


def test_calls_at_the_same_time_have_a_connection_each(run: Run) -> None:
    async def main() -> None:
        async with talking() as (peer, transport):
            for _ in range(3):
                assert await asyncio.gather(*(call(peer, transport) for _ in range(20))) == ["ok"] * 20
            assert peer.connections == 20

    run(main())


def test_calls_beyond_the_limit_wait_for_a_connection(run: Run) -> None:
    async def main() -> None:
        async with talking(max_connections=2) as (peer, transport):
            assert await asyncio.gather(*(call(peer, transport) for _ in range(20))) == ["ok"] * 20
            assert peer.connections == 2
            peer.holds = True
            held = [asyncio.create_task(call(peer, transport)) for _ in range(2)]
            await asyncio.sleep(0)
            with pytest.raises(httpx.PoolTimeout):
                await call(peer, transport, pool_s=0.01)
            for task in held:
                task.cancel()
            await asyncio.gather(*held, return_exceptions=True)

    run(main())


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_connection_that_the_server_closed_is_not_used(run: Run, scheme: str) -> None:
    async def main() -> None:
        async with talking(then_closes=True, is_secure=scheme == "https") as (peer, transport):
            for number in range(1, 4):
                assert await call(peer, transport, scheme) == "ok"
                peer.follow.set()
                await peer.ended.get()
                peer.follow.clear()
                assert peer.connections == number

    run(main())


def test_answer_that_nobody_asked_for_is_not_taken(run: Run) -> None:
    async def main() -> None:
        async with talking(then_closes=True) as (peer, transport):
            peer.after = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 3\r\n\r\nold"
            assert await call(peer, transport) == "ok"
            peer.follow.set()
            await peer.ended.get()
            assert await call(peer, transport) == "ok"
            assert peer.connections == 2

    run(main())


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
def test_every_form_of_answer_is_read(run: Run, answer: bytes, body: str, is_kept: bool) -> None:
    async def main() -> None:
        async with talking(answer) as (peer, transport):
            assert [await call(peer, transport) for _ in range(3)] == [body] * 3
            assert peer.connections == (1 if is_kept else 3)

    run(main())


def test_answer_may_end_with_the_connection(run: Run) -> None:
    async def main() -> None:
        async with talking(b"HTTP/1.1 200 OK\r\n\r\nok", then_closes=True) as (peer, transport):
            peer.follow.set()
            assert await call(peer, transport) == "ok"

    run(main())


def test_compressed_answer_is_unpacked(run: Run) -> None:
    packed = gzip.compress(b"long " * 1000)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)

    async def main() -> None:
        async with talking(head + packed) as (peer, transport):
            assert await call(peer, transport) == "long " * 1000

    run(main())


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n01234567890",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000,
    ],
)
def test_answer_of_the_wrong_form_or_length_is_an_error(run: Run, answer: bytes) -> None:
    async def main() -> None:
        async with talking(answer, max_response_bytes=10) as (peer, transport):
            with pytest.raises(httpx.RemoteProtocolError):
                await call(peer, transport)
            peer.answer = OK
            assert await call(peer, transport) == "ok"

    run(main())


def test_connection_of_a_cancelled_call_is_closed(run: Run) -> None:
    async def main() -> None:
        async with talking() as (peer, transport):
            peer.holds = True
            task = asyncio.create_task(call(peer, transport))
            await peer.calls.get()
            task.cancel()
            await peer.ended.get()
            peer.holds = False
            assert await call(peer, transport) == "ok"

    run(main())


def test_idle_connections_are_closed_in_time(run: Run) -> None:
    async def main() -> None:
        async with talking(keepalive_s=0.0) as (peer, transport):
            assert await call(peer, transport) == "ok"
            await peer.ended.get()

    run(main())


def test_closing_ends_idle_connections_and_calls(run: Run) -> None:
    async def main() -> None:
        async with talking() as (peer, transport):
            await asyncio.gather(call(peer, transport), call(peer, transport))
            while not peer.calls.empty():
                peer.calls.get_nowait()
            peer.holds = True
            task = asyncio.create_task(call(peer, transport))
            await peer.calls.get()
            await transport.aclose()
            with pytest.raises(httpx.ReadError):
                await task
            for _ in range(2):
                await peer.ended.get()
            with pytest.raises(httpx.ConnectError):
                await call(peer, transport)

    run(main())


class _Connected:
    is_aborted = False

    def abort(self) -> None:
        self.is_aborted = True


FIRST, SECOND = ("192.0.2.1", 443), ("192.0.2.2", 443)


@pytest.mark.parametrize("first_fails", [True, False])
def test_second_address_is_used_if_the_first_does_not_accept(run: Run, first_fails: bool) -> None:
    cancelled: list[Address] = []
    connected = _Connected()

    async def connect(address: Address) -> Any:
        if address == SECOND:
            return connected
        if first_fails:
            raise ConnectionRefusedError
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            cancelled.append(address)
            raise

    async def main() -> None:
        found: Any = await connect_to_first([FIRST, SECOND], connect)
        assert found is connected
        await asyncio.sleep(0)

    run(main())

    assert cancelled == ([] if first_fails else [FIRST])
    assert not connected.is_aborted


def test_error_of_the_first_address_is_raised_if_none_accepts(run: Run) -> None:
    async def connect(address: Address) -> Any:
        raise ConnectionRefusedError if address == FIRST else OSError("another")

    async def main() -> None:
        with pytest.raises(ConnectionRefusedError):
            await connect_to_first([FIRST, SECOND], connect)

    run(main())


def test_only_one_of_two_connections_is_kept(run: Run) -> None:
    found = {FIRST: _Connected(), SECOND: _Connected()}

    async def main() -> None:
        both = asyncio.Event()

        async def connect(address: Address) -> Any:
            if address == SECOND:
                both.set()
            await both.wait()
            return found[address]

        chosen: Any = await connect_to_first([FIRST, SECOND], connect)
        assert chosen is found[FIRST]

    run(main())

    assert [each.is_aborted for each in found.values()] == [False, True]
