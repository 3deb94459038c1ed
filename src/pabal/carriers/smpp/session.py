"""One SMPP connection: binds, submits within a window, answers what it is asked, and knows when it is dead."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

from pabal.carriers.base import OnAnomaly
from pabal.carriers.smpp import pdu
from pabal.carriers.smpp.pdu import Pdu
from pabal.world import World

BIND_S = 10.0
"""How long a bind may take to be answered."""
ENQUIRE_ANSWER_S = 10.0
"""How long an enquire_link may take to be answered, or what we write to be read, before it counts as dead."""
QUIET_S = 5.0
"""How long it may be quiet while answers are owed, before the connection is tested."""
UNBIND_S = 2.0
"""How long the answers still owed are waited for after an unbind."""
TICK_S = 1.0

_SUBMIT_ANSWER = pdu.SUBMIT_SM | pdu.RESPONSE
_DELIVER_ANSWER = pdu.DELIVER_SM | pdu.RESPONSE
_MAX_SEQUENCE = 0x7FFFFFFF

SubmitResult = str | int | None
"""To a submit: the id it was given, the status it was refused with, or nothing."""


class BindRequest(NamedTuple):
    """How to begin: which bind, and its body, which holds the password."""

    command: int
    body: bytes

    @property
    def can_submit(self) -> bool:
        return self.command != pdu.BIND_RECEIVER

    def __repr__(self) -> str:
        return f"Bind({self.command})"


class ConnectionLost(Exception):
    """The connection could not be made, or is no more; the message says why, without secrets."""


class SubmitGroup:
    """Submits that belong together, and what was answered to each."""

    def __init__(self, count: int) -> None:
        self.answers: list[SubmitResult] = [None] * count
        self.fresh: list[int] = []
        """Which have been answered since someone looked."""
        self.sent = 0
        """How many have been sent; they go in order."""
        self.has_all: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._left = count
        self.forgo(0)

    @property
    def unsent(self) -> int:
        """How many are still to be sent."""
        return len(self.answers) - self.sent

    def answer(self, index: int, answer: SubmitResult) -> None:
        """Note an answer; None for one that will never come."""
        self.answers[index] = answer
        self.fresh.append(index)
        self._left -= 1
        if not self._left and not self.has_all.done():
            self.has_all.set_result(None)

    def forgo(self, count: int) -> None:
        """Wait for so many fewer answers: they were never asked for."""
        self._left -= count
        if not self._left and not self.has_all.done():
            self.has_all.set_result(None)


class SmppSession(asyncio.Protocol):
    """A connection to an SMSC, of use between `bound` and `lost`."""

    def __init__(
        self,
        bind: BindRequest,
        window: int,
        enquire_s: float,
        world: World,
        note: OnAnomaly,
        on_deliver: "Callable[[SmppSession, list[Pdu]], None]",
        on_room: Callable[[], None],
    ) -> None:
        self._bind = bind
        self._window = window
        self._enquire_s = enquire_s
        self._world = world
        self._note = note
        self._on_deliver = on_deliver
        self._on_room = on_room
        loop = asyncio.get_running_loop()
        self.bound: asyncio.Future[None] = loop.create_future()
        self.lost: asyncio.Future[str] = loop.create_future()
        """Done when the connection is no more, with the reason."""
        self._is_bound = False
        self._transport: asyncio.Transport | None = None
        self._rest = b""
        self._pending: dict[int, tuple[SubmitGroup, int]] = {}
        self._sequence = 0
        self._is_leaving = False
        self._unbound_by: int | None = None
        """The number of the other side's unbind, while it has no answer."""
        self._is_paused = False
        self._reason = ""
        self._heard_at = world.monotonic()
        self._enquired_at: float | None = None
        self._clogged_at: float | None = None
        """Since when the other side does not read what we write."""
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_open(self) -> bool:
        """Whether it takes submits."""
        return (
            self._bind.can_submit
            and self._is_bound
            and not self._is_leaving
            and self._transport is not None
            and not self._transport.is_closing()
        )

    @property
    def room(self) -> int:
        """How many more submits it takes now; none while either side does not read."""
        if self._is_paused or self._clogged_at is not None or not self.is_open:
            return 0
        return self._window - len(self._pending)

    @property
    def owed(self) -> int:
        """How many submits have no answer yet."""
        return len(self._pending)

    def submit(self, bodies: Sequence[bytes], lot: SubmitGroup, first: int) -> None:
        """Send submits, the answers to which go into the lot from `first` on."""
        assert self._transport is not None
        frames = []
        sequence = self._sequence
        lot.sent += len(bodies)
        for index, body in enumerate(bodies, first):
            sequence = sequence + 1 if sequence < _MAX_SEQUENCE else 1
            self._pending[sequence] = (lot, index)
            frames.append(pdu.encode_pdu(pdu.SUBMIT_SM, sequence, body))
        self._sequence = sequence
        self._transport.write(b"".join(frames))

    def forget(self, lot: SubmitGroup) -> int:
        """Wait no longer for the answers to a lot; return how many are missing."""
        missing = [sequence for sequence, (one, _) in self._pending.items() if one is lot]
        for sequence in missing:
            del self._pending[sequence]
        if missing:
            self._on_room()
        return len(missing)

    def acknowledge(self, delivers: Sequence[tuple[int, int]]) -> None:
        """Answer deliver_sm's by sequence number and status."""
        if self._transport and not self._transport.is_closing():
            frames = [pdu.encode_pdu(_DELIVER_ANSWER, sequence, b"\0", status) for sequence, status in delivers]
            self._transport.write(b"".join(frames))

    def pause(self) -> None:
        """Read no more for now."""
        self._is_paused = True
        if self._transport and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Read on."""
        self._is_paused = False
        if self._transport and not self._transport.is_closing():
            self._transport.resume_reading()
            self._on_room()

    async def unbind(self) -> None:
        """Take leave: return when the other side has answered, or has had time to."""
        if self._transport is None or self.lost.done():
            return
        if self._is_bound:
            self.resume()
            self._is_leaving = True
            self._send(pdu.UNBIND, self._next_sequence())
            await asyncio.wait([self.lost], timeout=UNBIND_S)
        self.drop("we took our leave")

    def drop(self, reason: str) -> None:
        """Give the connection up, without more words."""
        self._reason = self._reason or reason
        if self._transport:
            self._transport.abort()

    # What the event loop tells us.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._heard_at = self._world.monotonic()
        self._send(self._bind.command, self._next_sequence(), self._bind.body)
        self._schedule(BIND_S, self._give_up_bind)

    def data_received(self, data: bytes) -> None:
        self._heard_at = self._world.monotonic()
        self._enquired_at = None
        data = self._rest + data if self._rest else data
        try:
            pdus, used = pdu.split_pdus(data)
            self._rest = data[used:]
        except pdu.InvalidLength as bad:
            self._take_in(bad.before)
            self._note("a length that no PDU has")
            self._send(pdu.GENERIC_NACK, 0, status=pdu.RINVCMDLEN)
            self._hang_up(f"it sent a {bad}")
            return
        self._take_in(pdus)

    def eof_received(self) -> None:
        self._reason = self._reason or "it hung up"

    def pause_writing(self) -> None:
        self._clogged_at = self._world.monotonic()

    def resume_writing(self) -> None:
        self._clogged_at = None
        self._on_room()

    def connection_lost(self, error: Exception | None) -> None:
        if self._timer:
            self._timer.cancel()
        reason = self._reason or (f"the connection broke ({type(error).__name__})" if error else "it hung up")
        if not self.bound.done():
            self.bound.set_exception(ConnectionLost(reason))
            self.bound.exception()  # who waits for it is told; if nobody does any more, that is well
        if not self.lost.done():
            self.lost.set_result(reason)
        pending, self._pending = self._pending, {}
        for lot, index in pending.values():
            lot.answer(index, None)
        self._on_room()

    # What the other side says.

    def _take_in(self, pdus: list[Pdu]) -> None:
        delivers = []
        answered = 0
        is_bound = True
        pending = self._pending
        for one in pdus:
            command, status, sequence, body = one
            if command == _SUBMIT_ANSWER or (command == pdu.GENERIC_NACK and sequence in pending):
                waiting = pending.pop(sequence, None)
                if waiting is None:
                    self._note("an answer to nothing we asked")
                    continue
                lot, index = waiting
                lot.answer(
                    index, status or (pdu.decode_message_id(body) if command == _SUBMIT_ANSWER else pdu.RUNKNOWNERR)
                )
                answered += 1
                is_bound = is_bound and status != pdu.RINVBNDSTS
            elif command == pdu.DELIVER_SM:
                delivers.append(one)
            else:
                self._take_in_rare(one)
        if not is_bound and not self._is_leaving:
            self._note("it says that we are not bound")
            self.drop("it says that we are not bound")
        if answered:
            self._on_room()
            if self._unbound_by is not None and not pending:
                self._let_go()
        if delivers:
            self._on_deliver(self, delivers)

    def _take_in_rare(self, one: Pdu) -> None:
        command, status, sequence, _ = one
        if command == pdu.ENQUIRE_LINK:
            self._send(pdu.ENQUIRE_LINK | pdu.RESPONSE, sequence)
        elif command == pdu.ENQUIRE_LINK | pdu.RESPONSE:
            pass  # that anything came is all it has to say
        elif command == self._bind.command | pdu.RESPONSE:
            self._take_in_bind(status)
        elif command == pdu.UNBIND:
            self._take_in_unbind(sequence)
        elif command == pdu.UNBIND | pdu.RESPONSE and self._is_leaving:
            self._hang_up("we took our leave")
        elif command == pdu.GENERIC_NACK and not self.bound.done():
            self._take_in_bind(status or pdu.RBINDFAIL)
        elif command == pdu.GENERIC_NACK:
            self._note("a generic_nack for nothing we asked")
        elif command & pdu.RESPONSE:
            self._note("an answer of a kind we did not ask for")
        else:
            self._note("a command we do not know")
            self._send(pdu.GENERIC_NACK, sequence, status=pdu.RINVCMDID)

    def _take_in_bind(self, status: int) -> None:
        if self.bound.done():
            self._note("an answer of a kind we did not ask for")
        elif status:
            self.drop(f"the bind was refused: {pdu.STATUS_NAMES.get(status, hex(status))}")
        else:
            self.bound.set_result(None)
            self._is_bound = True
            self._schedule(TICK_S, self._tick)

    def _take_in_unbind(self, sequence: int) -> None:
        """Let it go when it has answered what it owes: many hang up as soon as they have our answer."""
        self._is_leaving = True
        self._unbound_by = sequence
        if self._pending:
            self._schedule(UNBIND_S, self._let_go)
        else:
            self._let_go()

    def _let_go(self) -> None:
        if self._unbound_by is not None:
            self._send(pdu.UNBIND | pdu.RESPONSE, self._unbound_by)
            self._unbound_by = None
        self._hang_up("it took its leave")

    # What time says.

    def _tick(self) -> None:
        """Test a connection that has been quiet, and give it up where that is not answered."""
        self._schedule(TICK_S, self._tick)
        now = self._world.monotonic()
        if self._is_paused:
            self._heard_at, self._enquired_at = now, None  # it is we who do not listen
        quiet_s = now - self._heard_at
        if self._clogged_at is not None and now - self._clogged_at >= ENQUIRE_ANSWER_S:
            self.drop("it does not read what we write")
        elif self._enquired_at is not None:
            if now - self._enquired_at >= ENQUIRE_ANSWER_S:
                self.drop("it does not answer enquire_link")
        elif quiet_s >= self._enquire_s or (self._pending and quiet_s >= QUIET_S):
            self._enquired_at = now
            self._send(pdu.ENQUIRE_LINK, self._next_sequence())

    def _give_up_bind(self) -> None:
        self.drop("the bind was not answered")

    def _hang_up(self, reason: str) -> None:
        """Close when all is written, but do not wait for ever for that."""
        self._reason = self._reason or reason
        if self._transport:
            self._transport.close()
            self._schedule(UNBIND_S, self._give_up_closing)

    def _give_up_closing(self) -> None:
        self.drop(self._reason)

    def _schedule(self, seconds: float, work: Callable[[], None]) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, work)

    def _next_sequence(self) -> int:
        self._sequence = self._sequence + 1 if self._sequence < _MAX_SEQUENCE else 1
        return self._sequence

    def _send(self, command: int, sequence: int, body: bytes = b"", status: int = 0) -> None:
        if self._transport and not self._transport.is_closing():
            self._transport.write(pdu.encode_pdu(command, sequence, body, status))
