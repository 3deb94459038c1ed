"""What is measured of each gateway: accepting, the whole way with receipts and callbacks, latency, and kill -9."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from bench import load
from bench.figures import percentile
from bench.peers.callback_sink import CallbackSink
from bench.peers.peer import DIFFERENT_MESSAGES, Peer, Running
from bench.server import BenchEnvironment, BenchmarkFailed
from bench.sink import Sink

CONNECTIONS = 32
MESSAGES = 20_000
EDGE_SHARE = 0.1
"""The first and last messages of a run are left out of its rate, since the run starts up and runs out."""
ACCEPT_S = 5.0
LATENCY_S = 5.0
KILLED_AFTER = 3000
"""Messages that the SMSC has when a gateway is killed."""
KILLED_LOAD_S = 30.0
"""A load that ends before, since its connections are closed."""
END_TIMEOUT_S = 120.0
QUIET_S = 5.0
"""A gateway that was killed has sent everything when nothing came for so long."""
POLL_INTERVAL_S = 0.1


class Whole(NamedTuple):
    """Messages from the request to the end that the caller is told."""

    rate: float
    p99_ms: float
    """Of accepting a request at that load."""
    cpu_us: float
    outside_us: float
    """The CPU time of the load and the SMSC, a message: what a gateway that cost nothing would leave."""
    peak_mb: float


class Killed(NamedTuple):
    """What became of messages that were accepted by a gateway that was killed."""

    accepted: int
    lost: int
    doubled: int


class Bench(NamedTuple):
    """What all measurements share."""

    env: BenchEnvironment
    smsc: Sink
    callbacks: CallbackSink
    messages: int
    """How many take the whole way in one run."""


def measure_accept(bench: Bench, peer: Peer) -> float:
    """Return how many requests a second are accepted while nobody asks for receipts, where that can be chosen."""
    bench.smsc.reset()
    with peer.start(bench.env.make_folder(), bench.smsc, None, has_receipts=False) as running:
        bench.smsc.wait_for("binds", 1)
        return load.run(_changed(running, warm_up_s=1.0, seconds=ACCEPT_S)).rate


def measure_whole(bench: Bench, peer: Peer, *, has_callbacks: bool = False) -> Whole:
    """Return how fast messages take the whole way: to acknowledged receipts, or to the callers' server."""
    bench.smsc.reset()
    callbacks = bench.callbacks if has_callbacks else None
    with peer.start(bench.env.make_folder(), bench.smsc, callbacks, has_receipts=True) as running:
        bench.smsc.wait_for("binds", 1)
        peer.count_callbacks(bench.callbacks)
        before_s, smsc_before_s = running.cpu_s(), bench.smsc.figures().cpu_s
        seen = load.run(_changed(running, count=bench.messages))
        ends = bench.smsc.wait_for("acknowledged", bench.messages, END_TIMEOUT_S).ends
        if has_callbacks:
            ends = _wait_for_callbacks(lambda: peer.count_callbacks(bench.callbacks), bench.messages)
        cpu_us = (running.cpu_s() - before_s) / bench.messages * 1e6
        peak_mb = running.peak_bytes() / 1e6
        figures = bench.smsc.figures()
        outside_us = (seen.cpu_s + figures.cpu_s - smsc_before_s) / bench.messages * 1e6
    if figures.submits != bench.messages or figures.duplicates:
        raise BenchmarkFailed(f"{peer.name}: {figures.submits} submits, {figures.duplicates} of them twice")
    return Whole(
        rate_of(ends, bench.messages), percentile(seen.latencies_s, 0.99) * 1000, cpu_us, outside_us, peak_mb
    )


def measure_latency(bench: Bench, peer: Peer, rate: float) -> float:
    """Return the 99th percentile of accepting, in milliseconds, at about so many requests a second."""
    bench.smsc.reset()
    with peer.start(bench.env.make_folder(), bench.smsc, None, has_receipts=True) as running:
        bench.smsc.wait_for("binds", 1)
        plan = _changed(running, warm_up_s=1.0, seconds=LATENCY_S, pause_s=CONNECTIONS / rate)
        return percentile(load.run(plan).latencies_s, 0.99) * 1000


def measure_kill(bench: Bench, peer: Peer) -> Killed:
    """Kill every process of a gateway under load, start it again, and count what arrived."""
    bench.smsc.reset()
    folder = bench.env.make_folder()
    with peer.start(folder, bench.smsc, None, has_receipts=True) as running:
        bench.smsc.wait_for("binds", 1)
        loading = load.start(_changed(running, seconds=KILLED_LOAD_S))
        bench.smsc.wait_for("submits", KILLED_AFTER)
        for process in running.processes:
            os.kill(process.pid, signal.SIGKILL)
        accepted = load.finish(loading).all_requests
    with peer.start(folder, bench.smsc, None, has_receipts=True):
        _wait_for_rest(bench.smsc, accepted)
    figures = bench.smsc.figures()
    arrived = figures.submits - figures.duplicates
    return Killed(accepted, max(0, accepted - arrived), figures.duplicates)


def _changed(running: Running, **changes: float) -> load.LoadPlan:
    plan = msgspec.structs.replace(running.plan, connections=CONNECTIONS, **changes)
    assert plan.count <= DIFFERENT_MESSAGES
    return plan


def _wait_for_callbacks(read: Callable[[], Sequence[tuple[float, int]]], messages: int) -> list[tuple[float, int]]:
    found: list[tuple[float, int]] = []
    deadline = time.perf_counter() + END_TIMEOUT_S
    while sum(count for _, count in found) < messages:
        if time.perf_counter() > deadline:
            raise BenchmarkFailed(f"only {sum(count for _, count in found)} callbacks have arrived")
        time.sleep(POLL_INTERVAL_S)
        found += read()
    return sorted(found)


def _wait_for_rest(smsc: Sink, accepted: int) -> None:
    """Wait until all that was accepted has arrived, or END_TIMEOUT_S; then until nothing comes any more."""
    deadline = time.perf_counter() + END_TIMEOUT_S
    seen, since = -1, time.perf_counter()
    while time.perf_counter() - since < QUIET_S:
        time.sleep(POLL_INTERVAL_S)
        figures = smsc.figures()
        is_missing = figures.submits - figures.duplicates < accepted and time.perf_counter() < deadline
        if is_missing or figures.submits != seen:
            seen, since = figures.submits, time.perf_counter()


def rate_of(ends: Sequence[tuple[float, int]], messages: int) -> float:
    """Return how many a second there were between the edges."""
    edge = messages * EDGE_SHARE
    total, begins_at, begins_with = 0, 0.0, 0
    for at, count in ends:
        total += count
        if not begins_at and total >= edge:
            begins_at, begins_with = at, total
        if total >= messages - edge:
            return (total - begins_with) / (at - begins_at)
    raise BenchmarkFailed("not all messages have ended")
