"""What do callers get when three times as many come as are allowed, and while others send the largest bodies?"""

import json
from collections.abc import Iterator

import msgspec

from bench import bodies, load
from bench.environment import Environment
from bench.figures import Figure, p99_ms
from bench.server import BenchmarkFailed, Server, report_progress

ROUNDS = 2
CONNECTIONS = 64
FACTOR = 3
SECONDS = 5.0
P99_TARGET, REFUSAL_TARGET, GOODPUT_TARGET, MEMORY_TARGET = 3.0, 2.0, 0.5, 1.5
MAX_BYTES = 8 * 1024 * 1024
SMALL_PAUSE_S, LARGE_PAUSE_S = 0.002, 0.2
LARGE_S = 3.0
LARGE_TARGET_MS = 100.0


def measure(env: Environment) -> list[Figure]:
    """Measure callers at the limit of connections, then three times as many; then a caller beside large bodies."""
    data = env.copy_store()
    env.configure(data, f"max_connections = {CONNECTIONS}\n")
    with env.run(data, "overload") as server:
        within = _call(env, server, CONNECTIONS - 8)
        memory_before = server.peak_bytes()
        beyond = _call(env, server, CONNECTIONS * FACTOR)
        memory = server.peak_bytes() / memory_before
        stored = server.metric("pabal_messages_accepted_total")
    accepted = within.all_requests + beyond.all_requests
    if stored != accepted or not beyond.requests or not beyond.refused_s or beyond.without_retry_after:
        raise BenchmarkFailed(f"{accepted} sends were answered with success, {stored} were accepted: {beyond}")
    p99 = p99_ms(beyond.latencies_s)
    return [
        Figure(
            "p99 of accepted sends / within the limit", p99 / p99_ms(within.latencies_s), "", "less", P99_TARGET
        ),
        Figure("p99 of refusals / of accepted sends", p99_ms(beyond.refused_s) / p99, "", "less", REFUSAL_TARGET),
        Figure("accepted sends / within the limit", beyond.requests / within.requests, target=GOODPUT_TARGET),
        Figure("peak memory / within the limit", memory, "", "less", MEMORY_TARGET),
        Figure("slowest call beside a body of 8 MB", _measure_large(env), " ms", "less", LARGE_TARGET_MS),
    ]


def _call(env: Environment, server: Server, callers: int) -> load.LoadResult:
    return load.run(
        env.plan(server, bodies.sends(1000, 1), connections=callers, seconds=SECONDS, expects_refusals=True)
    )


def _measure_large(env: Environment) -> float:
    """Return the slowest call of a caller beside another one that sends the largest bodies, in milliseconds."""
    slowest_ms = 0.0
    with env.run(env.copy_store(), "overload") as server:
        for name, body in _large_bodies():
            others = env.plan(server, bodies.singles(1000), pause_s=SMALL_PAUSE_S, seconds=LARGE_S)
            large = msgspec.structs.replace(
                others, bodies=[body], pause_s=LARGE_PAUSE_S, seconds=LARGE_S / 2, expected_status=0
            )
            with load.running(others) as process:
                load.run(large)
                found_ms = max(load.finish(process).latencies_s) * 1000
            report_progress(f"  {found_ms:.0f} ms at most beside {name}")
            slowest_ms = max(slowest_ms, found_ms)
    return slowest_ms


def _large_bodies() -> Iterator[tuple[str, bytes]]:
    """Yield the largest sends of known kinds, valid and invalid."""
    sms = {"content": "안녕하세요", "sender": bodies.SENDER, "receivers": [{"phoneNumber": "01012345678"}]}
    yield "one text of 8 MB", _fill({**sms, "content": ""}, '"content": "', "가")
    yield "8 MB of unknown objects", _fill({"sendDate": 5, "x": [1], **sms}, '"x": [', '{"a":[]},')
    yield "8 MB of receivers", _fill(sms, '"receivers": [', '{"phoneNumber":""},')
    yield (
        "8 MB of values",
        _fill(
            {**sms, "receivers": [{"phoneNumber": "01012345678", "templateData": {"a": 1}}]},
            '"templateData": {',
            '"a":"",',
        ),
    )
    many = [{"phoneNumber": f"010{number:08}"} for number in range(100_000)]
    yield "100,000 receivers, one field wrong", json.dumps({**sms, "sendDate": 5, "receivers": many}).encode()


def _fill(body: object, after: str, piece: str) -> bytes:
    """Return a body of the largest size, with a piece repeated behind a text of it."""
    raw = json.dumps(body, ensure_ascii=False)
    head, tail = raw[: raw.index(after) + len(after)], raw[raw.index(after) + len(after) :]
    room = MAX_BYTES - len(raw.encode())
    return (head + piece * (room // len(piece.encode())) + tail).encode()
