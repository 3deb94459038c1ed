"""The figures of today on the overview, each with what it was a week ago or what it consists of."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pabal.console.overview.figures import NOTHING, Figure, format_change, read_row
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import dates
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import SECOND, Instant, Period
from pabal.domain.sends.limits import Limit
from pabal.domain.sends.message import OUTCOME_BY_NUMBER
from pabal.domain.sends.price import format_won
from pabal.service.access.accounts.account_limits import LimitUse
from pabal.service.upkeep.reports import AccountReport

SHOWN_REASONS = 2


class Card(NamedTuple):
    """A figure; `tone` of its note is good, bad or empty."""

    key: str
    value: str
    note: str
    tone: str = ""


def same_time_last_week(now: Instant, zone: ZoneInfo) -> Period:
    """Return the same weekday of last week until this time of day."""
    before = datetime.fromtimestamp(now / SECOND, zone) - timedelta(days=7)
    end = round(before.timestamp() * SECOND)
    return Period(dates.day_of(end, zone).start, end)


def make_cards(
    request: PageRequest,
    today: Figure,
    reasons: Sequence[tuple[int, int]],
    report: AccountReport,
    limit_use: Sequence[LimitUse],
) -> list[Card]:
    """Return messages, reached receivers, failures by reason, and the cost of the month or what is not sent yet."""
    before = read_row(report.before[0]) if report.before else NOTHING
    month = read_row(report.month[0]) if report.month else NOTHING
    return [
        _messages(request, today, before),
        _reached(request, today, before),
        _failures(request, today, reasons),
        _cost(request, month, limit_use) if month.won is not None else _open(request, today),
    ]


def _messages(request: PageRequest, today: Figure, before: Figure) -> Card:
    change = format_change(today.states.total, before.states.total)
    note = request.t("today.week", change=_round(change)) if change else request.t("today.no_week")
    return Card("total", f"{today.states.total:,}", note)


def _reached(request: PageRequest, today: Figure, before: Figure) -> Card:
    if not today.reached:
        return Card("reached", "–", request.t("today.none_ended"))
    value = request.t("overview.per_cent", share=today.reached)
    if not before.reached:
        return Card("reached", value, request.t("today.of_ended", count=f"{today.receivers:,}"))
    points = float(today.reached) - float(before.reached)
    tone = "good" if points > 0 else "bad" if points < 0 else ""
    return Card("reached", value, request.t("today.points", points=f"{points:+.1f}"), tone)


def _failures(request: PageRequest, today: Figure, reasons: Sequence[tuple[int, int]]) -> Card:
    words = [
        f"{request.translate(OUTCOME_BY_NUMBER[code].label)} {count:,}" for code, count in reasons[:SHOWN_REASONS]
    ]
    if rest := sum(count for _, count in reasons[SHOWN_REASONS:]):
        words.append(request.t("today.others", count=f"{rest:,}"))
    note = " · ".join(words) or request.t("today.no_failure")
    return Card("fail", f"{today.states.fail:,}", note, "bad" if words else "")


def _cost(request: PageRequest, month: Figure, limit_use: Sequence[LimitUse]) -> Card:
    budget = next((each for each in limit_use if each.limit is Limit.BUDGET), None)
    note = request.t("today.of_month")
    if budget:
        note = request.t("today.of_budget", percent=budget.percent, budget=budget.value)
    tone = "bad" if budget and budget.is_near else ""
    return Card("cost", request.t("word.won", won=format_won(month.counts.cost or 0)), note, tone)


def _open(request: PageRequest, today: Figure) -> Card:
    return Card("open", f"{today.states.open:,}", request.t("today.open_about"))


def _round(change: str) -> str:
    """Return a change in percent without decimals where it is large."""
    return f"{float(change):+,.0f}" if abs(float(change)) >= 10 else change


TEXTS = {
    "today.title": Text("오늘", "Today"),
    "today.total": Text("오늘 요청한 메시지", "Messages requested today"),
    "today.reached": Text("도달률", "Reached"),
    "today.fail": Text("실패", "Failed"),
    "today.cost": Text("이번 달 비용", "Cost this month"),
    "today.open": Text("대기·진행", "Pending"),
    "today.week": Text("지난주 이 시각보다 {change}%", "{change} % on this time last week"),
    "today.no_week": Text("지난주 이 시각까지 0건", "None until this time last week"),
    "today.none_ended": Text("아직 발송이 끝난 수신자 없음", "No message has ended yet"),
    "today.of_ended": Text("발송이 끝난 수신자 {count}명 기준", "Of {count} receivers whose message has ended"),
    "today.points": Text("지난주 이 시각보다 {points}%p", "{points} points on this time last week"),
    "today.others": Text("그 밖 {count}", "others {count}"),
    "today.no_failure": Text("실패한 메시지 없음", "No message failed"),
    "today.of_month": Text("월 한도 없음", "No monthly limit"),
    "today.of_budget": Text("월 한도 {budget}원의 {percent}%", "{percent} % of {budget} won a month"),
    "today.open_about": Text("예약과 결과 대기 포함", "Scheduled and awaiting results"),
}
