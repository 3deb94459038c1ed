"""How many receivers of campaigns a second are accepted, beside bare inserts of the same rows."""

import random
import time

from bench import bodies, load
from bench.figures import Figure, middle
from bench.fill import POLICY, REQUEST_RECEIVERS, WORLD, campaigns, put, ready_to_keep, with_store
from bench.server import Place, say
from pabal.domain.when import HOUR
from pabal.store.sqlite import SqliteStore

AIM = 0.6
ROUNDS = 3
CONNECTIONS = 8
REQUESTS = 100
BODIES = 20


def measure(place: Place) -> list[Figure]:
    """Measure in turn, several times: bare inserts, campaigns for later, and campaigns for now."""
    bare, later, now, cpu_us = [], [], [], []
    scheduled = bodies.campaigns(BODIES, bodies.later(POLICY, WORLD.now()))
    at_once = bodies.campaigns(BODIES)
    for _ in range(ROUNDS):
        bare.append(_inserted(place))
        say(f"  bare inserts: {bare[-1]:,.0f} receivers/s")
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
            "receivers accepted for later / bare insert",
            middle(later) / middle(bare),
            aim=AIM,
            made_of=f"{middle(later):,.0f}/s of {middle(bare):,.0f}/s, {middle(cpu_us):.1f} µs CPU a receiver",
        ),
        Figure(
            "campaign",
            "receivers accepted, delivered meanwhile / bare insert",
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


def _inserted(place: Place) -> float:
    """Return how many receivers a second one thread puts in, a transaction each thousand."""
    chance = random.Random(3)
    now = WORLD.now()
    kept = [ready_to_keep(sending, now, chance) for sending in campaigns(REQUESTS, chance, now + 5 * HOUR)]

    async def work(store: SqliteStore) -> float:
        began = time.perf_counter()
        for each in kept:
            await put(store, each)
        return REQUESTS * REQUEST_RECEIVERS / (time.perf_counter() - began)

    return with_store(place.fresh(), work)
