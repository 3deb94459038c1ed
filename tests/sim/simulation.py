"""A seeded simulation of the unmodified service: lives that end in crashes, then calm, then the reckoning."""

import asyncio
import dataclasses
import json
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from pabal.carriers.base import Carrier
from pabal.domain import identifiers
from pabal.domain.dates import HOUR, Instant, format_timestamp
from pabal.domain.message import (
    OUTCOME_BY_NUMBER,
    PRODUCT_BY_NUMBER,
    STATUS_BY_NUMBER,
    Outcome,
    Product,
    Status,
)
from pabal.domain.template import TemplateContent, TemplateStatus
from pabal.service.access import keys
from pabal.settings.carriers import SENDABLE, SimulatorSettings
from pabal.settings.settings import load
from pabal.store import accounts, profiles, templates
from pabal.store.engine.base import StoreUnavailable, Tx
from pabal.store.engine.migrate import migrate
from tests.fixtures import status_checker
from tests.fixtures.virtual import (
    NOON,
    ApiResponse,
    Caller,
    Environment,
    VirtualLoop,
    VirtualWorld,
    build_environment,
    open_store,
)
from tests.sim.cruel import CarrierLedger, Crash, FaultPlan, FaultyStore, UnreliableCarrier

CALM_S = 1.5 * 3600
CARRIERS = ("first", "second")
LIFE_S = 120.0
LEAST_WISHES = 40
FAULTS = ("crash-before", "crash-after", "away-before", "away-after")
SENDER_KEY = "a" * 40
TEXT = "#{name}님 안녕하세요"


@dataclass
class ClientRequest:
    """One send that a client wants done: asked for again, with its key, until it is answered."""

    operation: str
    body: dict[str, Any]
    key: str | None
    receivers: int
    answered: str | None = None
    tries: int = 0


@dataclass
class ClientLog:
    """What the clients know, on their side: it outlives the service's crashes."""

    requests: list[ClientRequest] = field(default_factory=list)
    request_ids: dict[str, set[str]] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    cancelling: list[str] = field(default_factory=list)
    lost_without_key: int = 0


class Simulation:
    """One seed's story."""

    def __init__(self, seed: int, folder: Path, *, lives: int = 5, fault: tuple[int, str] | None = None) -> None:
        self.random = Random(seed)
        self.seed = seed
        self.folder = folder
        self.lives = lives
        self.fault = fault
        self.ledger = CarrierLedger()
        self.client_log = ClientLog()
        self.dedups = seed % 2 == 0
        self.holds_in_doubt = seed % 3 == 1
        self.api_key = ""
        self.now: Instant = NOON
        self.crashed: set[int] = set()
        self.calm_s = CALM_S
        self.least_wishes = LEAST_WISHES
        self.writes: list[int] = []
        self.reads: list[int] = []
        self.read_fate = FaultPlan(0, "never")
        self.has_struck = False
        self.settings = dataclasses.replace(
            load({}, data=folder, sms_timeout_hours=1, other_timeout_hours=1),
            carriers={name: SimulatorSettings(name=name) for name in CARRIERS},
            routes={product.code: list(CARRIERS) for product in SENDABLE},
        )

    def run(self) -> None:
        """Live through every life, and more if they were short, then a calm one."""
        life = 0
        while life < self.lives or len(self.client_log.requests) < self.least_wishes:
            self._live(life, is_calm=False)
            life += 1
        self._live(life, is_calm=True)

    def _live(self, life: int, *, is_calm: bool) -> None:
        world = VirtualWorld(self.random.getrandbits(32), self.now)
        fate = self._fate(is_calm)
        loop = VirtualLoop()
        loop.set_exception_handler(lambda _, context: None)  # a dying process says nothing more
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(self._life(life, world, fate, is_calm))
        except Crash:
            self.crashed.add(life)
        self.now += round(loop.time() * 1000)
        self.has_struck |= fate.has_fired

    def _fate(self, is_calm: bool) -> FaultPlan:
        if is_calm:
            return FaultPlan(0, "never")
        if self.fault:
            return FaultPlan(*self.fault)
        return FaultPlan(self.random.randint(1, 250), self.random.choice(FAULTS))

    async def _life(self, life: int, world: VirtualWorld, fate: FaultPlan, is_calm: bool) -> None:
        inner = open_store(self.folder, world)
        try:
            store = FaultyStore(inner, fate, self.read_fate)
            if life == 0:
                await self._found(inner, world)
            carriers = {name: self.carrier(name, life, world, is_calm) for name in CARRIERS}
            try:
                env = await build_environment(
                    self.folder, world=world, store=store, carriers=carriers, settings=self.settings
                )
            except StoreUnavailable:
                return  # it says so and exits; whoever watches over it starts it again
            await self.client(Caller(env.service, self.api_key), env, is_calm)
            await asyncio.sleep(self.calm_s if is_calm else 5)
            if is_calm or self.random.random() < 0.5:
                await env.service.stop()
            else:
                self.crashed.add(life)  # gone without a word
            self.writes.append(store.writes)
            self.reads.append(store.reads)
        finally:
            fate.has_crashed = True
            await inner.close()

    def carrier(self, name: str, life: int, world: VirtualWorld, is_calm: bool) -> Carrier:
        """Return a carrier of a life."""
        return UnreliableCarrier(
            name,
            self.ledger,
            world,
            Random(self.random.getrandbits(32)),
            life=life,
            dedups=self.dedups,
            is_calm=is_calm,
            holds_in_doubt=self.holds_in_doubt,
        )

    async def _found(self, store: Any, world: VirtualWorld) -> None:
        """Make the account, a profile, a template, and triggers that record every change of status."""

        def found(tx: Tx) -> str:
            migrate(tx, world.now())
            key = keys.issue(tx, world, "acme", "simulation", rate=0)
            account_id = accounts.ensure_account(tx, "acme", world.now())
            profile_id = profiles.add(tx, account_id, "@acme", "00100010001", "01011112222", world.now())
            profiles.approve(tx, profile_id, SENDER_KEY, world.now())
            template_id = templates.add(
                tx, account_id, profile_id, "T1", TemplateContent("t", TEXT, "999999"), None, world.now()
            )
            templates.set_status(tx, template_id, TemplateStatus.APPROVED, None, world.now())
            return key

        self.api_key = await store.write(found)
        status_checker.install(self.folder)

    async def client(self, call: Caller, env: Environment, is_calm: bool) -> None:
        """Send, cancel, and repeat what was left without an answer."""
        ends_at = env.world.now() + round(LIFE_S * 1000)
        for wish in [each for each in self.client_log.requests if each.answered is None and each.key]:
            await self._ask(call, wish)
        while not is_calm and env.world.now() < ends_at:
            await asyncio.sleep(self.random.random() * 6)
            if self.random.random() < 0.2 and self.client_log.request_ids:
                await self._cancel(call)
            else:
                wish = self._wish(env.world)
                self.client_log.requests.append(wish)
                if self.random.random() < 0.1 and wish.key:
                    await asyncio.gather(self._ask(call, wish), self._ask(call, wish))
                else:
                    await self._ask(call, wish)

    def _wish(self, world: VirtualWorld) -> ClientRequest:
        dice = self.random
        count = dice.choice((1, 1, 1, 3, 12, 30))
        receivers = [
            {
                "phoneNumber": f"010-1{dice.randrange(1000):03}-{dice.randrange(10000):04}",
                "templateData": {"name": "길동"},
            }
            for _ in range(count)
        ]
        body: dict[str, Any] = {"receivers": receivers}
        if dice.random() < 0.3:
            minutes = dice.randint(1, 5)
            at = world.now() // 60_000 * 60_000 + minutes * 60_000
            body["sendDate"] = format_timestamp(at, self.settings.zone)[:16]
        kind = dice.choice(("sendSMS", "sendLMS", "sendAlimtalk", "sendFriendtalk"))
        if kind in ("sendSMS", "sendLMS"):
            body |= {"content": TEXT, "sender": "02-123-4567"}
        else:
            body |= {"senderKey": SENDER_KEY}
            body |= {"templateCode": "T1"} if kind == "sendAlimtalk" else {"content": TEXT}
            if dice.random() < 0.7:
                body |= {"resend": True, "resendPhoneNumber": "02-123-4567"}
        key = f"k{len(self.client_log.requests)}" if dice.random() < 0.8 else None
        return ClientRequest(f"message/{kind}", body, key, count)

    async def _ask(self, call: Caller, wish: ClientRequest) -> None:
        wish.tries += 1
        headers = {"Idempotency-Key": wish.key} if wish.key else {}
        while True:
            answer = await self._answer(call, wish, headers)
            if answer.result == "SUCCESS":
                wish.answered = answer.request_id
                self.client_log.request_ids.setdefault(wish.key or f"none-{answer.request_id}", set()).add(
                    answer.request_id
                )
                return
            assert answer.result == "SERVICE_UNAVAILABLE", answer.body
            if not wish.key:
                self.client_log.lost_without_key += 1
                return

    async def _answer(self, call: Caller, wish: ClientRequest, headers: dict[str, str]) -> ApiResponse:
        """Ask; where the process dies over a request without a key, nobody knows what became of it."""
        self.client_log.lost_without_key += not wish.key
        answer = await call(wish.operation, wish.body, headers=headers)
        self.client_log.lost_without_key -= not wish.key
        return answer

    async def _cancel(self, call: Caller) -> None:
        request_id = self.random.choice(sorted(min(ids) for ids in self.client_log.request_ids.values()))
        before = await call("message/request", query={"requestId": request_id, "pageSize": 100})
        if before.result != "SUCCESS":
            return
        self.client_log.cancelling.append(request_id)
        answer = await call("message/cancel", {"requestId": request_id})
        if answer.result != "SUCCESS":
            return
        after = await call("message/request", query={"requestId": request_id, "pageSize": 100})
        if after.result == "SUCCESS":
            self.client_log.cancelled |= {
                item["messageId"] for item in after.items if item["sendingStatus"]["value"] == "cancel"
            }


@dataclass
class FinalState:
    """Everything that is in the store at the end."""

    requests: dict[bytes, tuple[int, Instant, bool]]
    messages: dict[bytes, tuple[Product, Status, Outcome | None, Instant | None]]
    jobs: int
    receipts_with_message: int
    transitions: list[tuple[bytes, int, int]]


def read_final_state(simulation: Simulation) -> FinalState:
    """Read the store."""
    connection = status_checker.connect(simulation.folder)
    rows = connection.execute("select id, total, scheduled_at, fallback_sender is not null from requests")
    requests = {id: (total, at, bool(wants)) for id, total, at, wants in rows}
    messages = {
        id: (
            PRODUCT_BY_NUMBER[product],
            STATUS_BY_NUMBER[status],
            None if outcome is None else OUTCOME_BY_NUMBER[outcome],
            completed_at,
        )
        for id, product, status, outcome, completed_at in connection.execute(
            "select id, product, status, outcome, completed_at from messages"
        )
    }
    (jobs,) = connection.execute("select count(*) from jobs").fetchone() or (0,)
    (receipts,) = connection.execute("select count(*) from receipts where message_id is not null").fetchone() or (
        0,
    )
    noted = connection.execute("select id, before, after from status_changes").fetchall()
    connection.close()
    return FinalState(requests, messages, jobs, receipts, noted)


def check_promises(simulation: Simulation) -> FinalState:
    """Check every promise against what carrier, clients and store know."""
    books = read_final_state(simulation)
    _check_kept(simulation, books)
    _check_ended(books)
    _check_transitions(books)
    _check_handed_over(simulation, books)
    _check_words(simulation, books)
    _check_fallbacks(books)
    return books


def _check_kept(simulation: Simulation, books: FinalState) -> None:
    diary = simulation.client_log
    answered = set()
    for key, ids in diary.request_ids.items():
        assert len(ids) == 1, f"{key} was answered with {ids}"
        answered |= {bytes.fromhex(word) for word in ids}
    assert answered <= set(books.requests), "answered, but not kept"
    for request_id, (total, _, _) in books.requests.items():
        numbers = {
            identifiers.number_of(one) for one in books.messages if identifiers.request_id_of(one) == request_id
        }
        assert set(range(1, total + 1)) <= numbers, "a request without all of its messages"
        assert max(numbers) <= 2 * total
    unasked = len(set(books.requests) - answered)
    assert unasked <= diary.lost_without_key, "a request that nobody asked for"
    for wish in diary.requests:
        if wish.key:
            assert wish.answered, "a client repeated its request and never got an answer"


def _check_ended(books: FinalState) -> None:
    final = (Status.COMPLETED, Status.FAIL, Status.CANCEL)
    stuck = [one.hex() for one, (_, status, _, _) in books.messages.items() if status not in final]
    assert not stuck, f"never ended: {stuck[:5]}"
    assert books.jobs == 0
    assert books.receipts_with_message == 0
    for _, status, outcome, completed_at in books.messages.values():
        assert completed_at is not None
        assert (outcome is None) == (status is Status.CANCEL)


def _check_transitions(books: FinalState) -> None:
    allowed = {(0, 1), (1, 2), (1, 3), (0, 4)}
    ends: dict[bytes, int] = {}
    for one, before, after in books.transitions:
        assert (before, after) in allowed, f"{before} to {after}"
        if after >= Status.COMPLETED.number:
            ends[one] = ends.get(one, 0) + 1
    assert all(count == 1 for count in ends.values()), "settled twice"


def _check_handed_over(simulation: Simulation, books: FinalState) -> None:
    cancelled = {bytes.fromhex(word) for word in simulation.client_log.cancelled}
    for one, hand_overs in simulation.ledger.submissions.items():
        assert one in books.messages, "handed over, but not kept"
        _, status, _, _ = books.messages[one]
        assert status is not Status.CANCEL, "sent after a cancel"
        assert one not in cancelled
        _, scheduled_at, _ = books.requests[identifiers.request_id_of(one)]
        assert hand_overs[0].at >= scheduled_at, "sent early"
        for earlier, later in pairwise(hand_overs):
            was_refused = earlier.verdict in ("Busy", "NotSent", "Declined")
            if simulation.holds_in_doubt:
                assert was_refused, "handed over again although the carrier may have had it"
            is_in_doubt = earlier.verdict in ("none", "Unknown") or earlier.run in simulation.crashed
            assert was_refused or is_in_doubt, "handed over again although the carrier's answer was kept"
            assert later.at >= earlier.at


def _check_words(simulation: Simulation, books: FinalState) -> None:
    for one, (_, status, outcome, _) in books.messages.items():
        told = [
            [simulation.ledger.receipts[reference] for reference in references]
            for references in simulation.ledger.references[one]
        ]
        if status is Status.COMPLETED:
            is_told = any(all(Outcome.DELIVERED in words for words in parts) for parts in told)
            assert is_told, "completed without the carrier's word on every part"
        if outcome is Outcome.PHONE_OFF:
            assert any(Outcome.PHONE_OFF in words for parts in told for words in parts)


def _check_fallbacks(books: FinalState) -> None:
    for one, (product, status, _, completed_at) in books.messages.items():
        total, scheduled_at, wants = books.requests[identifiers.request_id_of(one)]
        number = identifiers.number_of(one)
        if number > total:
            origin = books.messages[identifiers.make_message_id(identifiers.request_id_of(one), number - total)]
            assert origin[1] is Status.FAIL
            assert product.is_text
            continue
        stand_in = identifiers.make_message_id(identifiers.request_id_of(one), number + total)
        is_due = (
            wants
            and status is Status.FAIL
            and not product.is_text
            and completed_at is not None
            and completed_at <= scheduled_at + HOUR
        )
        assert (stand_in in books.messages) == is_due, "a fallback too many or too few"


def summary(simulation: Simulation, books: FinalState) -> str:
    """Return what happened, in one line: for looking at a seed."""
    counts: dict[str, int] = {}
    for _, status, outcome, _ in books.messages.values():
        name = str(outcome.number) if outcome else status.code
        counts[name] = counts.get(name, 0) + 1
    again = sum(len(each) > 1 for each in simulation.ledger.submissions.values())
    return json.dumps({"seed": simulation.seed, "requests": len(books.requests), "again": again, **counts})
