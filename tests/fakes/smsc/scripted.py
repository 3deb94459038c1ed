"""A scripted SMSC: correct unless a test replaces a handler; records every PDU."""

import asyncio
import errno
from collections.abc import Callable, Iterable
from itertools import count
from typing import NamedTuple, cast

from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.pdu import Address, Pdu, ShortMessage
from tests.fakes.pipes import Pipe, connect

SUBMIT_SM_RESP = protocol.SUBMIT_SM | protocol.RESPONSE
DELIVER_SM_RESP = protocol.DELIVER_SM | protocol.RESPONSE
RECEIPT = 0x04
INTERMEDIATE = 0x20
BINDS = (protocol.BIND_TRANSCEIVER, protocol.BIND_TRANSMITTER, protocol.BIND_RECEIVER)

Handler = Callable[["SmscConnection", Pdu], None]
"""What to do on a PDU."""


class ReceivedPdu(NamedTuple):
    """A PDU that arrived: when, on which connection."""

    at: float
    line: "SmscConnection"
    pdu: Pdu


def silent(line: "SmscConnection", one: Pdu) -> None:
    """Say nothing."""


def answer(line: "SmscConnection", one: Pdu) -> None:
    """Say yes."""
    line.say(one.command | protocol.RESPONSE, one.sequence, b"\0" if one.command in BINDS else b"")


def take(line: "SmscConnection", one: Pdu) -> None:
    """Give a message the next id."""
    line.say(SUBMIT_SM_RESP, one.sequence, pdu.encode_message_id(str(next(line.smsc.ids))))


def let_go(line: "SmscConnection", one: Pdu) -> None:
    """Answer an unbind and hang up."""
    answer(line, one)
    line.pipe.close()


def refuse(status: int) -> Handler:
    """Say no, with a status."""

    def act(line: "SmscConnection", one: Pdu) -> None:
        line.say(one.command | protocol.RESPONSE, one.sequence, status=status)

    return act


def in_sequence(*acts: Handler) -> Handler:
    """Do these things one after the other, and the last for ever."""
    left = list(acts)

    def act(line: "SmscConnection", one: Pdu) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(line, one)

    return act


class SmscConnection(asyncio.Protocol):
    """One connection to it."""

    def __init__(self, smsc: "ScriptedSmsc") -> None:
        self.smsc = smsc
        self.owed: dict[int, Pdu] = {}
        """Submits that have no answer yet."""
        self.is_up = False
        self._rest = b""
        self._transport: asyncio.Transport | None = None

    @property
    def transport(self) -> asyncio.Transport:
        """Its end of the connection."""
        assert self._transport is not None
        return self._transport

    @property
    def pipe(self) -> Pipe:
        """Its end of a connection in memory."""
        return cast(Pipe, self.transport)

    def say(self, command: int, sequence: int, body: bytes = b"", status: int = 0) -> None:
        """Send a PDU."""
        if command in (SUBMIT_SM_RESP, protocol.GENERIC_NACK):
            self.owed.pop(sequence, None)
        self.transport.write(pdu.encode_pdu(command, sequence, body, status))

    def deliver(self, sequence: int, message: ShortMessage) -> None:
        """Send a deliver_sm."""
        self.say(protocol.DELIVER_SM, sequence, pdu.encode_short_message(message))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.is_up = True

    def data_received(self, data: bytes) -> None:
        pdus, used = pdu.split_pdus(self._rest + data)
        self._rest = (self._rest + data)[used:]
        for one in pdus:
            self.smsc.hear(self, one)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_up = False
        self.owed.clear()


class ScriptedSmsc:
    """The SMSC of a carrier; `acts` says what it does on each command."""

    def __init__(self) -> None:
        self.handlers: dict[int, Handler] = {
            **dict.fromkeys(BINDS, answer),
            protocol.SUBMIT_SM: take,
            protocol.ENQUIRE_LINK: answer,
            protocol.UNBIND: let_go,
        }
        self.ids = count(1)
        self.refusal: Exception | None = None
        """What those who want to connect get to hear."""
        self.is_lost = False
        """Whether connections to it are not even refused."""
        self.connect_attempts_at: list[float] = []
        self.connections: list[SmscConnection] = []
        self.received_pdus: list[ReceivedPdu] = []
        self.max_in_flight = 0
        """How many submits were without an answer at most, on all connections together."""

    async def connect(self, make: Callable[[], asyncio.Protocol]) -> object:
        """Connect someone, in memory."""
        self.connect_attempts_at.append(asyncio.get_running_loop().time())
        if self.is_lost:
            await asyncio.Event().wait()
        if self.refusal:
            raise self.refusal
        return await connect(make, self.line())

    @property
    def is_down(self) -> bool:
        """Whether it refuses connections."""
        return self.refusal is not None

    @is_down.setter
    def is_down(self, is_down: bool) -> None:
        self.refusal = ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused") if is_down else None

    def line(self) -> SmscConnection:
        """Return the protocol of a new connection."""
        line = SmscConnection(self)
        self.connections.append(line)
        return line

    def hear(self, line: SmscConnection, one: Pdu) -> None:
        """Note a PDU, and do what is to be done."""
        self.received_pdus.append(ReceivedPdu(asyncio.get_running_loop().time(), line, one))
        if one.command == protocol.SUBMIT_SM:
            line.owed[one.sequence] = one
            self.max_in_flight = max(self.max_in_flight, sum(len(each.owed) for each in self.connections))
        act = self.handlers.get(one.command)
        if act:
            act(line, one)

    def answer_all(self) -> None:
        """Take every message that waits for an answer."""
        for line in self.open_connections:
            for one in list(line.owed.values()):
                take(line, one)

    # What a test wants to know.

    def received(self, command: int) -> list[ReceivedPdu]:
        """Return what it heard of one command."""
        return [each for each in self.received_pdus if each.pdu.command == command]

    @property
    def submits(self) -> list[ShortMessage]:
        """Every submit_sm it heard, in order."""
        return [pdu.decode_short_message(each.pdu.body) for each in self.received(protocol.SUBMIT_SM)]

    @property
    def submitted_at(self) -> list[float]:
        """When it heard each submit_sm."""
        return [each.at for each in self.received(protocol.SUBMIT_SM)]

    @property
    def acknowledged(self) -> list[tuple[int, int]]:
        """The numbers of the deliver_sm's that were answered, each with the status."""
        return [(each.pdu.sequence, each.pdu.status) for each in self.received(DELIVER_SM_RESP)]

    @property
    def open_connections(self) -> list[SmscConnection]:
        """The connections that are up."""
        return [line for line in self.connections if line.is_up]

    @property
    def open_connection(self) -> SmscConnection:
        """The only connection that is up."""
        (line,) = self.open_connections
        return line

    def connections_bound_by(self, command: int) -> list[SmscConnection]:
        """Return the connections that were bound by one kind of bind, in order."""
        return [each.line for each in self.received(command)]


def receipt(
    message_id: str,
    stat: str = "DELIVRD",
    *,
    phone: str = "01012345678",
    kind: int = RECEIPT,
    mark: int | None = None,
    err: str = "000",
) -> ShortMessage:
    """Return a delivery receipt in the text form."""
    text = (
        f"id:{message_id} sub:001 dlvrd:001 submit date:2611151200 done date:2611151201"
        f" stat:{stat} err:{err} text:hello"
    )
    options = {} if mark is None else {protocol.USER_MESSAGE_REFERENCE: mark.to_bytes(2, "big")}
    return ShortMessage(
        Address(0, 0, phone),
        Address(0, 0, "0212345678"),
        text.encode(),
        kind,
        tlvs=options,
    )


def frames(pdus: Iterable[tuple[int, int, bytes, int]]) -> bytes:
    """Return PDUs in one piece: command, number, body, status of each."""
    return b"".join(pdu.encode_pdu(command, sequence, body, status) for command, sequence, body, status in pdus)
