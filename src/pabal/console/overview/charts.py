"""What charts are drawn from: bars of parts, in units of a drawing that is stretched to its place."""

from collections.abc import Sequence
from typing import NamedTuple

HEIGHT = 100
STEP = 10
WIDTH = 8
LENGTH = 100
LEAST = 1.0
"""What is not nothing is drawn at least so large."""


class Part(NamedTuple):
    """A rectangle; `kind` says what it stands for, and so its colour."""

    kind: str
    x: float
    y: float
    width: float
    height: float


def column(place: int, amounts: Sequence[tuple[str, int]], most: int) -> list[Part]:
    """Return the parts of a bar that stands in its place, piled up from the ground."""
    parts = []
    top = float(HEIGHT)
    for kind, amount in amounts:
        if amount:
            height = max(LEAST, amount / most * HEIGHT)
            top = max(0.0, top - height)
            parts.append(Part(kind, place * STEP + (STEP - WIDTH) / 2, round(top, 2), WIDTH, round(height, 2)))
    return parts


def line(amounts: Sequence[tuple[str, int]], most: int) -> list[Part]:
    """Return the parts of a bar that lies, one after the other."""
    parts = []
    end = 0.0
    for kind, amount in amounts:
        if amount:
            width = max(LEAST, amount / most * LENGTH)
            parts.append(Part(kind, round(end, 2), 0, round(width, 2), STEP))
            end += width
    return parts
