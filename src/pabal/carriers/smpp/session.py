"""One SMPP connection: binds, submits within its window, answers the SMSC, and detects a dead connection."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

from pabal.carriers.base import OnAnomaly
from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.batch import LateSubmits, SubmitGroup, SubmitResult
from pabal.carriers.smpp.pdu import Pdu
from pabal.world import World

BIND_TIMEOUT_S = 10.0
"""How long the response to a bind may take."""
ENQUIRE_TIMEOUT_S = 10.0
"""A connection is dead if an enquire_link is not answered, or what we write not read, for this long."""
SUBMIT_QUIET_S = 5.0
"""After this time without any PDU, while responses are missing, an enquire_link tests the connection."""
UNBIND_TIMEOUT_S = 2.0
"""How long missing responses are waited for after an unbind."""
TICK_S = 1.0
"""How often a connection is checked."""

_SUBMIT_RESP = protocol.SUBMIT_SM | protocol.RESPONSE
_DELIVER_RESP = protocol.DELIVER_SM | protocol.RESPONSE
_MAX_SEQUENCE = 0x7FFFFFFF


class BindRequest(NamedTuple):
    """The command and the body of a bind; the body contains the password."""

    command: int
    body: bytes

    @property
    def can_submit(self) -> bool:
        """Whether the session may submit messages."""
        return self.command != protocol.BIND_RECEIVER

    def __repr__(self) -> str:
        return f"BindRequest({self.command})"


class ConnectionLost(Exception):
    """The connection could not be made, or is closed; the message gives the reason, without secrets."""


class SmppSession(asyncio.Protocol):
    """A connection to an SMSC, usable between `bound` and `closed`."""

    def __init__(
        self,
        bind: BindRequest,
        window: int,
        enquire_interval_s: float,
        world: World,
        on_anomaly: OnAnomaly,
        on_deliver: "Callable[[SmppSession, list[Pdu]], None]",
        on_free_window: Callable[[], None],
    ) -> None:
        self._bind = bind
        self._window = window
        self._enquire_interval_s = enquire_interval_s
        self._world = world
        self._on_anomaly = on_anomaly
        self._on_deliver = on_deliver
        self._on_free_window = on_free_window
        loop = asyncio.get_running_loop()
        self.bound: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[str] = loop.create_future()
        """Done when the connection is closed, with the reason."""
        self._is_bound = False
        self._transport: asyncio.Transport | None = None
        self._unparsed = b""
        self._pending: dict[int, tuple[SubmitGroup, int]] = {}
        """The submits without a response, by sequence_number."""
        self._late = LateSubmits()
        self._sequence = 0
        self._is_unbinding = False
        self._peer_unbind: int | None = None
        """The sequence_number of the SMSC's unbind, until it is answered."""
        self._is_paused = False
        self._close_reason = ""
        self._last_received_at = world.monotonic()
        self._enquired_at: float | None = None
        self._write_blocked_at: float | None = None
        """Since when the SMSC does not read what we write."""
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_open(self) -> bool:
        """Whether it accepts submits."""
        return (
            self._bind.can_submit
            and self._is_bound
            and not self._is_unbinding
            and self._transport is not None
            and not self._transport.is_closing()
        )

    @property
    def free_window(self) -> int:
        """How many more submits it accepts now; none while one side does not read."""
        if self._is_paused or self._write_blocked_at is not None or not self.is_open:
            return 0
        return self._window - len(self._pending)

    @property
    def in_flight(self) -> int:
        """How many submits have no response yet."""
        return len(self._pending)

    def submit(self, bodies: Sequence[bytes], group: SubmitGroup, first: int) -> None:
        """Send submits whose results go into the group, from index `first` on."""
        assert self._transport is not None
        pdus = []
        sequence = self._sequence
        group.sent += len(bodies)
        for index, body in enumerate(bodies, first):
            sequence = sequence + 1 if sequence < _MAX_SEQUENCE else 1
            self._pending[sequence] = (group, index)
            pdus.append(pdu.encode_pdu(protocol.SUBMIT_SM, sequence, body))
        self._sequence = sequence
        self._transport.write(b"".join(pdus))

    def abandon(self, group: SubmitGroup) -> int:
        """Stop waiting for the responses to a group; return how many are missing.

        A response that comes later goes to what the group has in `late`.
        """
        missing = [sequence for sequence, (waiting, _) in self._pending.items() if waiting is group]
        for sequence in missing:
            _, index = self._pending.pop(sequence)
            if index in group.late:
                self._late.add(sequence, group.late[index], self._world.monotonic())
        if missing:
            self._on_free_window()
        return len(missing)

    def acknowledge(self, delivers: Sequence[tuple[int, int]]) -> None:
        """Answer deliver_sm PDUs, given by sequence_number and status."""
        if self._transport and not self._transport.is_closing():
            pdus = [pdu.encode_pdu(_DELIVER_RESP, sequence, b"\0", status) for sequence, status in delivers]
            self._transport.write(b"".join(pdus))

    def pause(self) -> None:
        """Stop reading."""
        self._is_paused = True
        if self._transport and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Continue reading."""
        self._is_paused = False
        if self._transport and not self._transport.is_closing():
            self._transport.resume_reading()
            self._on_free_window()

    async def unbind(self) -> None:
        """Unbind and close; return when the SMSC has answered, or the timeout is over."""
        if self._transport is None or self.closed.done():
            return
        if self._is_bound:
            self.resume()
            self._is_unbinding = True
            self._send(protocol.UNBIND, self._next_sequence())
            await asyncio.wait([self.closed], timeout=UNBIND_TIMEOUT_S)
        self.abort("unbound by us")

    def abort(self, reason: str) -> None:
        """Close the connection at once."""
        self._close_reason = self._close_reason or reason
        if self._transport:
            self._transport.abort()

    # Callbacks of the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._last_received_at = self._world.monotonic()
        self._send(self._bind.command, self._next_sequence(), self._bind.body)
        self._schedule(BIND_TIMEOUT_S, self.abort, "the SMSC does not answer the bind")

    def data_received(self, data: bytes) -> None:
        self._last_received_at = self._world.monotonic()
        self._enquired_at = None
        data = self._unparsed + data if self._unparsed else data
        try:
            pdus, used = pdu.split_pdus(data)
            self._unparsed = data[used:]
        except pdu.InvalidLength as error:
            self._handle(error.preceding)
            self._on_anomaly("invalid command_length")
            self._send(protocol.GENERIC_NACK, 0, status=protocol.RINVCMDLEN)
            self._close(f"the SMSC sent an invalid {error}")
            return
        self._handle(pdus)

    def eof_received(self) -> None:
        self._close_reason = self._close_reason or "closed by the SMSC"

    def pause_writing(self) -> None:
        self._write_blocked_at = self._world.monotonic()

    def resume_writing(self) -> None:
        self._write_blocked_at = None
        self._on_free_window()

    def connection_lost(self, error: Exception | None) -> None:
        if self._timer:
            self._timer.cancel()
        default = f"connection broken ({type(error).__name__})" if error else "closed by the SMSC"
        reason = self._close_reason or default
        if not self.bound.done():
            self.bound.set_exception(ConnectionLost(reason))
            self.bound.exception()  # marks it as retrieved: there may be nobody who waits for it
        if not self.closed.done():
            self.closed.set_result(reason)
        pending, self._pending = self._pending, {}
        for group, index in pending.values():
            group.set_result(index, None)
        self._on_free_window()

    # PDUs from the SMSC.

    def _handle(self, pdus: list[Pdu]) -> None:
        delivers = []
        answered = 0
        is_bound = True
        pending = self._pending
        for received in pdus:
            command, status, sequence, body = received
            if command == _SUBMIT_RESP or (command == protocol.GENERIC_NACK and sequence in pending):
                waiting = pending.pop(sequence, None)
                is_response = command == _SUBMIT_RESP
                result = status or (pdu.decode_message_id(body) if is_response else protocol.RUNKNOWNERR)
                if waiting is None:
                    self._handle_late(sequence, result)
                    continue
                group, index = waiting
                group.set_result(index, result)
                answered += 1
                is_bound = is_bound and status != protocol.RINVBNDSTS
            elif command == protocol.DELIVER_SM:
                delivers.append(received)
            else:
                self._handle_control(received)
        if not is_bound and not self._is_unbinding:
            self._on_anomaly("session not bound")
            self.abort("the SMSC says that the session is not bound")
        if answered:
            self._on_free_window()
            if self._peer_unbind is not None and not pending:
                self._finish_peer_unbind()
        if delivers:
            self._on_deliver(self, delivers)

    def _handle_late(self, sequence: int, result: SubmitResult) -> None:
        """Handle the response to a submit that nobody waits for."""
        if late := self._late.pop(sequence):
            self._on_anomaly("late submit_sm_resp")
            message, index = late
            message.set_result(index, result)
        else:
            self._on_anomaly("submit_sm_resp without a submit_sm")

    def _handle_control(self, received: Pdu) -> None:
        """Handle a PDU that is about the session, not about messages."""
        command, status, sequence, _ = received
        if command == protocol.ENQUIRE_LINK:
            self._send(protocol.ENQUIRE_LINK | protocol.RESPONSE, sequence)
        elif command == protocol.ENQUIRE_LINK | protocol.RESPONSE:
            pass  # any PDU shows that the connection is alive
        elif command == self._bind.command | protocol.RESPONSE:
            self._handle_bind_resp(status)
        elif command == protocol.UNBIND:
            self._handle_unbind(sequence)
        elif command == protocol.UNBIND | protocol.RESPONSE and self._is_unbinding:
            self._close("unbound by us")
        elif command == protocol.GENERIC_NACK and not self.bound.done():
            self._handle_bind_resp(status or protocol.RBINDFAIL)
        elif command == protocol.GENERIC_NACK:
            self._on_anomaly("generic_nack without a request")
        elif command & protocol.RESPONSE:
            self._on_anomaly("response without a request")
        else:
            self._on_anomaly("unknown command")
            self._send(protocol.GENERIC_NACK, sequence, status=protocol.RINVCMDID)

    def _handle_bind_resp(self, status: int) -> None:
        if self.bound.done():
            self._on_anomaly("response without a request")
        elif status:
            self.abort(f"bind refused: {protocol.STATUS_NAMES.get(status, hex(status))}")
        else:
            self.bound.set_result(None)
            self._is_bound = True
            self._schedule(TICK_S, self._tick)

    def _handle_unbind(self, sequence: int) -> None:
        """Answer the SMSC's unbind after the missing responses: many close as soon as they have our answer."""
        self._is_unbinding = True
        self._peer_unbind = sequence
        if self._pending:
            self._schedule(UNBIND_TIMEOUT_S, self._finish_peer_unbind)
        else:
            self._finish_peer_unbind()

    def _finish_peer_unbind(self) -> None:
        if self._peer_unbind is not None:
            self._send(protocol.UNBIND | protocol.RESPONSE, self._peer_unbind)
            self._peer_unbind = None
        self._close("unbound by the SMSC")

    # Timers.

    def _tick(self) -> None:
        """Test a quiet connection, and close it if the SMSC does not answer."""
        self._schedule(TICK_S, self._tick)
        now = self._world.monotonic()
        if self._is_paused:
            self._last_received_at, self._enquired_at = now, None  # we are the one who does not read
        quiet_s = now - self._last_received_at
        if self._write_blocked_at is not None and now - self._write_blocked_at >= ENQUIRE_TIMEOUT_S:
            self.abort("the SMSC does not read")
        elif self._enquired_at is not None:
            if now - self._enquired_at >= ENQUIRE_TIMEOUT_S:
                self.abort("the SMSC does not answer enquire_link")
        elif quiet_s >= self._enquire_interval_s or (self._pending and quiet_s >= SUBMIT_QUIET_S):
            self._enquired_at = now
            self._send(protocol.ENQUIRE_LINK, self._next_sequence())

    def _close(self, reason: str) -> None:
        """Close when everything is written, within a time limit."""
        self._close_reason = self._close_reason or reason
        if self._transport:
            self._transport.close()
            self._schedule(UNBIND_TIMEOUT_S, self.abort, self._close_reason)

    def _schedule(self, seconds: float, callback: Callable[..., None], *arguments: str) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, callback, *arguments)

    def _next_sequence(self) -> int:
        self._sequence = self._sequence + 1 if self._sequence < _MAX_SEQUENCE else 1
        return self._sequence

    def _send(self, command: int, sequence: int, body: bytes = b"", status: int = 0) -> None:
        if self._transport and not self._transport.is_closing():
            self._transport.write(pdu.encode_pdu(command, sequence, body, status))
