"""Are two API processes and two workers on one PostgreSQL faster than one, for the same CPU time a message?"""

import contextlib
import time
from typing import NamedTuple

from bench import bodies, load
from bench.environment import Environment
from bench.figures import Figure, p99_ms
from bench.postgres import PostgresEnvironment, postgres_environment
from bench.scenarios.deliver import campaign_plan
from bench.server import BenchmarkFailed, Server
from bench.smsc import Smsc, running_smsc
from bench.through import END_TIMEOUT_S, rate_of

ROUNDS = 2
MESSAGES = 60_000
CONNECTIONS = 32
DIFFERENT_SENDS = 1000
ACCEPT_S, WARM_UP_S = 3.0, 1.0
SHARE_TIMEOUT_S = 60.0
POLL_INTERVAL_S = 0.1
RATE_TARGET, CPU_TARGET = 1.0, 1.2


class Measured(NamedTuple):
    """What one number of processes does."""

    accepted: float
    p99_ms: float
    delivered: float
    worker_us: float
    """CPU time of the workers, a message."""
    store_us: float
    """CPU time of PostgreSQL, a message."""


def measure(env: Environment) -> list[Figure]:
    """Accept single sends, then deliver campaigns, by one process of each kind and by two."""
    with postgres_environment(env) as postgres, running_smsc() as smsc:
        one, two = (_measure(postgres, smsc, count) for count in (1, 2))
    return [
        Figure("accepted by one API process", one.accepted, "/s"),
        Figure("accepted by two API processes", two.accepted, "/s"),
        Figure("p99 of accepting, one API process", one.p99_ms, " ms", "less"),
        Figure("delivered by one worker", one.delivered, "/s"),
        Figure("delivered by two workers", two.delivered, "/s"),
        Figure("delivered by two workers / by one", two.delivered / one.delivered, target=RATE_TARGET),
        Figure("CPU a message in the workers, two / one", two.worker_us / one.worker_us, "", "less", CPU_TARGET),
        Figure("CPU a message in PostgreSQL, two / one", two.store_us / one.store_us, "", "less", CPU_TARGET),
        Figure("CPU a message in one worker", one.worker_us, " µs", "less"),
        Figure("CPU a message in PostgreSQL, one worker", one.store_us, " µs", "less"),
    ]


def _measure(env: PostgresEnvironment, smsc: Smsc, count: int) -> Measured:
    data = env.copy_store()
    env.configure(data, smsc.settings())
    smsc.reset()
    messages = env.scaled(MESSAGES)
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(env.run(data, "workers", "serve", "--no-deliver")) for _ in range(count)]
        accepted, p99 = _accept(env, servers)
        workers = [stack.enter_context(env.run(data, "workers", "work")) for _ in range(count)]
        smsc.wait_for("binds", count)
        _wait_until_balanced(servers[0], count)
        before_s, store_before_s = sum(each.cpu_s() for each in workers), env.store_cpu_s()
        load.run(campaign_plan(env, servers[0], messages))
        ends = smsc.wait_for("acknowledged", messages, END_TIMEOUT_S).ends
        worker_s, store_s = sum(each.cpu_s() for each in workers) - before_s, env.store_cpu_s() - store_before_s
    return Measured(accepted, p99, rate_of(ends, messages), worker_s / messages * 1e6, store_s / messages * 1e6)


def _accept(env: PostgresEnvironment, servers: list[Server]) -> tuple[float, float]:
    """Return how many scheduled single sends a second all servers accept together, and the p99."""
    requests, connections = bodies.sends(DIFFERENT_SENDS, 1, send_date=bodies.later()), CONNECTIONS // len(servers)
    plans = [
        env.plan(server, requests, connections=connections, warm_up_s=WARM_UP_S, seconds=ACCEPT_S)
        for server in servers
    ]
    with contextlib.ExitStack() as stack:
        loads = [stack.enter_context(load.running(plan)) for plan in plans]
        seen = [load.finish(each) for each in loads]
    return sum(each.rate for each in seen), p99_ms([one for each in seen for one in each.latencies_s])


def _wait_until_balanced(server: Server, workers: int) -> None:
    """Wait until all workers hold the same number of slots."""
    deadline = time.perf_counter() + SHARE_TIMEOUT_S
    while True:
        held = [value for _, value in server.samples("pabal_worker_slots") if value]
        if len(held) == workers and len(set(held)) == 1:
            return
        if time.perf_counter() > deadline:
            raise BenchmarkFailed(
                f"after {SHARE_TIMEOUT_S} s the slots are not shared by {workers} workers: {held}"
            )
        time.sleep(POLL_INTERVAL_S)
