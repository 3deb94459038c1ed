"""How exactly a carrier's rate limit is kept, and how long a small send waits during a rate-limited campaign."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from bench import bodies, load
from bench.figures import Figure, percentile
from bench.fill import REQUEST_RECEIVERS
from bench.server import BenchEnvironment, BenchmarkFailed, Server, report_progress
from bench.sink import Sink
from bench.store_reader import open_reader
from pabal.domain.base import identifiers
from pabal.domain.base.dates import SECOND
from pabal.store.queue import queue

RATE = 50
RATED_REQUESTS, RATED_RECEIVERS = 2, 750
LONG_S, LEAST_IN_LONG, MOST_IN_LONG = 10.0, 480, 505
SHORT_S, MOST_IN_SHORT = 1.0, 60
INSTANT_S = 0.1

CAMPAIGN_RATE = 2000
CAMPAIGN = 100_000
CAMPAIGN_BODIES = 20
CAMPAIGN_CONNECTIONS = 8
SMALL_TARGET_S = 2.0
SMALL_CONNECTIONS = 8
SMALL_PAUSE_S = 0.04
SMALL_SECONDS = 8.0
SMALL_BODIES = 5000
ARRIVAL_TIMEOUT_S = 30.0
"""Added to the time that the rate limit requires."""


def measure_rate(env: BenchEnvironment, sink: Sink) -> list[Figure]:
    """Send a campaign through a carrier with a low rate limit, and measure when each message arrived."""
    data = env.copy_store()
    sink.write_settings(data, RATE)
    sink.reset()
    messages = RATED_REQUESTS * RATED_RECEIVERS
    with env.run_pabal(data, "smpp") as server:
        sink.wait_for("binds", 1)
        _send(env, server, bodies.sends(RATED_REQUESTS, RATED_RECEIVERS), RATED_REQUESTS)
        seen = sink.wait_for("submits", messages, messages / RATE + ARRIVAL_TIMEOUT_S)
    most_at_once = _windows(seen.arrivals, INSTANT_S)[1]
    least, most = _windows(seen.arrivals, LONG_S)
    most_in_short = _windows(seen.arrivals, SHORT_S)[1]
    report_progress(
        f"  limited to {RATE} per second: {least} to {most} in {LONG_S:.0f} s,"
        f" at most {most_in_short} in {SHORT_S:.0f} s and {most_at_once} in {INSTANT_S} s"
    )
    what = f"limited to {RATE} per second:"
    return [
        Figure("smpp", f"{what} least in any 10 s", least, target=LEAST_IN_LONG),
        Figure("smpp", f"{what} most in any 10 s", most, target=MOST_IN_LONG, bound="at most"),
        Figure(
            "smpp",
            f"{what} most in any second",
            most_in_short,
            target=MOST_IN_SHORT,
            bound="at most",
            details=f"at most {most_at_once} in {INSTANT_S} s",
        ),
    ]


def measure_small(env: BenchEnvironment, sink: Sink) -> list[Figure]:
    """Send single messages while a campaign goes to the same carrier, and measure when each arrived."""
    data = env.copy_store()
    sink.write_settings(data, CAMPAIGN_RATE)
    sink.reset(watched=bodies.SINGLES_BEGIN)
    with env.run_pabal(data, "smpp") as server:
        sink.wait_for("binds", 1)
        _send(env, server, bodies.campaigns(CAMPAIGN_BODIES), CAMPAIGN // REQUEST_RECEIVERS)
        answered = load.run(
            load.LoadPlan(
                port=server.port,
                path=bodies.SEND_SMS,
                key=env.key,
                bodies=bodies.singles(SMALL_BODIES),
                connections=SMALL_CONNECTIONS,
                pause_s=SMALL_PAUSE_S,
                seconds=SMALL_SECONDS,
            )
        )
        left = _waiting(data)
        seen = sink.wait_for("watched", answered.requests, ARRIVAL_TIMEOUT_S)
        sink.reset(watched="")
        waits_s = _waits_s(data, seen.first_seen)
    if not left:
        raise BenchmarkFailed("the campaign was delivered before the last small send")
    p50, p99 = percentile(waits_s, 0.5), percentile(waits_s, 0.99)
    report_progress(
        f"  {len(waits_s)} small sends during a campaign, {left:,} of its messages left,"
        f" at the sink after p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms"
    )
    return [
        Figure(
            "smpp",
            f"a small send during a campaign of {CAMPAIGN:,}, until the sink has it, p99",
            p99,
            " s",
            SMALL_TARGET_S,
            "at most",
            f"p50 {p50 * 1000:.0f} ms of {len(waits_s)}, the carrier limited to {CAMPAIGN_RATE:,}/s",
        )
    ]


def _send(env: BenchEnvironment, server: Server, campaign_bodies: list[bytes], count: int) -> None:
    load.run(
        load.LoadPlan(
            port=server.port,
            path=bodies.SEND_SMS,
            key=env.key,
            bodies=campaign_bodies,
            connections=CAMPAIGN_CONNECTIONS,
            count=count,
        )
    )


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


def _waiting(data: Path) -> int:
    """Return how many campaign messages wait in the queue."""
    reader = open_reader(data)
    left: int = reader.fetch_value("select count(*) from jobs where lane = ?", (queue.Lane.CAMPAIGN,))
    reader.close()
    return left


def _waits_s(data: Path, first_seen: dict[str, float]) -> list[float]:
    """Return how long after its request each message arrived at the sink."""
    reader = open_reader(data)
    first, last = (int(bodies.SINGLES_BEGIN + digit * 7) for digit in "09")
    rows = reader.fetch_all("select receiver, id from messages where receiver between ? and ?", (first, last))
    reader.close()
    return [first_seen[f"0{receiver}"] - identifiers.requested_at(one) / SECOND for receiver, one in rows]
