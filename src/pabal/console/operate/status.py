"""The operators' first page: carriers, queue, workers, and how long carriers take to answer."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.history.history import SENDABLE_PRODUCTS
from pabal.console.shell.column_chart import ChartColumn, DrawnChart, draw_chart
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused, Text
from pabal.domain.base.dates import DAY, HOUR, MINUTE, SECOND
from pabal.service.delivery.claiming.reroute import Moved, move_queue
from pabal.service.delivery.workers import HEARTBEAT_INTERVAL_S, MAX_MISSED_HEARTBEATS
from pabal.service.metrics import RESPONSE_BOUNDS_S
from pabal.service.upkeep import latency, reports
from pabal.service.upkeep.latency import Percentiles, add_up, find_percentiles
from pabal.service.upkeep.reports import CarrierState, DeliveryReport, MinuteLatency, WorkerState, get_latencies

SPANS = {"hour": (HOUR, 2 * MINUTE), "day": (DAY, 1 * HOUR)}
"""How long each period is, and each of its columns."""


class CarrierLatency(NamedTuple):
    """The response times of a carrier as a chart and as a table."""

    carrier: str
    chart: DrawnChart
    rows: Sequence[Sequence[str]]


async def read_chart(request: PageRequest) -> dict[str, object]:
    """Return what the page shows of the response times: those of one carrier, first of that with most answers."""
    word = request.field("span")
    span = word if word in SPANS else "hour"
    length, step = SPANS[span]
    first = request.now - request.now % step - length + step
    found = await request.context.store.read(get_latencies, first)
    answers = Counter[str]()
    for each in found:
        answers[each.carrier] += sum(each.counts)
    asked = request.field("carrier")
    chosen = asked if asked in answers else next((name for name, _ in answers.most_common(1)), "")
    starts = range(first, first + length, step)
    return {
        "span": span,
        "spans": list(SPANS),
        "answering": sorted(answers),
        "latency": _build(request, chosen, starts, [each for each in found if each.carrier == chosen])
        if chosen
        else None,
    }


def format_seconds(request: PageRequest, seconds: float) -> str:
    """Return a duration in words: 35 ms, 2.4 s, 60 s or more."""
    if seconds >= RESPONSE_BOUNDS_S[-1]:
        return request.t("operate.or_more", time=request.t("age.seconds", count=round(seconds)))
    if seconds < 1:
        return request.t("operate.ms", count=round(seconds * 1000))
    return request.t("age.seconds", count=f"{seconds:.1f}")


def _build(request: PageRequest, name: str, starts: range, found: Sequence[MinuteLatency]) -> CarrierLatency:
    columns, rows = [], []
    for start in starts:
        at = request.time(start)[11:16]
        percentiles = find_percentiles(add_up(each for each in found if start <= each.minute < start + starts.step))
        columns.append(_column(request, at, percentiles))
        if percentiles:
            rows.append(
                [at, f"{percentiles.answers:,}", *(format_seconds(request, each) for each in percentiles[1:])]
            )
    total = find_percentiles(add_up(found))
    if total:
        shown = [format_seconds(request, each) for each in total[1:]]
        rows.append([request.t("latency.total"), f"{total.answers:,}", *shown])
    about = request.t("latency.chart_about", carrier=name)
    chart = draw_chart(about, columns, lambda each: _format_tick(request, each), is_whole=False)
    return CarrierLatency(name, chart, rows)


def _column(request: PageRequest, at: str, found: Percentiles | None) -> ChartColumn:
    """Return a column whose parts end at the three percentiles."""
    if found is None:
        return ChartColumn(request.t("latency.point", at=at, answers=0), at, [], [])
    words = [
        f"{request.t(f'latency.{key}')} {format_seconds(request, value)}"
        for key, value in zip(("p50", "p95", "p99"), found[1:], strict=True)
    ]
    parts = [("p50", found.p50), ("p95", found.p95 - found.p50), ("p99", found.p99 - found.p95)]
    return ChartColumn(
        request.t("latency.point", at=at, answers=f"{found.answers:,}"), at, parts, [" · ".join(words)]
    )


def _format_tick(request: PageRequest, seconds: float) -> str:
    if seconds < 1:
        return request.t("operate.ms", count=f"{seconds * 1000:g}")
    return request.t("age.seconds", count=f"{seconds:g}")


STATUS_PATH = "/console/operate/state"
LANE_KEYS = ("operate.small", "operate.campaign", "operate.taken")
"""The text keys of the lanes, by lane number."""
AWAITED = 2
"""The lane of messages that a carrier has taken."""
SEVERITY = ("unused", "up", "partly", "aside", "down", "gone")
NO_ACCOUNT = 0
QUOTA_NAMES = ("messages_per_day", "texts_per_month", "calls", "calls_per_second")
"""Quotas of relays that have a text."""
MAX_SILENCE_MS = round(MAX_MISSED_HEARTBEATS * HEARTBEAT_INTERVAL_S * SECOND)
"""A worker that has sent no heartbeat for longer is shown as silent."""
MAX_CLOCK_DIFFERENCE_MS = 1 * SECOND
"""A greater difference from the database's clock is marked."""


class CarrierStatusRow(NamedTuple):
    """A carrier as a worker sees it."""

    report: CarrierState
    kind: str
    products: str
    rate_limit: int
    state: str
    latency: Sequence[str]
    """How long half, 95 % and 99 % of its answers took at most; empty: it has answered nothing lately."""


class CarrierCard(NamedTuple):
    """A carrier over all workers: the worst state, its queue, and each error once."""

    row: CarrierStatusRow
    state: str
    lanes: Sequence[tuple[str, int]]
    waiting: int
    """How many messages it has not got yet."""
    oldest: str
    """How long the first of them has been due; empty: none is."""
    errors: Sequence[tuple[str | None, CarrierState]]
    workers: Sequence[CarrierStatusRow]
    """As each worker sees it, where several do."""
    per_minute: int


async def show_status(request: PageRequest, refused: Refused | None = None, moved: Moved | None = None) -> Response:
    """Show the status of carriers, queue and workers, and how long carriers took to answer."""
    return request.render(
        "operate/status.html",
        refused,
        **await _read_snapshot(request),
        **await read_chart(request),
        moved=moved,
        chosen=request.field("from"),
        targets=list(request.context.carriers),
    )


async def move_messages(request: PageRequest) -> Response:
    """Move the waiting messages of a carrier to another one, and show how many."""
    carrier, target = request.field("from"), request.field("to")
    entry = request.audit_entry("carrier.move", f"{carrier} {target}", NO_ACCOUNT)._replace(account_id=None)
    return await show_status(request, moved=await move_queue(request.context, carrier, target, entry))


async def refresh_status(request: PageRequest) -> Response:
    """Answer with the current status, for the page that polls it."""
    return request.render("operate/status_panel.html", **await _read_snapshot(request))


async def _read_snapshot(request: PageRequest) -> dict[str, object]:
    """Return the status of carriers, queue and workers now."""
    report = await reports.get_delivery_report(request.context)
    reported, configured = {state.name for state in report.carriers}, request.context.carriers
    abandoned = {depth.carrier for depth in report.queue if depth.carrier not in configured}
    silent = [CarrierState(name, "", 0, "") for name in sorted({*configured, *abandoned} - reported)]
    return {
        "cards": [
            _carrier_card(
                request, name, [each for each in [*report.carriers, *silent] if each.name == name], report
            )
            for name in sorted({each.name for each in [*report.carriers, *silent]})
        ],
        "has_abandoned": bool(abandoned),
        "workers": [_worker_row(request, each) for each in report.workers],
        "total_slots": request.context.slots.total,
        "used_up": list_used_up(request, report.carriers),
    }


def list_used_up(request: PageRequest, carriers: Sequence[CarrierState]) -> list[tuple[CarrierState, str, int]]:
    """Return the quotas that relays report as used up: the relay, the name, and how many messages are held."""
    return [
        (state, request.t(f"quota.{name}") if name in QUOTA_NAMES else name, holders)
        for state in carriers
        for name, holders in _read_quotas(state).items()
    ]


def _carrier_card(
    request: PageRequest, name: str, states: Sequence[CarrierState], report: DeliveryReport
) -> CarrierCard:
    rows = [_carrier_row(request, each, report.kinds.get(name, ""), report.latencies) for each in states]
    lanes = [each for each in report.queue if each.carrier == name]
    oldest = [each.oldest_ready_at for each in lanes if each.oldest_ready_at is not None and each.lane < AWAITED]
    errors = {each.reason or each.last_error: each for each in states if each.reason or each.last_error}
    return CarrierCard(
        rows[0],
        max((each.state for each in rows), key=SEVERITY.index),
        [(request.t(LANE_KEYS[each.lane]), each.jobs) for each in lanes],
        sum(each.jobs for each in lanes if each.lane < AWAITED),
        request.age(max(0, request.now - min(oldest)) // SECOND) if oldest else "",
        list(errors.items()),
        rows if len(rows) > 1 else (),
        sum(each.throughput_at(request.now) for each in states),
    )


def _carrier_row(
    request: PageRequest, state: CarrierState, known_kind: str, latencies: Sequence[MinuteLatency]
) -> CarrierStatusRow:
    of_this = [each for each in latencies if each.carrier == state.name and each.worker == state.worker]
    found = latency.find_percentiles(latency.add_up(of_this))
    carrier = request.context.carriers.get(state.name)
    settings = request.site.settings.carriers.get(state.name)
    products = [product for product in SENDABLE_PRODUCTS if carrier and product in carrier.products]
    return CarrierStatusRow(
        state,
        settings.kind if settings else known_kind,
        " · ".join(request.translate(product.label) for product in products),
        round(carrier.rate) if carrier else 0,
        (state.shown_state or "unused") if carrier else "gone",
        [format_seconds(request, each) for each in found[1:]] if found else [],
    )


def _read_quotas(state: CarrierState) -> Mapping[str, int]:
    return dict(json.loads(state.quotas)) if state.quotas else {}


def _worker_row(request: PageRequest, worker: WorkerState) -> tuple[WorkerState, str, str, str, bool]:
    """Return a worker, its state as the texts name it, how long it is silent, and whether its clock is wrong.

    Before the last comes by how much its clock is ahead of the database's, with a sign.
    """
    silent, ahead = worker.silent_ms, worker.ahead_ms
    return (
        worker,
        "joining" if silent is None else "alive" if silent <= MAX_SILENCE_MS else "silent",
        "" if silent is None else request.age(max(0, silent) // SECOND),
        "" if ahead is None else request.t("operate.clock_by", seconds=f"{ahead / SECOND:+.1f}"),
        ahead is not None and abs(ahead) > MAX_CLOCK_DIFFERENCE_MS,
    )


TEXTS = {
    "menu.operate": Text("운영", "Operations"),
    "operate.parts": Text("운영 화면", "Operator pages"),
    "operate.part.state": Text("발송 경로와 대기열", "Carriers and queue"),
    "operate.latency": Text("응답 시간(10분)", "Response time (10 min)"),
    "operate.latency_of": Text("절반 {p50} · 95% {p95} · 99% {p99}", "half {p50} · 95 % {p95} · 99 % {p99}"),
    "operate.part.accounts": Text("계정", "Accounts"),
    "operate.part.numbers": Text("발신번호 승인", "Sender numbers"),
    "operate.part.mappings": Text("중계사 간 연결", "Mappings"),
    "operate.part.settings": Text("설정", "Settings"),
    "operate.at": Text("{at} 기준이며 5초마다 새로 고칩니다.", "As of {at}. Refreshed every 5 seconds."),
    "operate.kind": Text("종류", "Type"),
    "operate.since": Text("변경 시각", "Since"),
    "operate.trouble": Text("최근 오류", "Last error"),
    "operate.pace": Text("현재 속도", "Current rate"),
    "operate.per_minute": Text("분당 {count}건", "{count} per minute"),
    "operate.rate": Text("속도 제한", "Rate limit"),
    "operate.per_second": Text("초당 {count}건", "{count} per second"),
    "operate.worker": Text("작업 프로세스", "Worker"),
    "operate.up": Text("정상", "Up"),
    "operate.partly": Text("일부만 정상", "Partly up"),
    "operate.down": Text("연결 끊김", "Down"),
    "operate.aside": Text("오류로 일시 중단", "Paused after errors"),
    "operate.unused": Text("아직 사용 안 함", "Not used yet"),
    "operate.gone": Text("설정에 없음", "Not in the settings"),
    "operate.abandoned": Text(
        "설정에 없는 발송 경로의 메시지는 발송되지 않고 대기합니다. "
        "실제 발송 경로의 메시지가 시뮬레이터로 넘어가는 일은 없습니다. 그 발송 경로를 설정에 다시 넣거나, "
        "아래에서 다른 발송 경로로 옮기거나, 명령줄의 pabal carrier cancel로 취소하세요.",
        "Messages of a carrier that is not in the settings wait. They never go from a real carrier to a simulator. "
        "Add the carrier to the settings again, move them below to another one, or cancel them on the command "
        "line: pabal carrier cancel.",
    ),
    "operate.queue": Text("대기열", "Queue"),
    "operate.small": Text("일반 발송", "Regular messages"),
    "operate.campaign": Text("캠페인", "Campaigns"),
    "operate.taken": Text("발송 결과 대기", "Awaiting receipt"),
    "operate.waiting": Text("대기 {count}건", "{count} waiting"),
    "operate.oldest": Text("가장 오래 {age} 기다림", "the first for {age}"),
    "operate.move": Text("대기 메시지 옮기기", "Move waiting messages"),
    "operate.move.about": Text(
        "아직 넘기지 않은 메시지만 옮깁니다. 보내는 중이거나 보냈을 수 있는 메시지는 두 번 가지 않도록 "
        "그대로 둡니다.",
        "Moves what the carrier surely has not got. What is in flight, or may have been sent, stays.",
    ),
    "operate.move.from": Text("지금 발송 경로", "From"),
    "operate.move.to": Text("옮겨 갈 발송 경로", "To"),
    "operate.move.do": Text("옮기기", "Move"),
    "operate.move.none": Text("기다리는 메시지가 없습니다.", "No messages wait."),
    "operate.move.option": Text("{carrier} (대기 {count:,}건)", "{carrier} ({count:,} waiting)"),
    "operate.moved": Text(
        "{moved:,}건을 옮겼습니다({carrier} → {target}). {carrier}의 대기 메시지는 {before:,}건에서 "
        "{left:,}건이 되었습니다.",
        "{moved:,} messages moved from {carrier} to {target}. At {carrier}, {before:,} waited before and {left:,} "
        "do now.",
    ),
    "operate.ms": Text("{count}ms", "{count} ms"),
    "operate.or_more": Text("{time} 이상", "{time} or more"),
    "operate.workers": Text("작업 프로세스", "Workers"),
    "operate.workers_about": Text(
        "슬롯 {slots}개를 나누어 발송합니다. 시계 차이는 데이터베이스 시계와 비교한 값입니다.",
        "They share {slots} slots. Clocks are compared with that of the database.",
    ),
    "operate.one_worker": Text("이 프로세스 하나가 모두 발송합니다.", "This process alone delivers all messages."),
    "operate.alive": Text("작동 중", "Alive"),
    "operate.silent": Text("응답 없음", "Silent"),
    "operate.joining": Text("시작하는 중", "Joining"),
    "operate.slots": Text("슬롯", "Slots"),
    "operate.heartbeat": Text("마지막 하트비트", "Last heartbeat"),
    "operate.heartbeat_ago": Text("{age} 전", "{age} ago"),
    "operate.joined": Text("참여 시각", "Joined"),
    "operate.clock": Text("시계 차이", "Clock"),
    "operate.clock_by": Text("{seconds}초", "{seconds} s"),
    "operate.clock_wrong": Text("시계를 맞추세요(NTP)", "Set the clock (NTP)"),
    "operate.quotas": Text("소진된 쿼터", "Used up quotas"),
    "operate.quota": Text("쿼터", "Quota"),
    "operate.quota_holders": Text("해당 발신 프로필 등", "Profiles or other holders"),
    "operate.quotas_about": Text(
        "중계사가 한도를 다 썼다고 알린 것입니다. 해당 메시지는 기다리거나 다음 발송 경로로 갑니다.",
        "What relays report as used up. Its messages wait, or go to the next carrier of their route.",
    ),
    "quota.messages_per_day": Text("하루 메시지 수", "Messages per day"),
    "quota.texts_per_month": Text("한 달 문자 수", "Texts per month"),
    "quota.calls": Text("API 호출 수", "Calls"),
    "quota.calls_per_second": Text("초당 API 호출 수", "Calls per second"),
    "operate.no_quotas": Text("소진된 쿼터가 없습니다.", "No quotas are used up."),
    "latency.title": Text("발송 경로 응답 시간", "Response times of carriers"),
    "latency.about": Text(
        "메시지 묶음 하나를 보내고 응답받기까지 걸린 시간입니다. 모든 작업 프로세스를 합했습니다.",
        "How long a carrier took to answer a batch of messages, over all workers.",
    ),
    "latency.span": Text("응답 시간 기간", "Period of the response times"),
    "latency.span.hour": Text("최근 1시간", "Last hour"),
    "latency.span.day": Text("최근 24시간", "Last 24 hours"),
    "latency.p50": Text("절반", "Half"),
    "latency.p95": Text("95%", "95 %"),
    "latency.p99": Text("99%", "99 %"),
    "latency.answers": Text("응답", "Answers"),
    "latency.point": Text("{at} · 응답 {answers}건", "{at} · {answers} answers"),
    "latency.chart_about": Text(
        "{carrier}의 응답 시간 그래프(초)입니다. 화살표 키로 옮깁니다.",
        "Response times of {carrier} in seconds. Move with the arrow keys.",
    ),
    "latency.none": Text("이 기간에 응답한 발송 경로가 없습니다.", "No carrier has answered in this period."),
    "latency.total": Text("전체", "Total"),
}
