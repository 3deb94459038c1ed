"""How fast one-receiver requests reach their end through HTTP, SMPP and receipt, beside the simulator."""

from pathlib import Path
from typing import NamedTuple

from bench import bodies, load
from bench.figures import Figure, median_of
from bench.server import BenchEnvironment, BenchmarkFailed, Server, report_progress
from bench.sink import Sink
from bench.store_reader import open_reader, wait_until_queue_is_empty
from pabal.domain import identifiers
from pabal.domain.dates import SECOND

AIM_RATE = 3000
AIM_SHARE = 0.5
ROUNDS = 2
CONNECTIONS = 64
MESSAGES = 20_000
EDGE = MESSAGES // 10
"""What ends at the beginning and at the end of a run is left out of its pace: it starts up, and it waits."""


class Pace(NamedTuple):
    """How requests were accepted and messages ended."""

    ended: float
    whole: float
    """How many ended a second from the first request to the last end, the wait for the last receipts included."""
    accepted: float
    cpu_us: float


def measure(env: BenchEnvironment, sink: Sink) -> list[Figure]:
    """Send the same requests in turn, several times: through the simulator, and through SMPP."""
    requests = bodies.singles(MESSAGES)
    simulated, sent = [], []
    for _ in range(ROUNDS):
        data = env.copy_store()
        with env.run_pabal(data, "smpp") as server:
            simulated.append(_paced(env, data, server, requests, "the simulator"))
        data = env.copy_store()
        sink.write_settings(data)
        sink.reset()
        with env.run_pabal(data, "smpp") as server:
            sink.wait_for("binds", 1)
            sent.append(_paced(env, data, server, requests, "SMPP"))
            seen = sink.wait_for("acknowledged", MESSAGES)
        if seen.submits != MESSAGES or seen.duplicates:
            raise BenchmarkFailed(f"the sink has seen {seen.submits} submits, {seen.duplicates} of them twice")
    beside, through = (Pace(*map(median_of, zip(*each, strict=True))) for each in (simulated, sent))
    return [
        Figure(
            "smpp",
            "one-receiver requests, HTTP to SMPP to receipt to history",
            through.ended,
            "/s",
            AIM_RATE,
            details=f"with start and end {through.whole:,.0f}/s, accepted {through.accepted:,.0f}/s,"
            f" {through.cpu_us:.0f} µs CPU a message",
        ),
        Figure(
            "smpp",
            "one-receiver requests through SMPP / simulator",
            through.ended / beside.ended,
            target=AIM_SHARE,
            details=f"{through.ended:,.0f}/s of {beside.ended:,.0f}/s, {beside.cpu_us:.0f} µs CPU a message",
        ),
    ]


def _paced(env: BenchEnvironment, data: Path, server: Server, requests: list[bytes], what: str) -> Pace:
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
    pace = Pace(ended, whole, seen.rate, cpu_us)
    report_progress(
        f"  {what}: {pace.ended:,.0f} ended/s ({pace.whole:,.0f} with start and end),"
        f" accepted {pace.accepted:,.0f}/s, {pace.cpu_us:.0f} µs CPU a message"
    )
    return pace


def _ended(data: Path) -> tuple[float, float]:
    """Wait until all messages have ended, and return how many did a second: amid the run, and in the whole of it.

    Raises DoesNotWork where one was not completed.
    """
    reader = open_reader(data)
    wait_until_queue_is_empty(reader)
    first = reader.fetch_value("select min(id) from messages")
    ends = [row[0] for row in reader.fetch_all("select completed_at from messages where status = 2 order by 1")]
    reader.close()
    if len(ends) != MESSAGES:
        raise BenchmarkFailed(f"{MESSAGES - len(ends)} messages were not completed")
    amid = (MESSAGES - 2 * EDGE) / (ends[-EDGE - 1] - ends[EDGE]) * SECOND
    return amid, MESSAGES / (ends[-1] - identifiers.requested_at(first)) * SECOND
