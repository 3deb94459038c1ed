"""Computes the rectangles of horizontal bars, in units of a drawing that is scaled to its place."""

from collections.abc import Sequence
from typing import NamedTuple

BAR_LENGTH = 100
BAR_HEIGHT = 10
MIN_SIZE = 1.0
"""The least size of an amount above zero, so that it stays visible."""


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
