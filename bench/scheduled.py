"""A million messages that are due at the same moment: how they are handed over, and what callers feel of it."""

import time

from bench import bodies, load, sink
from bench.figures import Figure, percentile
from bench.fill import REQUEST_RECEIVERS, WORLD, fill
from bench.server import BenchEnvironment, BenchmarkFailed, report_progress
from bench.sink import Figures
from pabal.domain.base.dates import SECOND

MESSAGES = 1_000_000
RATE = 5000
"""Of the carrier: messages a second."""
RATE_TARGET = 0.95
MEMORY_TARGET_MB = 200
P99_TARGET_MS = 50.0
DUE_AFTER_S = 100
"""Enough to store all of them before."""
CONNECTIONS, PAUSE_S = 4, 0.05
LOAD_S = 60.0
EDGE_SHARE = 0.1
ARRIVAL_TIMEOUT_S = 120.0
"""Added to the time that the rate requires."""
_MB = 1024 * 1024


def measure(env: BenchEnvironment) -> list[Figure]:
    """Store them, start the service, and send single messages through it from when they are due."""
    data = env.copy_store()
    due_at = WORLD.now() + DUE_AFTER_S * SECOND
    fill(data, MESSAGES // REQUEST_RECEIVERS, scheduled_after=DUE_AFTER_S * SECOND, carrier=sink.CARRIER)
    if WORLD.now() > due_at - 10 * SECOND:
        raise BenchmarkFailed(f"storing {MESSAGES:,} messages took longer than {DUE_AFTER_S - 10} s")
    with sink.running() as smsc:
        smsc.write_settings(data, RATE)
        with env.run_pabal(data, "scheduled") as server:
            smsc.wait_for("binds", 1)
            if early := smsc.figures().submits:
                raise BenchmarkFailed(f"{early} messages were sent early")
            time.sleep(max(0.0, (due_at - WORLD.now()) / SECOND))
            plan = load.LoadPlan(
                port=server.port,
                path=bodies.SEND_SMS,
                key=env.key,
                bodies=bodies.singles(1000),
                connections=CONNECTIONS,
                pause_s=PAUSE_S,
                seconds=LOAD_S,
            )
            answered = load.run(plan)
            total = MESSAGES + answered.all_requests
            seen = smsc.wait_for("submits", total, total / RATE + ARRIVAL_TIMEOUT_S)
            peak_mb = server.peak_bytes() / _MB
    if seen.submits != total:
        raise BenchmarkFailed(f"{seen.submits:,} of {total:,} were submitted")
    rate, p99_ms = _rate(seen, total), percentile(answered.latencies_s, 0.99) * 1000
    report_progress(f"  {rate:,.0f} messages/s of {RATE:,}, p99 of sends {p99_ms:.1f} ms, {peak_mb:.0f} MB")
    what = f"{MESSAGES:,} due at once:"
    return [
        Figure("scheduled", f"{what} handed over a second / the carrier's rate", rate / RATE, target=RATE_TARGET),
        Figure("scheduled", f"{what} peak resident", peak_mb, " MB", MEMORY_TARGET_MB, "at most"),
        Figure("scheduled", f"{what} p99 of sends meanwhile", p99_ms, " ms", P99_TARGET_MS, "at most"),
    ]


def _rate(seen: Figures, total: int) -> float:
    """Return messages a second, without the first and last ones."""
    edge = int(total * EDGE_SHARE)
    passed, times = 0, []
    for at, count in seen.arrivals:
        passed += count
        if edge <= passed <= total - edge:
            times.append((at, passed))
    (first_at, first), (last_at, last) = times[0], times[-1]
    return (last - first) / (last_at - first_at)
