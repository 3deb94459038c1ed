"""Workers of a simulated cluster: each with a clock that can be set, and with carriers that share one ledger."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Concatenate

from pabal.carriers.base import Accepted, OnVerdicts, Receipt, Unknown, Verdict
from pabal.carriers.pace import Pacer
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.sends.message import Attempt
from pabal.store.engine.base import P, Store, T, Tx
from tests.fixtures.cluster import StoreProxy
from tests.fixtures.virtual import VirtualWorld
from tests.sim.faulty import CarrierLedger, Submission, UnreliableCarrier

RATE = 30.0
"""Messages a second that a carrier accepts from all workers together."""


class WorkerWorld(VirtualWorld):
    """A world whose wall clock can be set; the monotonic clock is that of the loop."""

    def __init__(self, seed: int, starts_at: Instant, trace: "Trace") -> None:
        super().__init__(seed, starts_at)
        self.offset_ms = 0
        self._trace = trace

    def now(self) -> Instant:
        shown = super().now() + self.offset_ms
        self._trace.latest = max(self._trace.latest, shown)
        return shown


@dataclass
class Trace:
    """Everything that happened in a simulation, in order."""

    events: list[tuple[Any, ...]] = field(default_factory=list)
    latest: Instant = 0
    """The latest time that the clock of any worker has shown."""

    def add(self, *event: Any) -> None:
        """Add an event at the current time."""
        self.events.append((round(asyncio.get_running_loop().time(), 6), *event))


class TracedStore(StoreProxy):
    """A worker's access to the store that traces every transaction, and can replace some by faulty ones."""

    def __init__(self, store: Store, name: str, trace: Trace, replaced: dict[Any, Any]) -> None:
        super().__init__(store)
        self._name = name
        self._trace = trace
        self._replaced = replaced
        self.split_write: Callable[..., Any] | None = None
        """Runs a transaction in two, if the simulation has that fault."""

    async def write(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        names = [getattr(each, "__name__", "") for each in (work, *args) if callable(each)]
        self._trace.add("write", self._name, *names)
        run = super().write
        if self.split_write:
            return await self.split_write(run, self._check_access, work, *args, **kwargs)  # type: ignore[no-any-return]
        return await run(self._replaced.get(work, work), *args, **kwargs)


@dataclass
class WorkerSubmission(Submission):
    """A submission by one of several workers."""

    worker: str = ""
    """The worker with the number of its start: a process."""
    carrier: str = ""
    began_s: float = 0.0
    ended_s: float | None = None
    shown_at: Instant = 0
    """The latest time that any worker's clock had shown."""
    is_blank: bool = False
    references: tuple[str, ...] = ()


class WorkerCarrier(UnreliableCarrier):
    """A carrier of one worker: all workers share its rate, and what it has accepted."""

    settles_first = False

    def __init__(
        self, name: str, ledger: CarrierLedger, world: WorkerWorld, random: Random, **options: Any
    ) -> None:
        self.worker = options.pop("worker")
        self.trace: Trace = options.pop("trace")
        super().__init__(name, ledger, world, random, run_number=0, **options)
        self._pacer = Pacer(RATE, world)
        self._disconnected_until_s = 0.0
        self._late_answers: list[asyncio.Task[None]] = []

    @property
    def rate(self) -> float:
        return self._pacer.rate

    @property
    def backlog_s(self) -> float:
        return self._pacer.backlog_s

    def set_rate_share(self, share: float) -> None:
        self._pacer.set_share(share)

    @property
    def is_connected(self) -> bool:
        now_s = self._world.monotonic()
        if not self._is_calm and self._random.random() < 0.005:
            self._disconnected_until_s = now_s + self._random.choice((0.2, 5, 20))
        return now_s >= self._disconnected_until_s

    def calm_down(self) -> None:
        """Fail no more."""
        self._is_calm = True
        self._disconnected_until_s = 0.0

    async def submit(self, attempts: Sequence[Attempt], on_verdicts: OnVerdicts) -> None:
        if self.settles_first:
            on_verdicts([(attempt, Accepted(f"{attempt.message_id.hex()}-0.0")) for attempt in attempts])
        first = self._pacer.reserve(len(attempts))
        submissions = []
        for number, attempt in enumerate(attempts):
            await self._pacer.wait(first, number, 1)
            submissions.append(self._note(attempt))
        try:
            verdicts = await self._answer(attempts, submissions, on_verdicts)
        finally:
            for submission in submissions:
                submission.ended_s = self._world.monotonic()
        if not self.settles_first:
            on_verdicts(list(zip(attempts, verdicts, strict=True)))

    async def _answer(
        self, attempts: Sequence[Attempt], submissions: Sequence[WorkerSubmission], on_verdicts: OnVerdicts
    ) -> list[Verdict]:
        rng = self._random
        if not self._is_calm and rng.random() < 0.3:
            await asyncio.sleep(rng.choice((0.5, 2.0, 2.5, 10)))  # the last is longer than the timeout
        verdicts = [self._verdict(attempt) for attempt in attempts]
        await asyncio.sleep(rng.random() * 0.3)
        if not self._is_calm and rng.random() < 0.05:
            raise ConnectionError("lost after it was accepted")
        for number, (submission, verdict) in enumerate(zip(submissions, verdicts, strict=True)):
            submission.verdict = type(verdict).__name__
            if isinstance(verdict, Accepted):
                submission.references = (str(verdict.reference), *verdict.other_references)
                if not self._is_calm and rng.random() < 0.05:
                    verdicts[number] = Unknown(may_answer=True)
                    submission.verdict = "Unknown"
                    delay_s = rng.choice((1, 20, 40))
                    late = self._answer_late(delay_s, attempts[number], verdict, on_verdicts)
                    self._late_answers.append(asyncio.create_task(late))
            self.trace.add("verdict", self.worker, self.name, attempts[number].message_id.hex(), repr(verdict))
        return verdicts

    async def _answer_late(
        self, delay_s: float, attempt: Attempt, verdict: Verdict, on_verdicts: OnVerdicts
    ) -> None:
        await asyncio.sleep(delay_s)
        self.trace.add("late", self.worker, self.name, attempt.message_id.hex())
        on_verdicts([(attempt, verdict)])

    def _note(self, attempt: Attempt) -> WorkerSubmission:
        submission = WorkerSubmission(
            self._world.now(),
            0,
            "none",
            self.worker,
            self.name,
            self._world.monotonic(),
            None,
            self.trace.latest,
            not attempt.receiver or not attempt.content,
        )
        self._ledger.submissions[attempt.message_id].append(submission)
        self.trace.add("submit", self.worker, self.name, attempt.message_id.hex(), attempt.number)
        return submission

    def _clock(self) -> Instant:
        """Return the time of the loop, whose clock nobody sets."""
        return round(self._world.monotonic() * SECOND)

    def _acknowledge(self, entry: tuple[Instant, Receipt]) -> None:
        self._ledger.acknowledged.add(entry[1].reference)
        if entry in self._ledger.pending_receipts[self.name]:  # another worker may have been told as well
            super()._acknowledge(entry)
        self.trace.add("receipt", self.worker, self.name, entry[1].reference)
