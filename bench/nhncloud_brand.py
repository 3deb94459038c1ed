"""How fast brand messages complete through NHN Cloud's API: shared texts, personal ones, values of a template."""

from bench import bodies
from bench.figures import Figure
from bench.fill import REQUEST_RECEIVERS
from bench.nhncloud_through import CONNECTIONS, TARGET, make_plan, measure_rate, service_with_relay
from bench.server import BenchEnvironment, report_progress
from tests.fakes.nhncloud.channel import BRAND_TEMPLATE_CODE
from tests.fixtures.live import zone_at_noon

REQUESTS = 50
PERSONAL_REQUESTS = 20
PERSONAL_RECEIVERS = 100
"""Each personal text is a call of its own."""


def measure(env: BenchEnvironment) -> list[Figure]:
    """Send brand messages in free form and by a template."""
    shared = bodies.brand_messages(REQUESTS, REQUEST_RECEIVERS, content=bodies.ONE_TEXT)
    by_template = bodies.brand_messages(REQUESTS, REQUEST_RECEIVERS, templateCode=BRAND_TEMPLATE_CODE)
    personal = bodies.brand_messages(PERSONAL_REQUESTS, PERSONAL_RECEIVERS, content="#{name}님, 안녕하세요")
    return [
        _measure(env, "shared texts", shared, REQUESTS * REQUEST_RECEIVERS, TARGET),
        _measure(env, "values of a template", by_template, REQUESTS * REQUEST_RECEIVERS, None),
        _measure(env, "personal texts", personal, PERSONAL_REQUESTS * PERSONAL_RECEIVERS, None),
    ]


def _measure(env: BenchEnvironment, what: str, requests: list[bytes], messages: int, target: int | None) -> Figure:
    zone = f'zone = "{zone_at_noon()}"\n'
    with service_with_relay(env, has_webhooks=True, more_settings=zone, has_nights=False) as (relay, data, server):
        plan = make_plan(env, server, bodies.SEND_BRAND_MESSAGE, requests, CONNECTIONS)
        rate = measure_rate(data, server, relay, [plan], messages)
    report_progress(f"  brand messages, {what}: {rate.ended:,.0f} ended/s, {rate.sends:.0f} calls")
    return Figure(
        "brand",
        f"brand messages, {what}, HTTP to relay to result to history",
        rate.ended,
        "/s",
        target,
        details=f"{messages:,} messages in {rate.sends:.0f} calls, {rate.cpu_us:.0f} µs CPU per message",
    )
