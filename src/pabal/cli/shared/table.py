"""Prints lists: a table with headings on a terminal, fields between tabs elsewhere, or JSON."""

import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from pabal.domain.base.codes import Text
from pabal.settings.environment import choose_language

GAP = "  "
"""Between two columns on a terminal."""

Columns = Mapping[str, Text]
"""The heading of each column by its name in JSON."""


class Cell(NamedTuple):
    """A value that people read otherwise than programs."""

    value: object
    """For JSON."""
    text: str


def print_rows(columns: Columns, rows: Iterable[Sequence[object]], *, as_json: bool) -> None:
    """Print rows; as JSON one object a line."""
    if as_json:
        for row in rows:
            print_json(dict(zip(columns, map(_value, row), strict=True)))
    elif sys.stdout.isatty():
        print("\n".join(format_table(columns, rows)))
    else:
        for row in rows:
            print("\t".join(map(_spell, row)).rstrip("\t"))


def print_json(value: object) -> None:
    """Print a value as JSON on one line."""
    print(msgspec.json.encode(value).decode(), flush=True)


def format_table(columns: Columns, rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a table, its headings in the language of the command line."""
    language = choose_language()
    cells = [[each.in_language(language) for each in columns.values()]]
    cells += [[printable(_spell(each)) for each in row] for row in rows]
    widths = [max(map(measure, column)) for column in zip(*cells, strict=True)]
    return [GAP.join(_pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def measure(text: str) -> int:
    """Return how many places a text takes on a terminal: a Hangul syllable takes two."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def printable(text: str) -> str:
    """Return what callers wrote as one field of a line, without characters that control a terminal."""
    return "".join(each if each.isprintable() else "\ufffd" for each in text)


def _pad(text: str, width: int) -> str:
    return text + " " * (width - measure(text))


def _value(cell: object) -> object:
    return cell.value if isinstance(cell, Cell) else cell


def _spell(cell: object) -> str:
    if isinstance(cell, Cell):
        return cell.text
    return "" if cell is None else str(cell)
