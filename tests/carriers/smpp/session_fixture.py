"""A session with a scripted SMSC, for the tests of SMPP sessions."""

import asyncio
from collections import Counter

from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.batch import SubmitGroup, SubmitResult
from pabal.carriers.smpp.pdu import Bind, Pdu
from pabal.carriers.smpp.session import (
    BindRequest,
    SmppSession,
)
from tests.fakes.pipes import connect
from tests.fakes.smsc.scripted import (
    ScriptedSmsc,
    SmscConnection,
    no_response,
)
from tests.fixtures.smpp import PASSWORD
from tests.fixtures.virtual import VirtualWorld

WINDOW = 10


ENQUIRE_S = 30.0


BODY = b"a body of a submit"


class CountingWorld(VirtualWorld):
    """A world that counts the reads of its clock."""

    looks = 0

    def monotonic(self) -> float:
        self.looks += 1
        return super().monotonic()


class SessionFixture:
    def __init__(self, command: int = protocol.BIND_TRANSCEIVER) -> None:
        self.world = CountingWorld()
        self.smsc = ScriptedSmsc()
        self.smsc.handlers[protocol.SUBMIT_SM] = no_response
        self.anomalies: Counter[str] = Counter()
        self.delivered: list[Pdu] = []
        self.room_reported = 0
        bind = BindRequest(command, pdu.encode_bind(Bind("pabal", PASSWORD)))
        self.session = SmppSession(bind, WINDOW, ENQUIRE_S, self.world, self._note, self._deliver, self._on_room)

    async def connect(self) -> None:
        await connect(lambda: self.session, self.smsc.new_connection())

    @property
    def smsc_connection(self) -> SmscConnection:
        return self.smsc.connections[0]

    def submit(self, count: int = 1) -> SubmitGroup:
        group = SubmitGroup(count)
        self.session.submit([BODY] * count, group, 0)
        return group

    async def submitted(self, count: int = 1) -> SubmitGroup:
        """Submit messages, and wait until the SMSC has them."""
        group = self.submit(count)
        await let_pdus_arrive()
        return group

    async def hear(self, command: int, sequence: int, body: bytes = b"", status: int = 0) -> None:
        """Send a PDU of the SMSC, and wait until it was read."""
        self.smsc_connection.send(command, sequence, body, status)
        await let_pdus_arrive()

    @property
    def sequence_numbers(self) -> list[int]:
        """The sequence numbers of the submits that the SMSC has."""
        return [each.pdu.sequence for each in self.smsc.received(protocol.SUBMIT_SM)]

    def _note(self, what: str) -> None:
        self.anomalies[what] += 1

    def _deliver(self, session: SmppSession, pdus: list[Pdu]) -> None:
        assert session is self.session
        self.delivered += pdus

    def _on_room(self) -> None:
        self.room_reported += 1


async def let_pdus_arrive() -> None:
    """Wait until all sent PDUs have arrived and are answered."""
    await asyncio.sleep(0.001)


def results_of(group: SubmitGroup) -> list[SubmitResult]:
    assert group.completed.done()
    return group.results
