"""Metrics of the service, for Prometheus."""

import asyncio
import platform
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, Metric

from pabal import __version__
from pabal.domain.sends.message import Outcome, Product
from pabal.store.engine.group_commit import CommitStats
from pabal.store.queue.carriers import CarrierState
from pabal.store.queue.queue_admin import QueueDepth
from pabal.store.queue.slots import Worker
from pabal.world import World

disable_created_metrics()  # type: ignore[no-untyped-call]
RESPONSE_BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 30.0, 60.0)
"""Classes of the time that a carrier takes to answer: up to each of these, and longer."""
SHORT_BOUNDS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5)
_LANES = ("small", "campaign", "awaiting_receipt")


class LabelledCounter:
    """A counter with labels that costs the hot path one addition; it is formatted only when read."""

    def __init__(self, name: str, help: str, labels: Sequence[str], registry: CollectorRegistry) -> None:
        self._family = (name.removesuffix("_total"), help, labels)
        self._counts: dict[tuple[str, ...], int] = {}
        registry.register(self)

    def add(self, count: int, *labels: str) -> None:
        """Add to the count of these labels."""
        self._counts[labels] = self._counts.get(labels, 0) + count

    def count(self, *labels: str) -> int:
        """Return the count of these labels."""
        return self._counts.get(labels, 0)

    def collect(self) -> Iterable[CounterMetricFamily]:
        """Yield the counts to Prometheus."""
        name, help, labels = self._family
        family = CounterMetricFamily(name, help, labels=labels)
        for key, count in sorted(self._counts.items()):
            family.add_metric(key, count)
        yield family


class Metrics:
    """The metrics of one running service.

    Those that are read from the store are left out while it does not answer: old ones would hide the outage.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._store_registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        build = self._gauge(
            "pabal_build_info", "The version that runs, and that of Python: 1.", "version", "python"
        )
        build.labels(__version__, platform.python_version()).set(1)
        self.store_up = self._gauge("pabal_store_up", "Whether the store answers.")
        self.is_store_up = True
        self.messages_accepted = self._counter("pabal_messages_accepted_total", "Messages accepted.", "product")
        self.messages_ended = self._counter(
            "pabal_messages_ended_total", "Messages that ended, by result code.", "product", "code"
        )
        self.messages_cancelled = self._counter("pabal_messages_cancelled_total", "Messages cancelled.")
        self.mails = self._counter(
            "pabal_mails_total", "Tries to hand mails to the mail server, by result.", "result"
        )
        self.mails_waiting = self._store_gauge("pabal_mails_waiting", "Mails to users that were not sent yet.")
        self.mail_server_failing = self._store_gauge(
            "pabal_mail_server_failing", "Whether the last try to use the mail server failed."
        )
        self.http_requests = self._counter(
            "pabal_http_requests_total", "Requests to the API, by result.", "path", "result"
        )
        self.limits_near = self._counter(
            "pabal_limits_near_total",
            "Times that an account reached this percentage of a limit.",
            "limit",
            "percent",
        )
        self.sign_ins = self._counter(
            "pabal_sign_ins_total",
            "Sign-ins to the console: success, failure, or throttled after too many failures.",
            "result",
        )
        self.loop_lag_seconds = self._histogram(
            "pabal_loop_lag_seconds", "How late the event loop is.", SHORT_BOUNDS_S
        )
        self.clock_steps = self._counter(
            "pabal_clock_steps_total", "Steps of the system's clock, by direction.", "direction"
        )
        self._add_webhook_metrics()
        self._add_connection_metrics()
        self._add_store_metrics()
        self._add_carrier_metrics()

    def _add_webhook_metrics(self) -> None:
        self.webhook_posts = self._counter("pabal_webhook_posts_total", "Posts to webhooks, by result.", "result")
        self.webhook_events = self._counter(
            "pabal_webhook_events_total", "Events delivered to webhooks, or given up.", "result"
        )
        self.webhook_endpoints_paused = self._store_gauge(
            "pabal_webhook_endpoints_paused", "Webhooks that are paused because they keep failing."
        )
        self.webhook_endpoints_failing = self._gauge(
            "pabal_webhook_endpoints_failing", "Webhooks of this process with deliveries that have failed."
        )
        self.webhook_backlog_events = self._store_gauge(
            "pabal_webhook_backlog_events",
            "Events that wait for the webhooks of this process, up to about 10,000 for each.",
            "state",
        )
        self.webhook_oldest_event_seconds = self._store_gauge(
            "pabal_webhook_oldest_event_seconds", "Time the oldest of these events has waited.", "state"
        )
        self.webhook_endpoints_gone = self._store_gauge(
            "pabal_webhook_endpoints_gone", "Webhooks that are disabled because they kept answering 410 Gone."
        )

    def _add_connection_metrics(self) -> None:
        self.http_connections = self._gauge(
            "pabal_http_connections",
            "Open connections: all, those waiting for a request, those receiving a body.",
            "state",
        )
        self.http_connections_limit = self._gauge("pabal_http_connections_limit", "Limit of open connections.")
        self.http_connections_closed = self._counter(
            "pabal_http_connections_closed_total", "Connections closed by the service.", "reason"
        )
        self.http_body_bytes = self._gauge("pabal_http_body_bytes", "Bytes of request bodies being held.", "part")
        self.http_body_bytes_limit = self._gauge("pabal_http_body_bytes_limit", "Limit of these bytes.", "part")

    def _add_store_metrics(self) -> None:
        self.commit_seconds = self._histogram(
            "pabal_store_commit_seconds", "Time a commit of the store took.", SHORT_BOUNDS_S
        )
        self.commit_writes = self._histogram(
            "pabal_store_commit_writes",
            "Number of transactions in one commit.",
            (1, 2, 4, 8, 16, 32, 64, 128, 256, 512),
        )
        self.queue_jobs = self._store_gauge("pabal_queue_jobs", "Jobs in the queue.", "carrier", "lane")
        self.queue_unconfigured_jobs = self._store_gauge(
            "pabal_queue_unconfigured_jobs", "Jobs of carriers that are not configured: they wait for an operator."
        )
        self.queue_oldest_due_seconds = self._store_gauge(
            "pabal_queue_oldest_due_seconds", "Time the oldest due job has waited.", "carrier", "lane"
        )
        self.prepared_transactions_oldest_seconds = self._gauge(
            "pabal_prepared_transactions_oldest_seconds",
            "How long ago the oldest transaction was prepared that Citus has not ended yet; 0: none.",
        )
        self.months_missing = self._store_gauge(
            "pabal_months_missing",
            "Months without partitions of PostgreSQL, of those that have begun or begin within 7 days.",
        )

    def _add_carrier_metrics(self) -> None:
        self.receipts = self._counter("pabal_receipts_total", "Receipts received.", "carrier")
        self.receipts_unmatched = self._counter(
            "pabal_receipts_unmatched_total", "Receipts that matched no message.", "carrier"
        )
        self.receipts_oldest_awaited_seconds = self._store_gauge(
            "pabal_receipts_oldest_awaited_seconds",
            "Time since the oldest message was submitted that awaits its receipt; 0: none does.",
            "carrier",
        )
        self.inbound = self._counter(
            "pabal_inbound_total", "Inbound messages received; each part of a long one counts.", "carrier"
        )
        self.carrier_response_seconds = self._histogram(
            "pabal_carrier_response_seconds", "Time a carrier took to answer a batch.", RESPONSE_BOUNDS_S, "carrier"
        )
        self.carrier_verdicts = self._counter(
            "pabal_carrier_verdicts_total", "Verdicts of carriers on messages.", "carrier", "verdict"
        )
        self.carrier_anomalies = self._counter(
            "pabal_carrier_anomalies_total", "Unexpected behaviour of carriers.", "carrier", "what"
        )
        self.late_answers = self._counter(
            "pabal_carrier_late_answers_total",
            "Answers that came after their messages were in doubt.",
            "carrier",
            "verdict",
        )
        self.carrier_up = self._gauge("pabal_carrier_up", "Whether a carrier is connected and in use.", "carrier")
        self.carrier_circuit_open = self._gauge(
            "pabal_carrier_circuit_open",
            "Whether a carrier's circuit is open: its messages go to the next carrier of their route.",
            "carrier",
        )
        self.carrier_quotas_exhausted = self._gauge(
            "pabal_carrier_quotas_exhausted",
            "How many quotas of a carrier are used up: messages wait, or go to the next carrier of their route.",
            "carrier",
            "quota",
        )
        self._quota_names: set[tuple[str, str]] = set()
        self.carrier_state = self._store_gauge(
            "pabal_carrier_state",
            "The state of a carrier as each worker of the store sees it: 1.",
            "carrier",
            "worker",
            "state",
        )
        self.carrier_messages_per_minute = self._store_gauge(
            "pabal_carrier_messages_per_minute",
            "Messages per minute that a carrier accepted lately from each worker of the store.",
            "carrier",
            "worker",
        )
        self.worker_slots = self._store_gauge("pabal_worker_slots", "Slots that a worker holds.", "worker")
        self.worker_heartbeats = self._store_gauge(
            "pabal_worker_heartbeats", "Heartbeats of a worker; it is dead if they stand still.", "worker"
        )

    def _counter(self, name: str, help: str, *labels: str) -> LabelledCounter:
        return LabelledCounter(name, help, labels, self.registry)

    def _gauge(self, name: str, help: str, *labels: str) -> Gauge:
        return Gauge(name, help, labels, registry=self.registry)

    def _store_gauge(self, name: str, help: str, *labels: str) -> Gauge:
        return Gauge(name, help, labels, registry=self._store_registry)

    def _histogram(self, name: str, help: str, bounds: Sequence[float], *labels: str) -> Histogram:
        return Histogram(name, help, labels, buckets=bounds, registry=self.registry)

    def count_responses(self) -> dict[str, tuple[int, ...]]:
        """Return how many batches each carrier has answered, by class of RESPONSE_BOUNDS_S, and later than all."""
        cumulated: dict[str, list[int]] = {}
        for family in self.carrier_response_seconds.collect():
            for sample in family.samples:
                if sample.name.endswith("_bucket"):
                    cumulated.setdefault(sample.labels["carrier"], []).append(int(sample.value))
        return {
            name: tuple(each - before for before, each in zip([0, *counts], counts, strict=False))
            for name, counts in cumulated.items()
        }

    def count_ended(self, ended: Iterable[tuple[Product, Outcome]]) -> None:
        """Count messages that ended."""
        for (product, outcome), count in Counter(ended).items():
            self.messages_ended.add(count, product.code, str(outcome.number))

    def show_body_bytes(self, part: str, limit: int, count_held: Callable[[], float]) -> None:
        """Show how many bytes of bodies a part of the service holds, and its limit."""
        self.http_body_bytes_limit.labels(part).set(limit)
        self.http_body_bytes.labels(part).set_function(count_held)

    def observe_commit(self, stats: CommitStats) -> None:
        """Count a commit of the store, how long it took and how many writes it had."""
        self.commit_seconds.observe(stats.duration_s)
        self.commit_writes.observe(stats.writes)

    def set_carrier_status(self, name: str, *, is_up: bool, is_circuit_open: bool) -> None:
        """Set the gauges of a carrier."""
        self.carrier_up.labels(name).set(is_up)
        self.carrier_circuit_open.labels(name).set(is_circuit_open)

    def set_carrier_states(self, states: Iterable[CarrierState], now: int) -> None:
        """Set the gauges of carriers as all workers see them."""
        self.carrier_state.clear()
        self.carrier_messages_per_minute.clear()
        for each in states:
            self.carrier_state.labels(each.name, each.worker, each.shown_state).set(1)
            self.carrier_messages_per_minute.labels(each.name, each.worker).set(each.throughput_at(now))

    def set_workers(self, workers: Iterable[tuple[Worker, int]]) -> None:
        """Set the gauges of workers, which hold so many slots each."""
        self.worker_slots.clear()
        self.worker_heartbeats.clear()
        for worker, slots in workers:
            self.worker_slots.labels(worker.name).set(slots)
            self.worker_heartbeats.labels(worker.name).set(worker.heartbeat)

    def set_exhausted_quotas(self, carrier: str, counts: Mapping[str, int]) -> None:
        """Set how many quotas of a carrier are used up; a quota that was once stays, at 0."""
        self._quota_names |= {(carrier, name) for name in counts}
        for name in [quota for holder, quota in self._quota_names if holder == carrier]:
            self.carrier_quotas_exhausted.labels(carrier, name).set(counts.get(name, 0))

    def set_queue_depths(self, depths: Sequence[QueueDepth], configured: Container[str], now: int) -> None:
        """Set the gauges of the queue; `configured` are the carriers of this process."""
        self.queue_jobs.clear()  # of carriers that were forgotten since
        self.queue_oldest_due_seconds.clear()
        self.queue_unconfigured_jobs.set(sum(each.jobs for each in depths if each.carrier not in configured))
        for depth in depths:
            labels = (depth.carrier, _LANES[depth.lane])
            self.queue_jobs.labels(*labels).set(depth.jobs)
            oldest = depth.oldest_ready_at
            self.queue_oldest_due_seconds.labels(*labels).set(0 if oldest is None else (now - oldest) / 1000)

    def show_receipts(self, carriers: Iterable[str]) -> None:
        """Count the receipts of these carriers from 0 on: Prometheus sees no growth in a first value."""
        for name in carriers:
            self.receipts.add(0, name)
            self.receipts_unmatched.add(0, name)

    def set_awaited_receipts(self, carriers: Iterable[str], oldest: Mapping[str, int], now: int) -> None:
        """Set for how long carriers have owed receipts; `oldest` says when their first message was submitted."""
        for name in carriers:
            age_s = max(0, now - oldest[name]) / 1000 if name in oldest else 0
            self.receipts_oldest_awaited_seconds.labels(name).set(age_s)

    def collect(self) -> Iterator[Metric]:
        """Yield every metric."""
        yield from self.registry.collect()
        yield from self._store_registry.collect()

    def render(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        self.store_up.set(self.is_store_up)
        from_store = generate_latest(self._store_registry) if self.is_store_up else b""
        return generate_latest(self.registry) + from_store


CHECK_INTERVAL_S = 0.1
"""How often a timer is set to see how late it fires."""


async def watch_loop_lag(world: World, observe: Callable[[float], None]) -> None:
    """Report the lag in seconds, forever."""
    while True:
        due_at = world.monotonic() + CHECK_INTERVAL_S
        await asyncio.sleep(CHECK_INTERVAL_S)
        observe(max(0.0, world.monotonic() - due_at))
