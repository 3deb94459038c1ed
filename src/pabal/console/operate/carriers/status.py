"""The operators' status page: carriers with their latency and quotas, the queue, and the workers."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.history.history import SENDABLE_PRODUCTS
from pabal.console.operate.carriers import latency_charts
from pabal.console.operate.carriers.latency_charts import format_seconds
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.dates import SECOND
from pabal.service.delivery.workers.heartbeat import HEARTBEAT_INTERVAL_S, MAX_MISSED_HEARTBEATS
from pabal.service.upkeep import latency, reports
from pabal.service.upkeep.reports import CarrierState, MinuteLatency, QueueDepth, WorkerState

STATUS_PATH = "/console/operate/state"
LANE_KEYS = ("operate.small", "operate.campaign", "operate.taken")
"""The text keys of the lanes, by lane number."""
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86400
QUOTA_NAMES = ("messages_per_day", "texts_per_month", "calls", "calls_per_second")
"""Quotas of relays that have a text."""
MAX_SILENCE_MS = round(MAX_MISSED_HEARTBEATS * HEARTBEAT_INTERVAL_S * SECOND)
"""A worker that has sent no heartbeat for longer is shown as silent."""
MAX_CLOCK_DIFFERENCE_MS = 1 * SECOND
"""A greater difference from the database's clock is marked."""


class CarrierStatusRow(NamedTuple):
    """A carrier as a worker sees it."""

    name: str
    kind: str
    products: str
    per_minute: int
    rate_limit: int
    worker: str
    state: str
    since: str
    reason: str
    last_error: str
    last_error_at: str
    latency: Sequence[str]
    """Half, 95 % and 99 % of its answers took at most so long; empty: it has answered nothing lately."""


class QuotaRow(NamedTuple):
    """A quota of a carrier that is used up."""

    carrier: str
    worker: str
    name: str
    holders: int


class WorkerRow(NamedTuple):
    """A worker, as it is shown."""

    name: str
    state: str
    """`alive`, `silent` or `joining`, as the texts name it."""
    slots: int
    heartbeat: int
    silent: str
    joined: str
    ahead: str
    """By how much its clock is ahead of the database's, with a sign."""
    is_skewed: bool


class LaneRow(NamedTuple):
    """A lane of a carrier's queue: how many messages wait, and how late the oldest due one is."""

    carrier: str
    name: str
    messages: int
    age: str


class StatusSnapshot(NamedTuple):
    """The status of carriers and queue at one time."""

    carriers: Sequence[CarrierStatusRow]
    lanes: Sequence[LaneRow]
    at: str
    has_abandoned: bool
    """Whether messages wait for a carrier that is not configured."""
    workers: Sequence[WorkerRow]
    total_slots: int
    quotas: Sequence[QuotaRow]


async def show_status(request: PageRequest) -> Response:
    """Show the status of carriers, queue and workers, and how long carriers took to answer."""
    return request.render(
        "operate/carriers/status.html",
        snapshot=await _read_snapshot(request),
        **await latency_charts.read_chart(request),
    )


async def refresh_status(request: PageRequest) -> Response:
    """Answer with the current status, for the page that polls it."""
    return request.render("operate/carriers/status_panel.html", snapshot=await _read_snapshot(request))


async def _read_snapshot(request: PageRequest) -> StatusSnapshot:
    report = await reports.get_delivery_report(request.context)
    reported, configured = {state.name for state in report.carriers}, request.context.carriers
    abandoned = {depth.carrier for depth in report.queue if depth.carrier not in configured}
    silent = [CarrierState(name, "", 0, "") for name in sorted({*configured, *abandoned} - reported)]
    return StatusSnapshot(
        [
            _carrier_row(request, state, report.kinds.get(state.name, ""), report.latencies)
            for state in [*report.carriers, *silent]
        ],
        [_lane_row(request, depth) for depth in report.queue],
        request.locale.format_timestamp(request.now),
        bool(abandoned),
        [_worker_row(request, each) for each in report.workers],
        request.context.slots.total,
        list_used_up(request, report.carriers),
    )


def list_used_up(request: PageRequest, carriers: Sequence[CarrierState]) -> list[QuotaRow]:
    """Return the quotas that relays report as used up."""
    return [
        QuotaRow(state.name, state.worker, request.t(f"quota.{name}") if name in QUOTA_NAMES else name, holders)
        for state in carriers
        for name, holders in _read_quotas(state).items()
    ]


def _carrier_row(
    request: PageRequest, state: CarrierState, known_kind: str, latencies: Sequence[MinuteLatency]
) -> CarrierStatusRow:
    of_this = [each for each in latencies if each.carrier == state.name and each.worker == state.worker]
    found = latency.find_percentiles(latency.add_up(of_this))
    carrier = request.context.carriers.get(state.name)
    settings = request.site.settings.carriers.get(state.name)
    products = [product for product in SENDABLE_PRODUCTS if carrier and product in carrier.products]
    return CarrierStatusRow(
        name=state.name,
        kind=settings.kind if settings else known_kind,
        products=" · ".join(request.translate(product.label) for product in products),
        per_minute=state.throughput_at(request.now),
        rate_limit=round(carrier.rate) if carrier else 0,
        worker=state.worker,
        state=(state.state or "unused") if carrier else "gone",
        since=request.locale.format_timestamp(state.since) if state.since else "",
        reason=state.reason,
        last_error=state.last_error or "",
        last_error_at=request.locale.format_timestamp(state.last_error_at) if state.last_error_at else "",
        latency=[format_seconds(request, each) for each in found[1:]] if found else [],
    )


def _read_quotas(state: CarrierState) -> Mapping[str, int]:
    return dict(json.loads(state.quotas)) if state.quotas else {}


def _worker_row(request: PageRequest, worker: WorkerState) -> WorkerRow:
    silent, ahead = worker.silent_ms, worker.ahead_ms
    return WorkerRow(
        worker.name,
        "joining" if silent is None else "alive" if silent <= MAX_SILENCE_MS else "silent",
        worker.slots,
        worker.heartbeat,
        "" if silent is None else _format_age(request, max(0, silent) // SECOND),
        request.locale.format_timestamp(worker.joined_at),
        "" if ahead is None else request.t("operate.clock_by", seconds=f"{ahead / SECOND:+.1f}"),
        ahead is not None and abs(ahead) > MAX_CLOCK_DIFFERENCE_MS,
    )


def _lane_row(request: PageRequest, depth: QueueDepth) -> LaneRow:
    oldest = depth.oldest_ready_at
    age = "" if oldest is None else _format_age(request, max(0, request.now - oldest) // SECOND)
    return LaneRow(depth.carrier, request.t(LANE_KEYS[depth.lane]), depth.jobs, age)


def _format_age(request: PageRequest, seconds: int) -> str:
    for key, size in (("operate.days", DAY_S), ("operate.hours", HOUR_S), ("operate.minutes", MINUTE_S)):
        if seconds >= size:
            return request.t(key, count=seconds // size)
    return request.t("operate.seconds", count=seconds)
