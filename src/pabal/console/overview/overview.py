"""The overview page: messages of today and the last weeks, their status, and the state of the carriers."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import partial
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.console.overview.figures import (
    COST,
    STATES,
    BarPart,
    Cells,
    Figure,
    StateCounts,
    amounts_of,
    build_bar,
    by_group,
    by_period,
    describe_states,
    format_amount,
    make_cards,
    read_rows,
    same_time_last_week,
)
from pabal.console.overview.figures import TEXTS as CARD_TEXTS
from pabal.console.shell.column_chart import ChartColumn, DrawnChart, draw_chart
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import dates as dates_module
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import SECOND
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, PRODUCT_BY_NUMBER, Product
from pabal.domain.sends.price import format_won
from pabal.service.access.accounts import account_limits, accounts
from pabal.service.history.history import find_outage
from pabal.service.upkeep import reports
from pabal.service.upkeep.reports import CarrierState

SHOWN_DAYS = 28

PERIODS_DAYS = (1, 7, 28)
DEFAULT_PERIOD_DAYS = 7
MIN_CHART_DAYS = 7
"""Fewest days of the chart: one day alone compares with nothing."""


class ProductChart(NamedTuple):
    """A message type's bar and its counts."""

    name: str
    counts: StateCounts
    rectangles: list[BarPart]
    reached: str
    """The percentage of receivers who got the message or its fallback; empty if it only was a fallback."""
    cost: str
    """In won; empty if it is not known."""


async def show_overview(request: PageRequest) -> Response:
    """Show the account's statistics."""
    chosen = request.field("days")
    period_days = int(chosen) if chosen in map(str, PERIODS_DAYS) else DEFAULT_PERIOD_DAYS
    dates = _shown_dates(request)
    zone = request.locale.zone
    periods = [dates_module.parse_period(day.isoformat(), zone) for day in dates]
    month = dates_module.month_of(request.now, zone)
    report = await reports.get_account_report(
        request.context, request.account_id, periods, month, same_time_last_week(request.now, zone)
    )
    cells = read_rows(report.rows, {int(each.start or 0): day for day, each in enumerate(periods)})
    in_period = _since(cells, len(periods) - period_days)
    today = _since(cells, len(periods) - 1)
    daily = by_period(cells, len(periods), 1)
    limit_use = await account_limits.get_use(request.context, request.account_id)
    has_costs = any(each.won is not None for each in daily)
    shows_cost = has_costs and request.field("show") == COST
    is_new = not any(each.states.total for each in daily)
    charted = max(period_days, MIN_CHART_DAYS)
    return request.render(
        "overview/overview.html",
        first_steps=await _first_steps(request) if is_new else [],
        cards=make_cards(request, daily[-1], _count_reasons(today), report, limit_use),
        today=daily[-1].states,
        today_bar=build_bar(amounts_of(daily[-1]), max(1, daily[-1].states.total)),
        failed_today=_failed_messages_url(dates[-1], dates[-1]),
        days=[
            (day.isoformat(), each.states, "" if each.counts.cost is None else format_won(each.counts.cost))
            for day, each in zip(dates[-charted:], daily[-charted:], strict=True)
        ],
        chart=_draw(request, dates[-charted:], daily[-charted:], shows_cost=shows_cost),
        charted=charted,
        shows_cost=shows_cost,
        period=period_days,
        periods=PERIODS_DAYS,
        products=_product_charts(request, in_period),
        has_costs=has_costs,
        reasons=_failure_reasons(request, in_period),
        failed=_failed_messages_url(dates[-period_days], dates[-1]),
        carriers=_carrier_summaries(request, report.carriers),
        as_of=request.short_minute(report.as_of if report.as_of is not None else request.now),
        blocked=_list_blocked(request, report.carriers),
        legend=STATES,
        limit_use=limit_use,
    )


async def _first_steps(request: PageRequest) -> list[tuple[str, bool, str]]:
    """Return the steps of setting up an account that the user may take: name, whether it is done, and path."""
    done = await accounts.get_first_steps(request.context, request.account_id)
    steps = (
        ("number", done.has_number, "/console/numbers"),
        ("profile", done.has_profile, "/console/profiles/new"),
        ("template", done.has_template, "/console/templates/new"),
        ("colleague", done.has_colleague, "/console/team"),
        ("send", False, "/console/send"),
    )
    return [step for step in steps if request.is_allowed(step[2])]


def _shown_dates(request: PageRequest) -> list[date]:
    """Return the days that are shown, in the service's time zone, oldest first."""
    today = datetime.fromtimestamp(request.now / SECOND, request.locale.zone).date()
    return [today - timedelta(days=back) for back in reversed(range(SHOWN_DAYS))]


def _since(cells: Cells, first: int) -> Cells:
    """Return the figures from a day on."""
    return {key: each for key, each in cells.items() if key[0] >= first}


def _count_reasons(cells: Cells) -> list[tuple[int, int]]:
    """Return result code and count of each failure reason, most frequent first."""
    failed = Counter({code: each.states.fail for (code,), each in by_group(cells, slice(1, 2)).items()})
    return [(code, count) for code, count in failed.most_common() if count]


def _draw(request: PageRequest, dates: Sequence[date], daily: Sequence[Figure], *, shows_cost: bool) -> DrawnChart:
    columns = []
    for day, each in zip(dates, daily, strict=True):
        if shows_cost:
            title = request.t("overview.cost_of_day", day=day.isoformat(), won=format_won(each.counts.cost or 0))
        else:
            title = request.t("overview.of_day", day=day.isoformat(), total=f"{each.states.total:,}")
        details = [] if shows_cost else describe_states(request, each)
        columns.append(ChartColumn(title, f"{day:%m-%d}", amounts_of(each, shows_cost=shows_cost), details))
    about = request.t("overview.days_about", first=dates[0], last=dates[-1])
    return draw_chart(about, columns, partial(format_amount, request, shows_cost=shows_cost))


def _product_charts(request: PageRequest, cells: Cells) -> list[ProductChart]:
    figures = by_group(cells, slice(1))
    largest = max([1, *(each.states.total for each in figures.values())])
    return [
        ProductChart(
            request.translate(PRODUCT_BY_NUMBER[product].label),
            each.states,
            build_bar(amounts_of(each), largest),
            each.reached,
            "" if each.counts.cost is None else format_won(each.counts.cost),
        )
        for (product,), each in sorted(figures.items())
    ]


def _failure_reasons(request: PageRequest, cells: Cells) -> list[tuple[str, int, int, list[BarPart]]]:
    """Return text, result code, count and bar of each failure reason, most frequent first."""
    failed = _count_reasons(cells)
    largest = max([1, *(count for _, count in failed)])
    return [
        (
            request.translate(OUTCOME_BY_NUMBER[code].label),
            code,
            count,
            build_bar([("fail", count)], largest),
        )
        for code, count in failed
    ]


def _failed_messages_url(first: date, last: date) -> str:
    """Return the URL of the messages that failed in these days."""
    fields = {"status": "fail", "requested_from": first.isoformat(), "requested_to": last.isoformat()}
    return f"/console/history?{urlencode(fields)}"


def _list_blocked(request: PageRequest, states: list[CarrierState]) -> list[dict[str, str]]:
    """Return the routes of which no carrier is up: carriers, the message types that wait for one, and how long."""
    routes: dict[tuple[str, ...], list[str]] = {}
    for product in Product:
        carriers = tuple(request.context.policy.routes.carriers_for(product))
        if carriers:
            routes.setdefault(carriers, []).append(request.translate(product.label))
    found = []
    for carriers, products in routes.items():
        outages = [find_outage(name, states) for name in carriers]
        if all(outages):
            since = max(each.since for each in outages if each)
            age = request.age(max(0, request.now - since) // SECOND)
            found.append({"carriers": ", ".join(carriers), "products": ", ".join(products), "age": age})
    return found


def _carrier_summaries(
    request: PageRequest, states: list[CarrierState]
) -> list[tuple[str, CarrierState | None, int, int]]:
    """Return the configured carriers: name, worst state at any worker, messages a minute, and rate."""
    severity = {"up": 0, "partly": 1, "aside": 2, "down": 3}
    summaries = []
    for name, carrier in request.context.carriers.items():
        reported = [each for each in states if each.name == name]
        state = max(reported, key=lambda each: severity.get(each.shown_state, 0), default=None)
        per_minute = sum(each.throughput_at(request.now) for each in reported)
        summaries.append((name, state, per_minute, round(carrier.rate)))
    return summaries


TEXTS = CARD_TEXTS | {
    "menu.overview": Text("현황", "Overview"),
    "first_steps.title": Text("시작하기", "Getting started"),
    "first_steps.about": Text(
        "아직 보낸 메시지가 없습니다. 아래 순서로 준비하면 바로 보낼 수 있습니다.",
        "Nothing was sent yet. These steps take you to the first message.",
    ),
    "first_steps.done": Text("완료", "Done"),
    "first_steps.number": Text("발신번호 등록", "Register a sender number"),
    "first_steps.number_help": Text(
        "문자는 등록된 발신번호로만 보낼 수 있습니다.", "Text messages go out from registered numbers only."
    ),
    "first_steps.profile": Text("발신 프로필 등록", "Register a sender profile"),
    "first_steps.profile_help": Text(
        "알림톡과 친구톡을 보내려면 카카오톡 채널이 필요합니다. 문자만 보내면 건너뛰세요.",
        "Alimtalk and friend talk need a KakaoTalk channel. Skip it if you send text messages only.",
    ),
    "first_steps.template": Text("알림톡 템플릿 등록", "Register an Alimtalk template"),
    "first_steps.template_help": Text(
        "알림톡은 승인된 템플릿으로만 보낼 수 있습니다.", "Alimtalk is sent with approved templates only."
    ),
    "first_steps.colleague": Text("동료 초대", "Invite a colleague"),
    "first_steps.colleague_help": Text(
        "각자 자기 계정으로 로그인하면 누가 무엇을 했는지 감사 로그에 남습니다.",
        "With a sign-in of their own, the audit log shows who did what.",
    ),
    "first_steps.send": Text("첫 메시지 발송", "Send the first message"),
    "first_steps.send_help": Text(
        "먼저 자기 번호로 테스트 발송해 보세요.", "Send a test to your own number first."
    ),
    "overview.as_of": Text("{at}까지", "Until {at}"),
    "overview.counted": Text(
        "발송을 요청한 날짜로 집계하며, 대체 문자는 별도 건으로 셉니다.",
        "Messages count on the day they were requested. A fallback message counts separately.",
    ),
    "overview.cost_of_day": Text("{day} · {won}원", "{day} · {won} won"),
    "overview.blocked": Text(
        "발송 경로({carriers})에 {age}째 연결되지 않습니다. {products} 메시지는 다시 연결될 때까지 기다립니다.",
        "No carrier ({carriers}) has been up for {age}. {products} waits until one is up again.",
    ),
    "overview.blocked.look": Text("기다리는 발송 보기", "See what waits"),
    "overview.to_approve": Text(
        "승인을 기다리는 발송이 {count}건 있습니다. 승인해야 발송을 시작합니다.",
        "Sends that wait for approval: {count}. They begin once a second user approves them.",
    ),
    "overview.total": Text("전체", "Total"),
    "overview.completed": Text("완료", "Completed"),
    "overview.fail": Text("실패", "Failed"),
    "overview.open": Text("대기·진행", "Pending"),
    "overview.cancel": Text("취소", "Cancelled"),
    "overview.share": Text("완료율", "Completion rate"),
    "overview.per_cent": Text("{share}%", "{share} %"),
    "overview.days_about": Text(
        "{first}부터 {last}까지 날짜별 메시지 수입니다. 화살표 키로 날짜를 옮깁니다.",
        "Messages per day from {first} to {last}. Move from day to day with the arrow keys.",
    ),
    "overview.day": Text("날짜", "Day"),
    "overview.of_day": Text("{day} · {total}건", "{day} · {total} messages"),
    "overview.export": Text("최근 4주 통계 CSV 내려받기", "Download four weeks as CSV"),
    "overview.export.day": Text("날짜", "Day"),
    "overview.export.kind": Text("메시지 종류", "Message type"),
    "overview.export.status": Text("상태", "Status"),
    "overview.export.code": Text("결과 코드", "Result code"),
    "overview.export.reason": Text("결과", "Result"),
    "overview.export.messages": Text("건수", "Messages"),
    "overview.export.fallbacks": Text("그중 대체 문자", "Of these, fallbacks"),
    "overview.export.reached": Text("도달(대체 문자 포함)", "Reached (fallback included)"),
    "overview.export.cost": Text("비용(원)", "Cost (won)"),
    "overview.left_out": Text("메시지가 없는 날은 표시하지 않습니다.", "Days without messages are not listed."),
    "overview.span.1": Text("오늘", "Today"),
    "overview.span.7": Text("최근 7일", "Last 7 days"),
    "overview.span.28": Text("최근 4주", "Last 4 weeks"),
    "overview.kinds": Text("메시지 종류별", "By message type"),
    "overview.reached": Text("도달률", "Reached"),
    "overview.reached_about": Text(
        "도달률은 발송이 끝난 수신자 가운데 메시지나 그 대체 문자를 받은 비율입니다. 대기·예약·취소한 메시지와 "
        "대체 문자 자체는 세지 않습니다.",
        "Reached is the share of receivers who got the message or its fallback, among those whose message has "
        "ended. What waits, is scheduled or was cancelled does not count, nor do fallbacks themselves.",
    ),
    "overview.reasons": Text("실패 사유", "Failure reasons"),
    "overview.code": Text("결과 코드", "Result code"),
    "overview.many": Text("건수", "Messages"),
    "overview.chart": Text("그래프", "Chart"),
    "overview.nothing": Text("이 기간에 발송한 메시지가 없습니다.", "No messages were sent in this period."),
    "overview.no_failure": Text("이 기간에 실패한 메시지가 없습니다.", "No messages failed in this period."),
    "overview.look": Text("실패한 메시지 보기", "View failed messages"),
}
