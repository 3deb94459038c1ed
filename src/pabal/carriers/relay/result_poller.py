"""Polls a relay for the results of messages, and remembers which were reported."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from pabal.carriers.base import OnReceipts, Receipt
from pabal.carriers.relay.http import ErrorAnswer, NoResponse, NotProcessed, Throttled
from pabal.domain.base.dates import DAY, HOUR, MINUTE, SECOND, Instant
from pabal.world import World

T = TypeVar("T")

FIRST_LOOK_BACK_MS = 1 * HOUR
"""How far the first round reads back, when there is no cursor."""
OVERLAPS = ((0.0, 15 * SECOND), (60.0, 2 * MINUTE), (600.0, 15 * MINUTE))
"""How many seconds apart a round overlaps the one before, and by how many milliseconds.

A result that is written late may have been missed. What overlaps is read again, so most rounds overlap little.
"""
MAX_OVERLAP_MS = max(overlap for _, overlap in OVERLAPS)
MAX_REMEMBERED = 500_000
"""How many results are remembered, so that they are not reported again; a duplicate does no harm."""
CLOCK_TOLERANCE_MS = 10 * SECOND
"""A smaller difference between the clocks is ignored."""
MAX_POLL_FRACTION = 3
"""Calls that bring nothing new take at most one part in this many of the time."""

OnServiceProblem = Callable[[str, str], None]
"""Called after every call with the name of a service and its problem; empty if all is well."""


class ResultCursor(Protocol):
    """How far results have been read; stored, and shared by all processes. One process reads for all."""

    @property
    def is_ours(self) -> bool:
        """Whether this process reads."""

    async def get(self, source: str) -> Instant | None:
        """Return until when the results of a source have been read."""

    async def put(self, source: str, at: Instant) -> None:
        """Store until when the results of a source have been read."""


class ResultSource(Protocol):
    """A list of results at a relay, ordered by when they were updated."""

    name: str
    """The service that it belongs to."""

    @property
    def server_time(self) -> Instant | None:
        """The time of the last answer by the relay's clock."""

    def read(self, start: Instant, end: Instant) -> AsyncIterator[Sequence[Receipt]]:
        """Yield the results that were updated between two times, page by page.

        Raises NotProcessed, NoResponse, Throttled, ErrorAnswer.
        """

    async def check(self, now: Instant) -> None:
        """Make the smallest call that shows whether the service is reachable. Raises as `read` does."""

    def is_closed_by(self, error: ErrorAnswer) -> bool:
        """Return whether an error means that the service accepts nothing from us."""


class ReportedResults:
    """Remembers for a while which results were reported."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._reported: dict[Instant, set[int]] = {}
        """Hashes of the references that were reported, by the minute."""

    def select_new(self, receipts: Sequence[Receipt]) -> list[Receipt]:
        """Return the receipts that were not reported before."""
        return [each for each in receipts if not self._is_reported(each)]

    def remember(self, receipts: Sequence[Receipt]) -> None:
        some = self._reported.setdefault(self._world.now() // MINUTE, set())
        some.update(hash(each.reference) for each in receipts)
        self.forget_old()

    def forget_old(self) -> None:
        """Forget what no round reads again."""
        oldest = (self._world.now() - MAX_OVERLAP_MS) // MINUTE - 2
        for minute in [minute for minute in self._reported if minute < oldest]:
            del self._reported[minute]
        while sum(map(len, self._reported.values())) > MAX_REMEMBERED and len(self._reported) > 1:
            del self._reported[min(self._reported)]

    def _is_reported(self, receipt: Receipt) -> bool:
        digest = hash(receipt.reference)
        return any(digest in some for some in self._reported.values())


class ResultPoller:
    """Reads the results of every source in use."""

    def __init__(
        self,
        carrier: str,
        sources: Sequence[ResultSource],
        cursor: ResultCursor,
        world: World,
        on_problem: OnServiceProblem,
        log: logging.Logger,
        *,
        round_s: float,
        poll_s: float,
    ) -> None:
        """Services are checked every `round_s`, and results are read every `poll_s`."""
        self._carrier = carrier
        self._sources = sources
        self._cursor = cursor
        self._world = world
        self._on_problem = on_problem
        self._log = log
        self._round_s = round_s
        self._poll_s = poll_s
        self.reported = ReportedResults(world)
        self._next_poll = world.monotonic()
        self._next_overlaps = [self._next_poll for _ in OVERLAPS]
        self._fruitless_s = 0.0
        """How long the calls of this round took, in proportion to what they brought that was known already."""
        self.read_problems: dict[str, str] = {}
        """Why the results of a service that is reachable cannot be read, by its name."""
        self._clock_ahead_ms: dict[str, int] = {}
        """By how much the clock of each service is ahead of ours."""

    async def run(self, on_receipts: OnReceipts) -> None:
        """Read results until cancelled; if another process reads them, only check that services are reachable."""
        while True:
            began, self._fruitless_s = self._world.monotonic(), 0.0
            is_polling = self._cursor.is_ours and began >= self._next_poll
            if is_polling:
                self._next_poll = began + self._poll_s
            overlap = self._overlap(began) if is_polling else 0
            for source in self._sources:
                await self._poll(source, on_receipts if is_polling else None, overlap)
            took_s = self._world.monotonic() - began
            await asyncio.sleep(max(self._round_s - took_s, self._fruitless_s * (MAX_POLL_FRACTION - 1)))

    def _overlap(self, now: float) -> int:
        """Return by how much this round overlaps the one before."""
        longest = 0
        for index, (interval_s, overlap) in enumerate(OVERLAPS):
            if now >= self._next_overlaps[index]:
                self._next_overlaps[index] = now + interval_s
                longest = max(longest, overlap)
        return longest

    async def _poll(self, source: ResultSource, on_receipts: OnReceipts | None, overlap: int) -> None:
        problem = read_problem = ""
        try:
            if on_receipts:
                await self._read_new(source, on_receipts, overlap)
            else:
                _, took_s = await self._timed(source, source.check(self._server_now(source)))
                self._fruitless_s += took_s
        except Throttled:
            pass
        except (NotProcessed, NoResponse) as error:
            problem = str(error)
        except ErrorAnswer as error:
            is_closed = source.is_closed_by(error)
            problem, read_problem = (str(error), "") if is_closed else ("", f"results cannot be read: {error}")
        self._on_problem(source.name, problem)
        if read_problem and read_problem != self.read_problems.get(source.name):
            self._log.warning(
                "results cannot be read; retrying", extra={"carrier": self._carrier, "reason": read_problem}
            )
        self.read_problems[source.name] = read_problem

    async def _read_new(self, source: ResultSource, on_receipts: OnReceipts, overlap: int) -> None:
        """Store all results since the last round."""
        now = self._server_now(source)
        cursor = await self._cursor.get(source.name)
        since = now - FIRST_LOOK_BACK_MS if cursor is None else min(cursor, now)
        until = 0
        while until < now:
            until = min(since + DAY - HOUR, now)
            await self._read_between(source, since - overlap, until, on_receipts)
            await self._cursor.put(source.name, until)
            since = until
        self.reported.forget_old()

    async def _read_between(
        self, source: ResultSource, start: Instant, end: Instant, on_receipts: OnReceipts
    ) -> None:
        """Store the results between two times; while a page is stored, the next one is read."""
        pages = source.read(start, end)
        page, took_s = await self._timed(source, anext(pages, None))
        while page is not None:
            following = asyncio.ensure_future(self._timed(source, anext(pages, None)))
            try:
                new_count = await self.store_new(page, on_receipts)
            except BaseException:
                following.cancel()
                raise
            self._fruitless_s += took_s * (1 - new_count / max(len(page), 1))
            page, took_s = await following

    async def store_new(self, page: Sequence[Receipt], on_receipts: OnReceipts) -> int:
        """Store the results that were not reported before, and return how many there are."""
        if new := self.reported.select_new(page):
            await on_receipts(new)
            self.reported.remember(new)
        return len(new)

    async def _timed(self, source: ResultSource, call: Awaitable[T]) -> tuple[T, float]:
        """Return the answer to a call and how many seconds it took; compare the clocks."""
        began = self._world.monotonic()
        answer = await call
        took_s = self._world.monotonic() - began
        ahead = (source.server_time or self._world.now()) - self._world.now()
        self._clock_ahead_ms[source.name] = ahead if abs(ahead) > CLOCK_TOLERANCE_MS else 0
        return answer, took_s

    def _server_now(self, source: ResultSource) -> Instant:
        """Return the time by the server's clock, by which results are listed."""
        return self._world.now() + self._clock_ahead_ms.get(source.name, 0)
