"""An SMSC that accepts every message, sends a receipt after a delay, and counts.

It runs as a separate process (`python -m bench.sink`). It writes its port to standard output, then reads commands
from standard input and answers each with its figures, one line of JSON each. It exits when its input ends. It
implements just enough SMPP for our own carrier, to cost little CPU time.
"""

import asyncio
import contextlib
import gc
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import cast

import msgspec
import uvloop

from bench.server import SETTINGS_FILE, BenchmarkFailed
from pabal.carriers.smpp import pdu, protocol

RECEIPT_DELAY_S = 0.3
"""The same delay as the simulator's."""
RECEIPT_BATCH_S = 0.01
"""Messages that arrive within this time have their receipts sent together."""
COUNT_TIMEOUT_S = 30.0
POLL_INTERVAL_S = 0.05

WINDOW = 1000
CARRIER = "sink"
SETTINGS = """\
[carriers.sink]
kind = "smpp"
host = "127.0.0.1"
port = {port}
system_id = "bench"
window = {window}
rate = {rate}

[carriers.talk]
kind = "simulator"

[routes]
sms = ["sink"]
alimTalk = ["talk"]
"""

_HEADER = Struct(">IIII")
_SUBMIT_RESP = Struct(">IIII16sx")
_SUBMIT_ANSWER = protocol.SUBMIT_SM | protocol.RESPONSE
_DELIVER_ANSWER = protocol.DELIVER_SM | protocol.RESPONSE
_ID_BITS = 22
"""Ids start at the current milliseconds shifted by this, so that no later start repeats one."""
_ENDED = rb"([^\0]*+)\0"
_SUBMIT = re.compile(rb"[^\0]*+\0.." + _ENDED + rb".." + _ENDED + rb"...[^\0]*+\0[^\0]*+\0(.)", re.DOTALL)
"""Sender, receiver, registered_delivery."""
_RECEIPT = b"\0\0\0%b\0\0\0%b\0\x04\0\0\0\0\0\0\0\0%c%b"
_RECEIPT_TEXT = b"id:%b sub:001 dlvrd:001 submit date:%b done date:%b stat:DELIVRD err:000 text:"


class Command(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A command to the sink, which always returns its figures before it acts."""

    is_reset: bool = False
    watched: str | None = None
    """A prefix of phone numbers whose first submit is recorded with its time."""
    receipt_after_s: float | None = None


class Figures(msgspec.Struct, kw_only=True):
    """What the sink received since the last reset; times are seconds of the wall clock."""

    binds: int = 0
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
    """The CPU time of the sink since its start."""


class Sink:
    """Controls a running sink."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self.port: int = msgspec.json.decode(self._line(), type=int)

    def write_settings(self, data: Path, rate: int = 0) -> None:
        """Make a service on a data directory send its SMS to this sink, and Alimtalk to the simulator.

        This is a real carrier, so sender numbers are checked.
        """
        file = data / SETTINGS_FILE
        store = file.read_text(encoding="utf-8") if file.exists() else ""
        settings = SETTINGS.format(port=self.port, window=WINDOW, rate=rate)
        file.write_text(f"{store}{settings}", encoding="utf-8")

    def figures(self) -> Figures:
        """Return its figures."""
        return self._ask(Command())

    def reset(self, *, watched: str | None = None, receipt_after_s: float | None = None) -> Figures:
        """Return its figures, then reset them and drop pending receipts."""
        return self._ask(Command(is_reset=True, watched=watched, receipt_after_s=receipt_after_s))

    def wait_for(self, name: str, least: int, within_s: float = COUNT_TIMEOUT_S) -> Figures:
        """Return the figures once the one named has reached `least`.

        Raises BenchmarkFailed if that takes too long.
        """
        deadline = time.perf_counter() + within_s
        while (found := getattr(figures := self.figures(), name)) < least:
            if time.perf_counter() > deadline:
                raise BenchmarkFailed(f"the sink counted {found} {name}, not {least}")
            time.sleep(POLL_INTERVAL_S)
        return figures

    def _ask(self, command: Command) -> Figures:
        assert self._process.stdin
        self._process.stdin.write(msgspec.json.encode(command) + b"\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._line(), type=Figures)

    def _line(self) -> bytes:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise BenchmarkFailed("the sink has exited")
        return line


@contextlib.contextmanager
def running() -> Iterator[Sink]:
    """Run a sink."""
    command = [sys.executable, "-m", "bench.sink"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Sink(process)  # it exits when its input is closed


class _SinkState:
    """The state that all connections share."""

    def __init__(self) -> None:
        self.figures = Figures()
        self.bodies: set[int] = set()
        """The hashes of submit bodies."""
        self.next_id = time.time_ns() // 1_000_000 << _ID_BITS
        self.watched = b""
        self.receivers: list[_Connection] = []
        self._receipt_after_s = RECEIPT_DELAY_S
        self._pending_receipts: list[tuple[bytes, bytes, bytes]] = []

    def execute(self, line: bytes) -> bytes:
        """Return the figures, then execute a command."""
        command = msgspec.json.decode(line, type=Command)
        self.figures.duplicates = self.figures.submits - len(self.bodies)
        self.figures.watched = len(self.figures.first_seen)
        self.figures.cpu_s = time.process_time()
        answer = msgspec.json.encode(self.figures) + b"\n"
        if command.is_reset:
            self.figures, self.bodies, self._pending_receipts = Figures(), set(), []
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

    def _report(self, receipts: list[tuple[bytes, bytes, bytes]], figures: Figures) -> None:
        if figures is not self.figures:
            return  # the sink was reset in the meantime
        if self.receivers:
            self.receivers[0].report(receipts)
            self.figures.receipts += len(receipts)
        else:
            self.schedule_receipts(receipts)


class _Connection(asyncio.Protocol):
    """One SMPP connection."""

    def __init__(self, state: _SinkState) -> None:
        self._state = state
        self._rest = b""
        self._sequence = 0
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, error: Exception | None) -> None:
        if self in self._state.receivers:
            self._state.receivers.remove(self)

    def data_received(self, data: bytes) -> None:
        now = time.time()
        state = self._state
        bodies, watched, next_id = state.bodies, state.watched, state.next_id
        data = self._rest + data if self._rest else data
        answers: list[bytes] = []
        receipts: list[tuple[bytes, bytes, bytes]] = []
        at, size, acknowledged = 0, len(data), 0
        while size - at >= pdu.HEADER_OCTETS:
            length, command, status, sequence = _HEADER.unpack_from(data, at)
            if not pdu.HEADER_OCTETS <= length <= pdu.MAX_PDU_OCTETS:
                self._transport.abort()
                return
            end = at + length
            if end > size:
                break
            if command == protocol.SUBMIT_SM:
                body = data[at + pdu.HEADER_OCTETS : end]
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
                acknowledged += status == protocol.OK
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
            frames.append(
                _HEADER.pack(pdu.HEADER_OCTETS + len(body), protocol.DELIVER_SM, 0, self._sequence) + body
            )
        self._transport.write(b"".join(frames))

    def _handle_other(self, command: int, sequence: int) -> None:
        if command in (protocol.BIND_TRANSCEIVER, protocol.BIND_TRANSMITTER, protocol.BIND_RECEIVER):
            self._transport.write(
                pdu.encode_pdu(command | protocol.RESPONSE, sequence, pdu.encode_message_id("sink"))
            )
            self._state.figures.binds += 1
            if command != protocol.BIND_TRANSMITTER:
                self._state.receivers.append(self)
        elif command in (protocol.ENQUIRE_LINK, protocol.UNBIND):
            self._transport.write(pdu.encode_pdu(command | protocol.RESPONSE, sequence))
        elif not command & protocol.RESPONSE:
            self._transport.write(pdu.encode_pdu(protocol.GENERIC_NACK, sequence, status=protocol.RINVCMDID))
        if command == protocol.UNBIND:
            self._transport.close()


async def _sink() -> None:
    loop = asyncio.get_running_loop()
    state = _SinkState()
    server = await loop.create_server(lambda: _Connection(state), "127.0.0.1", 0)
    _write_line(msgspec.json.encode(server.sockets[0].getsockname()[1]) + b"\n")
    commands = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    async for line in commands:
        _write_line(state.execute(line))


def _write_line(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def main() -> None:
    gc.disable()  # no reference cycles here
    uvloop.run(_sink())


if __name__ == "__main__":
    main()
