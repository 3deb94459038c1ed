"""How fast messages complete from the HTTP request through NHN Cloud's API to the result."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench import bodies, load
from bench.deliver import wait_until_ended
from bench.figures import Figure, median_of
from bench.fill import REQUEST_RECEIVERS, WORLD, with_store
from bench.server import SETTINGS_FILE, BenchEnvironment, BenchmarkFailed, Server, report_progress
from bench.store_reader import open_reader
from pabal.domain.base import identifiers
from pabal.domain.base.dates import SECOND
from tests.fakes.nhncloud import channel, subprocess_server
from tests.fakes.nhncloud.subprocess_server import RELAY, ServerProcess

TARGET = 5000
ROUNDS = 2
REQUESTS = 50
"""Requests of texts, and as many of Alimtalk."""
CONNECTIONS = 4
PERSONAL_REQUESTS = 20
PERSONAL_RECEIVERS = 100
"""Each personal text is a call of its own."""
SMALL = 10_000
SMALL_CONNECTIONS = 64
SIGNATURE = "a signature of the bench"
ACCOUNT = "bench"
MESSAGES = 2 * REQUESTS * REQUEST_RECEIVERS


RunRelay = Callable[..., AbstractContextManager[ServerProcess]]
"""Runs the server of a relay."""


class RelayRate(NamedTuple):
    """How fast messages completed, with CPU time and calls."""

    ended: float
    """Messages per second from the first request to the last completion."""
    accepted: float
    cpu_us: float
    relay_cpu_us: float
    sends: float
    """How many calls submitted messages."""
    queries: float
    """How many other calls there were."""


def measure_campaigns(env: BenchEnvironment, bare: float, engine: str) -> list[Figure]:
    """Send texts and Alimtalks with a thousand receivers per request, with results by webhook and by polling."""
    found: dict[bool, list[RelayRate]] = {True: [], False: []}
    for _ in range(ROUNDS):
        for has_webhooks, rates in found.items():
            rates.append(_measure_campaigns(env, engine, has_webhooks=has_webhooks))
    figures = []
    for has_webhooks, rates in found.items():
        rate = RelayRate(*map(median_of, zip(*rates, strict=True)))
        way = "by webhook" if has_webhooks else "by polling"
        what = f"{REQUEST_RECEIVERS:,}-receiver requests, {engine}, results {way}"
        figures += [
            Figure(
                "nhncloud",
                f"{what}, HTTP to relay to result to history",
                rate.ended,
                "/s",
                TARGET if engine == "SQLite" else None,
                details=f"{MESSAGES:,} messages, {rate.sends:.0f} send calls and {rate.queries:.0f} others,"
                f" {rate.cpu_us:.0f} µs CPU per message, the server {rate.relay_cpu_us:.0f} µs",
            ),
            Figure(
                "nhncloud",
                f"{what} / bare calls",
                rate.ended / bare,
                details=f"{rate.ended:,.0f}/s of {bare:,.0f}/s",
            ),
        ]
    return figures


def measure_texts(env: BenchEnvironment) -> list[Figure]:
    """Send texts only: one for all receivers of a request, and a different one for each, which is a call each."""
    plans = (
        ("shared texts", bodies.one_text(REQUESTS, REQUEST_RECEIVERS), REQUESTS * REQUEST_RECEIVERS, TARGET),
        (
            "personal texts",
            bodies.personal_texts(PERSONAL_REQUESTS, PERSONAL_RECEIVERS),
            PERSONAL_REQUESTS * PERSONAL_RECEIVERS,
            None,
        ),
    )
    figures = []
    for what, requests, messages, target in plans:
        with service_with_relay(env, has_webhooks=True) as (relay, data, server):
            plan = make_plan(env, server, bodies.SEND_SMS, requests, CONNECTIONS)
            rate = measure_rate(data, server, relay, [plan], messages)
        report_progress(f"  {what}: {rate.ended:,.0f} ended/s, {rate.sends:.0f} calls, {rate.cpu_us:.0f} µs CPU")
        figures.append(
            Figure(
                "nhncloud",
                f"{what}, HTTP to relay to result to history",
                rate.ended,
                "/s",
                target,
                details=f"{messages:,} messages in {rate.sends:.0f} calls, {rate.cpu_us:.0f} µs CPU per message,"
                f" the server {rate.relay_cpu_us:.0f} µs",
            )
        )
    return figures


def measure_small(env: BenchEnvironment) -> list[Figure]:
    """Send one-receiver Alimtalks, and count the calls."""
    found = []
    for _ in range(ROUNDS):
        with service_with_relay(env, has_webhooks=True) as (relay, data, server):
            plan = make_plan(env, server, bodies.SEND_ALIMTALK, bodies.alimtalks(SMALL, 1), SMALL_CONNECTIONS)
            found.append(measure_rate(data, server, relay, [plan], SMALL))
    rate = RelayRate(*map(median_of, zip(*found, strict=True)))
    report_progress(f"  one-receiver Alimtalks: {rate.ended:,.0f} ended/s, {rate.sends:.0f} calls")
    return [
        Figure(
            "nhncloud",
            "one-receiver Alimtalk requests, HTTP to relay to result to history",
            rate.ended,
            "/s",
            details=f"{SMALL:,} messages in {rate.sends:.0f} calls, accepted {rate.accepted:,.0f}/s,"
            f" {rate.cpu_us:.0f} µs CPU per message",
        )
    ]


def _measure_campaigns(env: BenchEnvironment, engine: str, *, has_webhooks: bool) -> RelayRate:
    with service_with_relay(env, has_webhooks=has_webhooks) as (relay, data, server):
        plans = [
            make_plan(env, server, bodies.SEND_SMS, bodies.one_text(REQUESTS, REQUEST_RECEIVERS), CONNECTIONS),
            make_plan(
                env, server, bodies.SEND_ALIMTALK, bodies.alimtalks(REQUESTS, REQUEST_RECEIVERS), CONNECTIONS
            ),
        ]
        rate = measure_rate(data, server, relay, plans, MESSAGES)
    report_progress(
        f"  {engine}, results by {'webhook' if has_webhooks else 'polling'}: {rate.ended:,.0f} ended/s,"
        f" {rate.sends:.0f} + {rate.queries:.0f} calls,"
        f" {rate.cpu_us:.0f} + {rate.relay_cpu_us:.0f} µs CPU per message"
    )
    return rate


@contextmanager
def service_with_relay(
    env: BenchEnvironment,
    *,
    has_webhooks: bool,
    more_settings: str = "",
    run_relay: RunRelay = subprocess_server.running,
    **behavior: Any,
) -> Iterator[tuple[ServerProcess, Path, Server]]:
    """Run a new relay, and the service with an account that has a channel there."""
    data = env.copy_store()
    file = data / SETTINGS_FILE
    store = file.read_text(encoding="utf-8") if file.exists() else ""
    with_store(data, lambda store: store.write(channel.add_to_store, ACCOUNT, WORLD.now()))
    with run_relay(**behavior) as relay:
        options = {"webhook_signature": SIGNATURE} if has_webhooks else {}
        settings = f"{store}{more_settings}{relay.settings(**options)}"
        file.write_text(settings, encoding="utf-8")
        with env.run_pabal(data, RELAY) as server:
            if has_webhooks:
                relay.stats(webhook=(f"http://127.0.0.1:{server.port}/hooks/{RELAY}", SIGNATURE))
            yield relay, data, server


def make_plan(
    env: BenchEnvironment, server: Server, path: str, requests: list[bytes], connections: int
) -> load.LoadPlan:
    """Return the plan to send these requests."""
    return load.LoadPlan(
        port=server.port, path=path, key=env.key, bodies=requests, connections=connections, count=len(requests)
    )


def measure_rate(
    data: Path, server: Server, relay: ServerProcess, plans: list[load.LoadPlan], messages: int
) -> RelayRate:
    """Execute plans, and return how fast their messages completed."""
    before, relay_before = server.cpu_s(), relay.stats().cpu_s
    with ExitStack() as stack:
        loads = [stack.enter_context(load.start(plan)) for plan in plans]
        accepted = sum(load.finish(each).rate for each in loads)
    ended_at = wait_until_ended(data, messages)
    cpu_us = (server.cpu_s() - before) / messages * 1e6
    seen = relay.stats()
    if seen.messages != messages or seen.duplicates:
        raise BenchmarkFailed(f"the relay accepted {seen.messages} messages, {len(seen.duplicates)} of them twice")
    reader = open_reader(data)
    first = reader.fetch_value("select id from messages order by id limit 1")
    reader.close()
    seconds = (ended_at - identifiers.requested_at(bytes(first))) / SECOND
    sends = seen.send_calls()
    queries = sum(seen.calls.values()) - sends
    return RelayRate(
        messages / seconds, accepted, cpu_us, (seen.cpu_s - relay_before) / messages * 1e6, sends, queries
    )
