"""The built-in carrier: delivers to simulated phones; some receiver numbers have a fixed outcome."""

import asyncio
import hashlib
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pabal.carriers.base import (
    Accepted,
    Busy,
    OnReceipts,
    OnVerdicts,
    Receipt,
    Rejected,
    Verdict,
)
from pabal.carriers.pace import PacedCarrier, Pacer
from pabal.carriers.provider import ProfileProvider
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.brand.message import Targeting
from pabal.domain.content.image import JPEG, LEAST_LIMITS, PNG, SIS, Image, ImageLimits
from pabal.domain.kakao.profile import Registration
from pabal.domain.kakao.template import ReviewDecision, TemplateContent
from pabal.domain.people import phone
from pabal.domain.sends.message import TOKEN_KIND, Attempt, DueReceipt, Outcome, Product, SimulatedMessage
from pabal.domain.sends.route import MAX_TRIES, SIMULATOR_KIND
from pabal.settings.carriers import SimulatorSettings
from pabal.world import World

RECEIPT_DELAY_MS = 300
LATE_RECEIPT_DELAY_MS = 10 * SECOND
SECOND_RECEIPT_DELAY_MS = 1 * SECOND
"""How long after the first receipt a second, contradictory one follows."""
BUSY_ATTEMPTS = 2
"""How many times the busy-at-first number answers busy before it accepts."""
TIMEOUT_S = 10.0
"""Long enough for a batch that is slowed down because more processes share the rate."""
MAX_RECEIPTS_PER_BATCH = 1000
RECEIPT_INTERVAL_S = 0.05
"""Pause between two rounds of receipts, so that they are stored in batches."""
MAX_IDLE_S = 5.0
"""How long the receipt loop waits at most before it looks again."""

_BRAND_IMAGES = ImageLimits(5 * 1024 * 1024, types=frozenset((JPEG, PNG)))
IMAGE_LIMITS = {
    Product.MMS: ImageLimits(307_200, types=frozenset((JPEG, SIS)), max_count=3),
    Product.ALIMTALK: ImageLimits(500_000),
    **{each: _BRAND_IMAGES for each in Product if each.is_friend_talk or each is Product.BRAND_MESSAGE},
}
REJECTED_TEMPLATE_WORD = "반려"
"""A template with this in its name is rejected."""
HELD_TEMPLATE_WORD = "보류"
"""A template with this in its name stays under review."""


class SimulatedOutcome(NamedTuple):
    """What happens to a message: it is rejected, or accepted and reported by receipts after some delay."""

    rejection: Outcome | None = None
    receipts: tuple[tuple[int, Outcome], ...] = ((RECEIPT_DELAY_MS, Outcome.DELIVERED),)
    """The delay of each receipt in milliseconds, and the outcome it reports."""
    is_busy_at_first: bool = False


DEFAULT_OUTCOME = SimulatedOutcome()
_OUTCOMES_BY_RECEIVER = {
    "01000000001": SimulatedOutcome(rejection=Outcome.NUMBER_NOT_ASSIGNED),
    "01000000002": SimulatedOutcome(receipts=((RECEIPT_DELAY_MS, Outcome.PHONE_OFF),)),
    "01000000005": SimulatedOutcome(is_busy_at_first=True),
    "01000000006": SimulatedOutcome(receipts=()),
    "01000000007": SimulatedOutcome(receipts=((LATE_RECEIPT_DELAY_MS, Outcome.DELIVERED),)),
    "01000000008": SimulatedOutcome(
        receipts=(
            (RECEIPT_DELAY_MS, Outcome.DELIVERED),
            (RECEIPT_DELAY_MS + SECOND_RECEIPT_DELAY_MS, Outcome.UNDELIVERABLE),
        )
    ),
}
_NOT_A_USER_NUMBER = "01000000003"
_NOT_A_FRIEND_NUMBER = "01000000004"
"""Not a friend of any channel, and has blocked Alimtalk."""


class SimulatorStore(Protocol):
    """Stores accepted messages and pending receipts, so that they survive a crash."""

    async def store_messages(self, messages: Sequence[SimulatedMessage]) -> None:
        """Store messages with their receipts; those stored before are ignored."""

    async def count_busy_attempts(self, message_ids: Sequence[bytes]) -> dict[bytes, int]:
        """Count one more attempt of each message, and return the counts."""

    async def due_receipts(self, now: Instant, limit: int) -> list[DueReceipt]:
        """Return receipts that are due: when, for which message, with which outcome."""

    async def next_receipt_at(self) -> Instant | None:
        """Return when the next receipt is due."""

    async def delete_receipts(self, receipts: Sequence[DueReceipt]) -> None:
        """Delete receipts that the service has stored."""


class Simulator(PacedCarrier):
    """A carrier and a profile provider that contact no outside system."""

    kind = SIMULATOR_KIND
    products = frozenset(Product)
    timeout_s = TIMEOUT_S
    max_resends = MAX_TRIES  # it deduplicates
    is_connected = True

    def __init__(self, settings: SimulatorSettings, store: SimulatorStore, world: World) -> None:
        self.name = settings.name
        self.window = settings.window
        self.failover_after_s = settings.failover_seconds
        self.provider: ProfileProvider | None = self
        self._pacer = Pacer(settings.rate, world)
        self._store = store
        self._world = world
        self._has_new_messages = asyncio.Event()

    def image_limits(self, product: Product) -> ImageLimits:
        return IMAGE_LIMITS.get(product, LEAST_LIMITS)

    async def submit(self, attempts: Sequence[Attempt], on_verdicts: OnVerdicts) -> None:
        first = self._pacer.reserve(len(attempts))
        verdicts: list[Verdict] = []
        while len(verdicts) < len(attempts):
            done = len(verdicts)
            count = await self._pacer.wait(first, done, len(attempts) - done)
            verdicts += await self._accept(attempts[done : done + count])
        on_verdicts(list(zip(attempts, verdicts, strict=True)))

    async def _accept(self, attempts: Sequence[Attempt]) -> list[Verdict]:
        now = self._world.now()
        pairs = [(attempt, outcome_for(attempt)) for attempt in attempts]
        busy_at_first = [attempt.message_id for attempt, outcome in pairs if outcome.is_busy_at_first]
        counts = await self._store.count_busy_attempts(busy_at_first) if busy_at_first else {}
        busy = {message_id for message_id, count in counts.items() if count <= BUSY_ATTEMPTS}
        messages = [
            _simulated_message(attempt, outcome, now)
            for attempt, outcome in pairs
            if not outcome.rejection and attempt.message_id not in busy
        ]
        if messages:
            await self._store.store_messages(messages)
            self._has_new_messages.set()
        return [_verdict(attempt, outcome, attempt.message_id in busy) for attempt, outcome in pairs]

    async def run(self, on_receipts: OnReceipts) -> None:
        while True:
            due = await self._store.due_receipts(self._world.now(), MAX_RECEIPTS_PER_BATCH)
            if due:
                await on_receipts([_receipt(each) for each in due])
                await self._store.delete_receipts(due)
            if len(due) < MAX_RECEIPTS_PER_BATCH:
                await asyncio.sleep(RECEIPT_INTERVAL_S)
                await self._wait_for_next_receipt()

    async def register_profile(self, account_id: int, registration: Registration, token: str | None) -> None:
        now = self._world.now()
        channel_id, _, cellphone = registration
        content = f"발신 프로필 인증번호는 {token}입니다."  # no channel id: the token is the only number in it
        message = SimulatedMessage(None, account_id, cellphone, now, now, TOKEN_KIND, channel_id, None, content)
        await self._store.store_messages([message])

    async def submit_template(
        self, sender_key: str, code: str, content: TemplateContent, image: Image | None
    ) -> ReviewDecision | None:
        if REJECTED_TEMPLATE_WORD in content.name:
            return ReviewDecision(False, "템플릿 이름에 '반려'가 있어 반려되었습니다.")
        return None if HELD_TEMPLATE_WORD in content.name else ReviewDecision(True)

    async def upload_thumbnail(self, image: Image) -> str:
        """Return an address like that of a relay; the image is not stored."""
        return f"https://simulator.invalid/{hashlib.sha256(image.body).hexdigest()[:32]}.jpg"

    async def _wait_for_next_receipt(self) -> None:
        """Wait until the next receipt is due, or until new messages are accepted."""
        self._has_new_messages.clear()
        next_at = await self._store.next_receipt_at()
        pause_s = MAX_IDLE_S if next_at is None else (next_at - self._world.now()) / SECOND
        if pause_s <= 0:
            return
        try:
            async with asyncio.timeout(min(pause_s, MAX_IDLE_S)):
                await self._has_new_messages.wait()
        except TimeoutError:
            pass


def outcome_for(attempt: Attempt) -> SimulatedOutcome:
    """Return what happens to a message, by its receiver and product."""
    if attempt.receiver == _NOT_A_USER_NUMBER and not attempt.product.is_text:
        return SimulatedOutcome(receipts=((RECEIPT_DELAY_MS, Outcome.NOT_A_USER),))
    if attempt.receiver == _NOT_A_FRIEND_NUMBER and not attempt.product.is_text:
        if attempt.product is Product.ALIMTALK:
            return SimulatedOutcome(rejection=Outcome.BLOCKED_BY_USER)
        if attempt.brand is None or attempt.brand.targeting is Targeting.FRIENDS:
            return SimulatedOutcome(rejection=Outcome.NOT_A_FRIEND)
    return _OUTCOMES_BY_RECEIVER.get(attempt.receiver, DEFAULT_OUTCOME)


def _simulated_message(attempt: Attempt, outcome: SimulatedOutcome, now: Instant) -> SimulatedMessage:
    receipts = [(now + delay, result) for delay, result in outcome.receipts]
    arrives_at = receipts[0][0] if receipts and receipts[0][1] is Outcome.DELIVERED else None
    return SimulatedMessage(
        attempt.message_id,
        attempt.account_id,
        attempt.receiver,
        now,
        arrives_at,
        attempt.product.code,
        phone.hyphenate(attempt.sender) if attempt.sender.isdigit() else attempt.sender,
        attempt.subject,
        attempt.content,
        attempt.buttons,
        attempt.images,
        receipts,
        attempt.brand,
        attempt.parts,
    )


def _receipt(due: DueReceipt) -> Receipt:
    return Receipt(due.message_id.hex(), due.outcome, code=_own_code(due.outcome))


def _own_code(outcome: Outcome) -> str:
    """Return the simulator's own code of a result, which differs from ours as those of real carriers do."""
    return f"SIM-{outcome.number}"


def _verdict(attempt: Attempt, outcome: SimulatedOutcome, is_busy: bool) -> Verdict:
    if outcome.rejection:
        return Rejected(outcome.rejection, _own_code(outcome.rejection))
    return Busy("SIM-BUSY") if is_busy else Accepted(attempt.message_id.hex())
