"""How fast one-receiver requests complete through HTTP, SMPP and receipt, compared with the simulator."""

from pathlib import Path
from typing import NamedTuple

from bench import bodies, load
from bench.figures import Figure, median_of
from bench.server import BenchEnvironment, BenchmarkFailed, Server, report_progress
from bench.sink import Sink
from bench.store_reader import open_reader, wait_until_queue_is_empty
from pabal.domain.base import identifiers
from pabal.domain.base.dates import SECOND

TARGET_RATE = 3000
TARGET_SHARE = 0.5
ROUNDS = 2
CONNECTIONS = 64
MESSAGES = 20_000
EDGE = MESSAGES // 10
"""The first and last messages of a run are left out of its rate, since the run starts up and runs out."""


class RequestRate(NamedTuple):
    """How fast requests were accepted and messages completed."""

    ended: float
    whole: float
    """Messages per second from the first request to the last completion, with the wait for the last receipts."""
    accepted: float
    cpu_us: float


def measure(env: BenchEnvironment, sink: Sink) -> list[Figure]:
    """Send the same requests in several rounds through the simulator and through SMPP."""
    requests = bodies.singles(MESSAGES)
    simulated, sent = [], []
    for _ in range(ROUNDS):
        data = env.copy_store()
        with env.run_pabal(data, "smpp") as server:
            simulated.append(_measure_rate(env, data, server, requests, "the simulator"))
        data = env.copy_store()
        sink.write_settings(data)
        sink.reset()
        with env.run_pabal(data, "smpp") as server:
            sink.wait_for("binds", 1)
            sent.append(_measure_rate(env, data, server, requests, "SMPP"))
            seen = sink.wait_for("acknowledged", MESSAGES)
        if seen.submits != MESSAGES or seen.duplicates:
            raise BenchmarkFailed(f"the sink received {seen.submits} submits, {seen.duplicates} of them twice")
    simulator, through = (RequestRate(*map(median_of, zip(*each, strict=True))) for each in (simulated, sent))
    return [
        Figure(
            "smpp",
            "one-receiver requests, HTTP to SMPP to receipt to history",
            through.ended,
            "/s",
            TARGET_RATE,
            details=f"with start and end {through.whole:,.0f}/s, accepted {through.accepted:,.0f}/s,"
            f" {through.cpu_us:.0f} µs CPU per message",
        ),
        Figure(
            "smpp",
            "one-receiver requests through SMPP / simulator",
            through.ended / simulator.ended,
            target=TARGET_SHARE,
            details=f"{through.ended:,.0f}/s of {simulator.ended:,.0f}/s,"
            f" {simulator.cpu_us:.0f} µs CPU per message",
        ),
    ]


def _measure_rate(
    env: BenchEnvironment, data: Path, server: Server, requests: list[bytes], what: str
) -> RequestRate:
    before = server.cpu_s()
    seen = load.run(
        load.LoadPlan(
            port=server.port,
            path=bodies.SEND_SMS,
            key=env.key,
            bodies=requests,
            connections=CONNECTIONS,
            count=len(requests),
        )
    )
    ended, whole = _ended(data)
    cpu_us = (server.cpu_s() - before) / len(requests) * 1e6
    rate = RequestRate(ended, whole, seen.rate, cpu_us)
    report_progress(
        f"  {what}: {rate.ended:,.0f} ended/s ({rate.whole:,.0f} with start and end),"
        f" accepted {rate.accepted:,.0f}/s, {rate.cpu_us:.0f} µs CPU per message"
    )
    return rate


def _ended(data: Path) -> tuple[float, float]:
    """Wait until all messages have completed; return messages per second without the edges, and in the whole run.

    Raises BenchmarkFailed if one did not complete.
    """
    reader = open_reader(data)
    wait_until_queue_is_empty(reader)
    first = reader.fetch_value("select min(id) from messages")
    ends = [row[0] for row in reader.fetch_all("select completed_at from messages where status = 2 order by 1")]
    reader.close()
    if len(ends) != MESSAGES:
        raise BenchmarkFailed(f"{MESSAGES - len(ends)} messages were not completed")
    without_edges = (MESSAGES - 2 * EDGE) / (ends[-EDGE - 1] - ends[EDGE]) * SECOND
    return without_edges, MESSAGES / (ends[-1] - identifiers.requested_at(first)) * SECOND
