"""What a store offers: transactions that are plain functions, run for writing or for reading."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

Value = bytes | str | int | float | None
Row = tuple[Any, ...]
"""A row that a query found."""
P = ParamSpec("P")
T = TypeVar("T")

MAX_ROWS_PER_STATEMENT = 100
"""Rows that one statement takes: enough to let go of the interpreter while the engine works on them."""

_DIALECT_WORD = re.compile(r"\{(\w+)\}")
_ROW_WORDS = ("rows", "list", "within", "same_slot")


class StoreUnavailable(Exception):
    """The store could not do it now; nothing of it is kept, or nobody knows. Trying again may help."""


class Tx(Protocol):
    """One transaction, in the hands of a plain function that may be run again."""

    @property
    def is_retry(self) -> bool:
        """Whether the work may have been kept before: its commit was under way when the store was lost."""

    def execute(self, sql: str, args: Sequence[Value] = ()) -> int:
        """Carry out a statement and return how many rows it changed."""

    def fetch_all(self, sql: str, args: Sequence[Value] = ()) -> list[Row]:
        """Return every row of a query."""

    def fetch_one(self, sql: str, args: Sequence[Value] = ()) -> Row | None:
        """Return the first row of a query, None where there is none."""

    def execute_many(self, sql: str, rows: Iterable[Sequence[Value]], args: Sequence[Value] = ()) -> list[Row]:
        """Carry out a statement for many rows at once.

        `{rows}` in the statement becomes a list of parenthesised placeholders, one for each row, and `{list}`
        one without parentheses, for rows of one value; `args` are the placeholders that stand before it.
        Where rows begin with an id, a statement may name the slot that it is about by `slot {same_slot}`, for the
        slot of all ids if they share one, and the months by `id {within}`: none of the ids lies outside. Beside a
        join the latter would be wrong: it offers the planner a way to go through all that lies between.
        Returns what the statement returns.
        """


class Store(Protocol):
    """A place that keeps things, and says so only when they are kept."""

    async def write(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` in a transaction and return its answer once it is durable.

        What `work` raises undoes it and is raised here. Raises StoreAway where it could not be kept.
        """

    async def read(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` on one consistent view of what is kept."""

    async def write_relaxed(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` by itself, without waiting for the disk: for counts that a crash may forget.

        It locks what it reads by writing to it. Raises StoreAway.
        """

    async def close(self) -> None:
        """Finish what is under way, then let go of everything."""


_knowing: set[Any] = set()


def knows_itself(work: T) -> T:
    """Mark a work that may be run again when nobody knows whether it was kept.

    Where `Tx.is_again`, it looks for what it left behind, and answers as it would have then.
    """
    _knowing.add(work)
    return work


def may_run_again(work: Any) -> bool:
    """Say whether a work is marked with `knows_itself`."""
    return work in _knowing


_long: set[Any] = set()


def takes_its_time(work: T) -> T:
    """Mark a work that is waited for however long it takes, even where the engine seems to have fallen silent."""
    _long.add(work)
    return work


def may_take_long(work: Any) -> bool:
    """Say whether a work is marked with `takes_its_time`."""
    return work in _long


_alone: set[Any] = set()


def done_alone(work: T) -> T:
    """Mark a work that may wait for others, or fail for them: it gets a transaction of its own."""
    _alone.add(work)
    return work


def is_done_alone(work: Any) -> bool:
    """Say whether a work is marked with `done_alone`."""
    return work in _alone


Together = Callable[[Tx, Sequence[Any]], Sequence[Any]]
_together: dict[Any, Together] = {}


def done_together_by(together: Together) -> Callable[[T], T]:
    """Mark a work of one argument whose calls `together` can do in one go, given all their arguments.

    It returns an answer for each, and raises where any of them would.
    """

    def mark(work: T) -> T:
        _together[work] = together
        return work

    return mark


def together_of(work: Any) -> Together | None:
    """Return what does many calls of a work in one go, if there is such a thing."""
    return _together.get(work)


def chunks(rows: Iterable[Sequence[Value]], size: int = MAX_ROWS_PER_STATEMENT) -> Iterator[list[Sequence[Value]]]:
    """Yield the rows in lists of at most `size`."""
    chunk: list[Sequence[Value]] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


@lru_cache(maxsize=512)
def expand_placeholders(sql: str, rows: int, columns: int) -> str:
    """Return `sql` with `{rows}` or `{list}` spelled out, for an engine that has neither months nor slots."""
    row = f"({','.join('?' * columns)})"
    sql = sql.replace("{rows}", ",".join([row] * rows)).replace("{list}", ",".join("?" * rows))
    return sql.replace("{within}", "is not null").replace("{same_slot}", "is not null")


def to_dialect(sql: str, words: dict[str, str]) -> str:
    """Return `sql` with the engine's own words for what stands in braces; words for the rows stay."""
    return _DIALECT_WORD.sub(lambda match: match[0] if match[1] in _ROW_WORDS else words[match[1]], sql)
