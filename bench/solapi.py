"""How fast messages are sent through Solapi's API, with a fake server that follows its documents."""

from bench import bodies
from bench.figures import Figure
from bench.fill import REQUEST_RECEIVERS
from bench.nhncloud_through import CONNECTIONS, TARGET, make_plan, measure_rate, service_with_relay
from bench.server import BenchEnvironment, report_progress
from tests.fakes.solapi import subprocess_server

REQUESTS = 50
MESSAGES = REQUESTS * REQUEST_RECEIVERS


def measure(env: BenchEnvironment) -> list[Figure]:
    """Send shared texts, with results by webhook and by polling, then Alimtalks with a text each."""
    texts = bodies.one_text(REQUESTS, REQUEST_RECEIVERS)
    talks = bodies.alimtalks(REQUESTS, REQUEST_RECEIVERS)
    return [
        _measure(env, "shared texts, results by webhook", bodies.SEND_SMS, texts, TARGET, has_webhooks=True),
        _measure(env, "shared texts, results by polling", bodies.SEND_SMS, texts, None, has_webhooks=False),
        _measure(env, "Alimtalks, results by webhook", bodies.SEND_ALIMTALK, talks, None, has_webhooks=True),
    ]


def _measure(
    env: BenchEnvironment, what: str, path: str, requests: list[bytes], target: int | None, *, has_webhooks: bool
) -> Figure:
    with service_with_relay(env, has_webhooks=has_webhooks, run_relay=subprocess_server.running) as (
        relay,
        data,
        server,
    ):
        plan = make_plan(env, server, path, requests, CONNECTIONS)
        rate = measure_rate(data, server, relay, [plan], MESSAGES)
    report_progress(
        f"  {what}: {rate.ended:,.0f} ended/s, {rate.sends:.0f} + {rate.queries:.0f} calls,"
        f" {rate.cpu_us:.0f} + {rate.relay_cpu_us:.0f} µs CPU per message"
    )
    return Figure(
        "solapi",
        f"{REQUEST_RECEIVERS:,}-receiver requests, {what}, HTTP to relay to result to history",
        rate.ended,
        "/s",
        target,
        details=f"{MESSAGES:,} messages, {rate.sends:.0f} send calls and {rate.queries:.0f} others,"
        f" {rate.cpu_us:.0f} µs CPU per message, the server {rate.relay_cpu_us:.0f} µs",
    )
