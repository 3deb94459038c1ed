"""What webhooks cost delivery, how fast results go out to one, and what a dead one does to others."""

import time
from collections.abc import Sequence
from pathlib import Path

from bench import bodies, load
from bench.deliver import measure_delivery
from bench.figures import Figure, median_of, percentile
from bench.fill import REQUEST_RECEIVERS, WORLD, fill, with_store
from bench.server import SETTINGS_FILE, BenchEnvironment, BenchmarkFailed, report_progress
from bench.store_reader import open_reader
from bench.webhook_sink import AUTHORITY, WebhookSink, running_webhook_sink
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.events.event import EventType
from pabal.domain.events.webhook import secret_context
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.events import webhooks
from pabal.store.events.webhooks import NewWebhook
from pabal.webhooks.secrets import SecretBox

TARGET_DELIVERY = 0.9
TARGET_RATE = 2000.0
TARGET_DEAD = 1.1
MESSAGES = 100_000
"""Enough that the start of posting, imports and TLS, does not count."""
ENDPOINTS = 20
STREAM_S = 24.0
"""How long results come: longer than two tries of a post that is not answered."""
STREAM_PAUSE_S = 0.5
STREAM_RECEIVERS = 50
"""Receivers of each send of the stream: 2,000 results a second for all endpoints together."""
TIMEOUT_S = 300.0
POLL_INTERVAL_S = 0.2


def measure(env: BenchEnvironment) -> list[Figure]:
    """Deliver with and without a webhook, and post the results to one; then post a stream to twenty endpoints."""
    with running_webhook_sink(ENDPOINTS, 1) as sink:
        cost = _measure_cost(env, sink)
        return [*cost, _measure_dead(env, sink)]


def _measure_cost(env: BenchEnvironment, sink: WebhookSink) -> list[Figure]:
    plain, told = env.copy_store(), env.copy_store()
    for data in (plain, told):
        fill(data, MESSAGES // REQUEST_RECEIVERS)
    without, _ = measure_delivery(env, plain, MESSAGES)
    port = sink.live[0]
    add_webhooks(told, [port])
    sink.arrivals()
    arrived: dict[str, int] = {}

    def wait() -> None:
        arrived.update(_wait(sink, [port], MESSAGES)[port])

    rate, _ = measure_delivery(env, told, MESSAGES, after=wait)
    began_at = min(_ends(told).values())
    posted_s = (max(arrived.values()) - began_at) / SECOND
    report_progress(f"  delivered: {without:,.0f}/s without a webhook, {rate:,.0f}/s with one")
    return [
        Figure(
            "webhooks",
            "delivery with a webhook / without",
            rate / without,
            target=TARGET_DELIVERY,
            details=f"{rate:,.0f}/s of {without:,.0f}/s",
        ),
        Figure(
            "webhooks",
            "results posted to one endpoint while they are delivered",
            MESSAGES / posted_s,
            "/s",
            TARGET_RATE,
            details=f"{MESSAGES:,} in {posted_s:.1f} s after the first end",
        ),
    ]


def _measure_dead(env: BenchEnvironment, sink: WebhookSink) -> Figure:
    """Compare how long results take to nineteen endpoints beside a live one, and beside one that never answers."""
    watched = sink.live[:-1]
    all_live = _waits_s(env, sink, sink.live, watched)
    beside_dead = _waits_s(env, sink, [*watched, sink.silent[0]], watched)
    p99s = [percentile(each, 0.99) for each in (beside_dead, all_live)]
    medians = [median_of(each) for each in (beside_dead, all_live)]
    return Figure(
        "webhooks",
        "wait for a post beside a dead endpoint / beside a live one, p99",
        p99s[0] / p99s[1],
        "",
        TARGET_DEAD,
        "at most",
        f"{p99s[0]:.2f} s, {p99s[1]:.2f} s; p50 {medians[0]:.2f} s, {medians[1]:.2f} s",
    )


def _waits_s(env: BenchEnvironment, sink: WebhookSink, ports: Sequence[int], watched: Sequence[int]) -> list[float]:
    """Return how long each result of a stream took from the end of its message to each of the watched ports."""
    data = env.copy_store()
    add_webhooks(data, ports)
    sink.arrivals()
    with env.run_pabal(data, "webhooks") as server:
        plan = load.LoadPlan(
            port=server.port,
            path=bodies.SEND_SMS,
            key=env.key,
            bodies=bodies.sends(100, STREAM_RECEIVERS),
            pause_s=STREAM_PAUSE_S,
            seconds=STREAM_S,
        )
        sent = load.run(plan).all_requests * STREAM_RECEIVERS
        arrived = _wait(sink, watched, sent)
    ended = _ends(data)
    return [(at - ended[one]) / SECOND for port in watched for one, at in arrived[port].items()]


def _ends(data: Path) -> dict[str, Instant]:
    """Return when each message ended."""
    reader = open_reader(data)
    found = {row[0].hex(): row[1] for row in reader.fetch_all("select id, completed_at from messages")}
    reader.close()
    return found


def _wait(sink: WebhookSink, ports: Sequence[int], messages: int) -> dict[int, dict[str, int]]:
    """Wait until every message has arrived at these ports, and return when each did."""
    arrived: dict[int, dict[str, int]] = {port: {} for port in ports}
    deadline = time.perf_counter() + TIMEOUT_S
    while any(len(found) < messages for found in arrived.values()):
        if time.perf_counter() > deadline:
            raise BenchmarkFailed(f"after {TIMEOUT_S:.0f} s not all results have arrived")
        time.sleep(POLL_INTERVAL_S)
        for port, found in sink.arrivals().items():
            for one, at in found.items():
                arrived.setdefault(port, {}).setdefault(one, at)
    return arrived


def add_webhooks(data: Path, ports: Sequence[int]) -> None:
    """Add a webhook for each port, and permit the service to reach them."""

    def add(tx: Tx) -> None:
        account_id = accounts.ensure_account(tx, "bench", WORLD.now())
        sealed = SecretBox((), WORLD).seal(b"s" * 32, secret_context(account_id))
        for port in ports:
            url = f"https://localhost:{port}/hook"
            webhooks.add(tx, NewWebhook(account_id, url, [EventType.MESSAGE_RESULT], [], "", sealed), WORLD.now())

    with_store(data, lambda store: store.write(add))
    allowed = ", ".join(f'"bench@localhost:{port}"' for port in ports)
    with (data / SETTINGS_FILE).open("a", encoding="utf-8") as settings:
        settings.write(f'webhook_allow = [{allowed}]\nwebhook_tls_ca = "{AUTHORITY}"\n')
