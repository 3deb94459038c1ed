"""How many one-receiver sends a second are accepted, beside the bare server's answers."""

from typing import NamedTuple

from bench import bodies, load
from bench.figures import Figure, middle, percentile
from bench.fill import POLICY, WORLD
from bench.server import Place, Server, say

AIM = 0.3
ROUNDS = 3
CONNECTIONS = 64
WARM_UP_S = 1.0
SECONDS = 3.0
BODIES = 1000


class Pace(NamedTuple):
    """How a server answered."""

    rate: float
    cpu_us: float
    p50_ms: float
    p99_ms: float


def measure(place: Place) -> list[Figure]:
    """Measure in turn, several times: the bare server, sends for now, and sends for later."""
    found: dict[str, list[Pace]] = {"bare": [], "accept": [], "later": []}
    at_once = bodies.sends(BODIES, 1)
    scheduled = bodies.sends(BODIES, 1, bodies.later(POLICY, WORLD.now()))
    for _ in range(ROUNDS):
        with place.bare() as server:
            found["bare"].append(_paced(place, server, at_once, "bare server"))
        with place.pabal(place.fresh(), "accept") as server:
            found["accept"].append(_paced(place, server, at_once, "accepted and delivered meanwhile"))
        with place.pabal(place.fresh(), "accept") as server:
            found["later"].append(_paced(place, server, scheduled, "accepted for later"))
    bare, accept, later = (_medians(found[name]) for name in ("bare", "accept", "later"))
    return [
        Figure(
            "accept",
            "one-receiver sends, delivered meanwhile / bare",
            accept.rate / bare.rate,
            aim=AIM,
            made_of=f"{accept.rate:,.0f}/s p99 {accept.p99_ms:.0f} ms of {bare.rate:,.0f}/s",
        ),
        Figure(
            "accept",
            "one-receiver sends for later / bare",
            later.rate / bare.rate,
            aim=AIM,
            made_of=f"{later.rate:,.0f}/s p99 {later.p99_ms:.0f} ms",
        ),
        Figure(
            "accept",
            "CPU of one accepted for later / bare",
            later.cpu_us / bare.cpu_us,
            made_of=f"{later.cpu_us:.0f} of {bare.cpu_us:.0f} µs; delivered too: {accept.cpu_us:.0f} µs",
        ),
    ]


def _paced(place: Place, server: Server, sends: list[bytes], what: str) -> Pace:
    before = server.cpu_s()
    seen = load.run(
        load.Plan(
            port=server.port,
            path=bodies.SEND_SMS,
            key=place.key,
            bodies=sends,
            connections=CONNECTIONS,
            warm_up_s=WARM_UP_S,
            seconds=SECONDS,
        )
    )
    cpu_us = (server.cpu_s() - before) / seen.all_requests * 1e6
    pace = Pace(
        seen.rate, cpu_us, percentile(seen.latencies_s, 0.5) * 1000, percentile(seen.latencies_s, 0.99) * 1000
    )
    say(
        f"  {what}: {pace.rate:,.0f}/s, {pace.cpu_us:.0f} µs CPU a request,"
        f" p50 {pace.p50_ms:.1f} ms, p99 {pace.p99_ms:.1f} ms"
    )
    return pace


def _medians(paces: list[Pace]) -> Pace:
    return Pace(*(middle(column) for column in zip(*paces, strict=True)))
