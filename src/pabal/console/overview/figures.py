"""Counts of messages added up, and compared with those of the period before, and drawn as bars."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pabal.domain.sends.message import Status
from pabal.domain.sends.price import HUNDREDTHS_PER_WON
from pabal.service.upkeep.reports import GroupCounts, PeriodCounts

STATES = ("completed", "fail", "open", "cancel")
"""How messages are grouped: completed, failed, in progress, cancelled."""
STATE_BY_STATUS = {
    Status.COMPLETED: "completed",
    Status.FAIL: "fail",
    Status.WAITING: "open",
    Status.SENDING: "open",
    Status.CANCEL: "cancel",
}
Group = tuple[Any, ...]
"""The stored values that messages have in common."""
BAR_LENGTH = 100
BAR_HEIGHT = 10
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


def by_group(cells: Cells) -> dict[Group, Figure]:
    """Return the figures of each group."""
    found: dict[Group, Figure] = {}
    for (_, group), figure in cells.items():
        found[group] = found.get(group, NOTHING).plus(figure)
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


class Rectangle(NamedTuple):
    """A rectangle of a chart; `kind` decides its color."""

    kind: str
    x: float
    y: float
    width: float
    height: float


def build_bar(amounts: Sequence[tuple[str, int]], largest: int) -> list[Rectangle]:
    """Return the rectangles of a horizontal bar, one after the other."""
    parts = []
    end = 0.0
    for kind, amount in amounts:
        if amount:
            width = max(MIN_SIZE, amount / largest * BAR_LENGTH)
            parts.append(Rectangle(kind, round(end, 2), 0, round(width, 2), BAR_HEIGHT))
            end += width
    return parts
