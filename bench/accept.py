"""How many one-receiver sends per second are accepted as operators run it, compared with a bare HTTP server.

The account has a key with a rate, limits, a registered sender number, a sender profile and a template; SMS go to an
SMSC, so that sender numbers are checked.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bench import bodies, load, sink
from bench.figures import Figure, median_of, percentile
from bench.fill import POLICY, WORLD, with_store
from bench.server import ACCOUNT, BenchEnvironment, Server, report_progress
from bench.sink import Sink
from tests.fakes.nhncloud import channel

TARGET = 0.3
SCHEDULED_TARGET = 0.6
ROUNDS = 3
CONNECTIONS = 64
WARM_UP_S = 1.0
SECONDS = 3.0
BODIES = 1000


@dataclass(frozen=True, eq=False)
class Sends:
    """What is sent."""

    name: str
    path: str
    bodies: list[bytes]
    target: float | None = None


class AcceptRate(NamedTuple):
    """How fast servers accepted sends, and the CPU time per request."""

    rate: float
    cpu_us: float
    store_us: float
    """CPU time of the store's own processes, 0 for SQLite."""
    p50_ms: float
    p99_ms: float


def measure(env: BenchEnvironment, max_servers: int = 1) -> list[Figure]:
    """Measure in several rounds: the bare server, then each kind of send by up to `max_servers` servers."""
    later = bodies.later(POLICY, WORLD.now())
    now = Sends("SMS delivered at once", bodies.SEND_SMS, bodies.sends(BODIES, 1), TARGET)
    scheduled = Sends("SMS scheduled", bodies.SEND_SMS, bodies.sends(BODIES, 1, later), SCHEDULED_TARGET)
    talk = Sends("Alimtalk scheduled", bodies.SEND_ALIMTALK, bodies.alimtalks(BODIES, 1, later))
    bare: list[AcceptRate] = []
    found: dict[tuple[Sends, int], list[AcceptRate]] = {}
    seed = env.copy_store()
    with_store(seed, lambda store: store.write(channel.add_to_store, ACCOUNT, WORLD.now()))
    with sink.running() as smsc:
        for _ in range(ROUNDS):
            with env.run_bare_server() as server:
                bare.append(_measure_rate(env, [server], now, "bare server"))
            for servers in range(1, max_servers + 1):
                for sends in (now, scheduled, talk) if servers == 1 else (now, scheduled):
                    rates = found.setdefault((sends, servers), [])
                    rates.append(_measure_service(env, seed, smsc, servers, sends))
    bare_median = _medians(bare)
    medians = {each: _medians(rounds) for each, rounds in found.items()}
    at_later, at_once = medians[scheduled, 1], medians[now, 1]
    return [_figure(sends, servers, measured, bare_median) for (sends, servers), measured in medians.items()] + [
        Figure(
            "accept",
            "CPU per scheduled send / bare",
            at_later.cpu_us / bare_median.cpu_us,
            details=f"{at_later.cpu_us:.0f} of {bare_median.cpu_us:.0f} µs; with delivery: {at_once.cpu_us:.0f} µs"
            + (f"; PostgreSQL {at_later.store_us:.0f} and {at_once.store_us:.0f} µs" if at_later.store_us else ""),
        )
    ]


def _figure(sends: Sends, servers: int, measured: AcceptRate, bare: AcceptRate) -> Figure:
    by = f", by {servers} servers" if servers > 1 else ""
    details = f"{measured.rate:,.0f}/s p99 {measured.p99_ms:.0f} ms of {bare.rate:,.0f}/s"
    ratio = measured.rate / bare.rate
    return Figure("accept", f"{sends.name}, one receiver{by} / bare", ratio, target=sends.target, details=details)


def _measure_service(env: BenchEnvironment, seed: Path, smsc: Sink, servers: int, sends: Sends) -> AcceptRate:
    data = env.copy_store(seed)
    smsc.write_settings(data)
    smsc.reset()
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(env.run_pabal(data, "accept")) for _ in range(servers)]
        smsc.wait_for("binds", servers)
        return _measure_rate(env, running, sends, f"{sends.name}, {servers} servers")


def _measure_rate(env: BenchEnvironment, servers: Sequence[Server], sends: Sends, what: str) -> AcceptRate:
    """Load servers with the same total number of connections."""
    before, store_before = sum(each.cpu_s() for each in servers), env.store_cpu_s()
    loads = [
        load.start(
            load.LoadPlan(
                port=server.port,
                path=sends.path,
                key=env.key,
                bodies=sends.bodies,
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
