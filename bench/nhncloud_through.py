"""How fast messages reach their end through HTTP, NHN Cloud's interfaces and their results."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from bench import bodies, load
from bench.deliver import wait_until_ended
from bench.figures import Figure, median_of
from bench.fill import REQUEST_RECEIVERS, WORLD, with_store
from bench.server import SETTINGS_FILE, BenchEnvironment, BenchmarkFailed, Server, report_progress
from bench.store_reader import open_reader
from pabal.domain import identifiers
from pabal.domain.dates import SECOND
from tests.fakes.nhncloud import channel, subprocess_server
from tests.fakes.nhncloud.subprocess_server import RELAY, ServerProcess

TARGET = 5000
ROUNDS = 2
REQUESTS = 50
"""Of texts, and as many of Alimtalk."""
CONNECTIONS = 4
SMALL = 10_000
SMALL_CONNECTIONS = 64
SIGNATURE = "a signature of the bench"
ACCOUNT = "bench"
MESSAGES = 2 * REQUESTS * REQUEST_RECEIVERS


class RelayRate(NamedTuple):
    """How messages ended, and what that took."""

    ended: float
    """How many a second from the first request to the last end."""
    accepted: float
    cpu_us: float
    relay_cpu_us: float
    sends: float
    """How many calls handed messages over."""
    queries: float
    """How many other calls there were."""


def measure_campaigns(env: BenchEnvironment, bare: float, engine: str) -> list[Figure]:
    """Send texts and Alimtalks to a thousand receivers a request; results come by webhook, then by asking."""
    found: dict[bool, list[RelayRate]] = {True: [], False: []}
    for _ in range(ROUNDS):
        for has_webhooks, paces in found.items():
            paces.append(_measure_campaigns(env, engine, has_webhooks=has_webhooks))
    figures = []
    for has_webhooks, paces in found.items():
        pace = RelayRate(*map(median_of, zip(*paces, strict=True)))
        way = "by webhook" if has_webhooks else "by asking"
        what = f"{REQUEST_RECEIVERS:,}-receiver requests, {engine}, results {way}"
        figures += [
            Figure(
                "nhncloud",
                f"{what}, HTTP to relay to result to history",
                pace.ended,
                "/s",
                TARGET if engine == "SQLite" else None,
                details=f"{MESSAGES:,} messages, {pace.sends:.0f} calls and {pace.queries:.0f} that asked,"
                f" {pace.cpu_us:.0f} µs CPU a message, the server {pace.relay_cpu_us:.0f} µs",
            ),
            Figure(
                "nhncloud",
                f"{what} / bare calls",
                pace.ended / bare,
                details=f"{pace.ended:,.0f}/s of {bare:,.0f}/s",
            ),
        ]
    return figures


def measure_small(env: BenchEnvironment) -> list[Figure]:
    """Send Alimtalks to one receiver each, and see how many calls they took."""
    found = []
    for _ in range(ROUNDS):
        with _service_with_relay(env, has_webhooks=True) as (relay, data, server):
            plan = _plan(env, server, bodies.SEND_ALIMTALK, bodies.alimtalks(SMALL, 1), SMALL_CONNECTIONS)
            found.append(_measure_rate(data, server, relay, [plan], SMALL))
    pace = RelayRate(*map(median_of, zip(*found, strict=True)))
    report_progress(f"  one-receiver Alimtalks: {pace.ended:,.0f} ended/s, {pace.sends:.0f} calls")
    return [
        Figure(
            "nhncloud",
            "one-receiver Alimtalk requests, HTTP to relay to result to history",
            pace.ended,
            "/s",
            details=f"{SMALL:,} messages in {pace.sends:.0f} calls, accepted {pace.accepted:,.0f}/s,"
            f" {pace.cpu_us:.0f} µs CPU a message",
        )
    ]


def _measure_campaigns(env: BenchEnvironment, engine: str, *, has_webhooks: bool) -> RelayRate:
    with _service_with_relay(env, has_webhooks=has_webhooks) as (relay, data, server):
        plans = [
            _plan(env, server, bodies.SEND_SMS, bodies.one_text(REQUESTS, REQUEST_RECEIVERS), CONNECTIONS),
            _plan(env, server, bodies.SEND_ALIMTALK, bodies.alimtalks(REQUESTS, REQUEST_RECEIVERS), CONNECTIONS),
        ]
        pace = _measure_rate(data, server, relay, plans, MESSAGES)
    report_progress(
        f"  {engine}, results by {'webhook' if has_webhooks else 'asking'}: {pace.ended:,.0f} ended/s,"
        f" {pace.sends:.0f} + {pace.queries:.0f} calls,"
        f" {pace.cpu_us:.0f} + {pace.relay_cpu_us:.0f} µs CPU per message"
    )
    return pace


@contextmanager
def _service_with_relay(
    env: BenchEnvironment, *, has_webhooks: bool
) -> Iterator[tuple[ServerProcess, Path, Server]]:
    """Run a new server, and before it the service with an account that has a channel there."""
    data = env.copy_store()
    file = data / SETTINGS_FILE
    store = file.read_text(encoding="utf-8") if file.exists() else ""
    with_store(data, lambda store: store.write(channel.add_to_store, ACCOUNT, WORLD.now()))
    with subprocess_server.running() as relay:
        hooked = {"webhook_signature": SIGNATURE} if has_webhooks else {}
        told = f"{store}check_sender_numbers = false\n{relay.settings(**hooked)}"
        file.write_text(told, encoding="utf-8")
        with env.run_pabal(data, RELAY) as server:
            if has_webhooks:
                relay.stats(webhook=(f"http://127.0.0.1:{server.port}/hooks/{RELAY}", SIGNATURE))
            yield relay, data, server


def _plan(
    env: BenchEnvironment, server: Server, path: str, requests: list[bytes], connections: int
) -> load.LoadPlan:
    return load.LoadPlan(
        port=server.port, path=path, key=env.key, bodies=requests, connections=connections, count=len(requests)
    )


def _measure_rate(
    data: Path, server: Server, relay: ServerProcess, plans: list[load.LoadPlan], messages: int
) -> RelayRate:
    before, far_before = server.cpu_s(), relay.stats().cpu_s
    with ExitStack() as stack:
        loads = [stack.enter_context(load.start(plan)) for plan in plans]
        accepted = sum(load.finish(each).rate for each in loads)
    ended_at = wait_until_ended(data, messages)
    cpu_us = (server.cpu_s() - before) / messages * 1e6
    seen = relay.stats()
    if seen.messages != messages or seen.duplicates:
        raise BenchmarkFailed(f"the relay has taken {seen.messages} messages, {len(seen.duplicates)} of them twice")
    reader = open_reader(data)
    first = reader.fetch_value("select id from messages order by id limit 1")
    reader.close()
    seconds = (ended_at - identifiers.requested_at(bytes(first))) / SECOND
    sends = seen.send_calls()
    asks = sum(seen.calls.values()) - sends
    return RelayRate(messages / seconds, accepted, cpu_us, (seen.cpu_s - far_before) / messages * 1e6, sends, asks)
