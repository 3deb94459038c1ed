"""How many receivers of campaigns a second are accepted, beside bare inserts of the same rows."""

import random
import time
from collections.abc import Callable
from pathlib import Path

from bench import bodies, load
from bench.figures import Figure, middle
from bench.fill import POLICY, REQUEST_RECEIVERS, WORLD, campaigns, put, ready_to_keep, slots_of, with_store
from bench.server import Place, say
from pabal.domain.dates import HOUR
from pabal.service.sending.accept import NewRequest
from pabal.store.engine.base import Store

AIM = 0.6
ROUNDS = 3
CONNECTIONS = 8
REQUESTS = 100
BODIES = 20

Bare = Callable[[Path, list[NewRequest]], float]
"""Puts the rows of sends into the store of a data directory, a transaction each; returns receivers a second."""


def inserted(data: Path, promises: list[NewRequest]) -> float:
    """Put them in by the statements of the service itself, one transaction after the other."""

    async def work(store: Store) -> float:
        began = time.perf_counter()
        for each in promises:
            await put(store, each)
        return len(promises) * REQUEST_RECEIVERS / (time.perf_counter() - began)

    return with_store(data, work)


def measure(place: Place, bare_is: str = "insert", put_bare: Bare = inserted) -> list[Figure]:
    """Measure in turn, several times: the same rows bare, campaigns for later, and campaigns for now."""
    bare, later, now, cpu_us = [], [], [], []
    scheduled = bodies.campaigns(BODIES, bodies.later(POLICY, WORLD.now()))
    at_once = bodies.campaigns(BODIES)
    for _ in range(ROUNDS):
        bare.append(_put_bare(place, put_bare))
        say(f"  bare {bare_is}: {bare[-1]:,.0f} receivers/s")
        rate, cpu = _accepted(place, scheduled)
        later.append(rate)
        cpu_us.append(cpu)
        say(f"  campaigns for later: {rate:,.0f} receivers/s, {cpu:.1f} µs CPU a receiver")
        rate, _ = _accepted(place, at_once)
        now.append(rate)
        say(f"  campaigns, delivered meanwhile: {rate:,.0f} receivers/s")
    return [
        Figure(
            "campaign",
            f"receivers accepted for later / bare {bare_is}",
            middle(later) / middle(bare),
            aim=AIM,
            made_of=f"{middle(later):,.0f}/s of {middle(bare):,.0f}/s, {middle(cpu_us):.1f} µs CPU a receiver",
        ),
        Figure(
            "campaign",
            f"receivers accepted, delivered meanwhile / bare {bare_is}",
            middle(now) / middle(bare),
            made_of=f"{middle(now):,.0f}/s",
        ),
    ]


def _accepted(place: Place, campaign_bodies: list[bytes]) -> tuple[float, float]:
    """Return receivers a second, and the server's CPU for each, in microseconds."""
    with place.pabal(place.fresh(), "campaign") as server:
        before = server.cpu_s()
        seen = load.run(
            load.Plan(
                port=server.port,
                path=bodies.SEND_SMS,
                key=place.key,
                bodies=campaign_bodies,
                connections=CONNECTIONS,
                count=REQUESTS,
            )
        )
        receivers = seen.requests * REQUEST_RECEIVERS
        return receivers / seen.seconds, (server.cpu_s() - before) / receivers * 1e6


def _put_bare(place: Place, put_bare: Bare) -> float:
    data = place.fresh()
    chance = random.Random(3)
    now = WORLD.now()
    total = slots_of(data)
    sends = campaigns(REQUESTS, chance, now + 5 * HOUR)
    return put_bare(data, [ready_to_keep(each, now, chance, number % total) for number, each in enumerate(sends)])
