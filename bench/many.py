"""How much slower the whole way and searches are among ten million messages than among ten thousand."""

from pathlib import Path
from typing import NamedTuple

from bench import bodies, load, sink
from bench.figures import Figure, median_of, percentile
from bench.fill import REQUEST_RECEIVERS, fill
from bench.peers.measure import CONNECTIONS, MESSAGES, rate_of
from bench.server import BenchEnvironment, report_progress
from bench.sink import Sink
from pabal.domain.base.dates import DAY

TARGET = 1.3
MANY, FEW = 10_000_000, 10_000
REGULARS = 100
"""Receivers with ten messages each."""
LATER = 30 * DAY
CARRIER = "sink"
ROUNDS = 2
PROCESSES = (1, 2)
CAMPAIGNS = 40
LOOKUPS = 300


class Run(NamedTuple):
    """What one run has measured."""

    singles: float
    """Messages a second from request to receipt, one a request."""
    p99_ms: float
    """Of accepting at that load."""
    campaigns: float
    """Messages a second from request to receipt, a thousand a request."""
    page_ms: float
    """A page of a receiver's messages, at the median."""


def measure(env: BenchEnvironment) -> list[Figure]:
    """Send and search in both stores in turn; their other messages wait for a time that never comes."""
    with sink.running() as smsc:
        few, many = (_make_store(env, smsc, count) for count in (FEW, MANY))
        found = [
            (processes, _measure_run(env, smsc, few, processes), _measure_run(env, smsc, many, processes))
            for _ in range(ROUNDS)
            for processes in PROCESSES
        ]
    figures = []
    for processes in PROCESSES:
        pairs = [(before, after) for each, before, after in found if each == processes]
        before, after = (Run(*map(median_of, zip(*runs, strict=True))) for runs in zip(*pairs, strict=True))
        figures += _figures_of(processes, before, after)
    return figures


def _make_store(env: BenchEnvironment, smsc: Sink, count: int) -> Path:
    data = env.copy_store()
    report_progress(f"  filling a store with {count:,} messages")
    fill(
        data,
        count // REQUEST_RECEIVERS,
        scheduled_after=LATER,
        regulars=REGULARS,
        carrier=CARRIER,
        report_progress=lambda words: report_progress(words) if ",000,000 " in words else None,
    )
    smsc.write_settings(data)
    return data


def _measure_run(env: BenchEnvironment, smsc: Sink, data: Path, processes: int) -> Run:
    options = ("--processes", str(processes)) if processes > 1 else ()
    smsc.reset()
    with env.run_pabal(data, "many", "serve", *options) as server:
        smsc.wait_for("binds", 1)
        plan = load.LoadPlan(
            port=server.port,
            path=bodies.SEND_SMS,
            key=env.key,
            bodies=bodies.singles(MESSAGES),
            connections=CONNECTIONS,
            count=MESSAGES,
        )
        seen = load.run(plan)
        singles = rate_of(smsc.wait_for("acknowledged", MESSAGES).ends, MESSAGES)
        smsc.reset()
        load.run(
            load.LoadPlan(
                port=server.port,
                path=bodies.SEND_SMS,
                key=env.key,
                bodies=bodies.campaigns(CAMPAIGNS),
                connections=4,
                count=CAMPAIGNS,
            )
        )
        sent = CAMPAIGNS * REQUEST_RECEIVERS
        campaigns = rate_of(smsc.wait_for("acknowledged", sent).ends, sent)
        pages = load.run(
            load.LoadPlan(
                port=server.port, path=bodies.LIST, key=env.key, bodies=bodies.lookups(REGULARS), count=LOOKUPS
            )
        )
    run = Run(
        singles, percentile(seen.latencies_s, 0.99) * 1000, campaigns, percentile(pages.latencies_s, 0.5) * 1000
    )
    report_progress(
        f"  {processes} processes: {run.singles:,.0f} single sends/s, p99 {run.p99_ms:.1f} ms;"
        f" campaigns {run.campaigns:,.0f}/s; a page {run.page_ms:.2f} ms"
    )
    return run


def _figures_of(processes: int, few: Run, many: Run) -> list[Figure]:
    """Return how many times worse each figure is among many messages."""
    ratios = {
        "single sends, request to receipt": (few.singles / many.singles, few.singles, many.singles),
        "p99 of accepting": (many.p99_ms / few.p99_ms, few.p99_ms, many.p99_ms),
        "campaigns, request to receipt": (few.campaigns / many.campaigns, few.campaigns, many.campaigns),
        "a page of a receiver's messages": (many.page_ms / few.page_ms, few.page_ms, many.page_ms),
    }
    return [
        Figure(
            "many",
            f"{what}, {processes} processes, times worse among {MANY:,}",
            ratio,
            target=TARGET,
            bound="at most",
            details=f"{before:,.1f} and {after:,.1f}",
        )
        for what, (ratio, before, after) in ratios.items()
    ]
