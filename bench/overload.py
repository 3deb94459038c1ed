"""What three times as many callers as the service has connections get, compared with as many as it has."""

import asyncio
import subprocess
import sys
import time

import msgspec
import uvloop

from bench import bodies, load
from bench.figures import Figure, percentile
from bench.server import SETTINGS_FILE, BenchEnvironment, BenchmarkFailed, Server, report_progress

CONNECTIONS = 64
FACTOR = 3
SECONDS = 5.0
SENDS = 1000
P99_TARGET = 3.0
REFUSAL_TARGET = 2.0
GOODPUT_TARGET = 0.5
MEMORY_TARGET = 1.5
BACKOFF_S = 0.05
"""A caller that is refused waits this long, twenty times less than Retry-After asks for."""


class CallersPlan(msgspec.Struct):
    """Callers that send one after the other, reconnect when they are closed, and hardly wait when refused."""

    port: int
    key: str
    callers: int
    seconds: float
    bodies: list[bytes]


class CallersResult(msgspec.Struct):
    """What the callers got."""

    accepted_s: list[float]
    refused_s: list[float]
    """How long refusals took."""
    without_retry_after: int
    unanswered: int
    """Connections closed without an answer."""


def measure(env: BenchEnvironment) -> list[Figure]:
    """Measure callers at the limit of connections, then three times as many, and reconcile what was stored."""
    data = env.copy_store()
    (data / SETTINGS_FILE).write_text(f"max_connections = {CONNECTIONS}\n", encoding="utf-8")
    with env.run_pabal(data, "overload") as server:
        within = _call(env, server, CONNECTIONS - 8)
        memory_before = server.peak_bytes()
        beyond = _call(env, server, CONNECTIONS * FACTOR)
        memory = server.peak_bytes() / memory_before
        stored = _count_accepted(server)
    accepted = len(within.accepted_s) + len(beyond.accepted_s)
    if stored != accepted or not beyond.accepted_s or not beyond.refused_s:
        raise BenchmarkFailed(f"{accepted} sends were answered with success, {stored} were accepted")
    if beyond.without_retry_after:
        raise BenchmarkFailed(f"{beyond.without_retry_after} refusals had no Retry-After")
    p99, p99_beyond = percentile(within.accepted_s, 0.99), percentile(beyond.accepted_s, 0.99)
    refusal_p99 = percentile(beyond.refused_s, 0.99)
    goodput = len(beyond.accepted_s) / len(within.accepted_s)
    return [
        Figure(
            "overload",
            "p99 of accepted sends / within the limit",
            p99_beyond / p99,
            target=P99_TARGET,
            bound="at most",
            details=f"{p99_beyond * 1000:.0f} of {p99 * 1000:.0f} ms; {FACTOR} × {CONNECTIONS} callers",
        ),
        Figure(
            "overload",
            "p99 of refusals / p99 of accepted sends",
            refusal_p99 / p99_beyond,
            target=REFUSAL_TARGET,
            bound="at most",
            details=f"{refusal_p99 * 1000:.0f} ms; {len(beyond.refused_s):,} refused, {beyond.unanswered} closed",
        ),
        Figure(
            "overload",
            "accepted sends / within the limit",
            goodput,
            target=GOODPUT_TARGET,
            details=f"{len(beyond.accepted_s)} of {len(within.accepted_s)} in {SECONDS:.0f} s each; all kept",
        ),
        Figure("overload", "peak memory / within the limit", memory, target=MEMORY_TARGET, bound="at most"),
    ]


def _call(env: BenchEnvironment, server: Server, callers: int) -> CallersResult:
    plan = CallersPlan(server.port, env.key, callers, SECONDS, bodies.sends(SENDS, 1))
    done = subprocess.run(
        [sys.executable, "-m", "bench.overload"],
        input=msgspec.msgpack.encode(plan),
        stdout=subprocess.PIPE,
        check=True,
    )
    result = msgspec.msgpack.decode(done.stdout, type=CallersResult)
    report_progress(f"  {callers} callers: {len(result.accepted_s):,} accepted, {len(result.refused_s):,} refused")
    return result


def _count_accepted(server: Server) -> int:
    """Return how many messages the service says it has accepted."""
    lines = asyncio.run(_get(server.port, "/metrics")).decode().splitlines()
    return sum(int(float(line.split()[-1])) for line in lines if line.startswith("pabal_messages_accepted_total{"))


async def _get(port: int, path: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n".encode())
    found = await reader.read()
    writer.close()
    return found


async def _run_callers(plan: CallersPlan) -> CallersResult:
    result = CallersResult([], [], 0, 0)
    end = time.perf_counter() + plan.seconds
    await asyncio.gather(*(_run_caller(plan, number, end, result) for number in range(plan.callers)))
    return result


async def _run_caller(plan: CallersPlan, number: int, end: float, result: CallersResult) -> None:
    head = (
        f"POST {bodies.SEND_SMS} HTTP/1.1\r\nHost: bench\r\napiKey: {plan.key}\r\n"
        "Content-Type: application/json\r\n"
    )
    connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
    while (began := time.perf_counter()) < end:
        number += 1
        body = plan.bodies[number % len(plan.bodies)]
        try:
            reader, writer = connection or await asyncio.open_connection("127.0.0.1", plan.port)
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            answer = await _read_head_and_body(reader)
        except (ConnectionError, asyncio.IncompleteReadError):
            result.unanswered += 1
            connection = None
            continue
        took_s = time.perf_counter() - began
        if answer.startswith(b"HTTP/1.1 200"):
            result.accepted_s.append(took_s)
            connection = reader, writer
            continue
        result.refused_s.append(took_s)
        result.without_retry_after += b"retry-after: " not in answer
        writer.close()
        connection = None
        await asyncio.sleep(BACKOFF_S)
    if connection:
        connection[1].close()


async def _read_head_and_body(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    at = head.index(b"content-length: ") + 16
    await reader.readexactly(int(head[at : head.index(b"\r\n", at)]))
    return head


if __name__ == "__main__":
    given = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=CallersPlan)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        load.write_result(runner.run(_run_callers(given)))
