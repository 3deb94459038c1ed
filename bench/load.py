"""The load: keep-alive connections, each of which sends its next request after the last response.

It runs as a separate process (`python -m bench.load`), reads a plan from standard input and writes the result to
standard output. It implements just enough HTTP/1.1 for the servers under test, to cost little CPU time.
"""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import cast

import msgspec
import uvloop

CONNECT_TIMEOUT_S = 10.0
MAX_HEAD_BYTES = 65_536
_LAST_CHUNK = b"\r\n0\r\n\r\n"
GRACE_S = 60.0
"""How long a load waits for missing responses after its end."""
BACKOFF_S = 0.05
"""A caller that is refused waits this long, twenty times less than Retry-After asks for."""


class LoadPlan(msgspec.Struct, kw_only=True):
    """What to send: `bodies` in order and again, until `count` requests or `seconds` have passed."""

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
    header_lines: list[str] = []
    """One line more for the head of each body, such as its signature; there are none or as many as bodies."""
    expected_status: int = 200
    """0: any is expected."""
    expects_refusals: bool = False
    """Whether 429 and 503 are expected too; a caller that is refused or closed connects again."""


class LoadResult(msgspec.Struct, kw_only=True):
    """The responses to a load."""

    requests: int
    all_requests: int
    seconds: float
    latencies_s: list[float]
    sent_at: list[float]
    """When each request was sent, in seconds of the wall clock; request N has the body N modulo their number."""
    answers: list[bytes]
    failures: list[bytes]
    """The first few responses that were not expected."""
    refused_s: list[float]
    """How long expected refusals took."""
    without_retry_after: int
    unanswered: int
    """Connections that were closed instead of an answer, where refusals are expected."""
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
    with running(plan) as process:
        return finish(process)


@contextlib.contextmanager
def running(plan: LoadPlan) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a plan in a separate process, and end that with the block."""
    command = [sys.executable, "-m", "bench.load"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.write(msgspec.msgpack.encode(plan))
        process.stdin.close()
        process.stdin = None
        try:
            yield process
        finally:
            process.kill()


def finish(process: "subprocess.Popen[bytes]") -> LoadResult:
    """Wait for the end of a plan and return the result.

    Raises LoadFailed if a response was not the expected one.
    """
    output, _ = process.communicate()
    if process.returncode:
        raise LoadFailed(f"the load ended with status {process.returncode}")
    seen = msgspec.msgpack.decode(output, type=LoadResult)
    if seen.failures:
        raise LoadFailed(f"{len(seen.failures)} or more unexpected responses, the first: {seen.failures[0]!r}")
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
            lines = [f"{each}\r\n" for each in plan.header_lines] or [""] * len(plan.bodies)
            self._wires = [
                f"{head}{line}Content-Length: {len(body)}\r\n\r\n".encode() + body
                for line, body in zip(lines, plan.bodies, strict=True)
            ]
        self._expected = b"HTTP/1.1 %d" % plan.expected_status if plan.expected_status else b"HTTP/1.1 "
        self._refusals = (b"HTTP/1.1 429", b"HTTP/1.1 503") if plan.expects_refusals else ()
        self.open = plan.connections
        self.began = time.perf_counter()
        self.last = self.began
        self.result = LoadResult(
            requests=0, all_requests=0, seconds=0.0, latencies_s=[], sent_at=[], answers=[], failures=[],
            refused_s=[], without_retry_after=0, unanswered=0, cpu_s=0.0,
        )  # fmt: skip

    def is_over(self, now: float) -> bool:
        plan = self.plan
        return bool(
            (plan.count and len(self.result.sent_at) >= plan.count)
            or (plan.seconds and now - self.began >= plan.warm_up_s + plan.seconds)
        )

    def next(self, now: float) -> bytes | None:
        if self.is_over(now):
            return None
        number = len(self.result.sent_at)
        self.result.sent_at.append(time.time())
        return self._wires[number % len(self._wires)]

    def record(self, answer: bytes, took_s: float, now: float) -> bool:
        """Record an answer; return whether the caller was refused."""
        result = self.result
        if answer.startswith(self._refusals):
            result.refused_s.append(took_s)
            result.without_retry_after += b"retry-after:" not in answer.lower()
            return True
        result.all_requests += 1
        if not answer.startswith(self._expected) and len(result.failures) < 10:
            result.failures.append(answer[:1000])
        if now - self.began >= self.plan.warm_up_s:
            result.latencies_s.append(took_s)
            self.last = now
        if self.plan.keeps_answers:
            result.answers.append(answer)
        return False

    def close_one(self) -> None:
        self.open -= 1
        if self.open == 0 and not self.done.done():
            self.done.set_result(None)


class _Connection(asyncio.Protocol):
    """One connection."""

    def __init__(self, state: _LoadState) -> None:
        self._state = state
        self._buffer = b""
        self._sent_at: float | None = None
        """When the request was sent whose answer is awaited."""
        self._is_refused = False
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
        now, sent_at = time.perf_counter(), self._sent_at
        self._sent_at = None
        self._is_refused = self._state.record(answer, now - (sent_at or now), now)
        if self._is_refused:
            self._transport.close()
        elif self._state.plan.pause_s:
            asyncio.get_running_loop().call_later(self._state.plan.pause_s, self._send)
        else:
            self._send()

    def connection_lost(self, error: Exception | None) -> None:
        state = self._state
        is_over = state.is_over(time.perf_counter())
        if state.plan.expects_refusals and not is_over:
            state.result.unanswered += self._sent_at is not None
            loop = asyncio.get_running_loop()
            loop.call_later(BACKOFF_S if self._is_refused else 0, lambda: loop.create_task(_connect(state)))
        else:
            state.close_one()

    def _send(self) -> None:
        wire = self._state.next(time.perf_counter())
        if wire is None:
            self._transport.close()
            return
        self._sent_at = time.perf_counter()
        self._transport.write(wire)


async def _connect(state: _LoadState) -> None:
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            await asyncio.get_running_loop().create_connection(
                lambda: _Connection(state), "127.0.0.1", state.plan.port
            )
    except ConnectionError:
        if not state.result.all_requests:
            raise
        state.close_one()  # the server was killed while the first connections sent already


async def _load(plan: LoadPlan) -> LoadResult:
    state = _LoadState(plan, asyncio.get_running_loop().create_future())
    before_s = time.process_time()
    for _ in range(plan.connections):
        await _connect(state)
    async with asyncio.timeout(plan.warm_up_s + plan.seconds + GRACE_S):
        await state.done
    result = state.result
    result.requests = len(result.latencies_s)
    result.seconds = state.last - state.began - plan.warm_up_s
    result.cpu_s = time.process_time() - before_s
    return result


def main() -> None:
    plan = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=LoadPlan)
    result = msgspec.msgpack.encode(uvloop.run(_load(plan)))
    with open(
        sys.stdout.fileno(), "wb", closefd=False
    ) as output:  # unbuffered, a write to a full pipe may end early
        output.write(result)


if __name__ == "__main__":
    main()
