"""Computes the rectangles of charts, in units of a drawing that is scaled to its place."""

from collections.abc import Sequence
from typing import NamedTuple

COLUMN_HEIGHT = 100
COLUMN_STEP = 10
COLUMN_WIDTH = 8
BAR_LENGTH = 100
MIN_SIZE = 1.0
"""The least size of an amount above zero, so that it stays visible."""


class Rectangle(NamedTuple):
    """A rectangle of a chart; `kind` decides its color."""

    kind: str
    x: float
    y: float
    width: float
    height: float


def build_column(index: int, amounts: Sequence[tuple[str, int]], largest: int) -> list[Rectangle]:
    """Return the rectangles of a stacked column at an index."""
    parts = []
    top = float(COLUMN_HEIGHT)
    for kind, amount in amounts:
        if amount:
            height = max(MIN_SIZE, amount / largest * COLUMN_HEIGHT)
            top = max(0.0, top - height)
            parts.append(
                Rectangle(
                    kind,
                    index * COLUMN_STEP + (COLUMN_STEP - COLUMN_WIDTH) / 2,
                    round(top, 2),
                    COLUMN_WIDTH,
                    round(height, 2),
                )
            )
    return parts


def build_bar(amounts: Sequence[tuple[str, int]], largest: int) -> list[Rectangle]:
    """Return the rectangles of a horizontal bar, one after the other."""
    parts = []
    end = 0.0
    for kind, amount in amounts:
        if amount:
            width = max(MIN_SIZE, amount / largest * BAR_LENGTH)
            parts.append(Rectangle(kind, round(end, 2), 0, round(width, 2), COLUMN_STEP))
            end += width
    return parts
