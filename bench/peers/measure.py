"""What is measured of each gateway: accepting, the whole way with receipts and callbacks, latency, and kill -9."""

import os
import signal
import time
from typing import NamedTuple

import msgspec

from bench import load
from bench.environment import Environment
from bench.figures import p99_ms
from bench.peers.gateway import DIFFERENT_MESSAGES, Gateway, Pabal
from bench.smsc import Smsc
from bench.through import END_TIMEOUT_S, Ends, Through, measure_through
from bench.webhook_sink import WebhookSink

CONNECTIONS = 32
MESSAGES = 20_000
ACCEPT_S = 5.0
LATENCY_S = 5.0
KILLED_AFTER = 3000
"""Messages that the SMSC has when a gateway is killed."""
KILLED_LOAD_S = 30.0
"""A load that ends before, since its connections are closed."""
QUIET_S = 5.0
"""A gateway that was killed has sent everything when nothing came for so long."""
POLL_INTERVAL_S = 0.1


class Killed(NamedTuple):
    """What became of messages that were accepted by a gateway that was killed."""

    accepted: int
    lost: int
    doubled: int


class Bench(NamedTuple):
    """What all measurements share."""

    env: Environment
    smsc: Smsc
    sink: WebhookSink
    messages: int
    """How many take the whole way in one run."""


def measure_accept(bench: Bench, gateway: Gateway) -> float:
    """Return how many requests a second are accepted while nobody asks for receipts, where that can be chosen."""
    bench.smsc.reset()
    with gateway.start(bench.env.make_folder(), bench.smsc, None, has_receipts=False) as (plan, _):
        bench.smsc.wait_for("binds", 1)
        return load.run(_changed(plan, warm_up_s=1.0, seconds=ACCEPT_S)).rate


def measure_whole(bench: Bench, gateway: Gateway, *, has_callbacks: bool = False) -> Through:
    """Return how fast messages take the whole way: to acknowledged receipts, or to the callers' server."""
    bench.smsc.reset()
    bench.sink.arrivals()
    port = bench.sink.live[0] if isinstance(gateway, Pabal) else bench.sink.plain

    def wait() -> Ends:
        return [(at, 1) for at in sorted(bench.sink.wait_for([port], bench.messages)[port].values())]

    callback_port = bench.sink.plain if has_callbacks else None
    with gateway.start(bench.env.make_folder(), bench.smsc, callback_port, has_receipts=True) as (plan, running):
        plan = _changed(plan, count=bench.messages)
        return measure_through(bench.smsc, running, plan, bench.messages, wait if has_callbacks else None)


def measure_latency(bench: Bench, gateway: Gateway, rate: float) -> float:
    """Return the 99th percentile of accepting, in milliseconds, at about so many requests a second."""
    bench.smsc.reset()
    with gateway.start(bench.env.make_folder(), bench.smsc, None, has_receipts=True) as (plan, _):
        bench.smsc.wait_for("binds", 1)
        plan = _changed(plan, warm_up_s=1.0, seconds=LATENCY_S, pause_s=CONNECTIONS / rate)
        return p99_ms(load.run(plan).latencies_s)


def measure_kill(bench: Bench, gateway: Gateway) -> Killed:
    """Kill every process of a gateway under load, start it again, and count what arrived."""
    bench.smsc.reset()
    folder = bench.env.make_folder()
    with gateway.start(folder, bench.smsc, None, has_receipts=True) as (plan, running):
        bench.smsc.wait_for("binds", 1)
        with load.running(_changed(plan, seconds=KILLED_LOAD_S)) as process:
            bench.smsc.wait_for("submits", KILLED_AFTER)
            for server in running.processes:
                for pid in server.pids():  # the parent first, which would start the others again
                    os.kill(pid, signal.SIGKILL)
            accepted = load.finish(process).all_requests
    with gateway.start(folder, bench.smsc, None, has_receipts=True):
        _wait_for_rest(bench.smsc, accepted)
    figures = bench.smsc.figures()
    arrived = figures.submits - figures.duplicates
    return Killed(accepted, max(0, accepted - arrived), figures.duplicates)


def _changed(plan: load.LoadPlan, **changes: float) -> load.LoadPlan:
    changed = msgspec.structs.replace(plan, connections=CONNECTIONS, **changes)
    assert changed.count <= DIFFERENT_MESSAGES
    return changed


def _wait_for_rest(smsc: Smsc, accepted: int) -> None:
    """Wait until all that was accepted has arrived, or END_TIMEOUT_S; then until nothing comes any more."""
    deadline = time.perf_counter() + END_TIMEOUT_S
    seen, since = -1, time.perf_counter()
    while time.perf_counter() - since < QUIET_S:
        time.sleep(POLL_INTERVAL_S)
        figures = smsc.figures()
        is_missing = figures.submits - figures.duplicates < accepted and time.perf_counter() < deadline
        if is_missing or figures.submits != seen:
            seen, since = figures.submits, time.perf_counter()
