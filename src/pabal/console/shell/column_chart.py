"""Columns over time with axes and tooltips: positions in percent of a drawing that is as wide as its place."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

STEPS = 4
"""Parts that the scale is divided into; each ends with a line and a number."""
MAX_DATES = 7
"""Labels below the columns: as many as fit on a phone."""
COLUMN_SHARE = 0.76
"""How much of its place a column takes."""
LEAST_PLACES = 6
"""A chart of fewer columns leaves places empty, so that none is as wide as a wall."""
MIN_HEIGHT = 0.8
"""The least height of an amount above zero, in percent, so that it stays visible."""
TIP_WIDTH_PX, TIP_LINE_PX, TIP_PADDING_PX = 236, 19, 10


class ChartColumn(NamedTuple):
    """What a column shows."""

    name: str
    """The first line of its tooltip, such as the day."""
    label: str
    """The label below it, where it fits."""
    amounts: Sequence[tuple[str, float]]
    """From the bottom to the top, each with the word that decides its color."""
    details: Sequence[str]
    """The other lines of its tooltip."""
    before: float | None = None
    """The amount to compare with, drawn as a mark."""


class DrawnPart(NamedTuple):
    """A part of a column, in percent of the drawing."""

    kind: str
    y: float
    height: float


class DrawnColumn(NamedTuple):
    """A column with its tooltip; percentages of the drawing, except the pixels of the tooltip."""

    lines: Sequence[str]
    ground_x: float
    ground_width: float
    x: float
    width: float
    middle: float
    parts: Sequence[DrawnPart]
    before_y: float | None
    tip_x_px: int
    """How far the tooltip begins from the middle of the column, so that it stays within the drawing."""


class DrawnChart(NamedTuple):
    """A chart, ready to be written as SVG."""

    about: str
    ticks: Sequence[str]
    """From the top of the scale to zero."""
    lines: Sequence[float]
    columns: Sequence[DrawnColumn]
    dates: Sequence[tuple[float, str]]
    tip_width_px: int
    tip_height_px: int


def draw_chart(
    about: str, columns: Sequence[ChartColumn], format_amount: Callable[[float], str], *, is_whole: bool = True
) -> DrawnChart:
    """Return the drawing of some columns; `is_whole` amounts have no ticks in between."""
    highest = max([0, *(max(sum(amount for _, amount in each.amounts), each.before or 0) for each in columns)])
    top = STEPS * _find_step(highest, is_whole=is_whole)
    most_lines = max([1, *(1 + len(each.details) for each in columns)])
    every = -(-len(columns) // MAX_DATES)
    drawn = [_draw_column(index, len(columns), each, top) for index, each in enumerate(columns)]
    return DrawnChart(
        about,
        [format_amount(top * step / STEPS) for step in range(STEPS, -1, -1)],
        [100 * step / STEPS for step in range(STEPS + 1)],
        drawn,
        [
            (drawn[index].middle, each.label)
            for index, each in enumerate(columns)
            if (len(columns) - 1 - index) % every == 0
        ],
        TIP_WIDTH_PX,
        most_lines * TIP_LINE_PX + TIP_PADDING_PX,
    )


def _draw_column(index: int, count: int, column: ChartColumn, top: float) -> DrawnColumn:
    place = 100 / max(count, LEAST_PLACES)
    margin = place * (1 - COLUMN_SHARE) / 2
    middle = (index + 0.5) * place
    parts, y = [], 100.0
    for kind, amount in column.amounts:
        if amount > 0:
            height = max(MIN_HEIGHT, amount / top * 100)
            y = max(0.0, y - height)
            parts.append(DrawnPart(kind, round(y, 2), round(height, 2)))
    return DrawnColumn(
        (column.name, *column.details),
        round(index * place, 2),
        round(place, 2),
        round(index * place + margin, 2),
        round(place * COLUMN_SHARE, 2),
        round(middle, 2),
        parts,
        None if column.before is None else round(100 - column.before / top * 100, 2),
        -round(TIP_WIDTH_PX * middle / 100),
    )


def _find_step(highest: float, *, is_whole: bool) -> float:
    """Return the smallest round number that reaches the highest amount in STEPS steps."""
    if highest <= 0:
        return 1
    least = highest / STEPS
    power = 10.0 ** math.floor(math.log10(least))
    rounds = (1, 2, 2.5, 5, 10)
    step = next(power * each for each in rounds if power * each >= least * (1 - 1e-9))
    if not is_whole:
        return step
    return max(1, math.ceil(step))
