"""What many tables share: damaged rows keep no others from being read, old rows are deleted, conditions."""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from pabal.domain.base.dates import Instant, Period
from pabal.store.engine.base import Row, Tx, Value

T = TypeVar("T")
R = TypeVar("R", bound=NamedTuple)

log = logging.getLogger("pabal.store")


def reader(record: type[R], **conversions: Callable[[Any], object]) -> Callable[[Sequence[Any]], R]:
    """Return a function that reads a row with the fields of a record, in their order, some of them converted."""
    places = [(record._fields.index(name), convert) for name, convert in conversions.items()]

    def read(row: Sequence[Any]) -> R:
        values = list(row)
        for place, convert in places:
            values[place] = convert(values[place])
        return record._make(values)

    return read


class Select(NamedTuple, Generic[T]):
    """The beginning of queries, up to their tables, and how each of their rows is read."""

    sql: str
    read: Callable[[Row], T]

    def fetch_all(self, tx: Tx, rest: str = "", args: Sequence[Value] = ()) -> list[T]:
        """Return what every row holds; `rest` follows the tables."""
        return [self.read(row) for row in tx.fetch_all(f"{self.sql} {rest}", args)]

    def fetch_one(self, tx: Tx, rest: str, args: Sequence[Value]) -> T | None:
        """Return what the first row holds, None without one."""
        row = tx.fetch_one(f"{self.sql} {rest}", args)
        return None if row is None else self.read(row)

    def fetch_list(self, tx: Tx, rest: str, values: Iterable[Value]) -> list[T]:
        """Return what every row holds; `rest` has a `{list}` for many values."""
        return [self.read(row) for row in tx.execute_list(f"{self.sql} {rest}", values)]


def select(record: type[R], table: str, **conversions: Callable[[Any], object]) -> Select[R]:
    """Return the beginning of queries for the columns of a table that the fields of a record are named after."""
    return Select(f"select {', '.join(record._fields)} from {table}", reader(record, **conversions))


def read_rows(rows: Iterable[Row], read: Callable[[Row], T]) -> dict[bytes, T]:
    """Return what rows hold, by the id that each begins with; one that cannot be read is left out and logged."""
    found: dict[bytes, T] = {}
    for row in rows:
        try:
            found[row[0]] = read(row)
        except Exception as error:  # JSON that is none, or a number that no version of ours has written
            log.error("stored row cannot be read", extra={"id": row[0].hex(), "error": type(error).__name__})
    return found


def deletion(
    table: str,
    key: str,
    time: str,
    comparison: str = "<",
    condition: str = "true",
    bound_of: Callable[[Instant], Value] = int,
) -> Callable[[Tx, Instant, int], int]:
    """Return a function that deletes some rows from before an instant, the oldest first, and returns how many.

    `bound_of`: what `time` is compared with, where that is an id.
    """
    sql = (
        f"delete from {table} where ({key}) in"
        f" (select {key} from {table} where {condition} and {time} {comparison} ? order by {time} limit ?)"
    )

    def delete_some(tx: Tx, before: Instant, limit: int) -> int:
        return tx.execute(sql, (bound_of(before), limit))

    return delete_some


def upsert(table: str, key: str, columns: str) -> str:
    """Return the statement that stores a row, in place of the one with the same key if there is one."""
    names = columns.split(", ")
    marks = ", ".join("?" * (len(key.split(", ")) + len(names)))
    changes = ", ".join(f"{name} = excluded.{name}" for name in names)
    return f"insert into {table} ({key}, {columns}) values ({marks}) on conflict ({key}) do update set {changes}"


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
    total = tx.fetch_number(f"select count(*) from {tables} where {where}", args)
    rows = tx.fetch_all(
        f"select {columns} from {tables} where {where} order by {order} limit ? offset ?", (*args, limit, offset)
    )
    return total, rows


def among(column: str, numbers: Iterable[int] | None) -> str:
    """Return the condition that a column has one of some numbers, written out; None: any."""
    if numbers is None:
        return "true"
    listed = ", ".join(str(int(each)) for each in numbers)
    return f"{column} in ({listed})" if listed else "false"


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
