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
    connection: "SmscConnection"
    pdu: Pdu


def no_response(connection: "SmscConnection", request: Pdu) -> None:
    """Say nothing."""


def respond(connection: "SmscConnection", request: Pdu) -> None:
    """Say yes."""
    connection.send(
        request.command | protocol.RESPONSE, request.sequence, b"\0" if request.command in BINDS else b""
    )


def accept(connection: "SmscConnection", request: Pdu) -> None:
    """Give a message the next id."""
    connection.send(SUBMIT_SM_RESP, request.sequence, pdu.encode_message_id(str(next(connection.smsc.ids))))


def unbind(connection: "SmscConnection", request: Pdu) -> None:
    """Answer an unbind and hang up."""
    respond(connection, request)
    connection.pipe.close()


def respond_with_status(status: int) -> Handler:
    """Say no, with a status."""

    def act(line: "SmscConnection", one: Pdu) -> None:
        line.send(one.command | protocol.RESPONSE, one.sequence, status=status)

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

    def send(self, command: int, sequence: int, body: bytes = b"", status: int = 0) -> None:
        """Send a PDU."""
        if command in (SUBMIT_SM_RESP, protocol.GENERIC_NACK):
            self.owed.pop(sequence, None)
        self.transport.write(pdu.encode_pdu(command, sequence, body, status))

    def deliver(self, sequence: int, message: ShortMessage) -> None:
        """Send a deliver_sm."""
        self.send(protocol.DELIVER_SM, sequence, pdu.encode_short_message(message))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.is_up = True

    def data_received(self, data: bytes) -> None:
        pdus, used = pdu.split_pdus(self._rest + data)
        self._rest = (self._rest + data)[used:]
        for one in pdus:
            self.smsc.receive(self, one)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_up = False
        self.owed.clear()


class ScriptedSmsc:
    """The SMSC of a carrier; `acts` says what it does on each command."""

    def __init__(self) -> None:
        self.handlers: dict[int, Handler] = {
            **dict.fromkeys(BINDS, respond),
            protocol.SUBMIT_SM: accept,
            protocol.ENQUIRE_LINK: respond,
            protocol.UNBIND: unbind,
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
        return await connect(make, self.new_connection())

    @property
    def is_down(self) -> bool:
        """Whether it refuses connections."""
        return self.refusal is not None

    @is_down.setter
    def is_down(self, is_down: bool) -> None:
        self.refusal = ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused") if is_down else None

    def new_connection(self) -> SmscConnection:
        """Return the protocol of a new connection."""
        line = SmscConnection(self)
        self.connections.append(line)
        return line

    def receive(self, connection: SmscConnection, request: Pdu) -> None:
        """Note a PDU, and do what is to be done."""
        self.received_pdus.append(ReceivedPdu(asyncio.get_running_loop().time(), connection, request))
        if request.command == protocol.SUBMIT_SM:
            connection.owed[request.sequence] = request
            self.max_in_flight = max(self.max_in_flight, sum(len(each.owed) for each in self.connections))
        act = self.handlers.get(request.command)
        if act:
            act(connection, request)

    def answer_all(self) -> None:
        """Take every message that waits for an answer."""
        for line in self.open_connections:
            for one in list(line.owed.values()):
                accept(line, one)

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
        return [each.connection for each in self.received(command)]


def receipt(
    message_id: str,
    stat: str = "DELIVRD",
    *,
    phone: str = "01012345678",
    esm_class: int = RECEIPT,
    reference: int | None = None,
    err: str = "000",
) -> ShortMessage:
    """Return a delivery receipt in the text form."""
    text = (
        f"id:{message_id} sub:001 dlvrd:001 submit date:2611151200 done date:2611151201"
        f" stat:{stat} err:{err} text:hello"
    )
    options = {} if reference is None else {protocol.USER_MESSAGE_REFERENCE: reference.to_bytes(2, "big")}
    return ShortMessage(
        Address(0, 0, phone),
        Address(0, 0, "0212345678"),
        text.encode(),
        esm_class,
        tlvs=options,
    )


def frames(pdus: Iterable[tuple[int, int, bytes, int]]) -> bytes:
    """Return PDUs in one piece: command, number, body, status of each."""
    return b"".join(pdu.encode_pdu(command, sequence, body, status) for command, sequence, body, status in pdus)
