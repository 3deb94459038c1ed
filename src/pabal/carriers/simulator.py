"""The built-in carrier: delivers to simulated phones, some of whose numbers have a fixed fate."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pabal.carriers.base import Accepted, Busy, Carrier, OnReceipts, Receipt, Rejected, Verdict
from pabal.carriers.pace import Pacer
from pabal.carriers.provider import ProfileProvider
from pabal.domain import phone
from pabal.domain.dates import SECOND, Instant
from pabal.domain.image import Image
from pabal.domain.message import Attempt, Outcome, Product
from pabal.domain.profile import Registration
from pabal.domain.simulated_message import TOKEN_KIND, SimulatedMessage
from pabal.domain.template import ReviewDecision, TemplateContent
from pabal.settings.carriers import SimulatorSettings
from pabal.world import World

RECEIPT_AFTER = 300
LATE_RECEIPT_AFTER = 10 * SECOND
SECOND_THOUGHT_AFTER = 1 * SECOND
BUSY_TIMES = 2
ANSWER_S = 10.0
"""Time enough for a batch that goes slower than was foreseen, because more processes share the rate."""
MAX_RECEIPTS = 1000
REST_S = 0.05
"""Pause between two rounds of receipts, so that they travel in batches."""
IDLE_S = 5.0

REJECTED_TEMPLATE_WORD = "반려"
HELD_TEMPLATE_WORD = "보류"


class SimulatedOutcome(NamedTuple):
    """What becomes of a message: refused, or reported on after a while, arriving or not."""

    rejected: Outcome | None = None
    receipts: tuple[tuple[int, Outcome], ...] = ((RECEIPT_AFTER, Outcome.DELIVERED),)
    is_busy_at_first: bool = False


USUAL = SimulatedOutcome()
_ALWAYS = {
    "01000000001": SimulatedOutcome(rejected=Outcome.NUMBER_NOT_ASSIGNED),
    "01000000002": SimulatedOutcome(receipts=((RECEIPT_AFTER, Outcome.PHONE_OFF),)),
    "01000000005": SimulatedOutcome(is_busy_at_first=True),
    "01000000006": SimulatedOutcome(receipts=()),
    "01000000007": SimulatedOutcome(receipts=((LATE_RECEIPT_AFTER, Outcome.DELIVERED),)),
    "01000000008": SimulatedOutcome(
        receipts=(
            (RECEIPT_AFTER, Outcome.DELIVERED),
            (RECEIPT_AFTER + SECOND_THOUGHT_AFTER, Outcome.UNDELIVERABLE),
        )
    ),
}
_NO_USER, _NO_FRIEND = "01000000003", "01000000004"


class SimulatorStore(Protocol):
    """Where the simulator keeps what it has taken and what it owes, so that it outlives a crash."""

    async def store_messages(self, messages: Sequence[SimulatedMessage]) -> None: ...
    async def count_busy_attempts(self, message_ids: Sequence[bytes]) -> dict[bytes, int]: ...
    async def due_receipts(self, now: Instant, limit: int) -> list[tuple[Instant, bytes, Outcome]]: ...
    async def next_receipt_at(self) -> Instant | None: ...
    async def delete_receipts(self, receipts: Sequence[tuple[Instant, bytes, Outcome]]) -> None: ...


class Simulator(Carrier):
    """A carrier, and an operator of channels, in a box."""

    products = frozenset(Product)
    dedups = True
    timeout_s = ANSWER_S
    is_connected = True

    def __init__(self, settings: SimulatorSettings, store: SimulatorStore, world: World) -> None:
        self.name = settings.name
        self.window = settings.window
        self.failover_after_s = settings.failover_seconds
        self.provider: ProfileProvider | None = self
        self._pacer = Pacer(settings.rate, world)
        self._memory = store
        self._world = world
        self._has_taken = asyncio.Event()

    @property
    def rate(self) -> float:
        return self._pacer.rate

    @property
    def backlog_s(self) -> float:
        return self._pacer.backlog_s

    def set_rate_share(self, share: float) -> None:
        self._pacer.set_share(share)

    async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
        first = self._pacer.reserve(len(attempts))
        verdicts: list[Verdict] = []
        while len(verdicts) < len(attempts):
            gone = len(verdicts)
            count = await self._pacer.due(first, gone, len(attempts) - gone)
            verdicts += await self._take(attempts[gone : gone + count])
        return verdicts

    async def _take(self, attempts: Sequence[Attempt]) -> list[Verdict]:
        now = self._world.now()
        fates = [outcome_for(attempt) for attempt in attempts]
        pairs = list(zip(attempts, fates, strict=True))
        at_first = [attempt.message_id for attempt, fate in pairs if fate.is_busy_at_first]
        times = await self._memory.count_busy_attempts(at_first) if at_first else {}
        busy = {one for one, count in times.items() if count <= BUSY_TIMES}
        arrivals = [
            _arrival(attempt, fate, now)
            for attempt, fate in pairs
            if not fate.rejected and attempt.message_id not in busy
        ]
        if arrivals:
            await self._memory.store_messages(arrivals)
            self._has_taken.set()
        return [_verdict(attempt, fate, attempt.message_id in busy) for attempt, fate in pairs]

    async def run(self, on_receipts: OnReceipts) -> None:
        while True:
            owed = await self._memory.due_receipts(self._world.now(), MAX_RECEIPTS)
            if owed:
                await on_receipts([Receipt(message_id.hex(), outcome) for _, message_id, outcome in owed])
                await self._memory.delete_receipts(owed)
            if len(owed) < MAX_RECEIPTS:
                await asyncio.sleep(REST_S)
                await self._until_next()

    async def register_profile(self, account_id: int, registration: Registration, token: str | None) -> None:
        now = self._world.now()
        channel_id, _, cellphone = registration
        content = f"발신 프로필 인증번호는 {token}입니다."  # without the channel's id, which may hold digits
        arrival = SimulatedMessage(None, account_id, cellphone, now, now, TOKEN_KIND, channel_id, None, content)
        await self._memory.store_messages([arrival])

    async def submit_template(
        self, sender_key: str, code: str, design: TemplateContent, image: Image | None
    ) -> ReviewDecision | None:
        if REJECTED_TEMPLATE_WORD in design.name:
            return ReviewDecision(False, "템플릿 이름에 '반려'가 있어 반려되었습니다.")
        return None if HELD_TEMPLATE_WORD in design.name else ReviewDecision(True)

    async def _until_next(self) -> None:
        """Wait until the next receipt is due, or until something more has been taken."""
        self._has_taken.clear()
        next_at = await self._memory.next_receipt_at()
        pause_s = IDLE_S if next_at is None else (next_at - self._world.now()) / SECOND
        if pause_s <= 0:
            return
        try:
            async with asyncio.timeout(min(pause_s, IDLE_S)):
                await self._has_taken.wait()
        except TimeoutError:
            pass


def outcome_for(attempt: Attempt) -> SimulatedOutcome:
    """Return what becomes of a message, by its receiver and its kind."""
    if attempt.receiver == _NO_USER and not attempt.product.is_text:
        return SimulatedOutcome(receipts=((RECEIPT_AFTER, Outcome.NOT_A_USER),))
    if attempt.receiver == _NO_FRIEND and not attempt.product.is_text:
        is_alimtalk = attempt.product is Product.ALIMTALK
        return SimulatedOutcome(rejected=Outcome.BLOCKED_BY_USER if is_alimtalk else Outcome.NOT_A_FRIEND)
    return _ALWAYS.get(attempt.receiver, USUAL)


def _arrival(attempt: Attempt, fate: SimulatedOutcome, now: Instant) -> SimulatedMessage:
    receipts = [(now + after, outcome) for after, outcome in fate.receipts]
    arrives_at = receipts[0][0] if receipts and receipts[0][1] is Outcome.DELIVERED else None
    return SimulatedMessage(
        attempt.message_id,
        attempt.account_id,
        attempt.receiver,
        now,
        arrives_at,
        attempt.product.word,
        phone.hyphenate(attempt.sender) if attempt.sender.isdigit() else attempt.sender,
        attempt.subject,
        attempt.content,
        attempt.buttons,
        attempt.image_request_id is not None,
        receipts,
    )


def _verdict(attempt: Attempt, fate: SimulatedOutcome, is_busy: bool) -> Verdict:
    if fate.rejected:
        return Rejected(fate.rejected)
    return Busy() if is_busy else Accepted(attempt.message_id.hex())
