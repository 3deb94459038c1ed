"""How fast do messages go through the relays NHN Cloud and Solapi to their result, in how many calls?

The relays are fakes that follow their documents.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bench import bodies, load
from bench.environment import ACCOUNT, Environment, call_api
from bench.figures import Figure
from bench.server import BenchmarkFailed, Server
from tests.fakes.nhncloud import subprocess_server as nhncloud
from tests.fakes.nhncloud.channel import BRAND_TEMPLATE_CODE, CHANNEL, SENDER_KEY, TEMPLATE_CODE
from tests.fakes.nhncloud.subprocess_server import RELAY, ServerProcess
from tests.fakes.solapi import subprocess_server as solapi
from tests.fixtures.live import zone_at_noon

ROUNDS = 2
CAMPAIGN_REQUESTS = 30
CONNECTIONS = 4
SINGLES, SINGLE_CONNECTIONS = 10_000, 64
PERSONAL_REQUESTS, PERSONAL_RECEIVERS = 20, 100
"""Each personal text is a call of its own at NHN Cloud."""
SIGNATURE = "a signature of the bench"
TARGET = 5000
TIMEOUT_S = 180.0
TEMPLATES_TIMEOUT_S = 120.0
POLL_INTERVAL_S = 0.05

RunRelay = Callable[..., AbstractContextManager[ServerProcess]]
TALK = {"senderKey": SENDER_KEY, "templateCode": TEMPLATE_CODE}


class Way(NamedTuple):
    """What is sent, and through which relay."""

    name: str
    relay: RunRelay
    path: str
    requests: Callable[[], list[bytes]]
    receivers: int
    target: float | None = None
    has_webhooks: bool = True


_SHARED = partial(bodies.sends, CAMPAIGN_REQUESTS, bodies.CAMPAIGN_RECEIVERS, content=bodies.ONE_TEXT)
_TALKS = partial(bodies.talks, CAMPAIGN_REQUESTS, bodies.CAMPAIGN_RECEIVERS)
_PERSONAL = partial(bodies.talks, PERSONAL_REQUESTS, PERSONAL_RECEIVERS, content=bodies.TEXT, sender=bodies.SENDER)
_BRAND = partial(_TALKS, senderKey=SENDER_KEY, templateCode=BRAND_TEMPLATE_CODE)
_CAMPAIGN, _NHN, _SOLAPI = bodies.CAMPAIGN_RECEIVERS, nhncloud.running, solapi.running
WAYS = (
    Way("NHN Cloud, shared texts", _NHN, bodies.SEND_SMS, _SHARED, _CAMPAIGN, TARGET),
    Way("NHN Cloud, shared texts, polled", _NHN, bodies.SEND_SMS, _SHARED, _CAMPAIGN, TARGET, has_webhooks=False),
    Way("NHN Cloud, Alimtalks", _NHN, bodies.SEND_ALIMTALK, partial(_TALKS, **TALK), _CAMPAIGN, TARGET),
    Way("NHN Cloud, single Alimtalks", _NHN, bodies.SEND_ALIMTALK, partial(bodies.talks, SINGLES, 1, **TALK), 1),
    Way("NHN Cloud, personal texts", _NHN, bodies.SEND_SMS, _PERSONAL, PERSONAL_RECEIVERS),
    Way("NHN Cloud, brand messages", _NHN, bodies.SEND_BRAND_MESSAGE, _BRAND, _CAMPAIGN, TARGET),
    Way("Solapi, shared texts", _SOLAPI, bodies.SEND_SMS, _SHARED, _CAMPAIGN, TARGET),
    Way("Solapi, shared texts, polled", _SOLAPI, bodies.SEND_SMS, _SHARED, _CAMPAIGN, has_webhooks=False),
    Way("Solapi, Alimtalks", _SOLAPI, bodies.SEND_ALIMTALK, partial(_TALKS, **TALK), _CAMPAIGN),
)


def measure(env: Environment) -> list[Figure]:
    """Send through each relay, with results by webhook unless they are polled."""
    return [figure for way in WAYS for figure in _measure_way(env, way)]


def _measure_way(env: Environment, way: Way) -> list[Figure]:
    requests = way.requests()
    messages = len(requests) * way.receivers
    with _service_with_relay(env, way) as (relay, server):
        calls_before, before_s = sum(relay.stats().calls.values()), server.cpu_s() + env.store_cpu_s()
        began = time.perf_counter()
        load.run(
            env.plan(
                server,
                requests,
                path=way.path,
                connections=CONNECTIONS if way.receivers > 1 else SINGLE_CONNECTIONS,
                count=len(requests),
            )
        )
        _wait_until_ended(server, messages)
        took_s = time.perf_counter() - began
        cpu_us = (server.cpu_s() + env.store_cpu_s() - before_s) / messages * 1e6
        seen = relay.stats()
    if seen.messages != messages or seen.duplicates:
        raise BenchmarkFailed(f"the relay has {seen.messages} of {messages}, {len(seen.duplicates)} of them twice")
    return [
        Figure(f"{way.name}: to the result", messages / took_s, "/s", target=way.target),
        Figure(f"{way.name}: CPU a message", cpu_us, " µs", "less"),
        Figure(f"{way.name}: calls for {messages:,}", sum(seen.calls.values()) - calls_before, "", "less"),
    ]


@contextmanager
def _service_with_relay(env: Environment, way: Way) -> Iterator[tuple[ServerProcess, Server]]:
    """Run a relay that has a channel, and the service with an account that has adopted it."""
    name = way.name.partition(",")[0]
    data = env.copy_store(env.stored(f"channel of {name}", lambda data: _adopt_channel(env, data, way.relay)))
    with way.relay() as relay:
        env.configure(data, _settings(relay, has_webhooks=way.has_webhooks))
        with env.run(data, "relay") as server:
            if way.has_webhooks:
                relay.stats(webhook=(f"http://127.0.0.1:{server.port}/hooks/{RELAY}", SIGNATURE))
            yield relay, server


def _settings(relay: ServerProcess, *, has_webhooks: bool) -> str:
    options = {"webhook_signature": SIGNATURE} if has_webhooks else {}
    return f'zone = "{zone_at_noon()}"\n' + relay.settings(**options)  # brand messages are not sent at night


def _adopt_channel(env: Environment, data: Path, run_relay: RunRelay) -> None:
    """Give the account the relay's channel, and wait until its templates are known."""
    with run_relay() as relay:
        env.configure(data, _settings(relay, has_webhooks=False))
        env.run_command(data, "profile", "adopt", CHANNEL, "--account", ACCOUNT)
        with env.run(data, "relay") as server:
            deadline = time.perf_counter() + TEMPLATES_TIMEOUT_S
            while not _templates(env, server):
                if time.perf_counter() > deadline:
                    raise BenchmarkFailed("the relay's templates did not appear")
                time.sleep(1)


def _templates(env: Environment, server: Server) -> list[Any]:
    answer = call_api(server, env.key, f"template/list.v1.0?senderKey={SENDER_KEY}")
    return [each for each in answer["items"] if each["status"]["value"] == "approved"]


def _wait_until_ended(server: Server, messages: int) -> None:
    deadline = time.perf_counter() + TIMEOUT_S
    while (ended := server.metric("pabal_messages_ended_total")) < messages:
        if time.perf_counter() > deadline:
            raise BenchmarkFailed(f"{ended:.0f} of {messages} messages have ended")
        time.sleep(POLL_INTERVAL_S)
