"""The shards of a slot: their tables on a node, and how a transaction there keeps them from being moved.

Citus plans most statements anew each time, which takes longer than to execute them. On the node itself a
transaction does what Citus does for its own statements: it locks the shard, looks whether it is here, and uses its
tables.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from pabal.store.engine.base import UNION, Value
from pabal.store.engine.citus.distribution import DISTRIBUTED_TABLES
from pabal.store.engine.citus.values import parse

FIND_SHARDS = (
    b"select get_shard_id_for_distribution_column(t.name::regclass, $1::bigint::smallint)"
    b" from unnest($2::text[]) with ordinality as t(name, number) order by t.number"
)
"""The shard of each of some tables that a slot is in."""
LOCK = b"select lock_shard_metadata(5, array[$1::bigint])"
"""Locks a shard, and all that are moved with it, in the mode of Citus's own statements: no move ends meanwhile."""
CHECK_PLACES = (
    b"select 1 / (count(*) = $2::bigint)::int from pg_dist_placement p"
    b" join pg_dist_local_group g on g.groupid = p.groupid"
    b" where p.shardid = any ($1::bigint[]) and p.xmax = '0'"
)
"""Divides by zero, so that nothing is committed, unless all of so many shards are on this node.

A transaction that began before the shard was moved does not see its new place. By `xmax` it sees that the old one
has been changed.
"""
_CASES = 4096
_SLOT = re.compile(r"\bslot = (\?|[0-9]+)")
_INSERT = re.compile(r"\s*insert (?:\{or_fail\} )?into \w+ \(([\w, ]+)\) values \(([^)]*)\)")
_NO_ALIAS = "set|where|on|order|limit|using|group|left|inner|join|cross|union|returning|for|values|select"
_TABLE = re.compile(
    rf"\b(from|into|update|join) ({'|'.join(DISTRIBUTED_TABLES)})\b(?= (?!(?:{_NO_ALIAS})\b)(\w+))?"
)


@lru_cache(maxsize=_CASES)
def spell(sql: str, shards: tuple[int, ...]) -> str:
    """Return a statement about the tables of these shards, which are in the order of DISTRIBUTED_TABLES."""
    numbers = dict(zip(DISTRIBUTED_TABLES, shards, strict=True))

    def spell_one(found: re.Match[str]) -> str:
        keyword, table, alias = found.groups()
        return f"{keyword} {table}_{numbers[table]}" + ("" if alias else f" as {table}")

    return _TABLE.sub(spell_one, sql)


@lru_cache(maxsize=_CASES)
def names_shards(sql: str) -> bool:
    """Return whether a statement is about distributed tables: each slot has tables of its own for these."""
    return _TABLE.search(sql) is not None


def split(sql: str, args: Sequence[Value]) -> list[tuple[int, str, Sequence[Value]]]:
    """Return the parts of a union that are about one slot each, those of a slot that follow each other together.

    There are none unless each part is about distributed tables and names its slot.
    """
    parts: list[tuple[int, str, Sequence[Value]]] = []
    at = 0
    for part in sql.split(UNION):
        some = args[at : at + part.count("?")]
        at += len(some)
        slot = find_slot(part, some) if names_shards(part) else None
        if slot is None:
            return []
        if parts and parts[-1][0] == slot:
            _, before, args_before = parts.pop()
            part, some = f"{before}{UNION}{part}", [*args_before, *some]
        parts.append((slot, part, some))
    return parts


def find_slot(sql: str, args: Sequence[Value]) -> int | None:
    """Return the slot that a statement is about; None: it does not say."""
    place = _find_place(sql)
    if place is None:
        return None
    number, is_place = place
    value = args[number] if is_place else number
    return value if isinstance(value, int) else None


@lru_cache(maxsize=_CASES)
def _find_place(sql: str) -> tuple[int, bool] | None:
    """Return the slot that a statement names, or which of its arguments is the slot, and whether it is that."""
    if inserted := _INSERT.match(sql):
        names = [name.strip() for name in inserted[1].split(",")]
        cells = [cell.strip() for cell in inserted[2].split(",")]
        at = names.index("slot")
        return (cells[:at].count("?"), True) if cells[at] == "?" else None
    named = {(sql[: found.start(1)].count("?"), True) if found[1] == "?" else (int(found[1]), False)
             for found in _SLOT.finditer(sql)}  # fmt: skip
    return named.pop() if len(named) == 1 else None


def place_of_slot(sql: str, width: int) -> int | None:
    """Return which value of each row of so many says its slot, or None: the statement does not say."""
    if insert := parse(sql, width):
        return insert.slot
    return 0 if "{same_slot}" in sql else None
