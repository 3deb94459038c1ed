"""What many tables share: damaged rows keep no others from being read, old rows are deleted, conditions."""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from pabal.domain.base.dates import Instant, Period
from pabal.store.engine.base import Row, Tx, Value

T = TypeVar("T")

log = logging.getLogger("pabal.store")


def read_rows(rows: Iterable[Row], read: Callable[[Row], T]) -> dict[bytes, T]:
    """Return what rows hold, by the id that each begins with; one that cannot be read is left out and logged."""
    found: dict[bytes, T] = {}
    for row in rows:
        try:
            found[row[0]] = read(row)
        except Exception as error:  # JSON that is none, or a number that no version of ours has written
            log.error("stored row cannot be read", extra={"id": row[0].hex(), "error": type(error).__name__})
    return found


def deletion(table: str, key: str, time: str, comparison: str = "<") -> Callable[[Tx, Instant, int], int]:
    """Return a function that deletes some rows from before an instant, the oldest first, and returns how many."""
    sql = (
        f"delete from {table} where ({key}) in"
        f" (select {key} from {table} where {time} {comparison} ? order by {time} limit ?)"
    )

    def delete_some(tx: Tx, before: Instant, limit: int) -> int:
        return tx.execute(sql, (before, limit))

    return delete_some


def given(*conditions: tuple[str, Value]) -> list[tuple[str, Value]]:
    """Return the conditions that have a value."""
    return [(sql, value) for sql, value in conditions if value is not None]


def find_page(
    tx: Tx,
    columns: str,
    tables: str,
    conditions: Sequence[tuple[str, Value]],
    limit: int,
    offset: int,
    *,
    order: str = "id desc",
) -> tuple[int, list[Row]]:
    """Return how many rows fit all conditions, and some of them."""
    where, args = " and ".join(sql for sql, _ in conditions), [value for _, value in conditions]
    (total,) = tx.fetch_all(f"select count(*) from {tables} where {where}", args)[0]
    rows = tx.fetch_all(
        f"select {columns} from {tables} where {where} order by {order} limit ? offset ?", (*args, limit, offset)
    )
    return int(total), rows


def in_period(column: str, period: Period | None) -> list[tuple[str, Value]]:
    """Return the conditions that a time is in a period."""
    if period is None:
        return []
    return given((f"{column} >= ?", period.start), (f"{column} < ?", period.end))


def containing(text: str) -> str:
    """Return the pattern of what contains a text, for `like ? escape '!'`."""
    for special in "!%_":
        text = text.replace(special, f"!{special}")
    return f"%{text}%"
