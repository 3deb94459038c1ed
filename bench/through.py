"""Measures the whole way of messages: from the request to the receipt, or to the caller's server."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bench import load
from bench.figures import p99_ms
from bench.server import BenchmarkFailed, Server
from bench.smsc import Smsc

EDGE_SHARE = 0.1
"""The first and last messages of a run are left out of its rate, since the run starts up and runs out."""
END_TIMEOUT_S = 180.0

Ends = Sequence[tuple[float, int]]
"""When messages ended, and how many together."""


class Running(NamedTuple):
    """A gateway that takes requests."""

    processes: Sequence[Server]
    store_cpu_s: Callable[[], float] = lambda: 0.0
    """The CPU time that its database has used so far."""

    def cpu_s(self) -> float:
        """Return the CPU time that its processes and its database have used so far."""
        return sum(each.cpu_s() for each in self.processes) + self.store_cpu_s()

    def peak_bytes(self) -> int:
        """Return the peak resident memory of its processes."""
        return sum(each.peak_bytes() for each in self.processes)


class Through(NamedTuple):
    """Messages from the request to their end."""

    rate: float
    p99_ms: float
    """Of accepting a request at that load."""
    cpu_us: float
    outside_us: float
    """The CPU time of the load and the SMSC, a message: what a gateway that cost nothing would leave."""
    peak_mb: float


def measure_through(
    smsc: Smsc,
    running: Running,
    plan: load.LoadPlan,
    messages: int,
    wait_for_callbacks: Callable[[], Ends] | None = None,
) -> Through:
    """Return how fast messages end: with the acknowledged receipt, or with the callback.

    Raises BenchmarkFailed if the SMSC got a message twice or not at all.
    """
    smsc.wait_for("binds", 1)
    before_s, smsc_before_s = running.cpu_s(), smsc.figures().cpu_s
    seen = load.run(plan)
    ends: Ends = smsc.wait_for("acknowledged", messages, END_TIMEOUT_S).ends
    if wait_for_callbacks:
        ends = wait_for_callbacks()
    cpu_us = (running.cpu_s() - before_s) / messages * 1e6
    figures = smsc.figures()
    if figures.submits != messages or figures.duplicates:
        raise BenchmarkFailed(f"{figures.submits} of {messages} submits, {figures.duplicates} of them twice")
    outside_us = (seen.cpu_s + figures.cpu_s - smsc_before_s) / messages * 1e6
    return Through(
        rate_of(ends, messages), p99_ms(seen.latencies_s), cpu_us, outside_us, running.peak_bytes() / 1e6
    )


def rate_of(ends: Ends, messages: int) -> float:
    """Return how many a second there were between the edges."""
    return rate_between(ends, messages * EDGE_SHARE, messages * (1 - EDGE_SHARE))


def rate_between(ends: Ends, first: float, last: float) -> float:
    """Return how many a second there were from one count to another."""
    total, begins_at, begins_with = 0, 0.0, 0
    for at, count in ends:
        total += count
        if not begins_at and total >= first:
            begins_at, begins_with = at, total
        if total >= last:
            return (total - begins_with) / (at - begins_at)
    raise BenchmarkFailed("not all messages have ended")
