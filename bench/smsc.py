"""An SMSC that accepts every message, sends a receipt after a delay, and counts.

It runs as a separate process (`python -m bench.smsc`). It writes its port to standard output, then reads commands
from standard input and answers each with its figures, one line of JSON each. It exits when its input ends. It
implements just enough SMPP for our own carrier, to cost little CPU time.
"""

import asyncio
import contextlib
import gc
import re
import subprocess
import time
from collections.abc import Iterator
from struct import Struct
from typing import cast

import msgspec
import uvloop

from bench.line_process import LineProcess, answer_lines, running_lines
from bench.server import BenchmarkFailed

RECEIPT_DELAY_S = 0.3
"""The same delay as the simulator's."""
RECEIPT_BATCH_S = 0.01
"""Messages that arrive within this time have their receipts sent together."""
MAX_PDU_OCTETS = 128 * 1024
COUNT_TIMEOUT_S = 30.0
POLL_INTERVAL_S = 0.05

WINDOW = 1000
SETTINGS = """\
[carriers.smsc]
kind = "smpp"
host = "127.0.0.1"
port = {port}
system_id = "bench"
window = {window}
rate = {rate}

[carriers.talk]
kind = "simulator"

[routes]
sms = ["smsc"]
lms = ["smsc"]
alimTalk = ["talk"]
"""

_HEADER = Struct(">IIII")
_RESPONSE = 0x80000000
_GENERIC_NACK = 0x80000000
_BIND_RECEIVER, _BIND_TRANSMITTER, _BIND_TRANSCEIVER = 0x1, 0x2, 0x9
_SUBMIT_SM, _DELIVER_SM, _UNBIND, _ENQUIRE_LINK = 0x4, 0x5, 0x6, 0x15
_INVALID_COMMAND = 0x3
_SUBMIT_RESP = Struct(">IIII16sx")
_SUBMIT_ANSWER = _SUBMIT_SM | _RESPONSE
_DELIVER_ANSWER = _DELIVER_SM | _RESPONSE
_ID_BITS = 22
"""Ids start at the current milliseconds shifted by this, so that no later start repeats one."""
_ENDED = rb"([^\0]*+)\0"
_SUBMIT = re.compile(rb"[^\0]*+\0.." + _ENDED + rb".." + _ENDED + rb"...[^\0]*+\0[^\0]*+\0(.)", re.DOTALL)
"""Sender, receiver, registered_delivery."""
_RECEIPT = b"\0\0\0%b\0\0\0%b\0\x04\0\0\0\0\0\0\0\0%c%b"
_RECEIPT_TEXT = b"id:%b sub:001 dlvrd:001 submit date:%b done date:%b stat:DELIVRD err:000 text:"


class Command(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A command to the SMSC, which always returns its figures before it acts."""

    is_reset: bool = False
    watched: str | None = None
    """A prefix of phone numbers whose first submit is recorded with its time."""
    receipt_after_s: float | None = None


class SmscFigures(msgspec.Struct, kw_only=True):
    """What the SMSC received since the last reset; times are seconds of the wall clock."""

    binds: int = 0
    """Connections that are bound now."""
    submits: int = 0
    duplicates: int = 0
    """Submits identical to an earlier one; a load must make all its messages different."""
    receipts: int = 0
    acknowledged: int = 0
    arrivals: list[tuple[float, int]] = msgspec.field(default_factory=list)
    """When submits arrived, and how many together."""
    ends: list[tuple[float, int]] = msgspec.field(default_factory=list)
    """When receipts were acknowledged, and how many together."""
    watched: int = 0
    """The size of `first_seen`."""
    first_seen: dict[str, float] = msgspec.field(default_factory=dict)
    cpu_s: float = 0.0
    """The CPU time of the SMSC since its start."""


def settings(port: int, rate: int = 0) -> str:
    """Return the settings of a service that sends SMS to an SMSC at a port, and Alimtalk to the simulator.

    This is a real carrier, so sender numbers are checked.
    """
    return SETTINGS.format(port=port, window=WINDOW, rate=rate)


class Smsc(LineProcess):
    """Controls a running SMSC."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        super().__init__(process)
        self.port: int = msgspec.json.decode(self.read(), type=int)

    def settings(self, rate: int = 0) -> str:
        """Return the settings of a service that sends its SMS to this SMSC."""
        return settings(self.port, rate)

    def figures(self) -> SmscFigures:
        """Return its figures."""
        return self._ask(Command())

    def reset(self, *, watched: str | None = None, receipt_after_s: float | None = None) -> SmscFigures:
        """Return its figures, then reset them and drop pending receipts."""
        return self._ask(Command(is_reset=True, watched=watched, receipt_after_s=receipt_after_s))

    def wait_for(self, name: str, least: int, within_s: float = COUNT_TIMEOUT_S) -> SmscFigures:
        """Return the figures once the one named has reached `least`.

        Raises BenchmarkFailed if that takes too long.
        """
        deadline = time.perf_counter() + within_s
        while (found := getattr(figures := self.figures(), name)) < least:
            if time.perf_counter() > deadline:
                raise BenchmarkFailed(f"the SMSC counted {found} {name}, not {least}")
            time.sleep(POLL_INTERVAL_S)
        return figures

    def _ask(self, command: Command) -> SmscFigures:
        return msgspec.json.decode(self.ask(msgspec.json.encode(command)), type=SmscFigures)


@contextlib.contextmanager
def running_smsc() -> Iterator[Smsc]:
    """Run an SMSC until the end of the block."""
    with running_lines("bench.smsc") as process:
        yield Smsc(process)


class _SmscState:
    """The state that all connections share."""

    def __init__(self) -> None:
        self.figures = SmscFigures()
        self.bodies: set[int] = set()
        """The hashes of submit bodies."""
        self.next_id = time.time_ns() // 1_000_000 << _ID_BITS
        self.watched = b""
        self.bound: list[_Connection] = []
        self.receivers: list[_Connection] = []
        self._receipt_after_s = RECEIPT_DELAY_S
        self._pending_receipts: list[tuple[bytes, bytes, bytes]] = []

    def execute(self, line: bytes) -> bytes:
        """Return the figures, then execute a command."""
        command = msgspec.json.decode(line, type=Command)
        self.figures.duplicates = self.figures.submits - len(self.bodies)
        self.figures.binds = len(self.bound)
        self.figures.watched = len(self.figures.first_seen)
        self.figures.cpu_s = time.process_time()
        answer = msgspec.json.encode(self.figures)
        if command.is_reset:
            self.figures, self.bodies, self._pending_receipts = SmscFigures(), set(), []
        if command.watched is not None:
            self.watched = command.watched.encode()
        if command.receipt_after_s is not None:
            self._receipt_after_s = command.receipt_after_s
        return answer

    def schedule_receipts(self, messages: list[tuple[bytes, bytes, bytes]]) -> None:
        """Schedule receipts for messages: id, sender and receiver of each."""
        if not self._pending_receipts:
            asyncio.get_running_loop().call_later(RECEIPT_BATCH_S, self._schedule_batch)
        self._pending_receipts += messages

    def _schedule_batch(self) -> None:
        receipts, self._pending_receipts = self._pending_receipts, []
        asyncio.get_running_loop().call_later(self._receipt_after_s, self._report, receipts, self.figures)

    def _report(self, receipts: list[tuple[bytes, bytes, bytes]], figures: SmscFigures) -> None:
        if figures is not self.figures:
            return  # the SMSC was reset in the meantime
        if self.receivers:
            self.receivers[0].report(receipts)
            self.figures.receipts += len(receipts)
        else:
            self.schedule_receipts(receipts)


class _Connection(asyncio.Protocol):
    """One SMPP connection."""

    def __init__(self, state: _SmscState) -> None:
        self._state = state
        self._rest = b""
        self._sequence = 0
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, error: Exception | None) -> None:
        for connections in (self._state.bound, self._state.receivers):
            if self in connections:
                connections.remove(self)

    def data_received(self, data: bytes) -> None:
        now = time.time()
        state = self._state
        bodies, watched, next_id = state.bodies, state.watched, state.next_id
        data = self._rest + data if self._rest else data
        answers: list[bytes] = []
        receipts: list[tuple[bytes, bytes, bytes]] = []
        at, size, acknowledged = 0, len(data), 0
        while size - at >= _HEADER.size:
            length, command, status, sequence = _HEADER.unpack_from(data, at)
            if not _HEADER.size <= length <= MAX_PDU_OCTETS:
                self._transport.abort()
                return
            end = at + length
            if end > size:
                break
            if command == _SUBMIT_SM:
                body = data[at + _HEADER.size : end]
                found = _SUBMIT.match(body)
                assert found
                sender, receiver, registered = found.groups()
                bodies.add(hash(body))
                message_id = b"%016x" % next_id
                next_id += 1
                answers.append(_SUBMIT_RESP.pack(_SUBMIT_RESP.size, _SUBMIT_ANSWER, 0, sequence, message_id))
                if registered != b"\0":
                    receipts.append((message_id, sender, receiver))
                if watched and receiver.startswith(watched):
                    state.figures.first_seen.setdefault(receiver.decode(), now)
            elif command == _DELIVER_ANSWER:
                acknowledged += status == 0
            else:
                self._handle_other(command, sequence)
            at = end
        self._rest = data[at:]
        if acknowledged:
            state.figures.acknowledged += acknowledged
            state.figures.ends.append((now, acknowledged))
        if answers:
            self._transport.write(b"".join(answers))
            state.next_id = next_id
            state.figures.submits += len(answers)
            state.figures.arrivals.append((now, len(answers)))
        if receipts:
            state.schedule_receipts(receipts)

    def report(self, messages: list[tuple[bytes, bytes, bytes]]) -> None:
        """Send a receipt for each message."""
        stamp = time.strftime("%y%m%d%H%M").encode()
        frames = []
        for message_id, sender, receiver in messages:
            text = _RECEIPT_TEXT % (message_id, stamp, stamp)
            body = _RECEIPT % (receiver, sender, len(text), text)
            self._sequence += 1
            frames.append(_HEADER.pack(_HEADER.size + len(body), _DELIVER_SM, 0, self._sequence) + body)
        self._transport.write(b"".join(frames))

    def _handle_other(self, command: int, sequence: int) -> None:
        if command in (_BIND_TRANSCEIVER, _BIND_TRANSMITTER, _BIND_RECEIVER):
            self._answer(command | _RESPONSE, sequence, b"sink\0")
            self._state.bound.append(self)
            if command != _BIND_TRANSMITTER:
                self._state.receivers.append(self)
        elif command in (_ENQUIRE_LINK, _UNBIND):
            self._answer(command | _RESPONSE, sequence)
        elif not command & _RESPONSE:
            self._answer(_GENERIC_NACK, sequence, status=_INVALID_COMMAND)
        if command == _UNBIND:
            self._transport.close()

    def _answer(self, command: int, sequence: int, body: bytes = b"", status: int = 0) -> None:
        self._transport.write(_HEADER.pack(_HEADER.size + len(body), command, status, sequence) + body)


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    state = _SmscState()
    server = await loop.create_server(lambda: _Connection(state), "127.0.0.1", 0)
    await answer_lines(server.sockets[0].getsockname()[1], state.execute)


def main() -> None:
    gc.disable()  # no reference cycles here
    uvloop.run(_serve())


if __name__ == "__main__":
    main()
