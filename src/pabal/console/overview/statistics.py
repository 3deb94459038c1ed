"""The page of statistics: messages of any period as charts and tables, compared with the period before."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.answers.statistics import MAX_GROUPS, GroupColumn, Interval
from pabal.console.history.filters import OfferedPeriod, list_offered
from pabal.console.overview import statistics_report
from pabal.console.overview.figures import (
    COST,
    STATES,
    BarPart,
    Figure,
    add_up,
    amounts_of,
    build_bar,
    by_group,
    by_period,
    describe_states,
    format_amount,
    format_change,
)
from pabal.console.overview.statistics_report import (
    COMPARE_FIELD,
    GROUP_FIELD,
    SHOW_FIELD,
    StatisticsForm,
    StatisticsReport,
    change_cells,
    figure_cells,
    group_labels,
    heads,
)
from pabal.console.shell.column_chart import ChartColumn, DrawnChart, draw_chart
from pabal.console.shell.form_fields import page_number
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import SECOND
from pabal.domain.sends.price import format_won

STATISTICS_PATH = "/console/statistics"
MAX_COLUMNS = 31
"""Most columns of the chart: a month of days. More hours, days or months are shown several to a column."""
SHOWN_GROUPS = 15
"""Most groups that are shown one by one."""
PAGE_ROWS = 30
MESSAGES = "messages"


class GroupRow(NamedTuple):
    """The messages of a group in the whole period."""

    labels: list[str]
    bar: list[BarPart]
    cells: list[str]


class Tile(NamedTuple):
    """A figure of the whole period, and how it was in the period before."""

    key: str
    value: str
    before: str
    change: str


async def show_statistics(request: PageRequest) -> Response:
    """Show how many messages there were, by period and group."""
    form = statistics_report.read_form(request)
    errors: dict[str, str] = {}
    report, status = None, 200
    try:
        report = await statistics_report.count(request, form)
    except Refused as refused:
        if refused.code not in (Code.INVALID_PARAMETER, Code.INVALID_DATE, Code.MISSING_PARAMETER):
            raise
        errors = {each.field: request.tell(each) for each in refused.problems}
        status = refused.code.http_status
    today = datetime.fromtimestamp(request.now / SECOND, request.locale.zone).date()
    return request.render(
        "overview/statistics.html",
        status,
        typed=form.typed,
        compares=form.compares,
        errors=errors,
        groups=[(each.word, each.word in form.groups) for each in GroupColumn],
        max_groups=MAX_GROUPS,
        intervals=[(each.code, request.t(f"statistics.interval.{each.code}")) for each in Interval],
        shows=[(each, request.t(f"statistics.show.{each}")) for each in (MESSAGES, COST)],
        offered=[
            (
                request.t(f"statistics.offered.{each.word}"),
                _url(form._replace(typed={**form.typed, **_dates_of(each)})),
                all(form.typed[name] == value for name, value in _dates_of(each).items()),
            )
            for each in list_offered(today)
        ],
        exports=[(kind, _url(form, f"{STATISTICS_PATH}/table.{kind}")) for kind in ("csv", "xlsx")],
        legend=STATES,
        **(_shown(request, form, report) if report and (report.cells or report.before) else {"report": None}),
    )


def _shown(request: PageRequest, form: StatisticsForm, report: StatisticsReport) -> dict[str, object]:
    """Return what the page shows of a report with messages."""
    shows_cost = form.typed[SHOW_FIELD] == COST and report.has_costs
    rows = statistics_report.detail_rows(request, report)
    page = page_number(request, max(1, -(-len(rows) // PAGE_ROWS)))
    together = -(-len(report.periods) // MAX_COLUMNS)
    series = by_period(report.cells, len(report.periods), together)
    before = None if report.before is None else by_period(report.before, len(report.periods), together)
    names = [
        statistics_report.period_name(request, report, first, together)
        for first in range(0, len(report.periods), together)
    ]
    return {
        "report": report,
        "tiles": _tiles(request, report),
        "chart": _draw(request, report, names, series, before, shows_cost=shows_cost),
        "shows_cost": shows_cost,
        "switches": [
            (
                word,
                _url(form._replace(typed={**form.typed, SHOW_FIELD: word})) + "#series-title",
                (word == COST) is shows_cost,
            )
            for word in (MESSAGES, COST)
            if report.has_costs
        ],
        "series_heads": heads(request, report, []),
        "series": [
            [
                name,
                *figure_cells(report, now),
                *change_cells(report, now, before[place] if before else None),
            ]
            for place, (name, now) in enumerate(zip(names, series, strict=True))
        ],
        "group_heads": heads(request, report, report.groups)[1:],
        "group_rows": _group_rows(request, report, shows_cost=shows_cost) if report.groups else [],
        "detail_heads": statistics_report.detail_heads(request, report),
        "details": rows[(page - 1) * PAGE_ROWS : page * PAGE_ROWS] if report.groups else [],
        "page": page,
        "pages": max(1, -(-len(rows) // PAGE_ROWS)),
        "page_url": _url(form),
        "note": report.note,
    }


def _tiles(request: PageRequest, report: StatisticsReport) -> list[Tile]:
    now = add_up(report.cells.values())
    before = None if report.before is None else add_up(report.before.values())

    def tile(key: str, show: Callable[[Figure], str], size: Callable[[Figure], float] | None = None) -> Tile:
        earlier = show(before) if before else ""
        change = format_change(size(now), size(before)) if before and size else ""
        return Tile(key, show(now) or "–", earlier, change)

    def counted(key: str, count: Callable[[Figure], int]) -> Tile:
        return tile(key, lambda each: f"{count(each):,}", count)

    def percent(share: str) -> str:
        return request.t("overview.per_cent", share=share) if share else ""

    def show_cost(each: Figure) -> str:
        return "" if each.counts.cost is None else request.t("word.won", won=format_won(each.counts.cost))

    tiles = [
        counted("messages", lambda each: each.counts.messages),
        counted("completed", lambda each: each.states.completed),
        counted("fail", lambda each: each.states.fail),
        tile("rate", lambda each: percent(each.states.completion_rate)),
        tile("reached", lambda each: percent(each.reached)),
    ]
    return tiles if now.won is None else [*tiles, tile(COST, show_cost, lambda each: each.won or 0.0)]


def _draw(
    request: PageRequest,
    report: StatisticsReport,
    names: Sequence[str],
    series: Sequence[Figure],
    before: Sequence[Figure] | None,
    *,
    shows_cost: bool,
) -> DrawnChart:
    columns = []
    for place, (name, now) in enumerate(zip(names, series, strict=True)):
        details = [] if shows_cost else describe_states(request, now)
        size, size_before = _size(now, shows_cost=shows_cost), None
        if before:
            size_before = _size(before[place], shows_cost=shows_cost)
            change = format_change(size, size_before)
            value = format_amount(request, size_before, shows_cost=shows_cost)
            change = f" ({change} %)" if change else ""
            details.append(request.t("statistics.before_is", value=value, change=change))
        title = (
            request.t("statistics.cost_of", day=name, won=f"{size:,.2f}".removesuffix(".00"))
            if shows_cost
            else request.t("overview.of_day", day=name, total=f"{size:,}")
        )
        amounts = amounts_of(now, shows_cost=shows_cost)
        label = statistics_report.short_name(report, name)
        columns.append(ChartColumn(title, label, amounts, details, size_before))
    about = request.t("statistics.chart_about", first=names[0], last=names[-1])
    return draw_chart(about, columns, partial(format_amount, request, shows_cost=shows_cost))


def _group_rows(request: PageRequest, report: StatisticsReport, *, shows_cost: bool) -> list[GroupRow]:
    """Return the largest groups, and the others together."""
    now = by_group(report.cells)
    before = None if report.before is None else by_group(report.before)
    ordered = sorted(
        {*now, *(before or {})},
        key=lambda group: (-_size(now.get(group, Figure()), shows_cost=shows_cost), tuple(map(str, group))),
    )
    shown = [(group_labels(request, report, group), [group]) for group in ordered[:SHOWN_GROUPS]]
    if rest := ordered[SHOWN_GROUPS:]:
        label = request.t("statistics.rest", count=f"{len(rest):,}")
        shown.append(([label, *[""] * (len(report.groups) - 1)], rest))
    rows = []
    figures = [add_up(now.get(each, Figure()) for each in some) for _, some in shown]
    largest = max([1, *(_size(each, shows_cost=shows_cost) for each in figures)])
    for (labels, some), figure in zip(shown, figures, strict=True):
        earlier = None if before is None else add_up(before.get(each, Figure()) for each in some)
        bar = build_bar(amounts_of(figure, shows_cost=shows_cost), largest)
        cells = [*figure_cells(report, figure), *change_cells(report, figure, earlier)]
        rows.append(GroupRow(labels, bar, cells))
    return rows


def _size(figure: Figure, *, shows_cost: bool) -> float:
    return figure.won or 0.0 if shows_cost else figure.counts.messages


def _dates_of(offered: OfferedPeriod) -> dict[str, str]:
    return {
        "from": offered.first.isoformat(),
        "to": offered.last.isoformat(),
        "interval": offered.interval.code,
    }


def _url(form: StatisticsForm, path: str = STATISTICS_PATH) -> str:
    compare = {COMPARE_FIELD: "1"} if form.compares else {}
    return f"{path}?{urlencode({**form.typed, **compare, **{GROUP_FIELD + each: '1' for each in form.groups}})}"


TEXTS = {
    "menu.statistics": Text("통계", "Statistics"),
    "statistics.about": Text(
        "발송을 요청한 날짜로 집계합니다. 대체 문자는 별도 건으로 셉니다. 도달률은 발송이 끝난 수신자 가운데 "
        "메시지나 그 대체 문자를 받은 비율입니다. 이전 기간은 바로 앞의 같은 길이의 기간이고, "
        "시간별로 볼 때는 그 앞날들의 같은 시각입니다.",
        "Messages count on the day they were requested. A fallback message counts separately. Reached is the share "
        "of receivers who got the message or its fallback, among those whose message has ended. The period "
        "before is the one of the same length; hours are compared with the same hours of the days before.",
    ),
    "statistics.from": Text("시작일", "From"),
    "statistics.to": Text("종료일", "To"),
    "statistics.interval": Text("단위", "Interval"),
    "statistics.interval.hour": Text("시간별", "By hour"),
    "statistics.interval.day": Text("일별", "By day"),
    "statistics.interval.month": Text("월별", "By month"),
    "statistics.group": Text("구분({most}개까지)", "Count by (at most {most})"),
    "statistics.by.product": Text("메시지 종류", "Message type"),
    "statistics.by.status": Text("상태", "Status"),
    "statistics.by.resultCode": Text("결과", "Result"),
    "statistics.by.templateCode": Text("템플릿 코드", "Template code"),
    "statistics.by.sender": Text("발신번호·채널", "Sender"),
    "statistics.by.key": Text("API 키", "API key"),
    "statistics.by.carrier": Text("발송 경로", "Carrier"),
    "statistics.by.user": Text("사용자", "User"),
    "statistics.by_key": Text("API", "API"),
    "statistics.deleted_user": Text("삭제된 사용자 {id}", "Deleted user {id}"),
    "statistics.others": Text("그 밖", "Others"),
    "statistics.ask": Text("조회", "Show"),
    "statistics.export.csv": Text("CSV 내려받기", "Download CSV"),
    "statistics.export.xlsx": Text("엑셀 내려받기", "Download Excel"),
    "statistics.offered": Text("자주 쓰는 기간", "Common periods"),
    "statistics.offered.today": Text("오늘", "Today"),
    "statistics.offered.yesterday": Text("어제", "Yesterday"),
    "statistics.offered.week": Text("최근 7일", "Last 7 days"),
    "statistics.offered.days": Text("최근 30일", "Last 30 days"),
    "statistics.offered.month": Text("이번 달", "This month"),
    "statistics.offered.last_month": Text("지난달", "Last month"),
    "statistics.offered.year": Text("올해", "This year"),
    "statistics.show": Text("그래프", "Chart"),
    "statistics.show.messages": Text("건수", "Messages"),
    "statistics.show.cost": Text("비용", "Cost"),
    "statistics.compare": Text("이전 기간과 비교", "Compare with the period before"),
    "statistics.cost_of": Text("{day} · {won}원", "{day} · {won} won"),
    "statistics.not_compared": Text(
        "이전 기간은 월별로만 보관되었거나 항목이 너무 많아 비교하지 않았습니다.",
        "Not compared: of the period before only months are kept, or it has too many rows.",
    ),
    "statistics.before_is": Text("이전 기간 {value}{change}", "Period before {value}{change}"),
    "statistics.chart_about": Text(
        "{first}부터 {last}까지의 그래프입니다. 화살표 키로 옮깁니다.",
        "Chart from {first} to {last}. Move with the arrow keys.",
    ),
    "statistics.no_cost": Text(
        "단가가 없어 비용을 표시할 수 없습니다. 건수로 표시했습니다.",
        "No prices are set, so no cost is known. The chart shows messages.",
    ),
    "statistics.total": Text("전체 기간", "Whole period"),
    "statistics.series": Text("기간별", "Over time"),
    "statistics.groups": Text("구분별", "By group"),
    "statistics.details": Text("기간·구분별", "By period and group"),
    "statistics.rest": Text("나머지 {count}개", "{count} others"),
    "statistics.period_before": Text("이전 기간", "Period before"),
    "statistics.before": Text("이전 기간 건수", "Messages before"),
    "statistics.change": Text("증감(%)", "Change (%)"),
    "statistics.before_cost": Text("이전 기간 비용(원)", "Cost before (won)"),
    "statistics.reached_name": Text("도달률", "Reached"),
    "statistics.cost_name": Text("비용", "Cost"),
    "statistics.rate": Text("완료율", "Completion rate"),
    "statistics.wrong": Text(
        "조회하지 못했습니다. 표시된 항목을 고치세요.", "Nothing was counted. Correct the fields that are marked."
    ),
    "statistics.none": Text(
        "이 기간에 발송한 메시지가 없습니다. 기간을 바꿔 보세요.",
        "No messages were sent in this period. Choose another one.",
    ),
    "statistics.as_of": Text("{at} 기준입니다.", "As of {at}."),
    "statistics.messages": Text("건수", "Messages"),
    "statistics.completed": Text("완료", "Completed"),
    "statistics.fail": Text("실패", "Failed"),
    "statistics.open": Text("대기·진행", "Pending"),
    "statistics.cancel": Text("취소", "Cancelled"),
    "statistics.fallbacks": Text("그중 대체 문자", "Of these, fallbacks"),
    "statistics.share": Text("완료율(%)", "Completed (%)"),
    "statistics.reached": Text("도달률(%)", "Reached (%)"),
    "statistics.cost": Text("비용(원)", "Cost (won)"),
    "statistics.read": Text("읽음", "Read"),
    "statistics.clicked": Text("클릭", "Clicks"),
}
