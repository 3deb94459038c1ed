"""The interface of a store: transactions are plain functions, run to write or to read."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum, IntEnum
from functools import lru_cache, partial
from itertools import islice
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

Value = bytes | str | int | float | None
Row = tuple[Any, ...]
"""A row of a query's result."""
P = ParamSpec("P")
T = TypeVar("T")

MAX_ROWS_PER_STATEMENT = 100
"""Rows per statement: enough that other threads can run while the engine works on them."""

_DIALECT_WORD = re.compile(r"\{(\w+)\}")
_ROW_WORDS = ("rows", "list", "within", "same", "same_slot")


class StoreUnavailable(Exception):
    """The store cannot do it now: nothing was committed, or that is not known. A retry may help."""


class NodeUnavailable(StoreUnavailable):
    """A node of a distributed store cannot be reached: what is on other nodes goes on.

    `node` is its host and port, or empty where nobody said. `is_uncertain`: the transaction may have been
    committed; otherwise it has changed nothing.
    """

    def __init__(self, node: str, reason: str = "", *, is_uncertain: bool = False) -> None:
        because = f": {reason}" if reason else ""
        super().__init__(f"the node {node or 'of a slot'} cannot be reached{because}")
        self.node = node
        self.is_uncertain = is_uncertain


class ReadTimedOut(StoreUnavailable):
    """A search took longer than it may. The same search would again."""


class Tx(ABC):
    """One transaction, used by a plain function that may run again."""

    is_retry = False
    """Whether an earlier run may have been committed: the connection was lost during its commit."""
    is_distributed = False
    """Whether the slots are on several nodes, which each statement should name as few of as it can."""

    @abstractmethod
    def execute(self, sql: str, args: Sequence[Value] = ()) -> int:
        """Execute a statement and return how many rows it changed."""

    @abstractmethod
    def fetch_all(self, sql: str, args: Sequence[Value] = ()) -> list[Row]:
        """Return every row of a query."""

    @abstractmethod
    def fetch_one(self, sql: str, args: Sequence[Value] = ()) -> Row | None:
        """Return the first row of a query, or None."""

    @abstractmethod
    def execute_many(self, sql: str, rows: Iterable[Sequence[Value]], args: Sequence[Value] = ()) -> list[Row]:
        """Execute a statement for many rows at once.

        `{rows}` in the statement becomes a list of parenthesised placeholders, one for each row, and `{list}`
        one without parentheses, for rows of one value; `args` are the placeholders that stand before it.
        `(values {rows}) as v(id, lane)` names the columns `v.id` and `v.lane`. `jobs.id {same}` compares with the
        column of that name, so that PostgreSQL looks each row up, whatever its plan was made for.
        Where rows begin with an id, or with a slot, a statement may name the slot that it is about by
        `slot {same_slot}`, for the slot of all rows if they share one. Where they begin with an id, it may name the
        months by `id {within}`: none of the ids lies outside. Beside a join that would be wrong: it offers the
        planner a way to go through all that lies between.
        Returns what the statement returns.
        """

    @abstractmethod
    def announce(self, topic: int) -> None:
        """Have `Store.announced` count a change of a topic before the caller of this write gets its result."""

    def execute_list(self, sql: str, values: Iterable[Value], args: Sequence[Value] = ()) -> list[Row]:
        """Execute a statement with `{list}` for many values at once."""
        return self.execute_many(sql, [(value,) for value in values], args)

    def changes(self, sql: str, args: Sequence[Value] = ()) -> bool:
        """Execute a statement and return whether it changed any row."""
        return self.execute(sql, args) > 0

    def fetch_values(self, sql: str, args: Sequence[Value] = ()) -> list[Any]:
        """Return the first column of a query."""
        return [row[0] for row in self.fetch_all(sql, args)]

    def fetch_value(self, sql: str, args: Sequence[Value] = ()) -> Any | None:
        """Return the first column of a query's first row, None without one."""
        row = self.fetch_one(sql, args)
        return row[0] if row else None

    def fetch_number(self, sql: str, args: Sequence[Value] = ()) -> int:
        """Return the number that a query returns, 0 for null or no row."""
        return int(self.fetch_value(sql, args) or 0)


class Store(Protocol):
    """A durable store: a write returns only once it is committed."""

    @property
    def announced(self) -> Mapping[int, int]:
        """How often writes of this process have announced each topic; some of them may have been rolled back.

        It is replaced by another mapping, never changed.
        """

    @property
    def lost_nodes(self) -> set[str]:
        """The nodes of a distributed store, by host and port, that could not be reached when last tried.

        Whoever reaches one again takes it out.
        """

    @property
    def slot_nodes(self) -> dict[int, str]:
        """The node of each slot of a distributed store, as far as is known: writes to one node share commits.

        Whoever reads where the slots are fills it.
        """

    @property
    def refused_at(self) -> float:
        """When the engine refused a write of this process last, on the monotonic clock; not because of one node."""

    async def write(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` in a transaction and return its result once it is durable.

        What `work` raises rolls it back and is raised here. Raises StoreUnavailable where it cannot be committed.
        """

    async def read(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` on one consistent view of the store."""

    async def read_at(
        self, node: str, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `work` on the server of a node of a distributed store itself, where some tables have other names.

        Raises NodeUnavailable where that cannot be done, for whatever reason: `read` may still succeed.
        """

    async def write_relaxed(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` in a transaction of its own, without waiting for the disk: for counts that a crash may lose.

        It locks what it reads by writing to it. Raises StoreUnavailable.
        """

    async def scrub(self) -> bool:
        """Overwrite some of the erased data that is left in the files, where that is ours to do.

        It is called again and again. Says no if it has to wait. Raises StoreUnavailable.
        """

    async def vacuum(self, table: str, erased_ms_ago: int) -> bool:
        """Remove from the files of a table what was erased so long ago, where the engine keeps it.

        Says no if it has to wait. Raises StoreUnavailable.
        """

    async def was_written_elsewhere(self) -> bool:
        """Return whether another process may have written since the last call, without a look at any table.

        A store that processes always share says no: these look for what they need themselves. Raises
        StoreUnavailable.
        """

    async def close(self) -> None:
        """Finish pending work, then close all connections."""


BatchFunction = Callable[[Tx, Sequence[Any]], Sequence[Any]]
"""Does many calls of a work at once: takes the argument of each, and returns the result of each."""


class Priority(IntEnum):
    """Which writes come first, and how long their callers wait."""

    PATIENT = 0
    """Its caller waits for as long as it takes, without a timeout."""
    NORMAL = 1
    PROMPT = 2
    """A caller of the API waits for it: it comes before others, and its commit does not wait for long ones."""
    URGENT = 3
    """It overtakes the writes that wait, and is not refused because of their number."""


class Reader(Enum):
    """Which connections a work reads on."""

    CALLS = "calls"
    """Those that every call needs."""
    SEARCHES = "searches"
    """It reads an amount that callers decide, so it has connections of its own and a time limit."""
    BACKGROUND = "background"
    """It reads for no caller that waits, perhaps for long. On the writing connection it counts as no commit."""


class TransactionOptions(NamedTuple):
    """How the store may run a work."""

    priority: Priority = Priority.NORMAL
    reader: Reader = Reader.CALLS
    retryable: bool = False
    exclusive: bool = False
    batched_by: BatchFunction | None = None
    slot_of: Callable[..., int] | None = None
    stays_in_slot: Callable[..., bool] | None = None
    single: bool = False
    work: Any = None
    """The function that was decorated: wrappers share its options, but not its batch function."""


_DEFAULT_OPTIONS = TransactionOptions()
_OPTIONS_ATTRIBUTE = "_transaction_options"


def transaction(
    *,
    priority: Priority = Priority.NORMAL,
    reader: Reader = Reader.CALLS,
    retryable: bool = False,
    exclusive: bool = False,
    batched_by: BatchFunction | None = None,
    slot_of: Callable[..., int] | None = None,
    stays_in_slot: Callable[..., bool] | None = None,
    single: bool = False,
) -> Callable[[T], T]:
    """Return a decorator that states how the store may run a work.

    - `priority`: which writes come first, and how long their callers wait.
    - `reader`: on which connections it reads. A search raises ReadTimedOut.
    - `retryable`: it may run again when nobody knows whether its commit succeeded. Where `Tx.is_retry`, the work
      looks for the rows of its first run, and returns what that run would have returned.
    - `exclusive`: it gets a transaction of its own, because it may wait for others, or fail because of them.
    - `batched_by`: does many calls of this work, which takes one argument, at once. It raises where any of the
      calls would raise; then each call runs by itself.
    - `slot_of`: takes the arguments of the work, and returns the slot that it is about. In a distributed store it
      shares its transaction only with works on the same node, so that no second node takes part in the commit.
    - `stays_in_slot`: takes the arguments, and returns whether it touches nothing but rows of that slot, in tables
      that are distributed by slot. Then it may run, or read, on the slot's node, which has no other tables.
    - `single`: it reads by one statement, or by some that need not agree: they need no transaction.
    """

    def decorate(work: T) -> T:
        options = TransactionOptions(
            priority, reader, retryable, exclusive, batched_by, slot_of, stays_in_slot, single, work
        )
        setattr(work, _OPTIONS_ATTRIBUTE, options)
        return work

    return decorate


def options_of(work: Any) -> TransactionOptions:
    """Return the options of a work, also through `functools.partial` and `functools.wraps`.

    A batch function is called in place of the work itself, so a wrapper, which would be left out, has none.
    """
    inner = work
    options: TransactionOptions | None = None
    while options is None:
        options = getattr(inner, _OPTIONS_ATTRIBUTE, None)
        if options is None:
            inner = inner.func if isinstance(inner, partial) else getattr(inner, "__wrapped__", None)
            if inner is None:
                return _DEFAULT_OPTIONS
    return options if options.work is work else options._replace(batched_by=None)


def chunks(rows: Iterable[Sequence[Value]], size: int = MAX_ROWS_PER_STATEMENT) -> Iterator[list[Sequence[Value]]]:
    """Yield the rows in lists of at most `size`."""
    rows = iter(rows)
    while chunk := list(islice(rows, size)):
        yield chunk


UNION = " union all "
MAX_QUERIES_PER_STATEMENT = 64


def fetch_union(tx: Tx, queries: Iterable[tuple[str, Sequence[Value]]]) -> list[Row]:
    """Return the rows of queries with the same columns, many by one statement.

    Where each query names one slot, a distributed store asks as it can.
    """
    rows: list[Row] = []
    wanted = list(queries)
    for begin in range(0, len(wanted), MAX_QUERIES_PER_STATEMENT):
        some = wanted[begin : begin + MAX_QUERIES_PER_STATEMENT]
        rows += tx.fetch_all(UNION.join(sql for sql, _ in some), [value for _, args in some for value in args])
    return rows


@lru_cache(maxsize=512)
def expand_placeholders(sql: str, rows: int, columns: int) -> str:
    """Return `sql` with `{rows}` or `{list}` spelled out, for an engine that has neither months nor slots."""
    row = f"({','.join('?' * columns)})"
    sql = sql.replace("{rows}", ",".join([row] * rows)).replace("{list}", ",".join("?" * rows))
    return sql.replace("{within}", "is not null").replace("{same_slot}", "is not null")


_SAME = re.compile(r"(\w+\.(\w+)) \{same\}")
_NAMED_COLUMNS = re.compile(r"\bas v\(([\w, ]+)\)")


def number_columns(sql: str) -> str:
    """Return `sql` for an engine that cannot name the columns of `(values {rows}) as v(a, b)`: v.a is v.column1."""
    match = _NAMED_COLUMNS.search(sql)
    if not match:
        return sql
    numbers = {name.strip(): number for number, name in enumerate(match[1].split(","), 1)}
    sql = sql[: match.start()] + "as v" + sql[match.end() :]
    return re.sub(r"\bv\.(\w+)", lambda found: f"v.column{numbers[found[1]]}", sql)


def spell_same(sql: str, comparison: str = "= v.{0}") -> str:
    """Return `sql` with `{same}` behind a column spelled out, by the name of the column."""
    return _SAME.sub(lambda found: f"{found[1]} {comparison.format(found[2])}", sql)


def to_dialect(sql: str, words: dict[str, str]) -> str:
    """Return `sql` with the engine's own words for what stands in braces; words for the rows stay."""
    return _DIALECT_WORD.sub(lambda match: match[0] if match[1] in _ROW_WORDS else words[match[1]], sql)
