"""Spells out rows: Citus passes `values` on to the node of their slot, and plans a statement about one row once.

An `insert … select` from arrays, as PostgreSQL gets it, is executed on the coordinator, copied to the node, and
committed in two phases. A join with arrays is planned anew each time it is executed, which takes longer than that.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.store.engine.base import Value, spell_same
from pabal.store.engine.citus.distribution import DISTRIBUTED_TABLES

MAX_ROWS = 100
"""More rows of one statement than this are copied: for a campaign, that takes less than planning them."""
MAX_SINGLES = 4
"""So many rows of a join take one statement each; more share one, which takes less than that."""
_INSERT = re.compile(
    r"\s*(?P<head>(?:explain )?insert (?:\{or_fail\} )?into (?P<table>\w+) \((?P<columns>[\w, ]+)\))"
    r" select (?P<cells>.+?) from \(values \{rows\}\) as v(?:\((?P<names>[\w, ]+)\))?(?: where true)?"
    r"(?P<tail> (?:on conflict|returning) .+)?\s*",
    re.DOTALL,
)
_CELL = re.compile(r"(?:v\.)?(?P<name>\w+|\*|\?)(?P<cast>\{\w+\})?")


class RowInsert(NamedTuple):
    """An insert of rows, each with values of its own and some that all of them share."""

    head: str
    cells: tuple[int | str, ...]
    """For each column, the index of its value in the row; or a constant, or `?` for the next shared value."""
    tail: str
    slot: int
    """The index of the slot in a row."""


@lru_cache(maxsize=128)
def parse(sql: str, width: int) -> RowInsert | None:
    """Return an insert of rows of so many values into a distributed table; None: it is something else."""
    found = _INSERT.fullmatch(sql)
    if not found or found["table"] not in DISTRIBUTED_TABLES:
        return None
    names = [name.strip() for name in (found["names"] or "").split(",")]
    cells: list[int | str] = []
    for text in found["cells"].split(", "):
        cell = _CELL.fullmatch(text.strip())
        if not cell:
            return None
        if cell["name"] == "*":
            cells += range(width)
        else:
            cells.append(names.index(cell["name"]) if text.strip().startswith("v.") else cell["name"])
    slot = cells[[name.strip() for name in found["columns"].split(",")].index("slot")]
    return RowInsert(found["head"], tuple(cells), found["tail"] or "", slot) if isinstance(slot, int) else None


@lru_cache(maxsize=512)
def spell(insert: RowInsert, rows: int, width: int) -> str:
    """Return the statement for so many rows: the shared values are its first arguments."""
    shared = sum(cell == "?" for cell in insert.cells)
    spelled = []
    for row in range(rows):
        next_shared = iter(range(1, shared + 1))
        values = [
            f"${shared + row * width + cell + 1}"
            if isinstance(cell, int)
            else f"${next(next_shared)}"
            if cell == "?"
            else cell
            for cell in insert.cells
        ]
        spelled.append(f"({', '.join(values)})")
    return f"{insert.head} values {', '.join(spelled)}{insert.tail}"


def by_slot(rows: Iterable[Sequence[Value]], place: int = 0) -> list[tuple[int, list[Sequence[Value]]]]:
    """Return the rows of each slot, the lowest slot first, so that transactions lock in one order.

    At `place`, each row has the slot itself, or an id.
    """
    found: dict[int, list[Sequence[Value]]] = {}
    for row in rows:
        found.setdefault(slot_of(row[place]), []).append(row)
    return [(slot, found[slot]) for slot in sorted(found)]


def slot_of(value: Value) -> int:
    """Return the slot of an id, or the slot itself."""
    assert isinstance(value, bytes | int)
    return value if isinstance(value, int) else identifiers.slot_of(value)


_JOIN = re.compile(
    r"(?P<head>.+?) from \(values \{rows\}\) as v\((?P<names>[\w, ]+)\)"
    r"(?: join (?P<joined>(?P<table>\w+) \w+) on (?P<condition>.+?))? where (?P<rest>.+)",
    re.DOTALL,
)
_UPDATED = re.compile(r"update (\w+) set ")
_CELL_OF_ROW = re.compile(r"\bv\.(\w+)(?:\{\w+\})?")


@lru_cache(maxsize=128)
def parse_join(sql: str) -> str | None:
    """Return what a statement that joins rows with a distributed table is for one row; None: it is something else.

    The values of the row stand behind those that all rows share, and then the slot, unless the row begins with it.
    """
    found = _JOIN.fullmatch(sql)
    updated = _UPDATED.match(sql)
    table = updated[1] if updated else found["table"] if found else None
    if not found or table not in DISTRIBUTED_TABLES or "{within}" in sql or "{same_slot}" not in sql:
        return None
    names = [name.strip() for name in found["names"].split(",")]
    source = f" from {found['joined']}" if found["joined"] else ""
    conditions = [each for each in (found["condition"], found["rest"]) if each]
    text = spell_same(f"{found['head']}{source} where {' and '.join(conditions)}")
    shared = text.count("?")
    if shared != found["head"].count("?"):
        return None
    numbers = iter(range(1, shared + 1))
    text = re.sub(r"\?", lambda _: f"${next(numbers)}", text)
    text = _CELL_OF_ROW.sub(lambda cell: f"${shared + 1 + names.index(cell[1])}", text)
    if names[0] == "slot":  # Citus plans it once only if it names the slot once
        return re.sub(r"\w+\.slot \{same_slot\}", "true", text)
    return text.replace("{same_slot}", f"= ${shared + 1 + len(names)}")
