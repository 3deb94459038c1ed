"""The faulty parts of the simulation: a carrier and a store that fail in every way they are allowed to."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Concatenate

from pabal.carriers.base import (
    Accepted,
    Busy,
    Carrier,
    Declined,
    NotSent,
    OnReceipts,
    OnVerdicts,
    Receipt,
    Rejected,
    Unknown,
    Verdict,
)
from pabal.carriers.provider import ProfileProvider
from pabal.carriers.simulator import REJECTED_TEMPLATE_WORD
from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.content.image import Image
from pabal.domain.kakao.profile import Registration
from pabal.domain.kakao.template import ReviewDecision, TemplateContent
from pabal.domain.sends.message import Attempt, Outcome, Product
from pabal.store.engine.base import P, Store, StoreUnavailable, T
from pabal.world import World
from tests.fixtures.forwarding_store import ForwardingStore


class Crash(SystemExit):
    """The process has crashed: leaves the event loop at once, whatever is in progress."""


@dataclass
class FaultPlan:
    """Which call crashes the process or fails, counted from now, and how."""

    calls_left: int
    kind: str
    """crash-before, crash-after, unavailable-before or unavailable-after; `never` for no fault."""
    has_crashed: bool = False
    has_fired: bool = False

    def next_fault(self) -> str:
        """Count one call and return its fault, or `never`."""
        self.calls_left -= 1
        if self.calls_left == 0:
            self.has_fired = True
            return self.kind
        return "never"


class FaultyStore(ForwardingStore):
    """A store that is unavailable, or crashes the process, at a chosen call."""

    def __init__(self, inner: Store, fault_plan: FaultPlan, read_fault_plan: FaultPlan) -> None:
        super().__init__(inner)
        self._fault_plan = fault_plan
        self._read_fault_plan = read_fault_plan
        self.writes = 0
        self.reads = 0

    async def write(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._check_alive()
        self.writes += 1
        fault = self._fault_plan.next_fault()
        if fault == "unavailable-before":
            raise StoreUnavailable("fault")
        if fault == "crash-before":
            self._crash()
        result = await self._store.write(work, *args, **kwargs)
        self._check_alive()
        if fault == "unavailable-after":
            raise StoreUnavailable("fault")
        if fault == "crash-after":
            self._crash()
        return result

    async def read(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._check_alive()
        self.reads += 1
        fault = self._read_fault_plan.next_fault()
        if fault == "unavailable-before":
            raise StoreUnavailable("fault")
        if fault == "crash-before":
            self._crash()
        return await self._store.read(work, *args, **kwargs)

    def _crash(self) -> None:
        self._fault_plan.has_crashed = True
        raise Crash

    def _check_alive(self) -> None:
        if self._fault_plan.has_crashed:
            raise StoreUnavailable("the process has crashed")


@dataclass
class Submission:
    """One submission of a message: when, in which run of the service, and with which verdict."""

    at: Instant
    run: int
    verdict: str


@dataclass
class CarrierLedger:
    """What the carriers know; it survives crashes of the service."""

    submissions: defaultdict[bytes, list[Submission]] = field(default_factory=lambda: defaultdict(list))
    accepted: dict[tuple[str, bytes], tuple[str, ...]] = field(default_factory=dict)
    pending_receipts: defaultdict[str, list[tuple[Instant, Receipt]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    receipts: defaultdict[str, list[Outcome]] = field(default_factory=lambda: defaultdict(list))
    references: defaultdict[bytes, list[tuple[str, ...]]] = field(default_factory=lambda: defaultdict(list))
    """For each message the references of each time it was accepted, one reference per part."""
    acknowledged: set[str] = field(default_factory=set)
    """The references whose receipts we have acknowledged."""


class UnreliableCarrier(Carrier):
    """A carrier that is busy, slow, loses answers and contradicts itself, by seed."""

    products = frozenset(Product)
    window = 20
    timeout_s = 3.0
    failover_after_s = 15.0
    acknowledges_first = False
    """Whether it takes receipts for acknowledged before they are stored."""

    def __init__(
        self,
        name: str,
        ledger: CarrierLedger,
        world: World,
        random: Random,
        *,
        run_number: int,
        dedups: bool,
        is_calm: bool,
        max_resends: int = 1,
        holds_in_doubt: bool = False,
    ) -> None:
        self.name = name
        self.dedups = dedups
        self.max_resends = 0 if holds_in_doubt else max_resends
        self._disconnected_until = 0
        self.provider: ProfileProvider | None = self
        self._ledger = ledger
        self._world = world
        self._random = random
        self._run_number = run_number
        self._is_calm = is_calm

    @property
    def is_connected(self) -> bool:
        if self._is_calm:
            return True
        if self._random.random() < 0.01:
            self._disconnected_until = self._world.now() + self._random.choice((200, 5_000, 30_000))
        return self._world.now() >= self._disconnected_until

    async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
        rng = self._random
        submissions = [self._record(attempt) for attempt in attempts]
        if not self._is_calm and rng.random() < 0.1:
            await asyncio.sleep(rng.choice((0.5, 2.9, 10)))  # the last is longer than the timeout
        verdicts = [self._verdict(attempt) for attempt in attempts]
        await asyncio.sleep(rng.random() * 0.3)
        if not self._is_calm and rng.random() < 0.05:
            raise ConnectionError("lost after it was accepted")
        for submission, verdict in zip(submissions, verdicts, strict=True):
            submission.verdict = type(verdict).__name__
        return verdicts

    async def submit(self, attempts: Sequence[Attempt], on_verdicts: OnVerdicts) -> None:
        on_verdicts(list(zip(attempts, await self.send(attempts), strict=True)))

    async def run(self, on_receipts: OnReceipts) -> None:
        while True:
            pending, now = self._ledger.pending_receipts[self.name], self._clock()
            for entry in [each for each in pending if each[0] <= now]:
                if self.acknowledges_first:
                    self._acknowledge(entry)
                await on_receipts([entry[1]])
                if not self._is_calm and self._random.random() < 0.1:
                    continue  # the acknowledgement was lost: the receipt is sent again
                self._acknowledge(entry)
            await asyncio.sleep(0.2 if pending or not self._is_calm else 2)

    def _clock(self) -> Instant:
        """Return the carrier's own time."""
        return self._world.now()

    def _acknowledge(self, entry: tuple[Instant, Receipt]) -> None:
        """Take the acknowledgement of a receipt."""
        self._ledger.pending_receipts[self.name].remove(entry)

    async def register_profile(self, account_id: int, registration: Registration, token: str | None) -> None:
        raise AssertionError("the simulation registers its profiles directly")

    async def submit_template(
        self, sender_key: str, code: str, content: TemplateContent, image: Image | None
    ) -> ReviewDecision | None:
        return ReviewDecision(REJECTED_TEMPLATE_WORD not in content.name)

    async def upload_thumbnail(self, image: Image) -> str:
        raise AssertionError("the simulation has no thumbnails")

    def _record(self, attempt: Attempt) -> Submission:
        submission = Submission(self._world.now(), self._run_number, "none")
        self._ledger.submissions[attempt.message_id].append(submission)
        return submission

    def _verdict(self, attempt: Attempt) -> Verdict:
        rng = self._random
        roll = 1.0 if self._is_calm else rng.random()
        if roll < 0.1:
            return Busy()
        if roll < 0.13:
            return Unknown()
        if roll < 0.16:
            return Rejected(Outcome.NUMBER_NOT_ASSIGNED)
        if roll < 0.19:
            return Declined(Outcome.UNDELIVERABLE)
        if roll < 0.22:
            return NotSent()
        references = self._accept(attempt)
        if roll < 0.26:
            return Unknown()  # accepted, but the answer is lost
        return Accepted(references[0], references[1:])

    def _accept(self, attempt: Attempt) -> tuple[str, ...]:
        known = self._ledger.accepted.get((self.name, attempt.message_id))
        if self.dedups and known:
            return known
        times = len(self._ledger.references[attempt.message_id])
        parts = 3 if not self._is_calm and self._random.random() < 0.2 else 1
        references = tuple(f"{attempt.message_id.hex()}-{times}.{part}" for part in range(parts))
        self._ledger.accepted[self.name, attempt.message_id] = references
        self._ledger.references[attempt.message_id].append(references)
        doubt = identifiers.in_doubt_reference(
            identifiers.user_message_reference(attempt.message_id), attempt.receiver
        )
        for reference in references:
            self._schedule_receipts(reference, doubt if parts == 1 else None)
        return references

    def _schedule_receipts(self, reference: str, doubt: str | None) -> None:
        """Schedule receipts: none, one, an early one, two, or two that contradict each other."""
        rng = self._random
        now = self._clock()
        kind = (
            "one" if self._is_calm else rng.choice(("none", "one", "one", "one", "early", "twice", "contradicting"))
        )
        first = Outcome.DELIVERED if rng.random() < 0.7 else Outcome.PHONE_OFF
        other = Outcome.PHONE_OFF if first is Outcome.DELIVERED else Outcome.DELIVERED
        waits = {"none": [], "one": [800], "early": [0], "twice": [300, 2000], "contradicting": [300, 2500]}[kind]
        for index, wait in enumerate(waits):
            outcome = other if kind == "contradicting" and index == 1 else first
            self._ledger.pending_receipts[self.name].append((now + wait, Receipt(reference, outcome, doubt)))
            self._ledger.receipts[reference].append(outcome)
