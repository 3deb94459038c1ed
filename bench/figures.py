"""Figures that were measured, and the table that shows them."""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Literal, NamedTuple

WHOLE_FROM = 100
"""From here on, nobody wants to see decimals."""


class Figure(NamedTuple):
    """One measured ratio (or plain figure), what it was made of, and what it should be; no aim: only told."""

    name: str
    what: str
    value: float
    unit: str = ""
    aim: float | None = None
    side: Literal["at least", "at most"] = "at least"
    made_of: str = ""

    @property
    def verdict(self) -> str:
        if self.aim is None:
            return ""
        is_met = self.value >= self.aim if self.side == "at least" else self.value <= self.aim
        return "met" if is_met else "MISSED"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that so large a share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def middle(values: Iterable[float]) -> float:
    """Return the median."""
    return float(median(values))


def milliseconds(values: Sequence[float]) -> str:
    """Return the median and the slower ones of so many seconds, in words."""
    return f"{middle(values) * 1000:.2f} ms (p95 {percentile(values, 0.95) * 1000:.2f})"


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as lines of text, the columns aligned."""
    rows = [("name", "what", "measured", "aim", "", "made of")]
    for each in figures:
        sign = {"at least": ">=", "at most": "<="}[each.side]
        aim = "" if each.aim is None else f"{sign} {each.aim:,g}{each.unit}"
        measured = f"{each.value:,.{0 if each.value >= WHOLE_FROM else 2}f}{each.unit}"
        rows.append((each.name, each.what, measured, aim, each.verdict, each.made_of))
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
