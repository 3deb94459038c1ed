"""How much slower searches and claims are among a million messages than among ten thousand."""

import time
from pathlib import Path

from bench import bodies, load
from bench.figures import Figure, format_ms, median_of
from bench.fill import CARRIER, POLICY, REQUEST_RECEIVERS, WORLD, fill, with_store
from bench.server import BenchEnvironment, report_progress
from pabal.carriers.base import DEFAULT_BATCH_SIZE
from pabal.domain.base.dates import HOUR, MINUTE
from pabal.service.delivery.claiming.claim_tx import ClaimRequest, claim
from pabal.store.engine.base import Store

TARGET = 1.5
MANY, FEW = 1_000_000, 10_000
REGULARS = 100
"""Receivers with ten messages each."""
ROUNDS = 3
LOOKUPS = 300
CLAIMS = 12
LATER = 10 * HOUR


def large_store(env: BenchEnvironment) -> Path:
    """Return a data directory with a million waiting messages, created if missing."""
    data = env.root / "large"
    if not data.exists():
        env.copy_store().rename(data)
        report_progress(f"  filling a store with {MANY:,} messages")
        fill(
            data,
            MANY // REQUEST_RECEIVERS,
            scheduled_after=LATER,
            regulars=REGULARS,
            report_progress=report_progress,
        )
    return data


def measure(env: BenchEnvironment) -> list[Figure]:
    """Search for the same receivers in both stores in turn, then claim from both."""
    many, few = large_store(env), env.copy_store()
    fill(few, FEW // REQUEST_RECEIVERS, scheduled_after=LATER, regulars=REGULARS)
    in_many: list[float] = []
    in_few: list[float] = []
    with env.run_pabal(many, "history") as among_many, env.run_pabal(few, "history") as among_few:
        for _ in range(ROUNDS):
            in_few += _measure_lookups(env, among_few.port)
            in_many += _measure_lookups(env, among_many.port)
    report_progress(f"  a page among {MANY:,}: {format_ms(in_many)}; among {FEW:,}: {format_ms(in_few)}")
    from_many, from_few = _measure_claims(many), _measure_claims(few)
    report_progress(
        f"  a claim of {DEFAULT_BATCH_SIZE} among {MANY:,}: {format_ms(from_many)};"
        f" among {FEW:,}: {format_ms(from_few)}"
    )
    return [
        Figure(
            "history",
            "time of a receiver's page among 1,000,000 / among 10,000",
            median_of(in_many) / median_of(in_few),
            target=TARGET,
            bound="at most",
            details=f"{format_ms(in_many)} and {format_ms(in_few)}",
        ),
        Figure(
            "history",
            "time of a claim of 500 among 1,000,000 / among 10,000",
            median_of(from_many) / median_of(from_few),
            target=TARGET,
            bound="at most",
            details=f"{format_ms(from_many)} and {format_ms(from_few)}",
        ),
    ]


def _measure_lookups(env: BenchEnvironment, port: int) -> list[float]:
    seen = load.run(
        load.LoadPlan(port=port, path=bodies.LIST, key=env.key, bodies=bodies.lookups(REGULARS), count=LOOKUPS)
    )
    return seen.latencies_s


def _measure_claims(data: Path) -> list[float]:
    async def work(store: Store) -> list[float]:
        found = []
        now = WORLD.now() + 2 * LATER
        for _ in range(CLAIMS):
            began = time.perf_counter()
            claimed = await store.write(claim, ClaimRequest(0, CARRIER, DEFAULT_BATCH_SIZE, MINUTE), POLICY, now)
            found.append(time.perf_counter() - began)
            assert len(claimed.leased) == DEFAULT_BATCH_SIZE
        return found

    return with_store(data, work)
