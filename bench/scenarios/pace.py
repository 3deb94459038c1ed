"""Is the rate of a carrier kept, and used up, whatever is due at once?"""

import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from pathlib import Path

from bench import bodies, load
from bench.environment import Environment
from bench.figures import Figure, p99_ms
from bench.fill import fill
from bench.server import BenchmarkFailed
from bench.smsc import Smsc, running_smsc
from bench.through import rate_of

ROUNDS = 1
LOW_RATE = 50
LOW_REQUESTS, LOW_RECEIVERS = 2, 750
LONG_S, LEAST_IN_LONG, MOST_IN_LONG = 10.0, 480, 505
SHORT_S, MOST_IN_SHORT = 1.0, 60
HIGH_RATE = 5000
DUE_AT_ONCE = 1_000_000
FILLED_A_SECOND = 15_000
"""How fast a store is filled at least, which says how long before they must be scheduled."""
CONNECTIONS, PAUSE_S = 4, 0.05
LOAD_S = 60.0
DIFFERENT_SENDS = 1000
RATE_TARGET = 0.95
P99_TARGET_MS = 50.0
MEMORY_TARGET_MB = 200
ARRIVAL_TIMEOUT_S = 120.0
"""Added to the time that the rate requires."""


def measure(env: Environment) -> list[Figure]:
    """Send a campaign at a low rate, then a million messages of one minute at a high one."""
    with running_smsc() as smsc:
        return [*_measure_low(env, smsc), *_measure_due_at_once(env, smsc)]


def _measure_low(env: Environment, smsc: Smsc) -> list[Figure]:
    data = env.copy_store()
    env.configure(data, smsc.settings(LOW_RATE))
    smsc.reset()
    messages = LOW_REQUESTS * LOW_RECEIVERS
    with env.run(data, "pace") as server:
        smsc.wait_for("binds", 1)
        requests = bodies.sends(LOW_REQUESTS, LOW_RECEIVERS)
        load.run(env.plan(server, requests, count=LOW_REQUESTS))
        seen = smsc.wait_for("submits", messages, messages / LOW_RATE + ARRIVAL_TIMEOUT_S)
    least, most = _windows(seen.arrivals, LONG_S)
    what = f"{LOW_RATE} a second:"
    return [
        Figure(f"{what} least in any {LONG_S:.0f} s", least, target=LEAST_IN_LONG),
        Figure(f"{what} most in any {LONG_S:.0f} s", most, "", "less", MOST_IN_LONG),
        Figure(f"{what} most in any second", _windows(seen.arrivals, SHORT_S)[1], "", "less", MOST_IN_SHORT),
    ]


def _measure_due_at_once(env: Environment, smsc: Smsc) -> list[Figure]:
    messages = env.scaled(DUE_AT_ONCE)
    data = env.copy_store()
    due_at = _fill_for_one_minute(env, data, messages)
    env.configure(data, smsc.settings(HIGH_RATE))
    smsc.reset()
    with env.run(data, "pace") as server:
        smsc.wait_for("binds", 1)
        if early := smsc.figures().submits:
            raise BenchmarkFailed(f"{early} messages were sent early")
        time.sleep(max(0.0, due_at.timestamp() - time.time()))
        answered = load.run(
            env.plan(
                server,
                bodies.singles(DIFFERENT_SENDS),
                connections=CONNECTIONS,
                pause_s=PAUSE_S,
                seconds=min(LOAD_S, messages / HIGH_RATE / 2),
            )
        )
        total = messages + answered.all_requests
        seen = smsc.wait_for("submits", total, total / HIGH_RATE + ARRIVAL_TIMEOUT_S)
        peak_mb = server.peak_bytes() / 1e6
    env.remove(data)
    what = f"{messages:,} due at once:"
    return [
        Figure(f"{what} sent a second / rate of {HIGH_RATE:,}", rate_of(seen.arrivals, total) / HIGH_RATE,
               target=RATE_TARGET),
        Figure(f"{what} p99 of single sends meanwhile", p99_ms(answered.latencies_s), " ms", "less", P99_TARGET_MS),
        Figure(f"{what} peak memory", peak_mb, " MB", "less", MEMORY_TARGET_MB),
    ]  # fmt: skip


def _fill_for_one_minute(env: Environment, data: Path, messages: int) -> datetime:
    """Store messages that are due at the same minute, and return when that is."""
    ahead = timedelta(seconds=messages / FILLED_A_SECOND + 90)
    due_at = (datetime.now(bodies.SEOUL) + ahead).replace(second=0, microsecond=0)
    fill(env, data, messages, bodies.format_date(due_at))
    if due_at - datetime.now(bodies.SEOUL) < timedelta(seconds=10):
        raise BenchmarkFailed(f"storing {messages:,} messages took too long")
    return due_at


def _windows(arrivals: Sequence[tuple[float, int]], width_s: float) -> tuple[int, int]:
    """Return the fewest and the most arrivals in any window of `width_s` between the first and the last."""
    times = [at for at, _ in arrivals]
    before = [0, *accumulate(count for _, count in arrivals)]
    whole = [at for at in times if at + width_s <= times[-1]]
    if not whole:
        raise BenchmarkFailed(f"all messages arrived within {width_s} s")
    # A window has the fewest if it begins just after an arrival, the most if it begins with one.
    least = min(before[bisect_right(times, at + width_s)] - before[index + 1] for index, at in enumerate(whole))
    most = max(before[bisect_left(times, at + width_s)] - before[index] for index, at in enumerate(times))
    return least, most
