"""How many one-receiver sends per second are accepted, compared with a bare HTTP server."""

import contextlib
from collections.abc import Sequence
from typing import NamedTuple

from bench import bodies, load
from bench.figures import Figure, median_of, percentile
from bench.fill import POLICY, WORLD
from bench.server import BenchEnvironment, Server, report_progress

TARGET = 0.3
ROUNDS = 3
CONNECTIONS = 64
WARM_UP_S = 1.0
SECONDS = 3.0
BODIES = 1000
DELIVERED_AT_ONCE, SCHEDULED = ", delivered at once", ", scheduled"


class AcceptRate(NamedTuple):
    """How fast servers accepted sends, and the CPU time per request."""

    rate: float
    cpu_us: float
    store_us: float
    """CPU time of the store's own processes, 0 for SQLite."""
    p50_ms: float
    p99_ms: float


def measure(env: BenchEnvironment, max_servers: int = 1) -> list[Figure]:
    """Measure in several rounds: the bare server, immediate and scheduled sends, by up to `max_servers` servers."""
    at_once = bodies.sends(BODIES, 1)
    scheduled = bodies.sends(BODIES, 1, bodies.later(POLICY, WORLD.now()))
    bare: list[AcceptRate] = []
    found: dict[tuple[str, int], list[AcceptRate]] = {}
    for _ in range(ROUNDS):
        with env.run_bare_server() as server:
            bare.append(_measure_rate(env, [server], at_once, "bare server"))
        for servers in range(1, max_servers + 1):
            for what, sends in ((DELIVERED_AT_ONCE, at_once), (SCHEDULED, scheduled)):
                found.setdefault((what, servers), []).append(_measure_service(env, servers, sends, what))
    bare_median = _medians(bare)
    rates = {each: _medians(rounds) for each, rounds in found.items()}
    later, now = rates[SCHEDULED, 1], rates[DELIVERED_AT_ONCE, 1]
    return [_figure(what, servers, measured, bare_median) for (what, servers), measured in rates.items()] + [
        Figure(
            "accept",
            "CPU per scheduled send / bare",
            later.cpu_us / bare_median.cpu_us,
            details=f"{later.cpu_us:.0f} of {bare_median.cpu_us:.0f} µs; with delivery: {now.cpu_us:.0f} µs"
            + (f"; PostgreSQL {later.store_us:.0f} and {now.store_us:.0f} µs" if later.store_us else ""),
        )
    ]


def _figure(what: str, servers: int, measured: AcceptRate, bare: AcceptRate) -> Figure:
    by = f", by {servers} servers" if servers > 1 else ""
    details = f"{measured.rate:,.0f}/s p99 {measured.p99_ms:.0f} ms of {bare.rate:,.0f}/s"
    return Figure(
        "accept", f"one-receiver sends{what}{by} / bare", measured.rate / bare.rate, target=TARGET, details=details
    )


def _measure_service(env: BenchEnvironment, servers: int, sends: list[bytes], what: str) -> AcceptRate:
    data = env.copy_store()
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(env.run_pabal(data, "accept")) for _ in range(servers)]
        return _measure_rate(env, running, sends, f"{servers} servers{what}")


def _measure_rate(env: BenchEnvironment, servers: Sequence[Server], sends: list[bytes], what: str) -> AcceptRate:
    """Load servers with the same total number of connections."""
    before, store_before = sum(each.cpu_s() for each in servers), env.store_cpu_s()
    loads = [
        load.start(
            load.LoadPlan(
                port=server.port,
                path=bodies.SEND_SMS,
                key=env.key,
                bodies=sends,
                connections=CONNECTIONS // len(servers),
                warm_up_s=WARM_UP_S,
                seconds=SECONDS,
            )
        )
        for server in servers
    ]
    seen = [load.finish(each) for each in loads]
    requests = sum(each.all_requests for each in seen)
    latencies_s = [one for each in seen for one in each.latencies_s]
    measured = AcceptRate(
        sum(each.rate for each in seen),
        (sum(each.cpu_s() for each in servers) - before) / requests * 1e6,
        (env.store_cpu_s() - store_before) / requests * 1e6,
        percentile(latencies_s, 0.5) * 1000,
        percentile(latencies_s, 0.99) * 1000,
    )
    report_progress(
        f"  {what}: {measured.rate:,.0f}/s, {measured.cpu_us:.0f} µs CPU per request,"
        f" {measured.store_us:.0f} µs in the store's processes,"
        f" p50 {measured.p50_ms:.1f} ms, p99 {measured.p99_ms:.1f} ms"
    )
    return measured


def _medians(rates: list[AcceptRate]) -> AcceptRate:
    return AcceptRate(*(median_of(column) for column in zip(*rates, strict=True)))
