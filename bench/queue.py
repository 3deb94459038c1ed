"""Whether a claim on PostgreSQL stays as quick with much waiting, after many deliveries, and amid a backup."""

import asyncio
import contextlib
import random
import time
from collections.abc import Sequence
from pathlib import Path

from bench.copying import copy_all
from bench.database import PostgresPlace, on_postgres
from bench.deliver import deliver_all_bare
from bench.figures import Figure, middle, milliseconds
from bench.fill import CARRIER, POLICY, REQUEST_RECEIVERS, WORLD, campaigns, ready_to_keep, slots_of, with_store
from bench.looking import settings_of
from bench.server import DoesNotWork, Place, say
from pabal.carriers.base import DEFAULT_BATCH_SIZE
from pabal.domain.dates import MINUTE
from pabal.service.delivery.claim import ClaimRequest, claim
from pabal.service.delivery.watermarks import Watermarks
from pabal.store import queue, slots
from pabal.store.engine.base import Store
from pabal.store.engine.postgres import PostgresStore

AIM = 1.5
MANY, FEW = 1_000_000, 10_000
MANY_SEEN = 100_000
"""Deliveries whose rows cannot be tidied up, since somebody still sees them."""
CLAIMS, UNCOUNTED = 16, 6
REQUESTS_A_COPY = 20


def measure(place: Place) -> list[Figure]:
    """Claim in turn from queues that differ in what waits, and in what has been there before."""
    with on_postgres(place) as here, contextlib.ExitStack() as stack:
        fresh, large, seen, used = (_filled(here, messages) for messages in (FEW, MANY, MANY_SEEN, MANY))
        backup = stack.enter_context(here.connect(seen))
        backup.execute("begin isolation level repeatable read")
        backup.execute("select 1 from jobs limit 1")
        for data, messages in ((seen, MANY_SEEN), (used, MANY)):
            _deliver(data, messages)
            _fill(here, data, FEW)
        times = asyncio.run(_claimed([fresh, large, used, seen]))
    return [
        _figure(f"with {MANY:,} waiting / with {FEW:,}", times[1], times[0], AIM),
        _figure(f"after {MANY:,} deliveries / fresh", times[2], times[0], AIM),
        _figure(f"after {MANY_SEEN:,} deliveries that a backup still sees / fresh", times[3], times[0]),
    ]


def _figure(what: str, found: list[float], fresh: list[float], aim: float | None = None) -> Figure:
    return Figure(
        "queue",
        f"time of a claim of {DEFAULT_BATCH_SIZE} {what}",
        middle(found) / middle(fresh),
        aim=aim,
        side="at most",
        made_of=f"{milliseconds(found)} and {milliseconds(fresh)}",
    )


def _filled(place: PostgresPlace, messages: int) -> Path:
    data = place.fresh()
    _fill(place, data, messages)
    return data


def _fill(place: PostgresPlace, data: Path, messages: int) -> None:
    """Put campaigns into a queue, due at once, its slots in turn."""
    total, chance, now = slots_of(data), random.Random(), WORLD.now()
    with place.connect(data) as connection:
        for begin in range(0, messages // REQUEST_RECEIVERS, REQUESTS_A_COPY):
            end = min(begin + REQUESTS_A_COPY, messages // REQUEST_RECEIVERS)
            sends = campaigns(end - begin, chance, None)
            copy_all(
                connection,
                [ready_to_keep(each, now, chance, (begin + at) % total) for at, each in enumerate(sends)],
            )


def _deliver(data: Path, messages: int) -> None:
    began = time.perf_counter()
    batches = with_store(data, lambda store: deliver_all_bare(store, messages))
    tenth = len(batches) // 10
    first, last = ([each.claimed_s for each in part] for part in (batches[:tenth], batches[-tenth:]))
    say(
        f"  {messages:,} delivered in {time.perf_counter() - began:.0f} s;"
        f" a claim: {milliseconds(first)} in the first tenth, {milliseconds(last)} in the last"
    )


async def _claimed(places: Sequence[Path]) -> list[list[float]]:
    """Return how long claims took, by place; the first do not count, their plans are yet to be made."""
    stores = [PostgresStore(settings_of(data).store, WORLD, writers=1) for data in places]
    watermarks = [Watermarks() for _ in places]
    found: list[list[float]] = [[] for _ in places]
    for number in range(CLAIMS):
        for place, store in enumerate(stores):
            found[place].append(await _claim(store, watermarks[place], number))
    for store in stores:
        await store.close()
    return [times[UNCOUNTED:] for times in found]


async def _claim(store: Store, watermarks: Watermarks, number: int) -> float:
    """Claim as a deliverer does: see what comes next in all slots, then claim from one."""
    total = await store.read(slots.count_slots)
    began, now = time.perf_counter(), WORLD.now()
    lanes = watermarks.lanes(range(total), now)
    watermarks.record(lanes, await store.read(queue.next_due_by_lane, CARRIER, lanes), now)
    slot = number % total
    claimed = await store.write(
        claim,
        ClaimRequest(slot, CARRIER, DEFAULT_BATCH_SIZE, MINUTE, watermarks=watermarks.for_slot(slot)),
        POLICY,
        WORLD.now(),
    )
    took_s = time.perf_counter() - began
    if len(claimed.leased) != DEFAULT_BATCH_SIZE:
        raise DoesNotWork(
            f"{DEFAULT_BATCH_SIZE - len(claimed.leased)} of {DEFAULT_BATCH_SIZE} messages were not claimed"
        )
    return took_s
