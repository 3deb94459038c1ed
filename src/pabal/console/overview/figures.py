"""Figures of messages: added up, compared with those of the period before, drawn as bars and as cards of today."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import dates
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import SECOND, Instant, Period
from pabal.domain.sends.account import Limit
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, Status
from pabal.domain.sends.price import HUNDREDTHS_PER_WON, format_won
from pabal.service.access.accounts.account_limits import LimitUse
from pabal.service.upkeep.reports import AccountReport, GroupCounts, PeriodCounts

STATES = ("completed", "fail", "open", "cancel")
"""How messages are grouped: completed, failed, in progress, cancelled."""
STATE_BY_STATUS = {
    Status.COMPLETED: "completed",
    Status.FAIL: "fail",
    Status.WAITING: "open",
    Status.SENDING: "open",
    Status.CANCEL: "cancel",
}
COST = "cost"
Group = tuple[Any, ...]
"""The stored values that messages have in common."""
BAR_LENGTH = 100
MIN_SIZE = 1.0
"""The least size of an amount above zero, so that it stays visible."""


class StateCounts(NamedTuple):
    """How many messages are in each state."""

    completed: int = 0
    fail: int = 0
    open: int = 0
    cancel: int = 0

    @property
    def total(self) -> int:
        return sum(self)

    @property
    def completion_rate(self) -> str:
        """The percentage of completed messages among those that ended; empty if none has."""
        return format_percent(self.completed, self.completed + self.fail)


class Figure(NamedTuple):
    """The messages of some rows of statistics."""

    states: StateCounts = StateCounts()
    counts: GroupCounts = GroupCounts(0)
    receivers: int = 0
    """Those whose message was delivered or has failed."""

    @property
    def reached(self) -> str:
        """The percentage of receivers who got the message or its fallback; empty if nothing has ended for any."""
        return format_percent(self.counts.reached, self.receivers)

    @property
    def won(self) -> float | None:
        """What the messages have cost; None: no price is known."""
        return None if self.counts.cost is None else self.counts.cost / HUNDREDTHS_PER_WON

    def plus(self, other: "Figure") -> "Figure":
        """Return both together."""
        states = StateCounts(*(ours + theirs for ours, theirs in zip(self.states, other.states, strict=True)))
        return Figure(states, self.counts.plus(other.counts), self.receivers + other.receivers)


NOTHING = Figure()
Cells = Mapping[tuple[int, Group], Figure]
"""Figures by the number of their period, and by group."""


def read_rows(rows: Iterable[PeriodCounts], starts: Mapping[int, int]) -> dict[tuple[int, Group], Figure]:
    """Return the figures of rows; `starts` has the number of each period by its first instant."""
    return {(starts[row.since], row.group): read_row(row) for row in rows}


def read_row(row: PeriodCounts) -> Figure:
    """Return the figure of a row."""
    states = dict.fromkeys(STATES, 0)
    for status, count in zip(Status, row.by_status, strict=True):
        states[STATE_BY_STATUS[status]] += count
    return Figure(StateCounts(**states), row.counts, row.receivers)


def add_up(figures: Iterable[Figure]) -> Figure:
    """Return some figures together."""
    total = NOTHING
    for each in figures:
        total = total.plus(each)
    return total


def by_period(cells: Cells, count: int, together: int) -> list[Figure]:
    """Return the figures of every so many periods in a row."""
    found = [NOTHING] * -(-count // together)
    for (index, _), figure in cells.items():
        found[index // together] = found[index // together].plus(figure)
    return found


def by_group(cells: Cells, part: slice = slice(None)) -> dict[Group, Figure]:
    """Return the figures of each group, or of those that have a part in common."""
    found: dict[Group, Figure] = {}
    for (_, group), figure in cells.items():
        found[group[part]] = found.get(group[part], NOTHING).plus(figure)
    return found


def format_percent(part: int, whole: int) -> str:
    """Return a percentage with one decimal; empty of nothing, 100.0 only of all, and 0.0 only of none."""
    if whole <= 0:
        return ""
    tenths = round(1000 * part / whole)
    tenths = min(tenths, 999) if part < whole else tenths
    return f"{(max(tenths, 1) if part else tenths) / 10:.1f}"


def format_change(now: float, before: float) -> str:
    """Return by how many percent an amount has changed, with its sign; empty where there was none before."""
    return f"{100 * (now - before) / before:+.1f}" if before else ""


class BarPart(NamedTuple):
    """A part of a horizontal bar; `kind` decides its color."""

    kind: str
    x: float
    width: float


def amounts_of(figure: Figure, *, shows_cost: bool = False) -> list[tuple[str, float]]:
    """Return what a figure is drawn as: its cost, or its messages by state."""
    return [(COST, figure.won or 0.0)] if shows_cost else list(zip(STATES, figure.states, strict=True))


def format_amount(request: PageRequest, amount: float, *, shows_cost: bool) -> str:
    """Return a cost or a number of messages as scales of charts show it."""
    return request.t("word.won", won=f"{amount:,.0f}") if shows_cost else f"{amount:,.0f}"


def describe_states(request: PageRequest, figure: Figure) -> list[str]:
    """Return how many messages are in each state, in two lines; states without messages are left out at the end."""
    words = [f"{request.t(f'overview.{state}')} {count:,}" for state, count in amounts_of(figure)]
    has_more = figure.states.open or figure.states.cancel
    return [" · ".join(words[:2]), *([" · ".join(words[2:])] if has_more else [])]


def build_bar(amounts: Sequence[tuple[str, float]], largest: float) -> list[BarPart]:
    """Return the parts of a horizontal bar, one after the other."""
    parts = []
    end = 0.0
    for kind, amount in amounts:
        if amount:
            width = max(MIN_SIZE, amount / largest * BAR_LENGTH)
            parts.append(BarPart(kind, round(end, 2), round(width, 2)))
            end += width
    return parts


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
