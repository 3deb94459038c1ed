"""How many campaign receivers per second are accepted, compared with bare inserts of the same rows."""

import random
import time
from collections.abc import Callable
from pathlib import Path

from bench import bodies, load
from bench.figures import Figure, median_of
from bench.fill import (
    POLICY,
    REQUEST_RECEIVERS,
    WORLD,
    build_new_request,
    campaigns,
    slots_of,
    store_one,
    with_store,
)
from bench.server import BenchEnvironment, report_progress
from pabal.domain.base.dates import HOUR
from pabal.service.sending.accept import NewRequest
from pabal.store.engine.base import Store

TARGET = 0.6
ROUNDS = 3
CONNECTIONS = 8
REQUESTS = 100
BODIES = 20

BareInsert = Callable[[Path, list[NewRequest]], float]
"""Inserts the rows of sends into a store, one transaction each, and returns receivers per second."""


def insert_bare(data: Path, new_requests: list[NewRequest]) -> float:
    """Insert them with the service's own statements, one transaction after the other."""

    async def work(store: Store) -> float:
        began = time.perf_counter()
        for each in new_requests:
            await store_one(store, each)
        return len(new_requests) * REQUEST_RECEIVERS / (time.perf_counter() - began)

    return with_store(data, work)


def measure(env: BenchEnvironment, bare_name: str = "insert", put_bare: BareInsert = insert_bare) -> list[Figure]:
    """Measure in several rounds: bare inserts, scheduled campaigns, and immediate campaigns."""
    bare, later, now, cpu_us = [], [], [], []
    scheduled = bodies.campaigns(BODIES, bodies.later(POLICY, WORLD.now()))
    at_once = bodies.campaigns(BODIES)
    for _ in range(ROUNDS):
        bare.append(_measure_bare(env, put_bare))
        report_progress(f"  bare {bare_name}: {bare[-1]:,.0f} receivers/s")
        rate, cpu = _measure_accepted(env, scheduled)
        later.append(rate)
        cpu_us.append(cpu)
        report_progress(f"  scheduled campaigns: {rate:,.0f} receivers/s, {cpu:.1f} µs CPU per receiver")
        rate, _ = _measure_accepted(env, at_once)
        now.append(rate)
        report_progress(f"  campaigns delivered at once: {rate:,.0f} receivers/s")
    return [
        Figure(
            "campaign",
            f"receivers accepted, scheduled / bare {bare_name}",
            median_of(later) / median_of(bare),
            target=TARGET,
            details=f"{median_of(later):,.0f}/s of {median_of(bare):,.0f}/s,"
            f" {median_of(cpu_us):.1f} µs CPU per receiver",
        ),
        Figure(
            "campaign",
            f"receivers accepted, delivered at once / bare {bare_name}",
            median_of(now) / median_of(bare),
            details=f"{median_of(now):,.0f}/s",
        ),
    ]


def _measure_accepted(env: BenchEnvironment, campaign_bodies: list[bytes]) -> tuple[float, float]:
    """Return receivers per second, and the server's CPU time per receiver in microseconds."""
    with env.run_pabal(env.copy_store(), "campaign") as server:
        before = server.cpu_s()
        seen = load.run(
            load.LoadPlan(
                port=server.port,
                path=bodies.SEND_SMS,
                key=env.key,
                bodies=campaign_bodies,
                connections=CONNECTIONS,
                count=REQUESTS,
            )
        )
        receivers = seen.requests * REQUEST_RECEIVERS
        return receivers / seen.seconds, (server.cpu_s() - before) / receivers * 1e6


def _measure_bare(env: BenchEnvironment, put_bare: BareInsert) -> float:
    data = env.copy_store()
    rng = random.Random(3)
    now = WORLD.now()
    total = slots_of(data)
    sends = campaigns(REQUESTS, rng, now + 5 * HOUR)
    return put_bare(data, [build_new_request(each, now, rng, number % total) for number, each in enumerate(sends)])
