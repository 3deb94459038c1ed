"""Whether two workers on one PostgreSQL are as fast as one, and the CPU time per message."""

import contextlib
import random
import time
from pathlib import Path
from typing import NamedTuple

from bench.copy_rows import copy_all
from bench.database import PostgresEnvironment, postgres_environment
from bench.deliver import wait_until_ended
from bench.figures import Figure, median_of
from bench.fill import REQUEST_RECEIVERS, WORLD, build_new_request, campaigns, slots_of
from bench.server import BenchEnvironment, BenchmarkFailed, report_progress
from bench.store_reader import open_reader
from pabal.domain.base.dates import SECOND

TARGET_RATE = 1.0
TARGET_CPU = 1.2
ROUNDS = 3
MESSAGES = 100_000
SHARE_TIMEOUT_S = 60.0
POLL_INTERVAL_S = 0.1
_HOLDERS = "select count(*) from slots where worker_id is not null group by worker_id"


class DeliveryRate(NamedTuple):
    """Messages per second, and the CPU time per message in the workers and in PostgreSQL."""

    rate: float
    service_us: float
    postgres_us: float


def measure(env: BenchEnvironment) -> list[Figure]:
    """Deliver the same messages in several rounds by one worker and by two."""
    found: dict[int, list[DeliveryRate]] = {1: [], 2: []}
    with postgres_environment(env) as postgres:
        for _ in range(ROUNDS):
            for workers, rates in found.items():
                rates.append(_measure_rate(postgres, workers))
    one, two = (DeliveryRate(*map(median_of, zip(*rates, strict=True))) for rates in found.values())
    return [
        Figure(
            "workers",
            "messages per second by two workers / by one",
            two.rate / one.rate,
            target=TARGET_RATE,
            details=f"{two.rate:,.0f}/s and {one.rate:,.0f}/s",
        ),
        _cpu("the workers", one.service_us, two.service_us),
        _cpu("PostgreSQL", one.postgres_us, two.postgres_us),
    ]


def _cpu(whose: str, one_us: float, two_us: float) -> Figure:
    return Figure(
        "workers",
        f"CPU per message in {whose}, two workers / one",
        two_us / one_us,
        target=TARGET_CPU,
        bound="at most",
        details=f"{two_us:.0f} and {one_us:.0f} µs",
    )


def _measure_rate(env: PostgresEnvironment, workers: int) -> DeliveryRate:
    """Fill the queue of workers that have balanced their slots, and measure its delivery."""
    data = env.copy_store()
    total = slots_of(data)
    rng = random.Random(4)
    sends = enumerate(campaigns(MESSAGES // REQUEST_RECEIVERS, rng, None))
    new_requests = [build_new_request(each, WORLD.now(), rng, number % total) for number, each in sends]
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(env.run_pabal(data, "workers", "work")) for _ in range(workers)]
        _wait_until_balanced(data, workers)
        with env.connect(data) as connection:
            copy_all(connection, new_requests)
        began_at, before, its_before = WORLD.now(), sum(each.cpu_s() for each in running), env.store_cpu_s()
        took_s = (wait_until_ended(data, MESSAGES) - began_at) / SECOND
        ours, its = sum(each.cpu_s() for each in running) - before, env.store_cpu_s() - its_before
    rate = DeliveryRate(MESSAGES / took_s, ours / MESSAGES * 1e6, its / MESSAGES * 1e6)
    report_progress(
        f"  {workers} workers: {rate.rate:,.0f} messages/s,"
        f" {rate.service_us:.0f} µs CPU per message and {rate.postgres_us:.0f} µs in PostgreSQL"
    )
    return rate


def _wait_until_balanced(data: Path, workers: int) -> None:
    """Wait until each worker holds its fair share of the slots."""
    fair = slots_of(data) // workers
    reader = open_reader(data)
    deadline = time.perf_counter() + SHARE_TIMEOUT_S
    while [row[0] for row in reader.fetch_all(_HOLDERS)] != [fair] * workers:
        if time.perf_counter() > deadline:
            raise BenchmarkFailed(f"after {SHARE_TIMEOUT_S} s the slots are not shared among {workers} workers")
        time.sleep(POLL_INTERVAL_S)
    reader.close()
