"""How fast do messages go from the request over SMPP to the receipt, alone and in campaigns?"""

from bench import bodies, load
from bench.environment import Environment
from bench.figures import Figure, count_processes
from bench.server import Server
from bench.smsc import Smsc, running_smsc
from bench.through import Running, Through, measure_through

ROUNDS = 3
SINGLES = 20_000
CONNECTIONS = 32
CAMPAIGN_MESSAGES = 60_000
CAMPAIGN_CONNECTIONS = 4
SCHEDULED_REQUESTS, DIFFERENT_REQUESTS = 100, 20
SCHEDULED_CONNECTIONS = 8
CAMPAIGN_TARGET = 12_000


def measure(env: Environment) -> list[Figure]:
    """Send single messages, then campaigns, by each number of processes; then only accept scheduled campaigns."""
    figures = []
    with running_smsc() as smsc:
        for processes in env.processes:
            name = count_processes(processes)
            single = measure_singles(env, smsc, processes)
            figures += [
                Figure(f"single sends to the receipt, {name}", single.rate, "/s"),
                Figure(f"p99 of accepting them, {name}", single.p99_ms, " ms", "less"),
                Figure(f"CPU a single send, {name}", single.cpu_us, " µs", "less"),
            ]
            many = measure_campaigns(env, smsc, processes)
            figures += [
                Figure(f"campaigns to the receipt, {name}", many.rate, "/s", target=CAMPAIGN_TARGET),
                Figure(f"CPU a message of a campaign, {name}", many.cpu_us, " µs", "less"),
            ]
    return [*figures, *_measure_scheduled(env)]


def measure_singles(env: Environment, smsc: Smsc, processes: int) -> Through:
    """Return how fast single sends go through a new store."""
    count = env.scaled(SINGLES)
    data = env.copy_store()
    env.configure(data, smsc.settings())
    smsc.reset()
    with env.run(data, "deliver", processes=processes) as server:
        return measure_through(smsc, Running([server], env.store_cpu_s), single_plan(env, server, count), count)


def measure_campaigns(env: Environment, smsc: Smsc, processes: int) -> Through:
    """Return how fast campaigns of a thousand receivers go through a new store."""
    count = env.scaled(CAMPAIGN_MESSAGES)
    data = env.copy_store()
    env.configure(data, smsc.settings())
    smsc.reset()
    with env.run(data, "deliver", processes=processes) as server:
        return measure_through(smsc, Running([server], env.store_cpu_s), campaign_plan(env, server, count), count)


def single_plan(env: Environment, server: Server, messages: int) -> load.LoadPlan:
    """Return the load of single sends, each of a message of its own."""
    return env.plan(server, bodies.singles(messages), connections=CONNECTIONS, count=messages)


def campaign_plan(env: Environment, server: Server, messages: int) -> load.LoadPlan:
    """Return the load of campaigns of a thousand different messages."""
    requests = messages // bodies.CAMPAIGN_RECEIVERS
    connections = min(CAMPAIGN_CONNECTIONS, requests)
    return env.plan(server, bodies.campaigns(requests), connections=connections, count=requests)


def _measure_scheduled(env: Environment) -> list[Figure]:
    """Measure how fast campaigns are accepted while nothing is delivered."""
    with env.run(env.copy_store(), "deliver") as server:
        before_s = server.cpu_s() + env.store_cpu_s()
        requests = bodies.campaigns(DIFFERENT_REQUESTS, bodies.later())
        plan = env.plan(server, requests, connections=SCHEDULED_CONNECTIONS, count=SCHEDULED_REQUESTS)
        seen = load.run(plan)
        cpu_s = server.cpu_s() + env.store_cpu_s() - before_s
    receivers = seen.requests * bodies.CAMPAIGN_RECEIVERS
    return [
        Figure("receivers of scheduled campaigns accepted", receivers / seen.seconds, "/s"),
        Figure("CPU a receiver of them", cpu_s / receivers * 1e6, " µs", "less"),
    ]
