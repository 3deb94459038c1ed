"""How long the service takes to be ready, on an empty store and on a large one."""

from pathlib import Path

from bench.figures import Figure, median_of
from bench.history import MANY, large_store
from bench.server import BenchEnvironment, report_progress

TARGET_S = 2.0
ROUNDS = 3


def measure(env: BenchEnvironment) -> list[Figure]:
    """Start the service several times on each store."""
    return [
        _measure_start(env, env.copy_store(), "an empty store"),
        _measure_start(env, large_store(env), f"{MANY:,} waiting messages"),
    ]


def _measure_start(env: BenchEnvironment, data: Path, what: str) -> Figure:
    took_s = []
    for _ in range(ROUNDS):
        with env.run_pabal(data, "start") as server:
            took_s.append(server.ready_after_s)
    report_progress(f"  ready on {what} after {median_of(took_s):.2f} s (median of {ROUNDS})")
    return Figure("start", f"ready on {what}", median_of(took_s), " s", TARGET_S, "at most")
