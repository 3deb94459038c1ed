"""A scripted SMSC: correct unless a test replaces a handler; records every PDU."""

import asyncio
import errno
from collections.abc import Callable, Iterable
from itertools import count
from typing import NamedTuple, cast

from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.pdu import Address, Pdu, ShortMessage
from pabal.carriers.smpp.smsc import RECEIPT, Reported, ServerConnection, make_receipt
from tests.fakes.pipes import Pipe, connect

SUBMIT_SM_RESP = protocol.SUBMIT_SM | protocol.RESPONSE
DELIVER_SM_RESP = protocol.DELIVER_SM | protocol.RESPONSE
INTERMEDIATE = 0x20
BINDS = (protocol.BIND_TRANSCEIVER, protocol.BIND_TRANSMITTER, protocol.BIND_RECEIVER)

Handler = Callable[["SmscConnection", Pdu], None]
"""Handles a received PDU."""


class ReceivedPdu(NamedTuple):
    at: float
    connection: "SmscConnection"
    pdu: Pdu


def no_response(connection: "SmscConnection", request: Pdu) -> None:
    """Do not respond."""


def respond(connection: "SmscConnection", request: Pdu) -> None:
    """Respond with status OK."""
    connection.send(
        request.command | protocol.RESPONSE, request.sequence, b"\0" if request.command in BINDS else b""
    )


def accept(connection: "SmscConnection", request: Pdu) -> None:
    """Accept a message with the next id."""
    connection.send(SUBMIT_SM_RESP, request.sequence, pdu.encode_message_id(str(next(connection.smsc.ids))))


def unbind(connection: "SmscConnection", request: Pdu) -> None:
    respond(connection, request)
    connection.pipe.close()


def respond_with_status(status: int) -> Handler:
    def handler(connection: "SmscConnection", request: Pdu) -> None:
        connection.send(request.command | protocol.RESPONSE, request.sequence, status=status)

    return handler


def in_sequence(*handlers: Handler) -> Handler:
    """Return a handler that uses these in order, and then always the last."""
    left = list(handlers)

    def handler(connection: "SmscConnection", request: Pdu) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(connection, request)

    return handler


class SmscConnection(ServerConnection):
    def __init__(self, smsc: "ScriptedSmsc") -> None:
        super().__init__()
        self.smsc = smsc
        self.unanswered: dict[int, Pdu] = {}
        """Submits without a response, by sequence number."""

    @property
    def pipe(self) -> Pipe:
        """The SMSC's end of an in-memory connection."""
        return cast(Pipe, self.transport)

    def send(self, command: int, sequence: int, body: bytes = b"", status: int = 0) -> None:
        if command in (SUBMIT_SM_RESP, protocol.GENERIC_NACK):
            self.unanswered.pop(sequence, None)
        super().send(command, sequence, body, status)

    def receive(self, request: Pdu) -> None:
        self.smsc.receive(self, request)

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self.unanswered.clear()


class ScriptedSmsc:
    """The SMSC of a carrier; `handlers` has the handler of each command."""

    def __init__(self) -> None:
        self.handlers: dict[int, Handler] = {
            **dict.fromkeys(BINDS, respond),
            protocol.SUBMIT_SM: accept,
            protocol.ENQUIRE_LINK: respond,
            protocol.UNBIND: unbind,
        }
        self.ids = count(1)
        self.refusal: Exception | None = None
        """The error that connection attempts get."""
        self.drops_connects = False
        """Whether connection attempts get no answer at all."""
        self.connect_attempts_at: list[float] = []
        self.connections: list[SmscConnection] = []
        self.received_pdus: list[ReceivedPdu] = []
        self.max_in_flight = 0
        """Maximum number of submits without a response, on all connections."""

    async def connect(self, factory: Callable[[], asyncio.Protocol]) -> object:
        """Connect a protocol in memory."""
        self.connect_attempts_at.append(asyncio.get_running_loop().time())
        if self.drops_connects:
            await asyncio.Event().wait()
        if self.refusal:
            raise self.refusal
        return await connect(factory, self.new_connection())

    @property
    def is_down(self) -> bool:
        """Whether it refuses connections."""
        return self.refusal is not None

    @is_down.setter
    def is_down(self, is_down: bool) -> None:
        self.refusal = ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused") if is_down else None

    def new_connection(self) -> SmscConnection:
        connection = SmscConnection(self)
        self.connections.append(connection)
        return connection

    def receive(self, connection: SmscConnection, request: Pdu) -> None:
        """Record a PDU, and call its handler."""
        self.received_pdus.append(ReceivedPdu(asyncio.get_running_loop().time(), connection, request))
        if request.command == protocol.SUBMIT_SM:
            connection.unanswered[request.sequence] = request
            self.max_in_flight = max(self.max_in_flight, sum(len(each.unanswered) for each in self.connections))
        handler = self.handlers.get(request.command)
        if handler:
            handler(connection, request)

    def answer_all(self) -> None:
        """Accept every message without a response."""
        for connection in self.open_connections:
            for request in list(connection.unanswered.values()):
                accept(connection, request)

    # Queries for tests.

    def received(self, command: int) -> list[ReceivedPdu]:
        return [each for each in self.received_pdus if each.pdu.command == command]

    @property
    def submits(self) -> list[ShortMessage]:
        """Every received submit_sm, in order."""
        return [pdu.decode_short_message(each.pdu.body) for each in self.received(protocol.SUBMIT_SM)]

    @property
    def submitted_at(self) -> list[float]:
        """When each submit_sm was received."""
        return [each.at for each in self.received(protocol.SUBMIT_SM)]

    @property
    def acknowledged(self) -> list[tuple[int, int]]:
        """Sequence number and status of each deliver_sm_resp."""
        return [(each.pdu.sequence, each.pdu.status) for each in self.received(DELIVER_SM_RESP)]

    @property
    def open_connections(self) -> list[SmscConnection]:
        return [connection for connection in self.connections if connection.is_up]

    @property
    def open_connection(self) -> SmscConnection:
        (connection,) = self.open_connections
        return connection

    def connections_bound_by(self, command: int) -> list[SmscConnection]:
        """Return the connections bound with one command, in order."""
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
    options = {} if reference is None else {protocol.USER_MESSAGE_REFERENCE: reference.to_bytes(2, "big")}
    source, destination = Address(0, 0, phone), Address(0, 0, "0212345678")
    reported = Reported(stat, err)
    return make_receipt(
        message_id, reported, 0, source=source, destination=destination, esm_class=esm_class, tlvs=options
    )


def frames(pdus: Iterable[tuple[int, int, bytes, int]]) -> bytes:
    """Return encoded PDUs, joined; each is given as command, sequence number, body, status."""
    return b"".join(pdu.encode_pdu(command, sequence, body, status) for command, sequence, body, status in pdus)
