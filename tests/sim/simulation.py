"""A seeded simulation of the unmodified service: runs that end in crashes, then a calm run."""

import asyncio
import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from pabal.carriers.base import Carrier
from pabal.domain.base.dates import Instant, format_timestamp
from pabal.domain.events.event import EventType
from pabal.domain.events.webhook import secret_context
from pabal.domain.kakao.template import TemplateContent, TemplateStatus
from pabal.service.access.accounts import keys
from pabal.service.access.accounts.keys import NewKey
from pabal.settings.carriers import SENDABLE, SimulatorSettings
from pabal.settings.settings import load
from pabal.store.accounts import accounts
from pabal.store.engine.base import StoreUnavailable, Tx
from pabal.store.engine.migrate import migrate
from pabal.store.events import webhooks
from pabal.store.events.webhooks import NewWebhook
from pabal.store.kakao import profiles, templates
from pabal.webhooks.secrets import SecretBox
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
from tests.sim.faulty import CarrierLedger, Crash, FaultPlan, FaultyStore, UnreliableCarrier
from tests.sim.receiver import WEBHOOK_SECRET, ReceiverLog, UnreliableReceiver, read_results

CALM_DURATION_S = 1.5 * 3600
"""How long the last run lasts: longer than every message timeout."""
CARRIERS = ("first", "second")
RUN_DURATION_S = 120.0
"""How long clients send requests in each run with faults."""
MIN_REQUESTS = 40
"""More runs follow until the clients have sent this many requests."""
FAULTS = ("crash-before", "crash-after", "unavailable-before", "unavailable-after")
SENDER_KEY = "a" * 40
TEXT = "#{name}님 안녕하세요"


@dataclass
class ClientRequest:
    """A send of a client: repeated with its idempotency key until it is answered."""

    operation: str
    body: dict[str, Any]
    key: str | None
    receivers: int
    answered: str | None = None
    tries: int = 0


@dataclass
class ClientLog:
    """What the clients know; it survives crashes of the service."""

    requests: list[ClientRequest] = field(default_factory=list)
    request_ids: dict[str, set[str]] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    cancelling: list[str] = field(default_factory=list)
    lost_without_key: int = 0


class Simulation:
    """The runs of the service for one seed."""

    def __init__(self, seed: int, folder: Path, *, runs: int = 5, fault: tuple[int, str] | None = None) -> None:
        self.random = Random(seed)
        self.seed = seed
        self.folder = folder
        self.runs = runs
        self.fault = fault
        self.ledger = CarrierLedger()
        self.client_log = ClientLog()
        self.receiver_log = ReceiverLog()
        self.dedups = seed % 2 == 0
        self.holds_in_doubt = seed % 3 == 1
        self.api_key = ""
        self.now: Instant = NOON
        self.crashed: set[int] = set()
        self.calm_duration_s = CALM_DURATION_S
        self.min_requests = MIN_REQUESTS
        self.writes: list[int] = []
        self.reads: list[int] = []
        self.read_fault_plan = FaultPlan(0, "never")
        self.has_write_fault_fired = False
        self.settings = dataclasses.replace(
            load({}, data=folder, sms_timeout_hours=1, other_timeout_hours=1),
            carriers={name: SimulatorSettings(name=name) for name in CARRIERS},
            routes={product.code: list(CARRIERS) for product in SENDABLE},
        )

    def run(self) -> None:
        """Run the service with faults until clients have sent enough requests, then once without faults."""
        run_number = 0
        while run_number < self.runs or len(self.client_log.requests) < self.min_requests:
            self._run_once(run_number, is_calm=False)
            run_number += 1
        self._run_once(run_number, is_calm=True)

    def _run_once(self, run_number: int, *, is_calm: bool) -> None:
        world = VirtualWorld(self.random.getrandbits(32), self.now)
        fault_plan = self._fault_plan(is_calm)
        loop = VirtualLoop()
        loop.set_exception_handler(lambda _, context: None)  # a crashing process logs nothing more
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(self._run_service(run_number, world, fault_plan, is_calm))
        except Crash:
            self.crashed.add(run_number)
        self.now += round(loop.time() * 1000)
        self.has_write_fault_fired |= fault_plan.has_fired

    def _fault_plan(self, is_calm: bool) -> FaultPlan:
        if is_calm:
            return FaultPlan(0, "never")
        if self.fault:
            return FaultPlan(*self.fault)
        return FaultPlan(self.random.randint(1, 250), self.random.choice(FAULTS))

    async def _run_service(
        self, run_number: int, world: VirtualWorld, fault_plan: FaultPlan, is_calm: bool
    ) -> None:
        inner = open_store(self.folder, world)
        try:
            store = FaultyStore(inner, fault_plan, self.read_fault_plan)
            if run_number == 0:
                await self._prepare_store(inner, world)
            carriers = {name: self.carrier(name, run_number, world, is_calm) for name in CARRIERS}
            try:
                env = await build_environment(
                    self.folder,
                    world=world,
                    store=store,
                    carriers=carriers,
                    settings=self.settings,
                    poster=self.receiver(run_number, is_calm),
                )
            except StoreUnavailable:
                return  # the process exits, and its supervisor starts it again
            await self.client(Caller(env.service, self.api_key), env, is_calm)
            await asyncio.sleep(self.calm_duration_s if is_calm else 5)
            await read_results(Caller(env.service, self.api_key), self.receiver_log)
            if is_calm or self.random.random() < 0.5:
                await env.service.stop()
            else:
                self.crashed.add(run_number)  # the process ends without a shutdown
            self.writes.append(store.writes)
            self.reads.append(store.reads)
        finally:
            fault_plan.has_crashed = True
            await inner.close()

    def carrier(self, name: str, run_number: int, world: VirtualWorld, is_calm: bool) -> Carrier:
        """Return a carrier for one run of the service."""
        return UnreliableCarrier(
            name,
            self.ledger,
            world,
            Random(self.random.getrandbits(32)),
            run_number=run_number,
            dedups=self.dedups,
            is_calm=is_calm,
            holds_in_doubt=self.holds_in_doubt,
        )

    def receiver(self, run_number: int, is_calm: bool) -> UnreliableReceiver:
        """Return the caller's server for one run of the service; it is out of order in some."""
        rng = Random(self.seed + run_number)
        is_out_of_order = self.calm_duration_s >= CALM_DURATION_S and rng.random() < 0.2
        return UnreliableReceiver(
            self.receiver_log, self.folder, rng, is_calm=is_calm, is_out_of_order=is_out_of_order
        )

    async def _prepare_store(self, store: Any, world: VirtualWorld) -> None:
        """Create the account, a profile, a template and a webhook, and record every change of status."""

        def prepare(tx: Tx) -> str:
            migrate(tx, world.now())
            key = keys.issue(tx, world, "acme", NewKey("simulation"))
            account_id = accounts.ensure_account(tx, "acme", world.now())
            profile_id = profiles.add(tx, account_id, "@acme", "00100010001", "01011112222", world.now())
            profiles.approve(tx, profile_id, SENDER_KEY, world.now())
            template_id = templates.add(
                tx, account_id, profile_id, "T1", TemplateContent("t", TEXT, "999999"), None, world.now()
            )
            templates.set_status(tx, template_id, TemplateStatus.APPROVED, None, world.now())
            sealed = SecretBox((), world).seal(WEBHOOK_SECRET, secret_context(account_id))
            hook = NewWebhook(account_id, "https://acme.example", [EventType.MESSAGE_RESULT], [], "", sealed)
            webhooks.add(tx, hook, world.now())
            return key

        self.api_key = await store.write(prepare)
        status_checker.install(self.folder)

    async def client(self, call: Caller, env: Environment, is_calm: bool) -> None:
        """Repeat requests that got no answer, then send and cancel."""
        ends_at = env.world.now() + round(RUN_DURATION_S * 1000)
        for request in [each for each in self.client_log.requests if each.answered is None and each.key]:
            await self._send_until_answered(call, request)
        while not is_calm and env.world.now() < ends_at:
            await asyncio.sleep(self.random.random() * 6)
            if len(self.client_log.requests) % 5 == 0:
                await read_results(call, self.receiver_log)
            if self.random.random() < 0.2 and self.client_log.request_ids:
                await self._cancel(call)
            else:
                request = self._make_request(env.world)
                self.client_log.requests.append(request)
                if self.random.random() < 0.1 and request.key:
                    await asyncio.gather(
                        self._send_until_answered(call, request), self._send_until_answered(call, request)
                    )
                else:
                    await self._send_until_answered(call, request)

    def _make_request(self, world: VirtualWorld) -> ClientRequest:
        rng = self.random
        count = rng.choice((1, 1, 1, 3, 12, 30))
        receivers = [
            {
                "phoneNumber": f"010-1{rng.randrange(1000):03}-{rng.randrange(10000):04}",
                "templateData": {"name": "길동"},
            }
            for _ in range(count)
        ]
        body: dict[str, Any] = {"receivers": receivers}
        if rng.random() < 0.3:
            minutes = rng.randint(1, 5)
            at = world.now() // 60_000 * 60_000 + minutes * 60_000
            body["sendDate"] = format_timestamp(at, self.settings.zone)[:16]
        kind = rng.choice(("sendSMS", "sendLMS", "sendAlimtalk", "sendFriendtalk"))
        if kind in ("sendSMS", "sendLMS"):
            body |= {"content": TEXT, "sender": "02-123-4567"}
        else:
            body |= {"senderKey": SENDER_KEY}
            body |= {"templateCode": "T1"} if kind == "sendAlimtalk" else {"content": TEXT}
            if rng.random() < 0.7:
                body |= {"resend": True, "resendPhoneNumber": "02-123-4567"}
        key = f"k{len(self.client_log.requests)}" if rng.random() < 0.8 else None
        return ClientRequest(f"message/{kind}", body, key, count)

    async def _send_until_answered(self, call: Caller, request: ClientRequest) -> None:
        request.tries += 1
        headers = {"Idempotency-Key": request.key} if request.key else {}
        while True:
            response = await self._call(call, request, headers)
            if response.result == "SUCCESS":
                request.answered = response.request_id
                self.client_log.request_ids.setdefault(request.key or f"none-{response.request_id}", set()).add(
                    response.request_id
                )
                return
            assert response.result == "SERVICE_UNAVAILABLE", response.body
            if not request.key:
                self.client_log.lost_without_key += 1
                return

    async def _call(self, call: Caller, request: ClientRequest, headers: dict[str, str]) -> ApiResponse:
        """Send a request; if the process crashes before the answer to one without a key, count it as lost."""
        self.client_log.lost_without_key += not request.key
        response = await call(request.operation, request.body, headers=headers)
        self.client_log.lost_without_key -= not request.key
        return response

    async def _cancel(self, call: Caller) -> None:
        request_id = self.random.choice(sorted(min(ids) for ids in self.client_log.request_ids.values()))
        before = await call("message/request", query={"requestId": request_id, "pageSize": 100})
        if before.result != "SUCCESS":
            return
        self.client_log.cancelling.append(request_id)
        response = await call("message/cancel", {"requestId": request_id})
        if response.result != "SUCCESS":
            return
        after = await call("message/request", query={"requestId": request_id, "pageSize": 100})
        if after.result == "SUCCESS":
            self.client_log.cancelled |= {
                item["messageId"] for item in after.items if item["sendingStatus"]["value"] == "cancel"
            }
