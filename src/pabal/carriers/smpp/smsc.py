"""A small SMSC to try an SMPP set-up with: accepts binds and messages, and returns receipts."""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import count
from typing import NamedTuple, cast

from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.encoding import decode_text
from pabal.carriers.smpp.pdu import Address, Bind, InvalidLength, InvalidPdu, Pdu, ShortMessage
from pabal.domain.base.dates import SECOND, Instant
from pabal.world import World

RECEIPT_DELAY_S = 0.2
"""How long after the response to a message its receipt follows."""
MAX_WAITING_RECEIPTS = 10_000
"""Receipts that are kept until a receiver binds; beyond it the oldest are dropped."""
MAX_CONNECTIONS = 100
MAX_UNACKNOWLEDGED = 10_000
"""Receipts that a client may leave without a response before its connection is closed."""
RECEIPT = 0x04
"""The esm_class of a receipt."""
_WANTS_RECEIPT = 0x01
_SYSTEM_ID = "pabal smsc"
_BINDS = {
    protocol.BIND_RECEIVER: "bind_receiver",
    protocol.BIND_TRANSMITTER: "bind_transmitter",
    protocol.BIND_TRANSCEIVER: "bind_transceiver",
}


class ServerConnection(asyncio.Protocol, ABC):
    """The SMSC's end of a connection: hands every PDU that arrives to `receive`."""

    def __init__(self) -> None:
        self.is_up = False
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    @property
    def transport(self) -> asyncio.Transport:
        """Where to write to."""
        assert self._transport is not None
        return self._transport

    @abstractmethod
    def receive(self, request: Pdu) -> None:
        """Handle a PDU."""

    def send(self, command: int, sequence: int, body: bytes = b"", status: int = protocol.OK) -> None:
        """Write a PDU."""
        self.transport.write(pdu.encode_pdu(command, sequence, body, status))

    def deliver(self, sequence: int, message: ShortMessage) -> None:
        """Write a deliver_sm."""
        self.send(protocol.DELIVER_SM, sequence, pdu.encode_short_message(message))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.is_up = True

    def data_received(self, data: bytes) -> None:
        pdus, used = pdu.split_pdus(self._buffer + data)
        self._buffer = (self._buffer + data)[used:]
        for each in pdus:
            self.receive(each)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_up = False


class BindCredentials(NamedTuple):
    """Who may bind; what is empty may be anything."""

    system_id: str = ""
    password: str = ""


class Reported(NamedTuple):
    """What receipts say: `stat` and `err`."""

    stat: str = "DELIVRD"
    err: str = "000"


class _Receipt(NamedTuple):
    system_id: str
    message_id: str
    message: ShortMessage


class Smsc:
    """The SMSC; `tell` gets a line for each bind, message and receipt."""

    def __init__(
        self, world: World, tell: Callable[[str], object], credentials: BindCredentials, reported: Reported
    ) -> None:
        self._world = world
        self.tell = tell
        self._credentials = credentials
        self._reported = reported
        self._ids = count(world.now())  # other ids after a restart
        self._connections: list[_Connection] = []
        self._waiting: deque[_Receipt] = deque(maxlen=MAX_WAITING_RECEIPTS)

    def connect(self) -> ServerConnection:
        """Return the protocol of a new connection."""
        return _Connection(self)

    def add(self, connection: "_Connection") -> bool:
        """Add a connection; return whether there is room for it."""
        self._connections.append(connection)
        return len(self._connections) <= MAX_CONNECTIONS

    def remove(self, connection: "_Connection") -> None:
        """Forget a connection."""
        self._connections.remove(connection)

    def check(self, bind: Bind) -> int:
        """Return the status of a bind."""
        if self._credentials.system_id not in ("", bind.system_id):
            return protocol.RINVSYSID
        return protocol.OK if self._credentials.password in ("", bind.password) else protocol.RINVPASWD

    def accept(self, system_id: str, message: ShortMessage) -> str:
        """Accept a message, have its receipt follow if it wants one, and return its id."""
        message_id = str(next(self._ids))
        text = decode_text(message.user_data, message.data_coding, bool(message.esm_class & protocol.HAS_UDH))
        self.tell(f"submit_sm {message_id} {message.source.digits} -> {message.destination.digits}: {text}")
        if message.registered_delivery & _WANTS_RECEIPT:
            reference = message.tlvs.get(protocol.USER_MESSAGE_REFERENCE)
            receipt = make_receipt(
                message_id,
                self._reported,
                self._world.now(),
                source=message.destination,
                destination=message.source,
                tlvs={protocol.USER_MESSAGE_REFERENCE: reference} if reference else {},
            )
            made = _Receipt(system_id, message_id, receipt)
            asyncio.get_running_loop().call_later(RECEIPT_DELAY_S, self._report, made)
        return message_id

    def report_waiting(self) -> None:
        """Send what has waited for a receiver."""
        waiting, self._waiting = self._waiting, deque(maxlen=MAX_WAITING_RECEIPTS)
        for each in waiting:
            self._report(each)

    def _report(self, receipt: _Receipt) -> None:
        for connection in self._connections:
            if connection.is_up and connection.receives_for == receipt.system_id:
                connection.report(receipt)
                return
        self._waiting.append(receipt)


class _Connection(ServerConnection):
    def __init__(self, smsc: Smsc) -> None:
        super().__init__()
        self.receives_for: str | None = None
        """The system_id whose receipts it gets."""
        self._submits_for: str | None = None
        self._smsc = smsc
        self._sequences = count(1)
        self._reported: dict[int, str] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if not self._smsc.add(self):
            self.transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self._smsc.remove(self)
        if bound := self._submits_for or self.receives_for:
            self._smsc.tell(f"closed {bound}")

    def data_received(self, data: bytes) -> None:
        try:
            super().data_received(data)
        except (InvalidLength, InvalidPdu) as error:
            self._smsc.tell(f"closing a connection that does not speak SMPP 3.4: {error}")
            self.transport.abort()

    def receive(self, request: Pdu) -> None:
        if not self.is_up or self.transport.is_closing():
            return
        if request.command in _BINDS:
            self._bind(request)
        elif request.command == protocol.SUBMIT_SM:
            self._submit(request)
        elif request.command == protocol.DELIVER_SM | protocol.RESPONSE:
            message_id = self._reported.pop(request.sequence, "?")
            self._smsc.tell(f"deliver_sm {message_id} acknowledged: {_name(request.status)}")
        elif request.command in (protocol.ENQUIRE_LINK, protocol.UNBIND):
            self._answer(request)
            if request.command == protocol.UNBIND:
                self.transport.close()
        elif not request.command & protocol.RESPONSE:
            self.send(protocol.GENERIC_NACK, request.sequence, status=protocol.RINVCMDID)

    def report(self, receipt: _Receipt) -> None:
        """Send a receipt."""
        sequence = next(self._sequences)
        self._reported[sequence] = receipt.message_id
        self.deliver(sequence, receipt.message)
        if len(self._reported) > MAX_UNACKNOWLEDGED:
            self._smsc.tell("closing a connection that acknowledges no receipts")
            self.transport.abort()

    def _bind(self, request: Pdu) -> None:
        bind = pdu.decode_bind(request.body)
        is_bound = self._submits_for is not None or self.receives_for is not None
        status = protocol.RALYBND if is_bound else self._smsc.check(bind)
        self._smsc.tell(f"{_BINDS[request.command]} {bind.system_id}: {_name(status)}")
        self._answer(request, pdu.encode_message_id(_SYSTEM_ID), status)
        if status != protocol.OK:
            self.transport.close()
            return
        if request.command != protocol.BIND_RECEIVER:
            self._submits_for = bind.system_id
        if request.command != protocol.BIND_TRANSMITTER:
            self.receives_for = bind.system_id
            self._smsc.report_waiting()

    def _submit(self, request: Pdu) -> None:
        if self._submits_for is None:
            self._answer(request, status=protocol.RINVBNDSTS)
            return
        message_id = self._smsc.accept(self._submits_for, pdu.decode_short_message(request.body))
        self._answer(request, pdu.encode_message_id(message_id))

    def _answer(self, request: Pdu, body: bytes = b"", status: int = protocol.OK) -> None:
        self.send(request.command | protocol.RESPONSE, request.sequence, body, status)


def make_receipt(
    message_id: str,
    reported: Reported,
    at: Instant,
    *,
    source: Address,
    destination: Address,
    esm_class: int = RECEIPT,
    tlvs: Mapping[int, bytes],
) -> ShortMessage:
    """Return a receipt with the text that SMPP 3.4 recommends."""
    time = f"{datetime.fromtimestamp(at / SECOND, UTC):%y%m%d%H%M}"
    delivered = int(reported.stat == "DELIVRD")
    text = (
        f"id:{message_id} sub:001 dlvrd:{delivered:03} submit date:{time} done date:{time}"
        f" stat:{reported.stat} err:{reported.err} text:"
    )
    return ShortMessage(source, destination, text.encode(), esm_class, tlvs=tlvs)


def _name(status: int) -> str:
    return protocol.STATUS_NAMES.get(status, f"{status:#x}")
