"""How many one-receiver sends a second are accepted, beside the bare server's answers."""

import contextlib
from collections.abc import Sequence
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
NOW, LATER = ", delivered meanwhile", " for later"


class Pace(NamedTuple):
    """How a server answered."""

    rate: float
    cpu_us: float
    store_us: float
    """What each cost the processes of the store, where it has any."""
    p50_ms: float
    p99_ms: float


def measure(place: Place, most_servers: int = 1) -> list[Figure]:
    """Measure in turn, several times: the bare server, sends for now and for later, by one server or more."""
    at_once = bodies.sends(BODIES, 1)
    scheduled = bodies.sends(BODIES, 1, bodies.later(POLICY, WORLD.now()))
    bare: list[Pace] = []
    found: dict[tuple[str, int], list[Pace]] = {}
    for _ in range(ROUNDS):
        with place.bare() as server:
            bare.append(_paced(place, [server], at_once, "bare server"))
        for servers in range(1, most_servers + 1):
            for what, sends in ((NOW, at_once), (LATER, scheduled)):
                found.setdefault((what, servers), []).append(_served(place, servers, sends, what))
    beside = _medians(bare)
    paces = {each: _medians(rounds) for each, rounds in found.items()}
    later, now = paces[LATER, 1], paces[NOW, 1]
    return [_figure(what, servers, pace, beside) for (what, servers), pace in paces.items()] + [
        Figure(
            "accept",
            "CPU of one accepted for later / bare",
            later.cpu_us / beside.cpu_us,
            made_of=f"{later.cpu_us:.0f} of {beside.cpu_us:.0f} µs; delivered too: {now.cpu_us:.0f} µs"
            + (f"; PostgreSQL {later.store_us:.0f} and {now.store_us:.0f} µs" if later.store_us else ""),
        )
    ]


def _figure(what: str, servers: int, pace: Pace, bare: Pace) -> Figure:
    by = f", by {servers} servers" if servers > 1 else ""
    made_of = f"{pace.rate:,.0f}/s p99 {pace.p99_ms:.0f} ms of {bare.rate:,.0f}/s"
    return Figure("accept", f"one-receiver sends{what}{by} / bare", pace.rate / bare.rate, aim=AIM, made_of=made_of)


def _served(place: Place, servers: int, sends: list[bytes], what: str) -> Pace:
    data = place.fresh()
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(place.pabal(data, "accept")) for _ in range(servers)]
        return _paced(place, running, sends, f"{servers} serving{what}")


def _paced(place: Place, servers: Sequence[Server], sends: list[bytes], what: str) -> Pace:
    """Load servers with as many connections in all."""
    before, store_before = sum(each.cpu_s() for each in servers), place.store_cpu_s()
    loads = [
        load.begin(
            load.Plan(
                port=server.port,
                path=bodies.SEND_SMS,
                key=place.key,
                bodies=sends,
                connections=CONNECTIONS // len(servers),
                warm_up_s=WARM_UP_S,
                seconds=SECONDS,
            )
        )
        for server in servers
    ]
    seen = [load.end(each) for each in loads]
    requests = sum(each.all_requests for each in seen)
    latencies_s = [one for each in seen for one in each.latencies_s]
    pace = Pace(
        sum(each.rate for each in seen),
        (sum(each.cpu_s() for each in servers) - before) / requests * 1e6,
        (place.store_cpu_s() - store_before) / requests * 1e6,
        percentile(latencies_s, 0.5) * 1000,
        percentile(latencies_s, 0.99) * 1000,
    )
    say(
        f"  {what}: {pace.rate:,.0f}/s, {pace.cpu_us:.0f} µs CPU a request, {pace.store_us:.0f} µs of the store's"
        f" processes, p50 {pace.p50_ms:.1f} ms, p99 {pace.p99_ms:.1f} ms"
    )
    return pace


def _medians(paces: list[Pace]) -> Pace:
    return Pace(*(middle(column) for column in zip(*paces, strict=True)))
