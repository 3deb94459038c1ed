"""The load: keep-alive connections, each of which sends its next request after the last response.

It runs as a separate process (`python -m bench.load`), reads a plan from standard input and writes the result to
standard output. It implements just enough HTTP/1.1 for our own servers, to cost little CPU time.
"""

import asyncio
import subprocess
import sys
import time
from typing import cast

import msgspec
import uvloop

CONNECT_TIMEOUT_S = 10.0
MAX_HEAD_BYTES = 65_536
_LAST_CHUNK = b"\r\n0\r\n\r\n"
GRACE_S = 60.0
"""How long a load waits for missing responses after its end."""


class LoadPlan(msgspec.Struct, kw_only=True):
    """What to send: `bodies` in turn, until `count` requests or `seconds` have passed."""

    port: int
    path: str
    key: str
    bodies: list[bytes]
    connections: int = 1
    warm_up_s: float = 0.0
    """Responses before this time count only in `LoadResult.all_requests`."""
    seconds: float = 0.0
    count: int = 0
    pause_s: float = 0.0
    """How long each connection waits before its next request."""
    keeps_answers: bool = False
    is_get: bool = False
    """Whether `bodies` are paths with queries instead, to be got."""
    expected_status: int = 200


class LoadResult(msgspec.Struct, kw_only=True):
    """The responses to a load."""

    requests: int
    all_requests: int
    seconds: float
    latencies_s: list[float]
    answers: list[bytes]
    failures: list[bytes]
    """The first few responses that were not expected."""
    cpu_s: float
    """The CPU time of sending and receiving."""

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


class LoadFailed(Exception):
    """The load did not get the expected responses."""


def run(plan: LoadPlan) -> LoadResult:
    """Run a plan in a separate process and return the result.

    Raises LoadFailed if a response was not the expected one.
    """
    with start(plan) as process:
        return finish(process)


def start(plan: LoadPlan) -> "subprocess.Popen[bytes]":
    """Start a plan in a separate process."""
    process = subprocess.Popen([sys.executable, "-m", "bench.load"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    process.stdin.write(msgspec.msgpack.encode(plan))
    process.stdin.close()
    process.stdin = None
    return process


def finish(process: "subprocess.Popen[bytes]") -> LoadResult:
    """Wait for the end of a plan and return the result.

    Raises LoadFailed if a response was not the expected one.
    """
    output, _ = process.communicate()
    if process.returncode:
        raise LoadFailed(f"the load ended with status {process.returncode}")
    seen = msgspec.msgpack.decode(output, type=LoadResult)
    if seen.failures:
        raise LoadFailed(
            f"{len(seen.failures)} or more responses were not expected, the first: {seen.failures[0]!r}"
        )
    return seen


class _LoadState:
    """The state that all connections share: the requests to send, and the responses."""

    def __init__(self, plan: LoadPlan, done: "asyncio.Future[None]") -> None:
        self.plan = plan
        self.done = done
        head = (
            f"POST {plan.path} HTTP/1.1\r\nHost: bench\r\napiKey: {plan.key}\r\nContent-Type: application/json\r\n"
        )
        if plan.is_get:
            self._wires = [b"GET %b HTTP/1.1\r\nHost: bench\r\n\r\n" % path for path in plan.bodies]
        else:
            self._wires = [f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body for body in plan.bodies]
        self._expected = b"HTTP/1.1 %d" % plan.expected_status
        self._sent = 0
        self.open = plan.connections
        self.began = time.perf_counter()
        self.last = self.began
        self.latencies: list[float] = []
        self.answers: list[bytes] = []
        self.failures: list[bytes] = []
        self.all = 0

    def next(self, now: float) -> bytes | None:
        plan = self.plan
        if plan.count and self._sent >= plan.count:
            return None
        if plan.seconds and now - self.began >= plan.warm_up_s + plan.seconds:
            return None
        self._sent += 1
        return self._wires[self._sent % len(self._wires)]

    def record(self, answer: bytes, sent_at: float, now: float) -> None:
        self.all += 1
        if not answer.startswith(self._expected) and len(self.failures) < 10:
            self.failures.append(answer[:1000])
        if now - self.began >= self.plan.warm_up_s:
            self.latencies.append(now - sent_at)
            self.last = now
        if self.plan.keeps_answers:
            self.answers.append(answer)

    def close_one(self) -> None:
        self.open -= 1
        if self.open == 0 and not self.done.done():
            self.done.set_result(None)


class _Connection(asyncio.Protocol):
    """One connection."""

    def __init__(self, state: _LoadState) -> None:
        self._state = state
        self._buffer = b""
        self._sent_at = 0.0
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head_end = self._buffer.find(b"\r\n\r\n")
        if head_end < 0:
            assert len(self._buffer) < MAX_HEAD_BYTES
            return
        at = self._buffer.lower().find(b"content-length:", 0, head_end) + 15
        if at < 15:  # it comes in chunks
            if not self._buffer.endswith(_LAST_CHUNK):
                return
        elif len(self._buffer) < head_end + 4 + int(self._buffer[at : self._buffer.index(b"\r\n", at)]):
            return
        answer, self._buffer = self._buffer, b""
        self._state.record(answer, self._sent_at, time.perf_counter())
        if self._state.plan.pause_s:
            asyncio.get_running_loop().call_later(self._state.plan.pause_s, self._send)
        else:
            self._send()

    def connection_lost(self, error: Exception | None) -> None:
        self._state.close_one()

    def _send(self) -> None:
        now = time.perf_counter()
        wire = self._state.next(now)
        if wire is None:
            self._transport.close()
            return
        self._sent_at = now
        self._transport.write(wire)


async def _load(plan: LoadPlan) -> LoadResult:
    loop = asyncio.get_running_loop()
    state = _LoadState(plan, loop.create_future())
    before_s = time.process_time()
    for _ in range(plan.connections):
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await loop.create_connection(lambda: _Connection(state), "127.0.0.1", plan.port)
        except ConnectionRefusedError:
            if not state.all:
                raise
            state.close_one()  # the server was killed while the first connections sent already
    async with asyncio.timeout(plan.warm_up_s + plan.seconds + GRACE_S):
        await state.done
    return LoadResult(
        requests=len(state.latencies),
        all_requests=state.all,
        seconds=state.last - state.began - plan.warm_up_s,
        latencies_s=state.latencies,
        answers=state.answers,
        failures=state.failures,
        cpu_s=time.process_time() - before_s,
    )


def main() -> None:
    plan = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=LoadPlan)
    write_result(uvloop.run(_load(plan)))


def write_result(result: object) -> None:
    """Write the whole result to standard output: unbuffered, a write to a full pipe may end early."""
    with open(sys.stdout.fileno(), "wb", closefd=False) as output:
        output.write(msgspec.msgpack.encode(result))


if __name__ == "__main__":
    main()
