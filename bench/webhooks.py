"""What webhooks cost delivery, how fast results go out to one, and what a dead one does to others."""

import time
from collections.abc import Sequence
from pathlib import Path

from bench.deliver import measure_delivery
from bench.figures import Figure, percentile
from bench.fill import REQUEST_RECEIVERS, WORLD, fill, with_store
from bench.server import SETTINGS_FILE, BenchEnvironment, BenchmarkFailed, report_progress
from bench.store_reader import open_reader
from bench.webhook_sink import AUTHORITY, WebhookSink, running_webhook_sink
from pabal.domain.event import EventType
from pabal.domain.webhook import secret_context
from pabal.store import accounts, webhooks
from pabal.store.engine.base import Tx
from pabal.store.webhooks import NewWebhook
from pabal.webhooks.secrets import SecretBox

TARGET_DELIVERY = 0.9
TARGET_RATE = 2000.0
TARGET_DEAD = 1.1
MESSAGES = 20_000
ENDPOINTS = 20
SHARED_MESSAGES = 1000
"""Messages that each of the endpoints is told about."""
TIMEOUT_S = 300.0
POLL_INTERVAL_S = 0.2


def measure(env: BenchEnvironment) -> list[Figure]:
    """Deliver with and without a webhook, then post a backlog to one, and results to twenty."""
    with running_webhook_sink(ENDPOINTS, 1) as sink:
        cost = _measure_cost(env, sink)
        return [*cost, _measure_dead(env, sink)]


def _measure_cost(env: BenchEnvironment, sink: WebhookSink) -> list[Figure]:
    plain, told = env.copy_store(), env.copy_store()
    for data in (plain, told):
        fill(data, MESSAGES // REQUEST_RECEIVERS)
    without, _ = measure_delivery(env, plain, MESSAGES)
    _add_webhooks(told, sink.live[:1])
    sink.arrivals()
    began = time.perf_counter()
    rate, _ = measure_delivery(env, told, MESSAGES, after=lambda: _wait(sink, sink.live[:1], MESSAGES))
    posted_s = time.perf_counter() - began
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
            "results delivered and posted to one endpoint",
            MESSAGES / posted_s,
            "/s",
            TARGET_RATE,
            details=f"{MESSAGES:,} in {posted_s:.1f} s, with the start of the service",
        ),
    ]


def _measure_dead(env: BenchEnvironment, sink: WebhookSink) -> Figure:
    """Compare how long results take to twenty endpoints, and to nineteen beside one that never answers."""
    all_live = _p99_s(env, sink, sink.live, sink.live)
    live = sink.live[:-1]
    beside_dead = _p99_s(env, sink, [*live, sink.silent[0]], live)
    return Figure(
        "webhooks",
        "wait for a post beside a dead endpoint / beside a live one, p99",
        beside_dead / all_live,
        "",
        TARGET_DEAD,
        "at most",
        f"{beside_dead:.2f} s, {all_live:.2f} s",
    )


def _p99_s(env: BenchEnvironment, sink: WebhookSink, ports: Sequence[int], watched: Sequence[int]) -> float:
    data = env.copy_store()
    fill(data, SHARED_MESSAGES // REQUEST_RECEIVERS)
    _add_webhooks(data, ports)
    sink.arrivals()
    with env.run_pabal(data, "webhooks"):
        arrived = _wait(sink, watched, SHARED_MESSAGES)
    reader = open_reader(data)
    ended = {row[0].hex(): row[1] for row in reader.fetch_all("select id, completed_at from messages")}
    reader.close()
    return percentile([(at - ended[one]) / 1000 for port in watched for one, at in arrived[port].items()], 0.99)


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


def _add_webhooks(data: Path, ports: Sequence[int]) -> None:
    """Add a webhook for each port, and permit the service to reach them."""

    def add(tx: Tx) -> None:
        account_id = accounts.ensure_account(tx, "bench", WORLD.now())
        sealed = SecretBox((), WORLD).seal(b"s" * 32, secret_context(account_id))
        for port in ports:
            url = f"https://localhost:{port}/hook"
            webhooks.add(tx, NewWebhook(account_id, url, [EventType.MESSAGE_RESULT], [], "", sealed), WORLD.now())

    with_store(data, lambda store: store.write(add))
    allowed = ", ".join(f'"bench@localhost:{port}"' for port in ports)
    settings = f'webhook_allow = [{allowed}]\nwebhook_tls_ca = "{AUTHORITY}"\n'
    (data / SETTINGS_FILE).write_text(settings, encoding="utf-8")
