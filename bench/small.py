"""How long a one-receiver send waits for its carrier while campaigns are in the queue."""

import re
import time
from pathlib import Path

from bench import bodies, load
from bench.figures import Figure, percentile
from bench.fill import REQUEST_RECEIVERS, WORLD, fill
from bench.server import BenchEnvironment, BenchmarkFailed, report_progress
from bench.store_reader import open_reader
from pabal.domain import identifiers

TARGET_S = 2.0
WAITING = 100_000
CONNECTIONS = 8
PAUSE_S = 0.04
SECONDS = 8.0
ACCEPT_TIMEOUT_S = 30.0
POLL_INTERVAL_S = 0.05
_REQUEST_ID = re.compile(rb'"requestId":"([0-9a-f]{26})"')


def measure(env: BenchEnvironment) -> list[Figure]:
    """Send single messages while a full queue is delivered; then read when the simulator accepted each."""
    data = env.copy_store()
    fill(data, WAITING // REQUEST_RECEIVERS)
    with env.run_pabal(data, "small") as server:
        plan = load.LoadPlan(
            port=server.port,
            path=bodies.SEND_SMS,
            key=env.key,
            bodies=bodies.sends(100, 1),
            connections=CONNECTIONS,
            pause_s=PAUSE_S,
            seconds=SECONDS,
            keeps_answers=True,
        )
        with load.start(plan) as process:
            drained_at = _drained_at(data)
            seen = load.finish(process)
        sent = [bytes.fromhex(found[1].decode()) for each in seen.answers if (found := _REQUEST_ID.search(each))]
        during_campaigns = [each for each in sent if identifiers.requested_at(each) < drained_at]
        waits_s = _waits_s(data, during_campaigns)
    if not waits_s:
        raise BenchmarkFailed("the campaigns were delivered before the first small send")
    p50, p99 = percentile(waits_s, 0.5), percentile(waits_s, 0.99)
    report_progress(f"  {len(waits_s)} small sends accepted after p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms")
    return [
        Figure(
            "small",
            "a small send during campaigns, until the simulator accepts it, p99",
            p99,
            " s",
            TARGET_S,
            "at most",
            f"p50 {p50 * 1000:.0f} ms of {len(waits_s)}; answered in p99"
            f" {percentile(seen.latencies_s, 0.99) * 1000:.0f} ms",
        )
    ]


def _drained_at(data: Path) -> int:
    """Wait until the campaigns are delivered, and return that time in milliseconds."""
    reader = open_reader(data)
    deadline = time.perf_counter() + SECONDS
    while reader.fetch_value("select 1 from jobs where lane = 1 limit 1") and time.perf_counter() < deadline:
        time.sleep(POLL_INTERVAL_S)
    reader.close()
    return WORLD.now()


def _waits_s(data: Path, requests: list[bytes]) -> list[float]:
    """Return how long after its request the simulator accepted each message."""
    reader = open_reader(data)
    deadline = time.perf_counter() + ACCEPT_TIMEOUT_S
    waits_s: list[float] = []
    for each in requests:
        one = identifiers.make_message_id(each, 1)
        while (
            at := reader.fetch_value("select accepted_at from simulated_messages where message_id = ?", (one,))
        ) is None:
            if time.perf_counter() > deadline:
                raise BenchmarkFailed(f"the simulator did not accept a small send in {ACCEPT_TIMEOUT_S} s")
            time.sleep(POLL_INTERVAL_S)
        waits_s.append((at - identifiers.requested_at(each)) / 1000)
    reader.close()
    return waits_s
