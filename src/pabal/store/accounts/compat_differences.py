"""How the calls of an account to other relays' endpoints differed from what happens here, counted by day."""

from collections.abc import Mapping
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion

RETENTION_DAYS = 92
MAX_ROWS_PER_DAY = 300
"""Different ones of an account, relay and day that are counted; further ones are not."""


class DifferenceKey(NamedTuple):
    """What is counted."""

    account_id: int
    kind: str
    """The relay."""
    difference: str
    detail: str
    """A code, the name of a field or a path."""


class CountedDifference(NamedTuple):
    """What is counted in a time, how often it was, and on which day last."""

    kind: str
    difference: str
    detail: str
    uses: int
    last_day: Instant


def add(tx: Tx, day: Instant, counts: Mapping[DifferenceKey, int]) -> None:
    """Add to what is counted on a day; where there are very many kinds already, only to those."""
    for account_id, kind in sorted({key[:2] for key in counts}):
        rows = tx.fetch_all(
            "select difference, detail from compat_differences where account_id = ? and kind = ? and day = ?",
            (account_id, kind, day),
        )
        known = {(row[0], row[1]) for row in rows}
        wanted = [(key, uses) for key, uses in counts.items() if key[:2] == (account_id, kind)]
        new = [each for each in wanted if each[0][2:] not in known][: max(0, MAX_ROWS_PER_DAY - len(known))]
        tx.execute_many(
            "insert into compat_differences (account_id, kind, day, difference, detail, uses) values {rows}"
            " on conflict (account_id, kind, day, difference, detail)"
            " do update set uses = compat_differences.uses + excluded.uses",
            [
                (account_id, kind, day, *key[2:], uses)
                for key, uses in (*(each for each in wanted if each[0][2:] in known), *new)
            ],
        )


def list_since(tx: Tx, account_id: int, since: Instant) -> list[CountedDifference]:
    """Return what was counted of an account since the beginning of a day, the most frequent first."""
    rows = tx.fetch_all(
        "select kind, difference, detail, sum(uses), max(day) from compat_differences"
        " where account_id = ? and day >= ? group by kind, difference, detail order by 4 desc, 1, 2, 3",
        (account_id, since),
    )
    return [CountedDifference(row[0], row[1], row[2], int(row[3]), int(row[4])) for row in rows]


delete_old = deletion("compat_differences", "account_id, kind, day, difference, detail", "day")
"""Forgets some of what was counted."""
