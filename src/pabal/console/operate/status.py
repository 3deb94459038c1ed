"""The operators' status page: carriers and the queue."""

from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.history.history import SENDABLE_PRODUCTS
from pabal.console.shell.page_request import PageRequest
from pabal.domain.dates import SECOND
from pabal.service.upkeep import reports
from pabal.service.upkeep.reports import CarrierState, QueueDepth

STATUS_PATH = "/console/operate/state"
LANE_KEYS = ("operate.small", "operate.campaign", "operate.taken")
"""The text keys of the lanes, by lane number."""
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86400


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


async def show_status(request: PageRequest) -> Response:
    """Show the status of carriers and queue."""
    return request.render("operate/status.html", snapshot=await _read_snapshot(request))


async def refresh_status(request: PageRequest) -> Response:
    """Answer with the current status, for the page that polls it."""
    return request.render("operate/status_panel.html", snapshot=await _read_snapshot(request))


async def _read_snapshot(request: PageRequest) -> StatusSnapshot:
    report = await reports.get_delivery_report(request.context)
    reported, configured = {state.name for state in report.carriers}, request.context.carriers
    abandoned = {depth.carrier for depth in report.queue if depth.carrier not in configured}
    silent = [CarrierState(name, "", 0, "") for name in sorted({*configured, *abandoned} - reported)]
    return StatusSnapshot(
        [_carrier_row(request, state, report.kinds.get(state.name, "")) for state in [*report.carriers, *silent]],
        [_lane_row(request, depth) for depth in report.queue],
        request.locale.format_timestamp(request.now),
        bool(abandoned),
    )


def _carrier_row(request: PageRequest, state: CarrierState, known_kind: str) -> CarrierStatusRow:
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
