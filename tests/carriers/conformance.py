"""Adapters for the conformance suite: how to build each kind of carrier, and how to script its peer."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from pabal.carriers.base import Carrier
from pabal.carriers.nhncloud.carrier import NhnCloudCarrier
from pabal.carriers.relay.carrier import Dependencies
from pabal.carriers.simulator import Simulator
from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.carrier import SmppCarrier
from pabal.carriers.smpp.pdu import Pdu, ShortMessage
from pabal.domain.content.image import Image
from pabal.domain.sends.message import SimulatedMessage
from pabal.settings.carriers import SimulatorSettings, SmppSettings
from pabal.world import World
from tests.carriers.test_simulator import InMemorySimulatorStore
from tests.fakes.nhncloud.server import FakeNhnCloud
from tests.fakes.nhncloud.state import Message, Profile
from tests.fakes.relay_server import RelayTransport
from tests.fakes.smsc.scripted import (
    BINDS,
    DELIVER_SM_RESP,
    ScriptedSmsc,
    SmscConnection,
    accept,
    no_response,
    receipt,
    respond,
    respond_with_status,
)
from tests.fixtures.transports import nhncloud_clients, nhncloud_settings
from tests.fixtures.virtual import VirtualWorld

REJECTED_NUMBER = "01000000001"
BUSY_NUMBER = "01000000005"
"""Receivers that the peer rejects, or refuses for now; it accepts all others and reports within a second."""
SENDER_KEY, TEMPLATE_CODE = "5e" * 20, "greeting"
"""Profile and template of the suite's Alimtalks; the template is `안녕하세요`."""
REPORT_AFTER_S = 0.3
ANSWER_AFTER_S = 0.05
RECEIVING_BINDS = (protocol.BIND_TRANSCEIVER, protocol.BIND_RECEIVER)


class Adapter(ABC):
    """One kind of carrier and its peer; the peer outlives the carriers that are built for it."""

    kind: ClassVar[str]
    exemptions: ClassVar[Mapping[str, str]] = {}
    """The properties that cannot apply, by the names of their tests, each with the reason."""
    secrets: ClassVar[tuple[str, ...]] = ()
    """Secrets that must never be shown."""

    @abstractmethod
    def build(self, world: World, *, window: int, rate: int) -> Carrier:
        """Return a new carrier for this peer, as after a start of the process."""

    @abstractmethod
    def stop_responding(self) -> None:
        """Stop answering."""

    def disconnect(self) -> None:
        """Become unreachable, and break open connections."""
        raise NotImplementedError

    def reject_credentials(self) -> None:
        """Refuse new sessions from now on."""
        raise NotImplementedError

    @abstractmethod
    def recover(self) -> None:
        """Work correctly again."""

    @property
    @abstractmethod
    def submitted_at(self) -> Sequence[float]:
        """When each message or segment was submitted."""

    @property
    def max_in_flight(self) -> int:
        """Maximum number of messages or segments without a response."""
        raise NotImplementedError

    @property
    @abstractmethod
    def unacknowledged(self) -> int:
        """Number of receipts that are not acknowledged, and will be sent again."""

    @property
    def connections(self) -> int:
        return 0


class BlockingSimulatorStore(InMemorySimulatorStore):
    def __init__(self) -> None:
        super().__init__()
        self.is_blocked = False
        self.submitted_at: list[float] = []

    async def store_messages(self, messages: Sequence[SimulatedMessage]) -> None:
        self.submitted_at += [asyncio.get_running_loop().time()] * len(messages)
        if self.is_blocked:
            await asyncio.Event().wait()
        await super().store_messages(messages)


class SimulatorAdapter(Adapter):
    """The simulator: its peer is its store, in this process."""

    kind = "simulator"
    exemptions: ClassVar[Mapping[str, str]] = {
        "test_unreachable_carrier_says_so_sends_nothing_and_recovers": "it is always reachable",
        "test_locked_out_carrier_says_so_without_its_secret": "it has no credentials and no secret",
        "test_window_is_never_exceeded": "it answers at once; the deliverer keeps its window",
        "test_nothing_is_accepted_before_run": "it is always connected",
    }

    def __init__(self) -> None:
        self._store = BlockingSimulatorStore()

    def build(self, world: World, *, window: int, rate: int) -> Carrier:
        return Simulator(SimulatorSettings(name="it", window=window, rate=rate), self._store, world)

    def stop_responding(self) -> None:
        self._store.is_blocked = True

    def recover(self) -> None:
        self._store.is_blocked = False

    @property
    def submitted_at(self) -> Sequence[float]:
        return self._store.submitted_at

    @property
    def unacknowledged(self) -> int:
        return len(self._store.debts)


class SmppAdapter(Adapter):
    """An SMPP carrier: its peer is an SMSC that sends a receipt at every bind until it is acknowledged."""

    kind = "smpp"
    exemptions: ClassVar[Mapping[str, str]] = {
        "test_resubmitted_message_is_deduplicated": "it does not declare that it deduplicates",
    }
    secrets = ("hush-!42",)
    more_settings: ClassVar[Mapping[str, object]] = {}

    def __init__(self) -> None:
        self._smsc = ScriptedSmsc()
        self._reports: dict[int, ShortMessage] = {}
        self._sequence = 0
        self.recover()

    def build(self, world: World, *, window: int, rate: int) -> Carrier:
        given: dict[str, object] = {"host": "smsc.example", "system_id": "pabal", "password": self.secrets[0]}
        settings = SmppSettings(name="it", window=window, rate=rate, **given | dict(self.more_settings))  # type: ignore[arg-type]
        return SmppCarrier(settings, world, lambda _: None, self._smsc.connect)

    def stop_responding(self) -> None:
        self._smsc.handlers.update(dict.fromkeys(self._smsc.handlers, no_response))

    def disconnect(self) -> None:
        self._smsc.is_down = True
        for connection in self._smsc.open_connections:
            connection.pipe.reset()

    def reject_credentials(self) -> None:
        self._smsc.handlers.update(dict.fromkeys(BINDS, respond_with_status(protocol.RINVPASWD)))
        for connection in self._smsc.open_connections:
            connection.pipe.reset()

    def recover(self) -> None:
        self._smsc.is_down = False
        self._smsc.handlers = ScriptedSmsc().handlers | dict.fromkeys(BINDS, self._bind)
        self._smsc.handlers[protocol.SUBMIT_SM] = self._on_submit
        self._smsc.handlers[DELIVER_SM_RESP] = self._on_deliver_resp

    @property
    def submitted_at(self) -> Sequence[float]:
        return self._smsc.submitted_at

    @property
    def max_in_flight(self) -> int:
        return self._smsc.max_in_flight

    @property
    def unacknowledged(self) -> int:
        return len(self._reports)

    @property
    def connections(self) -> int:
        return len(self._smsc.open_connections)

    def _bind(self, connection: SmscConnection, request: Pdu) -> None:
        respond(connection, request)
        if request.command in RECEIVING_BINDS:
            for sequence, report in self._reports.items():
                connection.deliver(sequence, report)

    def _on_submit(self, connection: SmscConnection, request: Pdu) -> None:
        receiver = pdu.decode_short_message(request.body).destination.digits
        if receiver == REJECTED_NUMBER:
            respond_with_status(protocol.RINVDSTADR)(connection, request)
        elif receiver == BUSY_NUMBER:
            respond_with_status(protocol.RTHROTTLED)(connection, request)
        else:
            _call_later(ANSWER_AFTER_S, lambda: self._accept(connection, request))

    def _accept(self, connection: SmscConnection, request: Pdu) -> None:
        if not connection.is_up:
            return
        accept(connection, request)
        self._sequence += 1
        sequence = self._sequence
        self._reports[sequence] = receipt(str(sequence))
        _call_later(REPORT_AFTER_S, lambda: self._send_receipt(sequence))

    def _send_receipt(self, sequence: int) -> None:
        receivers = [
            each.connection
            for each in self._smsc.received_pdus
            if each.pdu.command in RECEIVING_BINDS and each.connection.is_up
        ]
        if receivers and sequence in self._reports:
            receivers[0].deliver(sequence, self._reports[sequence])

    def _on_deliver_resp(self, connection: SmscConnection, request: Pdu) -> None:
        self._reports.pop(request.sequence, None)


class SmppPairAdapter(SmppAdapter):
    """The same with a transmitter and a receiver, two of each, and long texts in segments."""

    kind = "smpp in pairs"
    more_settings: ClassVar[Mapping[str, object]] = {"bind": "pair", "binds": 2, "long_messages": "parts"}


class InMemoryCursor:
    """The cursor of polled results, in memory."""

    is_ours = True

    def __init__(self) -> None:
        self.at: dict[str, int] = {}

    async def get(self, source: str) -> int | None:
        return self.at.get(source)

    async def put(self, source: str, at: int) -> None:
        self.at[source] = at


class RelayAdapter(Adapter):
    """A relay: its peer is a fake server."""

    exemptions: ClassVar[Mapping[str, str]] = {
        "test_window_is_never_exceeded": "a call is answered as a whole; the deliverer keeps its window",
        "test_resubmitted_message_is_deduplicated": "it looks up messages in doubt instead",
    }

    def __init__(self, relay: Any) -> None:
        self._relay = relay
        self._cursor = InMemoryCursor()
        self._transports: list[RelayTransport] = []

    def new_transport(self) -> RelayTransport:
        self._transports.append(RelayTransport(self._relay))
        return self._transports[-1]

    def dependencies(self, world: World) -> Dependencies:
        return Dependencies(world, load_images, self._cursor, lambda _: None)

    def stop_responding(self) -> None:
        self._relay.inject_fault("slow to accept", "POST", times=1e9, seconds=1e6)

    def disconnect(self) -> None:
        for transport in self._transports:
            transport.is_unreachable = True

    def recover(self) -> None:
        self._relay.faults.faults.clear()
        for transport in self._transports:
            transport.is_unreachable = False

    @property
    def submitted_at(self) -> Sequence[float]:
        return list(self._relay.submitted_at)


class CountingRelay(FakeNhnCloud):
    """The fake server, which records when messages are submitted."""

    def __init__(self) -> None:
        super().__init__(virtual_clock, seed=1)
        self.behavior.refusals = {REJECTED_NUMBER: -6001, BUSY_NUMBER: -2051}
        self.add_number("0212345678")
        self.submitted_at: list[float] = []

    def store_messages(self, messages: list[Message]) -> None:
        self.submitted_at += [asyncio.get_running_loop().time()] * len(messages)
        super().store_messages(messages)


class NhnCloudAdapter(RelayAdapter):
    kind = "nhncloud"
    secrets = ("smsAppKey0123456", "smsSecret", "talkAppKey012345", "talkSecret")

    def __init__(self) -> None:
        super().__init__(CountingRelay())
        self._relay.profiles[SENDER_KEY] = Profile("@shop", SENDER_KEY, "01012345678", "00100010001", 0)
        self._relay.add_template(SENDER_KEY, TEMPLATE_CODE, "안녕하세요")

    def build(self, world: World, *, window: int, rate: int) -> Carrier:
        settings = nhncloud_settings(self._relay, "it", window=window, rate=rate, poll_seconds=1)
        clients = nhncloud_clients(settings, [self.new_transport(), self.new_transport()])
        return NhnCloudCarrier(settings, self.dependencies(world), *clients)

    def reject_credentials(self) -> None:
        self._relay.sms_app_key = self._relay.talk_app_key = "another"

    def recover(self) -> None:
        super().recover()
        self._relay.sms_app_key, self._relay.talk_app_key = self.secrets[0], self.secrets[2]

    @property
    def unacknowledged(self) -> int:
        return sum(
            each.updated_at is None or each.updated_at > self._cursor.at.get(each.product, 0)
            for each in self._relay.messages
        )


def virtual_clock() -> int:
    """Return the time on the virtual clock; before the loop runs, its start time."""
    try:
        return VirtualWorld().now()
    except RuntimeError:
        return VirtualWorld().starts_at


async def load_images(request_id: bytes) -> list[Image]:
    return [Image("image/jpeg", "picture.jpg", b"\xff\xd8\xff\xe0" + bytes(100))]


def _call_later(seconds: float, callback: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(seconds, callback)
