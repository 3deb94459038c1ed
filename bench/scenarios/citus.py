"""What does a message cost on Citus beside plain PostgreSQL, and how much of that at the coordinator?"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
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

ROUNDS = 2
SLOTS = SHARDS = 32
"""As the documents recommend."""
SLOT_SETTING = f"slots = {SLOTS}\n"
PROCESSES = 2
SINGLES, CAMPAIGN_MESSAGES = 5000, 20_000
FEW, FEW_CONNECTIONS, FEW_PAUSE_S = 1000, 5, 0.2
"""Single sends that share few commits: 25 a second."""
WARM_UP_MESSAGES = 1000
IDLE_S = 15.0
SETTLE_S = 3.0
"""How long to wait before idle processes are measured: the last receipts are numbered meanwhile."""


class Place(NamedTuple):
    """Where messages are stored, and its parts: the database, or the coordinator and the nodes."""

    name: str
    env: Environment
    parts: Sequence[tuple[str, Sequence[Database]]]


class Used(NamedTuple):
    """CPU time by part, the service's first, in seconds or as a rate."""

    service: float
    parts: tuple[float, ...]

    @property
    def total(self) -> float:
        """All of it."""
        return self.service + sum(self.parts)

    def minus(self, other: "Used", times: float = 1.0) -> "Used":
        """Return what is left without another one, taken so many times."""
        parts = tuple(one - times * another for one, another in zip(self.parts, other.parts, strict=True))
        return Used(self.service - times * other.service, parts)


def measure(env: Environment) -> list[Figure]:
    """Send single messages and campaigns through plain PostgreSQL, and through Citus by each number of nodes."""
    figures: list[Figure] = []
    plain: dict[str, float] = {}
    with running_smsc() as smsc:
        for nodes in (0, *env.processes):
            with _place(env, nodes) as place:
                for what, used in _measure_place(place, smsc):
                    figures += _figures_of(place, what, used, plain)
    return figures


@contextlib.contextmanager
def _place(env: Environment, nodes: int) -> Iterator[Place]:
    if not nodes:
        with postgres_environment(env, settings=SLOT_SETTING) as plain:
            yield Place("PostgreSQL", plain, [("the database", [plain.server])])
        return
    with citus_environment(env, nodes, SLOT_SETTING, SHARDS) as citus:
        coordinator, *others = citus.servers
        yield Place(
            f"Citus, {nodes} node{'s' if nodes > 1 else ''}",
            citus,
            [("the coordinator", [coordinator]), ("the nodes", others)],
        )


def _figures_of(place: Place, what: str, used: Used, plain: dict[str, float]) -> list[Figure]:
    """Return the figures of one load; plain PostgreSQL comes first, and the others are compared with it."""
    unit = " %" if what == "idle" else " µs"
    head = f"{place.name}, {what}: "
    total = plain.setdefault(what, used.total)
    names = ["the service", *(name for name, _ in place.parts)]
    values = [used.service, *used.parts]
    found = [Figure(head + "CPU", used.total, unit, "less")]
    found += [Figure(head + name, value, unit, "less") for name, value in zip(names, values, strict=True)]
    if len(place.parts) > 1:
        found.append(Figure(head + "CPU / PostgreSQL's", used.total / total, "", "less", 1.3))
        share = used.parts[0] / used.total
        found.append(Figure(head + "share of the coordinator", share, "", "less", 0.1))
    return found


def _measure_place(place: Place, smsc: Smsc) -> Iterator[tuple[str, Used]]:
    """Yield the CPU time that one message takes of each load, and what idle processes use, in percent of a core."""
    env, data = place.env, place.env.root / "seed"
    env.configure(data, smsc.settings())
    few, singles, many = (env.scaled(count) for count in (FEW, SINGLES, CAMPAIGN_MESSAGES))
    with env.run(data, "citus", processes=PROCESSES) as server:
        used = _meter(place, server)
        running = Running([server], env.store_cpu_s)

        def through(plan: load.LoadPlan, messages: int) -> Used:
            smsc.reset()
            before = used()
            measure_through(smsc, running, plan, messages)
            return used().minus(before)

        through(single_plan(env, server, WARM_UP_MESSAGES), WARM_UP_MESSAGES)
        time.sleep(SETTLE_S)
        before = used()
        time.sleep(IDLE_S)
        idle = used().minus(before)
        yield "idle", _scaled(idle, 100 / IDLE_S)
        bodies_of_few = bodies.singles(few)
        began = time.perf_counter()
        spent = through(
            env.plan(server, bodies_of_few, connections=FEW_CONNECTIONS, count=few, pause_s=FEW_PAUSE_S),
            few,
        )
        spent = spent.minus(idle, (time.perf_counter() - began) / IDLE_S)
        yield "single sends at 25 a second, without idle", _scaled(spent, 1e6 / few)
        yield "single sends", _scaled(through(single_plan(env, server, singles), singles), 1e6 / singles)
        yield "campaigns", _scaled(through(campaign_plan(env, server, many), many), 1e6 / many)


def _meter(place: Place, server: Server) -> Callable[[], Used]:
    return lambda: Used(
        server.cpu_s(), tuple(sum(cpu_of_server(each) for each in servers) for _, servers in place.parts)
    )


def _scaled(used: Used, factor: float) -> Used:
    return Used(used.service * factor, tuple(each * factor for each in used.parts))
