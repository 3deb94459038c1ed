"""In-memory connections call protocols as real ones do, in the same order."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from tests.fakes.pipes import Pipe, connect

MANY_BYTES = 32 * 1024 * 1024
"""More than any system puts on its wires."""
TIMEOUT_S = 10.0


class RecordingProtocol(asyncio.Protocol):
    """Writes down what it is told; pieces of data that follow each other are one."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.octets = 0
        self.is_over = asyncio.Event()
        self.has_news = asyncio.Event()
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._see("made")

    def data_received(self, data: bytes) -> None:
        self.octets += len(data)
        if self.seen[-1] != "data":
            self._see("data")
        self.has_news.set()

    def eof_received(self) -> None:
        self._see("eof")

    def pause_writing(self) -> None:
        self._see("pause")

    def resume_writing(self) -> None:
        self._see("resume")

    def connection_lost(self, error: Exception | None) -> None:
        self._see(f"lost {type(error).__name__}")
        self.is_over.set()

    def _see(self, what: str) -> None:
        self.seen.append(what)
        self.has_news.set()


async def wait_for(witness: RecordingProtocol, is_so: Callable[[], bool]) -> None:
    """Return when something has been told."""
    while not is_so():
        witness.has_news.clear()
        await witness.has_news.wait()


Scenario = Callable[[RecordingProtocol, RecordingProtocol], Awaitable[None]]


async def in_memory(near: RecordingProtocol, far: RecordingProtocol, scenario: Scenario) -> None:
    await connect(lambda: near, far)
    await scenario(near, far)
    await asyncio.gather(near.is_over.wait(), far.is_over.wait())


async def over_a_socket(near: RecordingProtocol, far: RecordingProtocol, scenario: Scenario) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: far, "127.0.0.1", 0)
    await loop.create_connection(lambda: near, "127.0.0.1", server.sockets[0].getsockname()[1])
    await wait_for(far, lambda: bool(far.seen))
    await scenario(near, far)
    await asyncio.gather(near.is_over.wait(), far.is_over.wait())
    server.close()


def reset(witness: RecordingProtocol) -> None:
    """Break a connection as a dying machine does."""
    if isinstance(witness.transport, Pipe):
        witness.transport.reset()
    else:
        there: socket.socket = witness.transport.get_extra_info("socket")
        there.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        witness.transport.abort()


async def one_writes_and_closes(near: RecordingProtocol, far: RecordingProtocol) -> None:
    near.transport.write(b"one")
    near.transport.write(b"two")
    near.transport.close()
    near.transport.write(b"three")
    assert near.transport.is_closing()


async def one_writes_and_aborts(near: RecordingProtocol, far: RecordingProtocol) -> None:
    near.transport.write(b"one")
    near.transport.abort()


async def one_resets(near: RecordingProtocol, far: RecordingProtocol) -> None:
    near.transport.write(b"one")
    await wait_for(far, lambda: far.octets == 3)
    reset(near)


async def one_resets_the_other_that_does_not_read(near: RecordingProtocol, far: RecordingProtocol) -> None:
    far.transport.pause_reading()
    reset(near)
    await near.is_over.wait()
    await asyncio.sleep(0)
    assert not far.is_over.is_set()
    far.transport.resume_reading()


async def one_does_not_read_for_a_while(near: RecordingProtocol, far: RecordingProtocol) -> None:
    far.transport.pause_reading()
    far.transport.pause_reading()
    near.transport.write(bytes(MANY_BYTES))
    assert near.seen == ["made", "pause"]
    assert near.transport.get_write_buffer_size() > 0
    await asyncio.sleep(0)
    assert far.octets == 0
    far.transport.resume_reading()
    await wait_for(far, lambda: far.octets == MANY_BYTES)
    await wait_for(near, lambda: near.seen == ["made", "pause", "resume"])
    near.transport.close()


async def one_closes_with_much_to_write(near: RecordingProtocol, far: RecordingProtocol) -> None:
    near.transport.write(bytes(MANY_BYTES))
    near.transport.close()


async def both_write_and_one_closes(near: RecordingProtocol, far: RecordingProtocol) -> None:
    far.transport.write(b"hello")
    await wait_for(near, lambda: near.octets == 5)
    near.transport.write(b"bye")
    near.transport.close()


async def one_ends_its_half(near: RecordingProtocol, far: RecordingProtocol) -> None:
    near.transport.write(b"one")
    near.transport.write_eof()


SCENARIOS: dict[Scenario, tuple[list[str], list[str]]] = {
    one_writes_and_closes: (["made", "lost NoneType"], ["made", "data", "eof", "lost NoneType"]),
    one_writes_and_aborts: (["made", "lost NoneType"], ["made", "data", "eof", "lost NoneType"]),
    one_resets: (["made", "lost NoneType"], ["made", "data", "lost ConnectionResetError"]),
    one_resets_the_other_that_does_not_read: (["made", "lost NoneType"], ["made", "lost ConnectionResetError"]),
    one_does_not_read_for_a_while: (
        ["made", "pause", "resume", "lost NoneType"],
        ["made", "data", "eof", "lost NoneType"],
    ),
    one_closes_with_much_to_write: (
        ["made", "pause", "resume", "lost NoneType"],
        ["made", "data", "eof", "lost NoneType"],
    ),
    both_write_and_one_closes: (["made", "data", "lost NoneType"], ["made", "data", "eof", "lost NoneType"]),
    one_ends_its_half: (["made", "eof", "lost NoneType"], ["made", "data", "eof", "lost NoneType"]),
}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("way", [in_memory, over_a_socket])
def test_protocols_get_the_same_callbacks(way: Callable[..., Awaitable[None]], scenario: Scenario) -> None:
    async def whole() -> tuple[list[str], list[str]]:
        near, far = RecordingProtocol(), RecordingProtocol()
        async with asyncio.timeout(TIMEOUT_S):
            await way(near, far, scenario)
        return near.seen, far.seen

    assert asyncio.run(whole()) == SCENARIOS[scenario]
