"""How fast messages reach their end through HTTP, NHN Cloud's interfaces and their results."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from bench import bodies, load
from bench.deliver import until_ended
from bench.figures import Figure, middle
from bench.fill import REQUEST_RECEIVERS, WORLD, with_store
from bench.looking import reading
from bench.server import SETTINGS_FILE, DoesNotWork, Place, Server, say
from pabal.domain import identifiers
from pabal.domain.dates import SECOND
from tests.fakes.nhncloud import channel, subprocess_server
from tests.fakes.nhncloud.subprocess_server import RELAY, ServerProcess

AIM = 5000
ROUNDS = 2
REQUESTS = 50
"""Of texts, and as many of Alimtalk."""
CONNECTIONS = 4
SMALL = 10_000
SMALL_CONNECTIONS = 64
SIGNATURE = "a signature of the bench"
ACCOUNT = "bench"
MESSAGES = 2 * REQUESTS * REQUEST_RECEIVERS


class Pace(NamedTuple):
    """How messages ended, and what that took."""

    ended: float
    """How many a second from the first request to the last end."""
    accepted: float
    cpu_us: float
    far_cpu_us: float
    sends: float
    """How many calls handed messages over."""
    asks: float
    """How many other calls there were."""


def measure_campaigns(place: Place, bare: float, engine: str) -> list[Figure]:
    """Send texts and Alimtalks to a thousand receivers a request; results come by webhook, then by asking."""
    found: dict[bool, list[Pace]] = {True: [], False: []}
    for _ in range(ROUNDS):
        for has_webhooks, paces in found.items():
            paces.append(_campaigns(place, engine, has_webhooks=has_webhooks))
    figures = []
    for has_webhooks, paces in found.items():
        pace = Pace(*map(middle, zip(*paces, strict=True)))
        way = "by webhook" if has_webhooks else "by asking"
        what = f"{REQUEST_RECEIVERS:,}-receiver requests, {engine}, results {way}"
        figures += [
            Figure(
                "nhncloud",
                f"{what}, HTTP to relay to result to history",
                pace.ended,
                "/s",
                AIM if engine == "SQLite" else None,
                made_of=f"{MESSAGES:,} messages, {pace.sends:.0f} calls and {pace.asks:.0f} that asked,"
                f" {pace.cpu_us:.0f} µs CPU a message, the server {pace.far_cpu_us:.0f} µs",
            ),
            Figure(
                "nhncloud",
                f"{what} / bare calls",
                pace.ended / bare,
                made_of=f"{pace.ended:,.0f}/s of {bare:,.0f}/s",
            ),
        ]
    return figures


def measure_small(place: Place) -> list[Figure]:
    """Send Alimtalks to one receiver each, and see how many calls they took."""
    found = []
    for _ in range(ROUNDS):
        with _before_the_relay(place, has_webhooks=True) as (relay, data, server):
            plan = _plan(place, server, bodies.SEND_ALIMTALK, bodies.alimtalks(SMALL, 1), SMALL_CONNECTIONS)
            found.append(_paced(data, server, relay, [plan], SMALL))
    pace = Pace(*map(middle, zip(*found, strict=True)))
    say(f"  one-receiver Alimtalks: {pace.ended:,.0f} ended/s, {pace.sends:.0f} calls")
    return [
        Figure(
            "nhncloud",
            "one-receiver Alimtalk requests, HTTP to relay to result to history",
            pace.ended,
            "/s",
            made_of=f"{SMALL:,} messages in {pace.sends:.0f} calls, accepted {pace.accepted:,.0f}/s,"
            f" {pace.cpu_us:.0f} µs CPU a message",
        )
    ]


def _campaigns(place: Place, engine: str, *, has_webhooks: bool) -> Pace:
    with _before_the_relay(place, has_webhooks=has_webhooks) as (relay, data, server):
        plans = [
            _plan(place, server, bodies.SEND_SMS, bodies.one_text(REQUESTS, REQUEST_RECEIVERS), CONNECTIONS),
            _plan(place, server, bodies.SEND_ALIMTALK, bodies.alimtalks(REQUESTS, REQUEST_RECEIVERS), CONNECTIONS),
        ]
        pace = _paced(data, server, relay, plans, MESSAGES)
    say(
        f"  {engine}, results by {'webhook' if has_webhooks else 'asking'}: {pace.ended:,.0f} ended/s,"
        f" {pace.sends:.0f} + {pace.asks:.0f} calls, {pace.cpu_us:.0f} + {pace.far_cpu_us:.0f} µs CPU a message"
    )
    return pace


@contextmanager
def _before_the_relay(place: Place, *, has_webhooks: bool) -> Iterator[tuple[ServerProcess, Path, Server]]:
    """Run a new server, and before it the service with an account that has a channel there."""
    data = place.fresh()
    file = data / SETTINGS_FILE
    store = file.read_text(encoding="utf-8") if file.exists() else ""
    with_store(data, lambda store: store.write(channel.add_to_store, ACCOUNT, WORLD.now()))
    with subprocess_server.running() as relay:
        hooked = {"webhook_signature": SIGNATURE} if has_webhooks else {}
        told = f"{store}check_sender_numbers = false\n{relay.settings(**hooked)}"
        file.write_text(told, encoding="utf-8")
        with place.pabal(data, RELAY) as server:
            if has_webhooks:
                relay.stats(webhook=(f"http://127.0.0.1:{server.port}/hooks/{RELAY}", SIGNATURE))
            yield relay, data, server


def _plan(place: Place, server: Server, path: str, requests: list[bytes], connections: int) -> load.Plan:
    return load.Plan(
        port=server.port, path=path, key=place.key, bodies=requests, connections=connections, count=len(requests)
    )


def _paced(data: Path, server: Server, relay: ServerProcess, plans: list[load.Plan], messages: int) -> Pace:
    before, far_before = server.cpu_s(), relay.stats().cpu_s
    with ExitStack() as stack:
        loads = [stack.enter_context(load.begin(plan)) for plan in plans]
        accepted = sum(load.end(each).rate for each in loads)
    ended_at = until_ended(data, messages)
    cpu_us = (server.cpu_s() - before) / messages * 1e6
    seen = relay.stats()
    if seen.messages != messages or seen.duplicates:
        raise DoesNotWork(f"the relay has taken {seen.messages} messages, {len(seen.duplicates)} of them twice")
    looking = reading(data)
    first = looking.one("select id from messages order by id limit 1")
    looking.close()
    seconds = (ended_at - identifiers.requested_at(bytes(first))) / SECOND
    sends = seen.send_calls()
    asks = sum(seen.calls.values()) - sends
    return Pace(messages / seconds, accepted, cpu_us, (seen.cpu_s - far_before) / messages * 1e6, sends, asks)
