"""A session with a scripted SMSC, for the tests of SMPP sessions."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.pdu import Pdu
from pabal.carriers.smpp.session import (
    BindRequest,
    SmppSession,
)
from pabal.carriers.smpp.submit_group import SubmitGroup, SubmitResult
from tests.fakes.pipes import connect
from tests.fakes.smsc.scripted import (
    ScriptedSmsc,
    SmscConnection,
    no_response,
)
from tests.fixtures.smpp import PASSWORD
from tests.fixtures.virtual import VirtualWorld, run_in_virtual_time

WINDOW = 10


ENQUIRE_S = 30.0


BODY = b"a body of a submit"


class WatchedWorld(VirtualWorld):
    """A world that knows how often it was asked for the time."""

    looks = 0

    def monotonic(self) -> float:
        self.looks += 1
        return super().monotonic()


class Talk:
    """A session and its peer."""

    def __init__(self, command: int = protocol.BIND_TRANSCEIVER) -> None:
        self.world = WatchedWorld()
        self.smsc = ScriptedSmsc()
        self.smsc.handlers[protocol.SUBMIT_SM] = no_response
        self.anomalies: Counter[str] = Counter()
        self.delivered: list[Pdu] = []
        self.room_told = 0
        self.faults: list[object] = []
        bind = BindRequest(command, pdu.encode_bind("pabal", PASSWORD))
        self.session = SmppSession(bind, WINDOW, ENQUIRE_S, self.world, self._note, self._deliver, self._tell_room)

    async def begin(self) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: self.faults.append(context))
        await connect(lambda: self.session, self.smsc.new_connection())

    @property
    def line(self) -> SmscConnection:
        return self.smsc.connections[0]

    def submit(self, count: int = 1) -> SubmitGroup:
        group = SubmitGroup(count)
        self.session.submit([BODY] * count, group, 0)
        return group

    @property
    def numbers(self) -> list[int]:
        """The sequence numbers of the submits that the SMSC has."""
        return [each.pdu.sequence for each in self.smsc.received(protocol.SUBMIT_SM)]

    def _note(self, what: str) -> None:
        self.anomalies[what] += 1

    def _deliver(self, session: SmppSession, pdus: list[Pdu]) -> None:
        assert session is self.session
        self.delivered += pdus

    def _tell_room(self) -> None:
        self.room_told += 1


def run_scenario(scenario: Callable[[Talk], Awaitable[None]], *, is_bound: bool = True) -> Talk:
    """Run a scenario with a bound session, or with one whose bind the scenario sees to."""

    async def whole() -> Talk:
        talk = Talk()
        if is_bound:
            await talk.begin()
            await talk.session.bound
        await scenario(talk)
        assert talk.faults == []
        return talk

    return run_in_virtual_time(whole())


async def turn() -> None:
    """Let everything that was said arrive, and be answered."""
    await asyncio.sleep(0.001)


def answers(group: SubmitGroup) -> list[SubmitResult]:
    assert group.completed.done()
    return group.results
