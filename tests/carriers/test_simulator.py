"""The simulator: numbers with a fixed outcome, deduplication and durable receipts."""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence

import pytest

from pabal.carriers.base import Accepted, Busy, Carrier, Receipt, Rejected
from pabal.carriers.simulator import MAX_RECEIPTS_PER_BATCH, Simulator, outcome_for
from pabal.domain.base.dates import Instant
from pabal.domain.content.button import Button
from pabal.domain.kakao.profile import Registration
from pabal.domain.kakao.template import ReviewDecision, TemplateContent
from pabal.domain.sends.message import TOKEN_KIND, Attempt, DueReceipt, Outcome, Product, SimulatedMessage, Status
from pabal.settings.carriers import SimulatorSettings
from pabal.store.queue import simulator as simulator_module
from tests.fixtures.service import PHONE, RunScenario, account_id_of, alimtalk, count_rows, later, sms
from tests.fixtures.verdicts import submit
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

DONE, FAILED, SENDING = Status.COMPLETED, Status.FAIL, Status.SENDING
GOOD = Outcome.DELIVERED
SIM = SimulatorSettings(name="sim", window=10)


class InMemorySimulatorStore:
    def __init__(self) -> None:
        self.accepted: dict[bytes | None, SimulatedMessage] = {}
        self.tokens: list[SimulatedMessage] = []
        self.debts: list[DueReceipt] = []
        self.busy: Counter[bytes] = Counter()

    async def store_messages(self, messages: Sequence[SimulatedMessage]) -> None:
        for each in messages:
            if each.message_id is None:
                self.tokens.append(each)
            elif each.message_id not in self.accepted:
                self.accepted[each.message_id] = each
                self.debts += [DueReceipt(due_at, each.message_id, outcome) for due_at, outcome in each.receipts]

    async def count_busy_attempts(self, message_ids: Sequence[bytes]) -> dict[bytes, int]:
        self.busy.update(message_ids)
        return {one: self.busy[one] for one in message_ids}

    async def due_receipts(self, now: Instant, limit: int) -> list[DueReceipt]:
        return sorted((each for each in self.debts if each[0] <= now), key=lambda each: each[:2])[:limit]

    async def next_receipt_at(self) -> Instant | None:
        return min((due_at for due_at, _, _ in self.debts), default=None)

    async def delete_receipts(self, receipts: Sequence[DueReceipt]) -> None:
        self.debts = [each for each in self.debts if each not in receipts]


class Desk:
    """A running simulator, and its receipts."""

    def __init__(self, memory: InMemorySimulatorStore, begins_at: Instant = NOON) -> None:
        self.simulator = Simulator(
            SimulatorSettings(name="simulator", window=100), memory, VirtualWorld(starts_at=begins_at)
        )
        self.received: list[tuple[float, Receipt]] = []

    async def __aenter__(self) -> "Desk":
        self._running = asyncio.create_task(self.simulator.run(self._on_receipts))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)

    async def _on_receipts(self, arrived: Sequence[Receipt]) -> None:
        at = asyncio.get_running_loop().time()
        self.received += [(at, receipt) for receipt in arrived]


def attempt(number: int = 1, receiver: str = PHONE, product: Product = Product.SMS) -> Attempt:
    return Attempt(number.to_bytes(16, "big"), 1, 1, product, receiver, "0212345678", None, "안녕하세요")


def test_simulator_carries_all_products() -> None:
    carrier: Carrier = Simulator(SIM, InMemorySimulatorStore(), VirtualWorld())

    assert carrier.products == frozenset(Product)
    assert (carrier.is_connected, carrier.window, carrier.timeout_s) == (True, 10, 10)
    assert carrier.provider is not None


async def test_message_is_delivered_within_a_second() -> None:
    async with Desk(InMemorySimulatorStore()) as runner:
        assert await submit(runner.simulator, [attempt()]) == [Accepted(attempt().message_id.hex())]
        await asyncio.sleep(1)

        ((at, receipt),) = runner.received
        assert receipt == Receipt(attempt().message_id.hex(), GOOD)
        assert 0 < at <= 1


FATES = {
    ("01000000001", Product.SMS): (Rejected(Outcome.NUMBER_NOT_ASSIGNED), []),
    ("01000000001", Product.ALIMTALK): (Rejected(Outcome.NUMBER_NOT_ASSIGNED), []),
    ("01000000002", Product.LMS): (Accepted, [Outcome.PHONE_OFF]),
    ("01000000003", Product.SMS): (Accepted, [GOOD]),
    ("01000000003", Product.ALIMTALK): (Accepted, [Outcome.NOT_A_USER]),
    ("01000000003", Product.FRIENDTALK_IMAGE): (Accepted, [Outcome.NOT_A_USER]),
    ("01000000004", Product.MMS): (Accepted, [GOOD]),
    ("01000000004", Product.ALIMTALK): (Rejected(Outcome.BLOCKED_BY_USER), []),
    ("01000000004", Product.FRIENDTALK_TEXT): (Rejected(Outcome.NOT_A_FRIEND), []),
    ("01000000006", Product.SMS): (Accepted, []),
    ("01000000007", Product.SMS): (Accepted, [GOOD]),
    ("01000000008", Product.SMS): (Accepted, [GOOD, Outcome.UNDELIVERABLE]),
    ("01000000009", Product.SMS): (Accepted, [GOOD]),
}


@pytest.mark.parametrize(("receiver", "product"), FATES)
async def test_number_with_a_fixed_outcome_gets_it(receiver: str, product: Product) -> None:
    verdict, outcomes = FATES[receiver, product]
    async with Desk(InMemorySimulatorStore()) as runner:
        (reported,) = await submit(runner.simulator, [attempt(1, receiver, product)])
        await asyncio.sleep(60)

        assert reported == verdict or type(reported) is verdict
        assert [receipt.outcome for _, receipt in runner.received] == outcomes


async def test_late_number_reports_after_ten_seconds() -> None:
    async with Desk(InMemorySimulatorStore()) as runner:
        await submit(runner.simulator, [attempt(1, "01000000007")])
        await asyncio.sleep(60)

        assert 10 <= runner.received[0][0] <= 10.5


async def test_busy_number_is_busy_twice_and_then_accepted() -> None:
    async with Desk(InMemorySimulatorStore()) as runner:
        verdicts = [(await submit(runner.simulator, [attempt(1, "01000000005")]))[0] for _ in range(3)]
        await asyncio.sleep(1)

        assert [type(verdict) for verdict in verdicts] == [Busy, Busy, Accepted]
        assert [receipt.outcome for _, receipt in runner.received] == [GOOD]


async def test_message_is_accepted_only_after_it_is_stored() -> None:
    class Forgetful(InMemorySimulatorStore):
        async def store_messages(self, arrivals: Sequence[SimulatedMessage]) -> None:
            raise ConnectionError

    with pytest.raises(ConnectionError):
        await submit(Simulator(SIM, Forgetful(), VirtualWorld()), [attempt()])


async def test_many_receipts_are_reported_in_batches() -> None:
    async with Desk(InMemorySimulatorStore()) as runner:
        await submit(runner.simulator, [attempt(number) for number in range(2 * MAX_RECEIPTS_PER_BATCH + 5)])
        await asyncio.sleep(5)

        assert len({receipt.reference for _, receipt in runner.received}) == 2 * MAX_RECEIPTS_PER_BATCH + 5


async def test_phone_shows_delivered_messages_only() -> None:
    memory = InMemorySimulatorStore()
    simulator = Simulator(SIM, memory, VirtualWorld())
    buttons = (Button("webLink", "보기", mobile_url="https://example.com"),)
    talk = attempt(1, product=Product.ALIMTALK)._replace(
        sender="@shop", subject="제목", buttons=buttons, image_request_id=b"x", images=2
    )
    await submit(simulator, [talk, attempt(2), attempt(3, "01000000002"), attempt(4, "01000000006")])

    shown, text, off, silent = memory.accepted.values()
    assert (shown.kind, shown.sender, shown.subject, shown.content) == ("alimTalk", "@shop", "제목", "안녕하세요")
    assert (shown.buttons[0].name, shown.images) == ("보기", 2)
    assert (text.kind, text.sender, text.images) == ("sms", "02-1234-5678", 0)
    assert shown.arrives_at is not None
    assert (off.arrives_at, silent.arrives_at) == (None, None)


def test_outcome_depends_on_receiver_and_product_only() -> None:
    assert outcome_for(attempt(1)) == outcome_for(attempt(2))
    assert outcome_for(attempt(1, "01000000003")) == outcome_for(attempt(1))


@pytest.mark.parametrize(
    ("name", "review"),
    [
        ("주문", ReviewDecision(True)),
        ("보류", None),
        ("주문 보류 안내", None),
    ],
)
async def test_template_is_reviewed_by_its_name(name: str, review: ReviewDecision | None) -> None:
    simulator = Simulator(SIM, InMemorySimulatorStore(), VirtualWorld())

    assert await simulator.submit_template("key", "code", TemplateContent(name, "글", "999999"), None) == review


async def test_template_named_for_rejection_is_rejected_with_a_comment() -> None:
    simulator = Simulator(SIM, InMemorySimulatorStore(), VirtualWorld())

    review = await simulator.submit_template("key", "code", TemplateContent("반려될 주문", "글", "999999"), None)

    assert review is not None
    assert not review.is_approved
    assert review.comment


@pytest.mark.parametrize(
    "channel", ["@shop", "@shop123456", "@123456", "@20261115010", "@1234567", "@１２３４５６", "@한글채널"]
)
async def test_token_is_the_only_six_digits_in_its_message(channel: str) -> None:
    memory = InMemorySimulatorStore()
    simulator = Simulator(SIM, memory, VirtualWorld())
    await simulator.register_profile(7, Registration(channel, "00100010001", PHONE), "048213")

    (arrival,) = memory.tokens
    assert re.findall(r"[0-9]{6}", arrival.content) == re.findall(r"\d{6,}", arrival.content) == ["048213"]
    assert (arrival.kind, arrival.sender, arrival.phone, arrival.account_id) == (TOKEN_KIND, channel, PHONE, 7)
    assert arrival.arrives_at == NOON


async def test_with_the_real_store_every_message_gets_its_outcome(env: Environment) -> None:
    profile = await env.add_profile()
    texts = await env.send(sms(*[f"0100000000{number}" for number in range(1, 10)]))
    talks = await env.send(alimtalk(profile, "01000000003", "01000000004", "01000000009"))
    await env.wait(30)

    assert await env.outcomes_of(texts) == [
        (FAILED, Outcome.NUMBER_NOT_ASSIGNED),
        (FAILED, Outcome.PHONE_OFF),
        (DONE, GOOD),
        (DONE, GOOD),
        (DONE, GOOD),
        (SENDING, None),
        (DONE, GOOD),
        (DONE, GOOD),
        (DONE, GOOD),
    ]
    assert await env.outcomes_of(talks) == [
        (FAILED, Outcome.NOT_A_USER),
        (FAILED, Outcome.BLOCKED_BY_USER),
        (DONE, GOOD),
        (DONE, GOOD),  # the fallback texts of the first two
        (DONE, GOOD),
    ]
    assert await count_rows(env, "simulated_receipts") == 0


def test_with_the_real_store_a_restart_loses_no_receipt(run_scenario: RunScenario) -> None:
    sent: list[bytes] = []

    async def scenario(env: Environment) -> None:
        sent.append(await env.send(sms(PHONE, "01000000007", "01000000008")))
        await env.wait(0.1)

    async def after_a_restart(env: Environment) -> None:
        await env.wait(30)

        assert await env.outcomes_of(sent[0]) == [(DONE, GOOD)] * 3
        total, shown = await env.store.read(
            simulator_module.list_on_phone, await account_id_of(env), PHONE, env.world.now(), 1, 10
        )
        assert (total, [each.content for each in shown]) == (1, ["안녕하세요"])

    run_scenario(scenario)
    run_scenario(after_a_restart, world=VirtualWorld(1, later(NOON, 600)))
