"""`python -m bench.soak`: a steady load for minutes, during which memory, files and the store must stay flat."""

import argparse
import contextlib
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from bench import bodies, load
from bench.environment import Environment
from bench.postgres import OPTIONS, PostgresEnvironment, postgres_environment
from bench.server import BenchmarkFailed, Server, report_progress
from bench.soak_faults import soak_with_faults

ENGINES = ("sqlite", "postgresql")
DEFAULT_MINUTES = 20.0
SAMPLES = 60
"""Samples over the whole time, in three parts: warming up, before, after."""
SENDERS, SEND_PAUSE_S, RECEIVERS = 4, 0.1, 10
READERS, READ_PAUSE_S = 1, 0.2
SILENT_CONNECTIONS = 5
"""Connections that say half a head, opened anew at each sample, so that they time out all along."""
SETTLE_S = 3.0
_MB = 1024 * 1024
_DEAD_TUPLES = "select coalesce(sum(n_dead_tup), 0) from pg_stat_user_tables"


class Bound(NamedTuple):
    """How much a series may grow from its second third to its last: a share, and an amount besides."""

    share: float
    amount: float
    unit: str = ""
    divisor: float = 1.0


BOUNDS = {
    "memory": Bound(0.05, 8 * _MB, " MB", _MB),
    "files": Bound(0.05, 4),
    "WAL": Bound(0.25, 8 * _MB, " MB", _MB),
    "dead tuples": Bound(0.5, 5000),
}
Series = dict[str, list[float]]


def main() -> int:
    """Soak each engine and return 1 if anything grew, else 0."""
    parser = argparse.ArgumentParser("soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=DEFAULT_MINUTES, help="how long in all (20)")
    parser.add_argument("--engine", choices=ENGINES, help="only this engine; without it, half the time for each")
    parser.add_argument("--faults", action="store_true", help="kill processes, pause the store, lose the webhook")
    given = parser.parse_args()
    engines = [given.engine] if given.engine else ENGINES
    seconds = given.minutes * 60 / len(engines)
    has_grown = False
    with tempfile.TemporaryDirectory(prefix="pabal-soak-") as root:
        base = Environment(Path(root))
        for engine in engines:
            report_progress(f"{engine}: {seconds / 60:.1f} min")
            with _environment(base, engine) as env:
                series = (
                    soak_with_faults(env, seconds, partial(_measures, env)) if given.faults else _soak(env, seconds)
                )
                has_grown |= not _report(series)
    return 1 if has_grown else 0


@contextlib.contextmanager
def _environment(base: Environment, engine: str) -> Iterator[Environment]:
    if engine == "sqlite":
        base.prepare()
        yield base
    else:
        with postgres_environment(base, OPTIONS | {"autovacuum_naptime": "5s"}) as env:
            yield env


def _soak(env: Environment, seconds: float) -> Series:
    data = env.copy_store()
    env.configure(data, "head_seconds = 2\nsimulator_messages = 10000\n")
    with env.run(data, "soak") as server, contextlib.ExitStack() as stack:
        loads = [stack.enter_context(load.running(plan)) for plan in _plans(server, env.key, seconds - SETTLE_S)]
        measured = _watch(server, _measures(env, server, data), seconds)
        for each in loads:
            seen = load.finish(each)
            report_progress(f"  {seen.all_requests:,} requests, all answered with success")
    return measured


def _plans(server: Server, key: str, seconds: float) -> list[load.LoadPlan]:
    sends, lists = bodies.sends(1000, RECEIVERS), [b'{"receivers":"010-1234-5678"}']
    return [
        load.LoadPlan(
            port=server.port,
            path=path,
            key=key,
            bodies=each,
            connections=connections,
            seconds=seconds,
            pause_s=pause_s,
        )
        for path, each, connections, pause_s in (
            (bodies.SEND_SMS, sends, SENDERS, SEND_PAUSE_S),
            (bodies.LIST, lists, READERS, READ_PAUSE_S),
        )
    ]


def _measures(env: Environment, server: Server, data: Path) -> dict[str, Callable[[], float]]:
    measures: dict[str, Callable[[], float]] = {
        "memory": server.resident_bytes,
        "files": lambda: sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in server.pids()),
    }
    if isinstance(env, PostgresEnvironment):
        measures["dead tuples"] = lambda: _count_dead_tuples(env, data)
    else:
        measures["WAL"] = lambda: (data / "pabal.db-wal").stat().st_size
    return measures


def _count_dead_tuples(env: PostgresEnvironment, data: Path) -> float:
    with env.connect(data) as connection:
        row = connection.execute(_DEAD_TUPLES).fetchone()
    return float(row[0]) if row else 0.0


def _watch(server: Server, measures: dict[str, Callable[[], float]], seconds: float) -> Series:
    series: Series = {name: [] for name in measures}
    began = time.perf_counter()
    silent: list[socket.socket] = []
    for sample in range(SAMPLES):
        time.sleep(max(0.0, began + (sample + 1) * seconds / SAMPLES - time.perf_counter()))
        for name, measure in measures.items():
            series[name].append(measure())
        for each in silent:
            each.close()
        silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(SILENT_CONNECTIONS)]
        for each in silent:
            each.sendall(b"POST / HTTP/1.1\r\nX: ")
    for each in silent:
        each.close()
    return series


def _report(series: Series) -> bool:
    """Print how each series went, and return whether all stayed flat."""
    is_flat = True
    for name, values in series.items():
        third = len(values) // 3
        if not third:
            raise BenchmarkFailed("too few samples")
        bound = BOUNDS[name]
        before, after = mean(values[third : 2 * third]), mean(values[2 * third :])
        is_within = after <= before * (1 + bound.share) + bound.amount
        is_flat &= is_within
        shown = [f"{each / bound.divisor:,.1f}" for each in (values[0], before, after, max(values))]
        report_progress(
            f"  {name}: {shown[0]} at first, {shown[1]} in the second third, {shown[2]} in the last,"
            f" {shown[3]} at most{bound.unit}: {'flat' if is_within else 'GREW'}"
        )
    return is_flat


if __name__ == "__main__":
    sys.exit(main())
