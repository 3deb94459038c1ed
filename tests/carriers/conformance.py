"""Adapters for the conformance suite: how to build each kind of carrier, and how to script its peer."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from pabal.carriers.base import Carrier
from pabal.carriers.nhncloud.carrier import Dependencies, NhnCloudCarrier
from pabal.carriers.nhncloud.client import NhnCloudClient
from pabal.carriers.simulator import Simulator
from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.carrier import SmppCarrier
from pabal.carriers.smpp.pdu import Pdu, ShortMessage
from pabal.domain.simulated_message import SimulatedMessage
from pabal.settings.carriers import NhnCloudSettings, SimulatorSettings, SmppSettings
from pabal.world import World
from tests.carriers.test_simulator import InMemorySimulatorStore
from tests.fakes.nhncloud.server import FakeNhnCloud, FakeNhnCloudTransport
from tests.fakes.nhncloud.state import Message, Profile
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
from tests.fixtures.virtual import VirtualWorld

REFUSED = "01000000001"
BUSY = "01000000005"
"""Receivers that a peer refuses, for good and for now; it takes all else, and reports within a second."""
SENDER_KEY, TEMPLATE_CODE = "5e" * 20, "greeting"
"""What Alimtalks of the suite go under; the template is `안녕하세요`."""
REPORT_AFTER_S = 0.3
ANSWER_AFTER_S = 0.05
EARS = (protocol.BIND_TRANSCEIVER, protocol.BIND_RECEIVER)


class Adapter(ABC):
    """One kind of carrier before one far end; the peer outlives the carriers that are built for it."""

    kind: ClassVar[str]
    excused: ClassVar[Mapping[str, str]] = {}
    """The properties that cannot apply, by the names of their tests, each with the reason."""
    secrets: ClassVar[tuple[str, ...]] = ()
    """What must never be seen."""

    @abstractmethod
    def build(self, world: World, *, window: int, rate: int) -> Carrier:
        """Return a new carrier for this far end, as after a start of the process."""

    @abstractmethod
    def fall_silent(self) -> None:
        """From now on, answer nothing."""

    def go_away(self) -> None:
        """From now on, be out of reach, also for those who are connected."""
        raise NotImplementedError

    def lock_out(self) -> None:
        """From now on, refuse whoever wants to begin."""
        raise NotImplementedError

    @abstractmethod
    def come_back(self) -> None:
        """From now on, do as a good far end does."""

    @property
    @abstractmethod
    def given_at(self) -> Sequence[float]:
        """When it was given each message or part."""

    @property
    def most_in_hand(self) -> int:
        """How many messages or parts it had without an answer at most."""
        raise NotImplementedError

    @property
    @abstractmethod
    def unacknowledged(self) -> int:
        """How many receipts it has to tell again, as nobody has said that they are kept."""

    @property
    def connections(self) -> int:
        """How many connections to it are up."""
        return 0


class BlockingSimulatorStore(InMemorySimulatorStore):
    """The simulator's memory, which may be told to hang."""

    def __init__(self) -> None:
        super().__init__()
        self.is_silent = False
        self.given_at: list[float] = []

    async def store_messages(self, messages: Sequence[SimulatedMessage]) -> None:
        self.given_at += [asyncio.get_running_loop().time()] * len(messages)
        if self.is_silent:
            await asyncio.Event().wait()
        await super().store_messages(messages)


class SimulatorAdapter(Adapter):
    """The simulator: its peer is its memory, in this process."""

    kind = "simulator"
    excused: ClassVar[Mapping[str, str]] = {
        "test_unreachable_carrier_says_so_sends_nothing_and_recovers": "it is never gone",
        "test_locked_out_carrier_says_so_without_its_secret": "nobody can lock it out, and it has no secret",
        "test_window_is_never_exceeded": "it answers at once; the deliverer keeps its window",
        "test_nothing_is_accepted_before_run": "it is always there",
    }

    def __init__(self) -> None:
        self._memory = BlockingSimulatorStore()

    def build(self, world: World, *, window: int, rate: int) -> Carrier:
        return Simulator(SimulatorSettings(name="it", window=window, rate=rate), self._memory, world)

    def fall_silent(self) -> None:
        self._memory.is_silent = True

    def come_back(self) -> None:
        self._memory.is_silent = False

    @property
    def given_at(self) -> Sequence[float]:
        return self._memory.given_at

    @property
    def unacknowledged(self) -> int:
        return len(self._memory.debts)


class SmppAdapter(Adapter):
    """An SMPP carrier: its peer is an SMSC that tells a receipt at every bind until it is acknowledged."""

    kind = "smpp"
    excused: ClassVar[Mapping[str, str]] = {
        "test_resubmitted_message_is_deduplicated": "it does not say that it knows what it has had before",
    }
    secrets = ("hush-!42",)
    further: ClassVar[Mapping[str, object]] = {}

    def __init__(self) -> None:
        self._smsc = ScriptedSmsc()
        self._reports: dict[int, ShortMessage] = {}
        self._sequence = 0
        self.come_back()

    def build(self, world: World, *, window: int, rate: int) -> Carrier:
        given: dict[str, object] = {"host": "smsc.example", "system_id": "pabal", "password": self.secrets[0]}
        settings = SmppSettings(name="it", window=window, rate=rate, **given | dict(self.further))  # type: ignore[arg-type]
        return SmppCarrier(settings, world, lambda _: None, self._smsc.connect)

    def fall_silent(self) -> None:
        self._smsc.handlers.update(dict.fromkeys(self._smsc.handlers, no_response))

    def go_away(self) -> None:
        self._smsc.is_down = True
        for line in self._smsc.open_connections:
            line.pipe.reset()

    def lock_out(self) -> None:
        self._smsc.handlers.update(dict.fromkeys(BINDS, respond_with_status(protocol.RINVPASWD)))
        for line in self._smsc.open_connections:
            line.pipe.reset()

    def come_back(self) -> None:
        self._smsc.is_down = False
        self._smsc.handlers = ScriptedSmsc().handlers | dict.fromkeys(BINDS, self._bind)
        self._smsc.handlers[protocol.SUBMIT_SM] = self._decide
        self._smsc.handlers[DELIVER_SM_RESP] = self._strike_out

    @property
    def given_at(self) -> Sequence[float]:
        return self._smsc.submitted_at

    @property
    def most_in_hand(self) -> int:
        return self._smsc.max_in_flight

    @property
    def unacknowledged(self) -> int:
        return len(self._reports)

    @property
    def connections(self) -> int:
        return len(self._smsc.open_connections)

    def _bind(self, line: SmscConnection, one: Pdu) -> None:
        respond(line, one)
        if one.command in EARS:
            for sequence, report in self._reports.items():
                line.deliver(sequence, report)

    def _decide(self, line: SmscConnection, one: Pdu) -> None:
        receiver = pdu.decode_short_message(one.body).destination.digits
        if receiver == REFUSED:
            respond_with_status(protocol.RINVDSTADR)(line, one)
        elif receiver == BUSY:
            respond_with_status(protocol.RTHROTTLED)(line, one)
        else:
            _later(ANSWER_AFTER_S, lambda: self._take(line, one))

    def _take(self, line: SmscConnection, one: Pdu) -> None:
        if not line.is_up:
            return
        accept(line, one)
        self._sequence += 1
        sequence = self._sequence
        self._reports[sequence] = receipt(str(sequence))
        _later(REPORT_AFTER_S, lambda: self._tell(sequence))

    def _tell(self, sequence: int) -> None:
        ears = [
            each.connection
            for each in self._smsc.received_pdus
            if each.pdu.command in EARS and each.connection.is_up
        ]
        if ears and sequence in self._reports:
            ears[0].deliver(sequence, self._reports[sequence])

    def _strike_out(self, line: SmscConnection, one: Pdu) -> None:
        self._reports.pop(one.sequence, None)


class SmppPairAdapter(SmppAdapter):
    """The same with a transmitter and a receiver, two of each, and long texts in parts."""

    kind = "smpp in pairs"
    further: ClassVar[Mapping[str, object]] = {"bind": "pair", "binds": 2, "long_messages": "parts"}


class InMemoryCursor:
    """How far results have been read, as the store keeps it."""

    is_ours = True

    def __init__(self) -> None:
        self.at: dict[str, int] = {}

    async def get(self, source: str) -> int | None:
        return self.at.get(source)

    async def put(self, source: str, at: int) -> None:
        self.at[source] = at


class CountedRelay(FakeNhnCloud):
    """The documented server, which counts when it was given what."""

    def __init__(self) -> None:
        super().__init__(virtual_clock, seed=1)
        self.behavior.refusals = {REFUSED: -6001, BUSY: -2052}
        self.add_number("0212345678")
        self.given_at: list[float] = []

    def store_messages(self, messages: list[Message]) -> None:
        self.given_at += [asyncio.get_running_loop().time()] * len(messages)
        super().store_messages(messages)


class NhnCloudAdapter(Adapter):
    """NHN Cloud: its peer is the server that answers as its documentation says."""

    kind = "nhncloud"
    excused: ClassVar[Mapping[str, str]] = {
        "test_window_is_never_exceeded": "a call is answered as a whole; the deliverer keeps its window",
        "test_resubmitted_message_is_deduplicated": "it is told what is in doubt, and asks about that",
    }
    secrets = ("smsAppKey0123456", "smsSecret", "talkAppKey012345", "talkSecret")

    def __init__(self) -> None:
        self._relay = CountedRelay()
        self._relay.profiles[SENDER_KEY] = Profile("@shop", SENDER_KEY, "01012345678", "00100010001", 0)
        self._relay.add_template(SENDER_KEY, TEMPLATE_CODE, "안녕하세요")
        self._notes = InMemoryCursor()
        self._transports: list[FakeNhnCloudTransport] = []
        self._is_gone = False

    def build(self, world: World, *, window: int, rate: int) -> Carrier:
        relay, (sms_key, sms_secret, talk_key, talk_secret) = self._relay, self.secrets
        settings = NhnCloudSettings(
            name="it",
            window=window,
            rate=rate,
            poll_seconds=1,
            sms_app_key=sms_key,
            sms_secret_key=sms_secret,
            talk_app_key=talk_key,
            talk_secret_key=talk_secret,
        )
        self._transports = [FakeNhnCloudTransport(relay), FakeNhnCloudTransport(relay)]
        texts, talk = (
            NhnCloudClient("http://127.0.0.1", key, secret, transport=transport)
            for key, secret, transport in zip(
                (sms_key, talk_key), (sms_secret, talk_secret), self._transports, strict=True
            )
        )
        return NhnCloudCarrier(settings, Dependencies(world, _no_picture, self._notes, lambda _: None), texts, talk)

    def fall_silent(self) -> None:
        self._relay.inject_fault("slow to accept", "POST", times=1e9, seconds=1e6)

    def go_away(self) -> None:
        for transport in self._transports:
            transport.is_gone = True

    def lock_out(self) -> None:
        self._relay.sms_app_key = self._relay.talk_app_key = "another"

    def come_back(self) -> None:
        self._relay.faults.faults.clear()
        self._relay.sms_app_key, self._relay.talk_app_key = self.secrets[0], self.secrets[2]
        for transport in self._transports:
            transport.is_gone = False

    @property
    def given_at(self) -> Sequence[float]:
        return self._relay.given_at

    @property
    def unacknowledged(self) -> int:
        return sum(
            each.updated_at is None or each.updated_at > self._notes.at.get(each.product, 0)
            for each in self._relay.messages
        )


def virtual_clock() -> int:
    """Return the moment on the virtual clock; before it begins to go, when it will."""
    try:
        return VirtualWorld().now()
    except RuntimeError:
        return VirtualWorld().starts_at


async def _no_picture(request_id: bytes) -> None:
    return None


ADAPTERS: tuple[type[Adapter], ...] = (SimulatorAdapter, SmppAdapter, SmppPairAdapter, NhnCloudAdapter)


def _later(seconds: float, act: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(seconds, act)
