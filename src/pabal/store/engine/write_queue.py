"""Writes that wait for their commit: those whose callers wait for an answer come first."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from pabal.store.engine.base import TransactionOptions, Tx


class PendingWrite(NamedTuple):
    """A write that waits for its turn, and the future that its caller awaits."""

    work: Callable[..., Any]
    options: TransactionOptions
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"

    @property
    def has_timed_out(self) -> bool:
        """Whether its caller was told that it timed out; a write whose caller was cancelled still runs."""
        return self.future.done() and not self.future.cancelled()

    @property
    def is_prompt(self) -> bool:
        return self.options.prompt or self.options.urgent

    def run(self, tx: Tx) -> Any:
        return self.work(tx, *self.args, **self.kwargs)


class WriteQueue:
    """Urgent writes, then prompt ones, then all others, which come first once after they had to wait."""

    def __init__(self) -> None:
        self._prompt: deque[PendingWrite] = deque()
        self._others: deque[PendingWrite] = deque()
        self._is_turn_of_others = False

    def __len__(self) -> int:
        return len(self._prompt) + len(self._others)

    def __iter__(self) -> Iterator[PendingWrite]:
        yield from self._prompt
        yield from self._others

    @property
    def first(self) -> PendingWrite:
        """The write that comes next."""
        return self._line[0]

    def add(self, writes: Iterable[PendingWrite]) -> None:
        for write in writes:
            if write.options.urgent:
                self._prompt.appendleft(write)
            else:
                (self._prompt if write.is_prompt else self._others).append(write)

    def put_back(self, writes: list[PendingWrite]) -> None:
        """Let writes come next that were taken before, in their order."""
        for write in reversed(writes):
            (self._prompt if write.is_prompt else self._others).appendleft(write)

    def pop(self) -> PendingWrite:
        """Take out the next write."""
        write = self._line.popleft()
        if not write.is_prompt:
            self._is_turn_of_others = False
        return write

    def pop_all(self) -> list[PendingWrite]:
        """Take out all writes."""
        writes = list(self)
        self._prompt.clear()
        self._others.clear()
        return writes

    def let_others_begin(self) -> None:
        """Let one of those that are not prompt come next: prompt ones were committed without them."""
        self._is_turn_of_others = True

    @property
    def _line(self) -> deque[PendingWrite]:
        if self._others and (self._is_turn_of_others or not self._prompt):
            return self._others
        return self._prompt
