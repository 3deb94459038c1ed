"""What does a message cost on Citus beside plain PostgreSQL, and how much of that at the coordinator?

Both run at once and are measured in turn, a slice of each load at a time: a machine's speed changes within minutes.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

from bench import bodies, load
from bench.environment import Environment
from bench.figures import Figure
from bench.postgres import citus_environment, cpu_of_server, postgres_environment
from bench.scenarios.deliver import campaign_plan, single_plan
from bench.server import Server
from bench.smsc import Smsc, running_smsc
from bench.through import Running, measure_through
from tests.fixtures.postgres import Server as Database

ROUNDS = 1
SLOTS = SHARDS = 32
"""As the documents recommend."""
SLOT_SETTING = f"slots = {SLOTS}\n"
PROCESSES = 2
SLICES = 7
SINGLES, CAMPAIGN_MESSAGES = 3000, 10_000
"""Messages of a slice."""
FEW, FEW_CONNECTIONS, FEW_PAUSE_S = 1000, 5, 0.2
"""Single sends that share few commits: 25 a second."""
WARM_UP_MESSAGES = 1000
IDLE_S = 15.0
SETTLE_S = 3.0
"""How long to wait before idle processes are measured: the last receipts are numbered meanwhile."""
RATIO = "CPU / PostgreSQL's"


class Used(NamedTuple):
    """CPU time by part, the service's first, in seconds or as a rate."""

    service: float
    parts: tuple[float, ...]

    @property
    def total(self) -> float:
        """All of it."""
        return self.service + sum(self.parts)

    def scaled(self, factor: float) -> "Used":
        """Return all of it times a factor."""
        return Used(self.service * factor, tuple(each * factor for each in self.parts))

    def minus(self, other: "Used", times: float = 1.0) -> "Used":
        """Return what is left without another one, taken so many times."""
        parts = tuple(one - times * another for one, another in zip(self.parts, other.parts, strict=True))
        return Used(self.service - times * other.service, parts)


class Place(NamedTuple):
    """A service, and its store with the parts of that: the database, or the coordinator and the nodes."""

    name: str
    env: Environment
    server: Server
    smsc: Smsc
    """Its own: an SMSC sends its receipts to whoever was bound first."""
    parts: Sequence[tuple[str, Sequence[Database]]]

    def used(self) -> Used:
        """Return the CPU time that all of it has used so far."""
        return Used(
            self.server.cpu_s(), tuple(sum(cpu_of_server(each) for each in servers) for _, servers in self.parts)
        )

    def send(self, plan: load.LoadPlan, messages: int) -> Used:
        """Send messages to their receipts, and return the CPU time that this took."""
        self.smsc.reset()
        before = self.used()
        measure_through(self.smsc, Running([self.server], self.env.store_cpu_s), plan, messages)
        return self.used().minus(before)


Measured = tuple[str, Sequence[Used], Sequence[Used]]
"""What was measured, and its slices: of plain PostgreSQL, and of Citus."""


def measure(env: Environment) -> list[Figure]:
    """Send single messages and campaigns through plain PostgreSQL, and through Citus by each number of nodes."""
    figures: list[Figure] = []
    for nodes in env.processes:
        with _plain(env) as plain, _citus(env, nodes) as citus:
            for what, *slices in _measure_places((plain, citus)):
                figures += _figures_of((plain, citus), what, slices)
    return figures


@contextlib.contextmanager
def _plain(env: Environment) -> Iterator[Place]:
    with postgres_environment(env, settings=SLOT_SETTING) as plain, _serving(plain) as (server, smsc):
        yield Place("PostgreSQL", plain, server, smsc, [("the database", [plain.server])])


@contextlib.contextmanager
def _citus(env: Environment, nodes: int) -> Iterator[Place]:
    name = f"Citus, {nodes} node{'s' if nodes > 1 else ''}"
    with citus_environment(env, nodes, SLOT_SETTING, SHARDS) as citus, _serving(citus) as (server, smsc):
        coordinator, *others = citus.servers
        yield Place(name, citus, server, smsc, [("the coordinator", [coordinator]), ("the nodes", others)])


@contextlib.contextmanager
def _serving(env: Environment) -> Iterator[tuple[Server, Smsc]]:
    data = env.root / "seed"
    with running_smsc() as smsc:
        env.configure(data, smsc.settings())
        with env.run(data, "citus", processes=PROCESSES) as server:
            yield server, smsc


def _figures_of(places: tuple[Place, Place], what: str, slices: Sequence[Sequence[Used]]) -> Iterator[Figure]:
    """Yield the median of what each place used, in all and by part, and Citus's beside PostgreSQL's."""
    unit = " %" if what == "idle" else " µs"
    for place, used in zip(places, slices, strict=True):
        head = f"{place.name}, {what}: "
        middle = sorted(used, key=lambda each: each.total)[len(used) // 2]
        yield Figure(head + "CPU", middle.total, unit, "less")
        yield Figure(head + "the service", middle.service, unit, "less")
        for (part, _), value in zip(place.parts, middle.parts, strict=True):
            yield Figure(head + part, value, unit, "less")
    ratio = median(ours.total / plain.total for plain, ours in zip(*slices, strict=True))
    yield Figure(head + RATIO, ratio, "", "less", 2.0 if what == "idle" else 1.3)
    share = median(ours.parts[0] / ours.total for ours in slices[1])
    yield Figure(head + "share of the coordinator", share, "", "less", None if what == "idle" else 0.1)


def _measure_places(places: tuple[Place, Place]) -> Iterator[Measured]:
    """Yield the CPU time that one message takes of each load, and what idle processes use, in percent of a core."""
    few, singles, many = (places[0].env.scaled(count) for count in (FEW, SINGLES, CAMPAIGN_MESSAGES))
    for place in places:
        place.send(single_plan(place.env, place.server, WARM_UP_MESSAGES), WARM_UP_MESSAGES)
    time.sleep(SETTLE_S)
    before = [place.used() for place in places]
    time.sleep(IDLE_S)
    idle = [place.used().minus(earlier).scaled(1 / IDLE_S) for place, earlier in zip(places, before, strict=True)]
    plain_idle, citus_idle = ([each.scaled(100)] for each in idle)
    yield "idle", plain_idle, citus_idle

    def send_few(place: Place) -> Used:
        began = time.perf_counter()
        plan = place.env.plan(
            place.server, bodies.singles(few), connections=FEW_CONNECTIONS, count=few, pause_s=FEW_PAUSE_S
        )
        used = place.send(plan, few)
        return used.minus(idle[places.index(place)], time.perf_counter() - began).scaled(1e6 / few)

    def send_singles(place: Place) -> Used:
        return place.send(single_plan(place.env, place.server, singles), singles).scaled(1e6 / singles)

    def send_campaigns(place: Place) -> Used:
        return place.send(campaign_plan(place.env, place.server, many), many).scaled(1e6 / many)

    yield "single sends at 25 a second, without idle", *_take_turns(places, send_few, 1)
    yield "single sends", *_take_turns(places, send_singles, SLICES)
    yield "the first campaigns", *_take_turns(places, send_campaigns, 1)
    yield "campaigns", *_take_turns(places, send_campaigns, SLICES)


def _take_turns(
    places: tuple[Place, Place], send: Callable[[Place], Used], slices: int
) -> tuple[list[Used], list[Used]]:
    """Send slices through both places in turn, in the other order every second time."""
    found: dict[str, list[Used]] = {place.name: [] for place in places}
    for number in range(slices):
        for place in places if number % 2 == 0 else reversed(places):
            found[place.name].append(send(place))
    plain, citus = found.values()
    return plain, citus
