"""What do webhooks cost delivery, do they keep up, and what does one that never answers do to the others?"""

from collections.abc import Sequence

from bench import bodies, load
from bench.environment import Environment
from bench.figures import Figure, count_processes, p99_ms
from bench.scenarios.deliver import campaign_plan, single_plan
from bench.smsc import Smsc, running_smsc
from bench.through import Ends, Running, Through, measure_through
from bench.webhook_sink import WebhookSink, add_webhooks, running_webhook_sink, webhook_settings

ROUNDS = 2
SINGLES, CAMPAIGN_MESSAGES = 20_000, 60_000
ENDPOINTS = 10
"""As many as an account may have."""
STREAM_S = 24.0
"""How long results come: longer than two tries of a post that is not answered."""
STREAM_PAUSE_S = 0.25
DIFFERENT_SENDS = 100
STREAM_RECEIVERS = 50
"""Receivers of each send of the stream: 2,000 results a second for all endpoints together."""
DELIVERY_TARGET, DEAD_TARGET = 0.9, 1.1
REQUEST_ID_LENGTH = 26
"""The id of a message begins with that of its request."""


def measure(env: Environment) -> list[Figure]:
    """Send with and without a webhook, to the receipt and to the post; then post a stream to ten endpoints."""
    figures = []
    with running_smsc() as smsc, running_webhook_sink(ENDPOINTS, 1) as sink:
        for processes in env.processes:
            name = count_processes(processes)
            told = _measure_singles(env, smsc, sink, processes)
            figures += [
                Figure(f"single sends to the webhook, {name}", told.rate, "/s"),
                Figure(f"p99 of accepting them, {name}", told.p99_ms, " ms", "less"),
                Figure(f"CPU a single send with its post, {name}", told.cpu_us, " µs", "less"),
            ]
        without, _ = _measure_campaigns(env, smsc, sink, [])
        delivered, posted = _measure_campaigns(env, smsc, sink, sink.live[:1])
        figures += [
            Figure("campaigns delivered with a webhook / without", delivered / without, target=DELIVERY_TARGET),
            Figure("results of campaigns posted, first request to last post", posted, "/s"),
            _measure_dead(env, smsc, sink),
        ]
    return figures


def _measure_singles(env: Environment, smsc: Smsc, sink: WebhookSink, processes: int) -> Through:
    data = env.copy_store()
    ports, count = sink.live[:1], env.scaled(SINGLES)
    env.configure(data, webhook_settings(ports) + smsc.settings())
    smsc.reset()
    sink.arrivals()

    def wait() -> Ends:
        return [(at, 1) for at in sorted(sink.wait_for(ports, count)[ports[0]].values())]

    with env.run(data, "webhooks", processes=processes) as server:
        add_webhooks(env, server, ports)
        running = Running([server], env.store_cpu_s)
        return measure_through(smsc, running, single_plan(env, server, count), count, wait)


def _measure_campaigns(
    env: Environment, smsc: Smsc, sink: WebhookSink, ports: Sequence[int]
) -> tuple[float, float]:
    """Return messages a second to the receipt, and results a second until the last one was posted."""
    count = env.scaled(CAMPAIGN_MESSAGES)
    data = env.copy_store()
    env.configure(data, webhook_settings(ports) + smsc.settings())
    smsc.reset()
    sink.arrivals()
    with env.run(data, "webhooks") as server:
        add_webhooks(env, server, ports)
        found = measure_through(smsc, Running([server]), campaign_plan(env, server, count), count)
        began_at = smsc.figures().arrivals[0][0]
        arrived = sink.wait_for(ports, count)
    last_at = max((at for port in ports for at in arrived[port].values()), default=began_at + 1)
    return found.rate, count / (last_at - began_at)


def _measure_dead(env: Environment, smsc: Smsc, sink: WebhookSink) -> Figure:
    """Compare how long results take to nine endpoints beside a live one, and beside one that never answers."""
    watched = sink.live[:-1]
    smsc.reset(receipt_after_s=0.0)
    all_live = _measure_waits(env, smsc, sink, sink.live, watched)
    beside_dead = _measure_waits(env, smsc, sink, [*watched, sink.silent[0]], watched)
    ratio = p99_ms(beside_dead) / p99_ms(all_live)
    return Figure("wait for a post beside a dead endpoint / a live one, p99", ratio, "", "less", DEAD_TARGET)


def _measure_waits(
    env: Environment, smsc: Smsc, sink: WebhookSink, ports: Sequence[int], watched: Sequence[int]
) -> list[float]:
    """Return how long each result of a stream took from the request to each of the watched ports."""
    data = env.copy_store()
    env.configure(data, webhook_settings(ports) + smsc.settings())
    smsc.reset()
    sink.arrivals()
    with env.run(data, "webhooks") as server:
        add_webhooks(env, server, ports)
        seen = load.run(
            env.plan(
                server,
                bodies.sends(DIFFERENT_SENDS, STREAM_RECEIVERS),
                pause_s=STREAM_PAUSE_S,
                seconds=STREAM_S,
                keeps_answers=True,
            )
        )
        arrived = sink.wait_for(watched, seen.all_requests * STREAM_RECEIVERS)
    sent_at = {
        answer.partition(b'"requestId":"')[2][:REQUEST_ID_LENGTH].decode(): at
        for answer, at in zip(seen.answers, seen.sent_at, strict=True)
    }
    return [at - sent_at[one[:REQUEST_ID_LENGTH]] for port in watched for one, at in arrived[port].items()]
