"""How much slower a claim on PostgreSQL is with a long queue, after many deliveries, and during a backup."""

import asyncio
import contextlib
import random
import time
from collections.abc import Sequence
from pathlib import Path

from bench.copy_rows import copy_all
from bench.database import PostgresEnvironment, postgres_environment
from bench.deliver import deliver_all_bare
from bench.figures import Figure, format_ms, median_of
from bench.fill import CARRIER, POLICY, REQUEST_RECEIVERS, WORLD, build_new_request, campaigns, slots_of, with_store
from bench.server import BenchEnvironment, BenchmarkFailed, report_progress
from bench.store_reader import settings_of
from pabal.carriers.base import DEFAULT_BATCH_SIZE
from pabal.domain.base.dates import MINUTE
from pabal.service.delivery.claiming.claim_tx import ClaimRequest, claim
from pabal.service.delivery.claiming.watermarks import Watermarks
from pabal.store.engine.base import Store
from pabal.store.engine.postgres.postgres_store import PostgresStore
from pabal.store.queue import queue, slots

TARGET = 1.5
MANY, FEW = 1_000_000, 10_000
VISIBLE_TO_BACKUP = 100_000
"""Deliveries whose dead rows cannot be vacuumed, since a backup still sees them."""
CLAIMS, WARM_UP_CLAIMS = 16, 6
REQUESTS_PER_COPY = 20


def measure(env: BenchEnvironment) -> list[Figure]:
    """Claim in turn from queues that differ in length and in earlier deliveries."""
    with postgres_environment(env) as postgres, contextlib.ExitStack() as stack:
        fresh, large, seen, used = (
            _filled_store(postgres, messages) for messages in (FEW, MANY, VISIBLE_TO_BACKUP, MANY)
        )
        backup = stack.enter_context(postgres.connect(seen))
        backup.execute("begin isolation level repeatable read")
        backup.execute("select 1 from jobs limit 1")
        for data, messages in ((seen, VISIBLE_TO_BACKUP), (used, MANY)):
            _deliver(data, messages)
            _fill(postgres, data, FEW)
        times = asyncio.run(_measure_claims([fresh, large, used, seen]))
    return [
        _figure(f"with {MANY:,} waiting / with {FEW:,}", times[1], times[0], TARGET),
        _figure(f"after {MANY:,} deliveries / fresh", times[2], times[0], TARGET),
        _figure(f"after {VISIBLE_TO_BACKUP:,} deliveries that a backup still sees / fresh", times[3], times[0]),
    ]


def _figure(what: str, found: list[float], fresh: list[float], target: float | None = None) -> Figure:
    return Figure(
        "queue",
        f"time of a claim of {DEFAULT_BATCH_SIZE} {what}",
        median_of(found) / median_of(fresh),
        target=target,
        bound="at most",
        details=f"{format_ms(found)} and {format_ms(fresh)}",
    )


def _filled_store(env: PostgresEnvironment, messages: int) -> Path:
    data = env.copy_store()
    _fill(env, data, messages)
    return data


def _fill(env: PostgresEnvironment, data: Path, messages: int) -> None:
    """Add campaigns that are due at once to the slots in turn."""
    total, rng, now = slots_of(data), random.Random(), WORLD.now()
    with env.connect(data) as connection:
        for begin in range(0, messages // REQUEST_RECEIVERS, REQUESTS_PER_COPY):
            end = min(begin + REQUESTS_PER_COPY, messages // REQUEST_RECEIVERS)
            sends = campaigns(end - begin, rng, None)
            copy_all(
                connection,
                [build_new_request(each, now, rng, (begin + at) % total) for at, each in enumerate(sends)],
            )


def _deliver(data: Path, messages: int) -> None:
    began = time.perf_counter()
    batches = with_store(data, lambda store: deliver_all_bare(store, messages))
    tenth = len(batches) // 10
    first, last = ([each.claimed_s for each in part] for part in (batches[:tenth], batches[-tenth:]))
    report_progress(
        f"  {messages:,} delivered in {time.perf_counter() - began:.0f} s;"
        f" a claim: {format_ms(first)} in the first tenth, {format_ms(last)} in the last"
    )


async def _measure_claims(folders: Sequence[Path]) -> list[list[float]]:
    """Return how long claims took, by data directory; the first, which have no query plan yet, do not count."""
    stores = [PostgresStore(settings_of(data).store, WORLD, writers=1) for data in folders]
    watermarks = [Watermarks() for _ in folders]
    found: list[list[float]] = [[] for _ in folders]
    for number in range(CLAIMS):
        for position, store in enumerate(stores):
            found[position].append(await _time_claim(store, watermarks[position], number))
    for store in stores:
        await store.close()
    return [times[WARM_UP_CLAIMS:] for times in found]


async def _time_claim(store: Store, watermarks: Watermarks, number: int) -> float:
    """Claim as a worker does: read what is due next in all slots, then claim from one."""
    numbers = await store.read(slots.list_numbers)
    began, now = time.perf_counter(), WORLD.now()
    lanes = watermarks.lanes(numbers, now)
    watermarks.record(lanes, await store.read(queue.next_due_by_lane, CARRIER, lanes), now)
    slot = numbers[number % len(numbers)]
    claimed = await store.write(
        claim,
        ClaimRequest(slot, CARRIER, DEFAULT_BATCH_SIZE, MINUTE, watermarks=watermarks.for_slot(slot)),
        POLICY,
        WORLD.now(),
    )
    took_s = time.perf_counter() - began
    if len(claimed.leased) != DEFAULT_BATCH_SIZE:
        raise BenchmarkFailed(
            f"{DEFAULT_BATCH_SIZE - len(claimed.leased)} of {DEFAULT_BATCH_SIZE} messages were not claimed"
        )
    return took_s
