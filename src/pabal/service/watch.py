"""What the service counts and measures, for Prometheus."""

from collections import Counter as Tally
from collections.abc import Iterable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from pabal.domain.message import Outcome, Product
from pabal.store.jobs import Depth

disable_created_metrics()  # type: ignore[no-untyped-call]
_LANES = ("small", "campaign", "taken")


class Watch:
    """The counters of one running service."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self.accepted = Counter(
            "pabal_messages_accepted_total", "Messages accepted.", ["product"], registry=registry
        )
        self.ended = Counter(
            "pabal_messages_ended_total",
            "Messages that ended, by result code.",
            ["product", "code"],
            registry=registry,
        )
        self.cancelled = Counter("pabal_messages_cancelled_total", "Messages cancelled.", registry=registry)
        self.requests = Counter(
            "pabal_http_requests_total",
            "Requests to the interface, by result.",
            ["path", "result"],
            registry=registry,
        )
        self.carrier_seconds = Histogram(
            "pabal_carrier_answer_seconds",
            "How long a carrier took to answer a batch.",
            ["carrier"],
            registry=registry,
        )
        self.verdicts = Counter(
            "pabal_carrier_verdicts_total",
            "What carriers said to messages.",
            ["carrier", "verdict"],
            registry=registry,
        )
        self.receipts = Counter("pabal_receipts_total", "Receipts received.", ["carrier"], registry=registry)
        self.unmatched = Counter(
            "pabal_receipts_unmatched_total",
            "Receipts that matched no message.",
            ["carrier"],
            registry=registry,
        )
        self.commit_seconds = Histogram(
            "pabal_store_commit_seconds",
            "How long a commit of the store took.",
            buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5),
            registry=registry,
        )
        self.commit_callers = Histogram(
            "pabal_store_commit_callers",
            "How many transactions one commit held.",
            buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512),
            registry=registry,
        )
        self.queue_jobs = Gauge("pabal_queue_jobs", "Jobs in the queue.", ["carrier", "lane"], registry=registry)
        self.queue_age = Gauge(
            "pabal_queue_oldest_due_seconds",
            "How long the oldest due job waits.",
            ["carrier", "lane"],
            registry=registry,
        )

    def count_ended(self, ended: Iterable[tuple[Product, Outcome]]) -> None:
        """Count messages that ended."""
        for (product, outcome), count in Tally(ended).items():
            self.ended.labels(product.word, str(outcome.number)).inc(count)

    def show_queue(self, depths: Iterable[Depth], now: int) -> None:
        """Take over how deep the queue is."""
        for depth in depths:
            labels = (depth.carrier, _LANES[depth.lane])
            self.queue_jobs.labels(*labels).set(depth.jobs)
            oldest = depth.oldest_ready_at
            self.queue_age.labels(*labels).set(0 if oldest is None else (now - oldest) / 1000)

    def page(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self.registry)
