"""Measured figures, their medians over rounds, and their tables."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Literal, NamedTuple

NO_DECIMALS_FROM = 100
"""Values from here on are printed without decimals."""
WORSE_FROM = 1.05
"""A figure that is worse by more than this is marked where two versions are compared."""


class Figure(NamedTuple):
    """One measured value, and its target, if it has one."""

    what: str
    value: float
    unit: str = ""
    better: Literal["more", "less"] = "more"
    target: float | None = None


Rounds = Sequence[Sequence[Figure]]
"""The figures of each round."""


def count_processes(count: int) -> str:
    """Return a number of processes in words."""
    return f"{count} process{'es' if count > 1 else ''}"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def p99_ms(values_s: Sequence[float]) -> float:
    """Return the 99th percentile of durations in seconds, in milliseconds."""
    return percentile(values_s, 0.99) * 1000


def tabulate(scenario: str, rounds: Rounds) -> list[tuple[str, ...]]:
    """Return a row for each figure: its median, its spread, and whether it meets its target."""
    rows: list[tuple[str, ...]] = []
    for figures in zip(*rounds, strict=True):
        first = figures[0]
        value = median(each.value for each in figures)
        rows.append((scenario, first.what, _format_spread(figures), _format_target(first), _verdict(first, value)))
    return rows


def tabulate_two(scenario: str, base: Rounds, this: Rounds) -> list[tuple[str, ...]]:
    """Return a row for each figure of two versions: both medians, and how many times worse this one is."""
    rows: list[tuple[str, ...]] = []
    for before, after in zip(zip(*base, strict=True), zip(*this, strict=True), strict=True):
        values = [median(each.value for each in figures) for figures in (before, after)]
        ratio = values[0] / values[1] if before[0].better == "more" else values[1] / values[0]
        mark = "WORSE" if ratio > WORSE_FROM else ""
        rows.append((scenario, before[0].what, _format_spread(before), _format_spread(after), f"{ratio:.3f}", mark))
    return rows


def format_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines of text with aligned columns."""
    lines = [heads, *rows]
    widths = [max(len(row[column]) for row in lines) for column in range(len(heads))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in lines
    )


def format_memory(peaks: Mapping[str, int]) -> str:
    """Return the peak memory of each scenario as a line."""
    return "peak memory, MB: " + ", ".join(f"{name} {peak / 1e6:.0f}" for name, peak in peaks.items())


def format_value(value: float, unit: str = "") -> str:
    """Return a value with as many decimals as it deserves."""
    return f"{value:,.{0 if value >= NO_DECIMALS_FROM else 2}f}{unit}"


def _format_spread(figures: Sequence[Figure]) -> str:
    values, unit = [each.value for each in figures], figures[0].unit
    if len(values) == 1:
        return format_value(values[0], unit)
    return f"{format_value(median(values), unit)} ({format_value(min(values))}–{format_value(max(values))})"


def _format_target(figure: Figure) -> str:
    sign = {"more": "≥", "less": "≤"}[figure.better]
    return "" if figure.target is None else f"{sign} {figure.target:,g}{figure.unit}"


def _verdict(figure: Figure, value: float) -> str:
    if figure.target is None:
        return ""
    is_met = value >= figure.target if figure.better == "more" else value <= figure.target
    return "met" if is_met else "MISSED"
