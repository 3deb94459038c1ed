"""Writes that wait for their commit: those whose callers wait for an answer come first."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from pabal.store.engine.base import Priority, TransactionOptions, Tx


class PendingWrite(NamedTuple):
    """A waiting write, and the future that its caller awaits."""

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
        """Whether it goes before the others."""
        return self.options.priority >= Priority.PROMPT

    def run(self, tx: Tx) -> Any:
        return self.work(tx, *self.args, **self.kwargs)


class WriteQueue:
    """Urgent writes, then prompt ones, then all others; after a commit of prompt writes alone, those come first."""

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
            if write.options.priority is Priority.URGENT:
                self._prompt.appendleft(write)
            else:
                (self._prompt if write.is_prompt else self._others).append(write)

    def put_back(self, writes: list[PendingWrite]) -> None:
        """Put writes that were taken back at the front, in their order."""
        for write in reversed(writes):
            (self._prompt if write.is_prompt else self._others).appendleft(write)

    def pop(self) -> PendingWrite:
        """Take out the next write."""
        write = self._line.popleft()
        if not self._others:
            self.serve_prompt_first()
        return write

    def pop_all(self) -> list[PendingWrite]:
        """Take out all writes."""
        writes = list(self)
        self._prompt.clear()
        self._others.clear()
        self.serve_prompt_first()
        return writes

    def serve_others_next(self) -> None:
        """Serve writes that are not prompt next, if any wait."""
        self._is_turn_of_others = bool(self._others)

    def serve_prompt_first(self) -> None:
        """Serve prompt writes first again."""
        self._is_turn_of_others = False

    @property
    def _line(self) -> deque[PendingWrite]:
        return self._others if self._is_turn_of_others or not self._prompt else self._prompt
