"""In-memory connections call protocols as real ones do, in the same order."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from tests.fakes.pipes import Pipe, connect

MANY_BYTES = 32 * 1024 * 1024
"""More than the socket buffers of any system."""
TIMEOUT_S = 10.0


class RecordingProtocol(asyncio.Protocol):
    """Records its callbacks; consecutive chunks of data are one entry."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.byte_count = 0
        self.closed = asyncio.Event()
        self.changed = asyncio.Event()
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._record("made")

    def data_received(self, data: bytes) -> None:
        self.byte_count += len(data)
        if self.events[-1] != "data":
            self._record("data")
        self.changed.set()

    def eof_received(self) -> None:
        self._record("eof")

    def pause_writing(self) -> None:
        self._record("pause")

    def resume_writing(self) -> None:
        self._record("resume")

    def connection_lost(self, error: Exception | None) -> None:
        self._record(f"lost {type(error).__name__}")
        self.closed.set()

    def _record(self, what: str) -> None:
        self.events.append(what)
        self.changed.set()


async def wait_for(recorder: RecordingProtocol, condition: Callable[[], bool]) -> None:
    """Wait until a condition is true."""
    while not condition():
        recorder.changed.clear()
        await recorder.changed.wait()


Scenario = Callable[[RecordingProtocol, RecordingProtocol], Awaitable[None]]


async def in_memory(near: RecordingProtocol, far: RecordingProtocol, scenario: Scenario) -> None:
    await connect(lambda: near, far)
    await scenario(near, far)
    await asyncio.gather(near.closed.wait(), far.closed.wait())


async def over_a_socket(near: RecordingProtocol, far: RecordingProtocol, scenario: Scenario) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: far, "127.0.0.1", 0)
    await loop.create_connection(lambda: near, "127.0.0.1", server.sockets[0].getsockname()[1])
    await wait_for(far, lambda: bool(far.events))
    await scenario(near, far)
    await asyncio.gather(near.closed.wait(), far.closed.wait())
    server.close()


def reset(recorder: RecordingProtocol) -> None:
    """Reset a connection, as after a crash of the machine."""
    if isinstance(recorder.transport, Pipe):
        recorder.transport.reset()
    else:
        raw_socket: socket.socket = recorder.transport.get_extra_info("socket")
        raw_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        recorder.transport.abort()


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
    await wait_for(far, lambda: far.byte_count == 3)
    reset(near)


async def one_resets_the_other_that_does_not_read(near: RecordingProtocol, far: RecordingProtocol) -> None:
    far.transport.pause_reading()
    reset(near)
    await near.closed.wait()
    await asyncio.sleep(0)
    assert not far.closed.is_set()
    far.transport.resume_reading()


async def one_does_not_read_for_a_while(near: RecordingProtocol, far: RecordingProtocol) -> None:
    far.transport.pause_reading()
    far.transport.pause_reading()
    near.transport.write(bytes(MANY_BYTES))
    assert near.events == ["made", "pause"]
    assert near.transport.get_write_buffer_size() > 0
    await asyncio.sleep(0)
    assert far.byte_count == 0
    far.transport.resume_reading()
    await wait_for(far, lambda: far.byte_count == MANY_BYTES)
    await wait_for(near, lambda: near.events == ["made", "pause", "resume"])
    near.transport.close()


async def one_closes_with_much_to_write(near: RecordingProtocol, far: RecordingProtocol) -> None:
    near.transport.write(bytes(MANY_BYTES))
    near.transport.close()


async def both_write_and_one_closes(near: RecordingProtocol, far: RecordingProtocol) -> None:
    far.transport.write(b"hello")
    await wait_for(near, lambda: near.byte_count == 5)
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
    async def main() -> tuple[list[str], list[str]]:
        near, far = RecordingProtocol(), RecordingProtocol()
        async with asyncio.timeout(TIMEOUT_S):
            await way(near, far, scenario)
        return near.events, far.events

    assert asyncio.run(main()) == SCENARIOS[scenario]
