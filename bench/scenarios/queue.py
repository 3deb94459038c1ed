"""Does delivery on PostgreSQL stay fast with a long queue, after many deliveries, and during a backup?"""

from bench.environment import Environment
from bench.figures import Figure
from bench.fill import fill
from bench.postgres import PostgresEnvironment, postgres_environment
from bench.smsc import Smsc, running_smsc
from bench.through import rate_between

ROUNDS = 1
LONG, SHORT = 300_000, 30_000
EDGE = 0.05
TARGET = 0.67
ARRIVAL_TIMEOUT_S = 300.0


def measure(env: Environment) -> list[Figure]:
    """Deliver a short queue, then a long one, then a long one while a backup reads."""
    with postgres_environment(env) as postgres, running_smsc() as smsc:
        short, _, cpu_us = _deliver(postgres, smsc, env.scaled(SHORT))
        first, last, long_us = _deliver(postgres, smsc, env.scaled(LONG))
        _, during_backup, _ = _deliver(postgres, smsc, env.scaled(LONG), during_backup=True)
    what = f"delivered with {env.scaled(LONG):,} waiting"
    return [
        Figure(f"{what} / with {env.scaled(SHORT):,}, a second", first / short, target=TARGET),
        Figure(f"{what}, the last tenth / the first", last / first, target=TARGET),
        Figure(f"{what} during a backup, the last tenth / the first without", during_backup / first),
        Figure(f"{what}, CPU a message with PostgreSQL's", long_us, " µs", "less"),
        Figure(f"with {env.scaled(SHORT):,} waiting, CPU a message with PostgreSQL's", cpu_us, " µs", "less"),
    ]


def _deliver(
    env: PostgresEnvironment, smsc: Smsc, messages: int, *, during_backup: bool = False
) -> tuple[float, float, float]:
    """Return the rates of the first and the last tenth of a queue, and the CPU time a message."""
    data = env.copy_store(env.stored(f"queue of {messages}", lambda data: fill(env, data, messages)))
    env.configure(data, smsc.settings())
    smsc.reset()
    with env.connect(data) as backup:
        if during_backup:
            backup.execute("begin isolation level repeatable read")
            backup.execute("select 1 from messages limit 1")  # it sees all rows as they are now, like pg_dump
        with env.run(data, "queue") as server:
            before_s = server.cpu_s() + env.store_cpu_s()
            arrivals = smsc.wait_for("acknowledged", messages, ARRIVAL_TIMEOUT_S).arrivals
            cpu_us = (server.cpu_s() + env.store_cpu_s() - before_s) / messages * 1e6
    env.remove(data)
    first = rate_between(arrivals, messages * EDGE, messages * (EDGE + 0.1))
    return first, rate_between(arrivals, messages * (0.9 - EDGE), messages * (1 - EDGE)), cpu_us
