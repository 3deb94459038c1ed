"""Reads the metrics of a running service as `pabal status` needs them."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_LINE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")


class Sample(NamedTuple):
    """One value of a metric, with its labels."""

    labels: Mapping[str, str]
    value: float


def parse_metrics(page: str) -> dict[str, list[Sample]]:
    """Return the values of every metric of a page in the text format of Prometheus."""
    found: dict[str, list[Sample]] = {}
    for name, labels, value in _LINE.findall(page):
        found.setdefault(name, []).append(Sample(_parse_labels(labels), float(value)))
    return found


def _parse_labels(text: str) -> dict[str, str]:
    return {
        name: _ESCAPED.sub(lambda match: "\n" if match[1] == "n" else match[1], value)
        for name, value in _LABEL.findall(text)
    }


class QueueLane(NamedTuple):
    """A lane of a carrier's queue."""

    carrier: str
    lane: str
    jobs: int
    oldest_due_s: float


class CarrierLine(NamedTuple):
    """A carrier as a worker sees it; the only process has no name."""

    carrier: str
    worker: str
    state: str
    messages_per_minute: int


class WorkerLine(NamedTuple):
    """A worker and its heartbeats."""

    worker: str
    slots: int
    heartbeats: int


class StatusFigures(NamedTuple):
    """What the metrics say about delivery at one time."""

    queue: list[QueueLane]
    carriers: list[CarrierLine]
    workers: list[WorkerLine]
    accepted: float
    """Messages that this process has accepted since it started."""
    ended: float


def read_figures(page: str) -> StatusFigures:
    """Return what a page of metrics says about delivery."""
    metrics = parse_metrics(page)
    due = _by_labels(metrics.get("pabal_queue_oldest_due_seconds", ()), "carrier", "lane")
    rates = _by_labels(metrics.get("pabal_carrier_messages_per_minute", ()), "carrier", "worker")
    beats = _by_labels(metrics.get("pabal_worker_heartbeats", ()), "worker")
    jobs = _by_labels(metrics.get("pabal_queue_jobs", ()), "carrier", "lane")
    states = _by_labels(metrics.get("pabal_carrier_state", ()), "carrier", "worker", "state")
    slots = _by_labels(metrics.get("pabal_worker_slots", ()), "worker")
    return StatusFigures(
        [
            QueueLane(carrier, lane, int(value), due.get((carrier, lane), 0.0))
            for (carrier, lane), value in jobs.items()
        ],
        [
            CarrierLine(carrier, worker, state, int(rates.get((carrier, worker), 0.0)))
            for carrier, worker, state in states
        ],
        [WorkerLine(key[0], int(value), int(beats.get(key, 0.0))) for key, value in slots.items()],
        sum(each.value for each in metrics.get("pabal_messages_accepted_total", ())),
        sum(each.value for each in metrics.get("pabal_messages_ended_total", ())),
    )


def _by_labels(samples: Iterable[Sample], *names: str) -> dict[tuple[str, ...], float]:
    return {tuple(each.labels.get(name, "") for name in names): each.value for each in samples}
