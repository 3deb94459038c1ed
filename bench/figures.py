"""Measured figures, and their table."""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Literal, NamedTuple

NO_DECIMALS_FROM = 100
"""Values from here on are printed without decimals."""


class Figure(NamedTuple):
    """One measured ratio or value, its details, and its target, if it has one."""

    name: str
    what: str
    value: float
    unit: str = ""
    target: float | None = None
    bound: Literal["at least", "at most"] = "at least"
    details: str = ""

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        is_met = self.value >= self.target if self.bound == "at least" else self.value <= self.target
        return "met" if is_met else "MISSED"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def median_of(values: Iterable[float]) -> float:
    """Return the median."""
    return float(median(values))


def format_ms(values: Sequence[float]) -> str:
    """Return the median and the 95th percentile of durations in seconds, as text."""
    return f"{median_of(values) * 1000:.2f} ms (p95 {percentile(values, 0.95) * 1000:.2f})"


def format_table(figures: Sequence[Figure]) -> str:
    """Return the figures as lines of text with aligned columns."""
    rows = [("name", "what", "measured", "target", "", "details")]
    for each in figures:
        sign = {"at least": ">=", "at most": "<="}[each.bound]
        target = "" if each.target is None else f"{sign} {each.target:,g}{each.unit}"
        measured = f"{each.value:,.{0 if each.value >= NO_DECIMALS_FROM else 2}f}{each.unit}"
        rows.append((each.name, each.what, measured, target, each.verdict, each.details))
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
