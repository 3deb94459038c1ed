"""An SMSC based on PyPI's smpplib: `python smsc.py PORT OPTIONS`; smsc.js documents the options."""

import asyncio
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from smpplib import client, consts, gsm, smpp
from smpplib.exceptions import UnknownCommandError

RECEIPT_AFTER_S = 0.02
RETRY_AFTER_S = 0.2
LENGTH_OCTETS = 4
MAX_PDU_OCTETS = 128 * 1024
DECIMAL_DIGITS = 20
WANTS_RECEIPT = 0x01
IS_RECEIPT = 0x04
KS_C_5601 = 14
ESCAPE = 0x1B
STATES = {"DELIVRD": 2, "EXPIRED": 3, "DELETED": 4, "UNDELIV": 5, "ACCEPTD": 6, "UNKNOWN": 7, "REJECTD": 8}
CODECS = {
    consts.SMPP_ENCODING_ISO88591: "latin-1",
    consts.SMPP_ENCODING_ISO10646: "utf-16-be",
    KS_C_5601: "cp949",
}

Submit = dict[str, Any]
_UNUSED_NUMBERS = client.SimpleSequenceGenerator()
"""smpplib also uses a sequence number for each PDU it reads; those of a session are only for PDUs it sends."""


class Session:
    """One connection, bound or not."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.kind: str | None = None
        self.numbers = client.SimpleSequenceGenerator()
        self.reported: dict[int, str] = {}
        """Message ids of receipts without a response, by sequence number."""

    def send(self, command: str, sequence: int | None = None, **fields: Any) -> int:
        """Write a PDU and return its sequence number."""
        pdu = smpp.make_pdu(command, client=self.numbers, **fields)
        if sequence is not None:
            pdu.sequence = sequence
        self.writer.write(pdu.generate())
        return int(pdu.sequence)

    def answer(self, pdu: Any, status: int = consts.SMPP_ESME_ROK, **fields: Any) -> None:
        """Write the response to a PDU."""
        self.send(f"{pdu.command}_resp", int(pdu.sequence), status=status, **fields)


class Smsc:
    """The state that the sessions share: credentials, accepted messages and pending receipts."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = {"receipt": "text", "stat": "DELIVRD", "err": "000", **options}
        self.outputs = [1]
        self.pending: dict[str, Submit] = {}
        self.in_flight: set[str] = set()
        self.receivers: list[Session] = []
        self.last_id = time.time_ns() // 1000  # ids are unique across restarts
        self.submits = 0
        if "log" in options:
            self.outputs.append(os.open(options["log"], os.O_RDWR | os.O_CREAT | os.O_APPEND))
            self._restore()

    def emit(self, event: str, **facts: Any) -> None:
        """Print an event, and add it to the log if there is one."""
        line = json.dumps({"event": event, **facts}, ensure_ascii=False).encode() + b"\n"
        for output in reversed(self.outputs):
            os.write(output, line)

    def _restore(self) -> None:
        logged = Path(self.options["log"]).read_bytes()
        complete = logged[: logged.rfind(b"\n") + 1]  # a kill may have truncated the last line
        os.truncate(self.options["log"], len(complete))
        for line in complete.splitlines():
            event = json.loads(line)
            if event["event"] == "submit_sm":
                self._add_pending(event)
            if event["event"] == "deliver_sm_resp" and event["status"] == 0:
                self.pending.pop(event["message_id"], None)

    def _add_pending(self, submit: Submit) -> None:
        wanted = submit["registered_delivery"] & WANTS_RECEIPT and self.options["receipt"] != "none"
        if submit["status"] == 0 and wanted:
            self.pending[submit["message_id"]] = submit

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = Session(writer)
        try:
            while not writer.is_closing():
                self.handle(session, await read(reader))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            self._close(session)

    def handle(self, session: Session, octets: bytes) -> None:
        try:
            pdu = smpp.parse_pdu(octets, client=_UNUSED_NUMBERS, allow_unknown_opt_params=True)
        except UnknownCommandError:
            sequence = int.from_bytes(octets[12:16], "big")
            session.send("generic_nack", sequence, status=consts.SMPP_ESME_RINVCMDID)
            return
        if pdu.command.startswith("bind_"):
            self._bind(session, pdu)
        elif pdu.command == "submit_sm":
            self._submit(session, pdu)
        elif pdu.command == "deliver_sm_resp":
            self._on_deliver_resp(session, pdu)
        elif pdu.command in ("enquire_link", "unbind"):
            session.answer(pdu)
            if pdu.command == "unbind":
                session.writer.close()

    def _bind(self, session: Session, bind: Any) -> None:
        status = consts.SMPP_ESME_ROK
        if bind.system_id.decode() != self.options["system_id"]:
            status = consts.SMPP_ESME_RINVSYSID
        elif bind.password.decode() != self.options["password"]:
            status = consts.SMPP_ESME_RINVPASWD
        self.emit("bind", kind=bind.command, system_id=bind.system_id.decode(), status=status)
        session.answer(bind, status, system_id="smsc.py")
        if status != consts.SMPP_ESME_ROK:
            session.writer.close()
            return
        session.kind = bind.command
        if session.kind != "bind_transmitter":
            self.receivers.append(session)
            self.report_all()

    def _submit(self, session: Session, pdu: Any) -> None:
        status = self._submit_status(session)
        message_id = None
        if status == consts.SMPP_ESME_ROK:
            self.last_id += 1
            message_id = str(self.last_id)
        submit = {**describe_submit(pdu), "message_id": message_id, "status": status}
        self.emit("submit_sm", **submit)
        self._add_pending(submit)
        wait_s = self.options.get("answer_after_ms", 0) / 1000
        if self.options.get("receipt_first") and message_id:
            self._report(message_id)
            wait_s = RECEIPT_AFTER_S
        if wait_s:
            asyncio.get_running_loop().call_later(wait_s, self._answer, session, pdu, status, message_id)
        else:
            self._answer(session, pdu, status, message_id)

    def _answer(self, session: Session, pdu: Any, status: int, message_id: str | None) -> None:
        shown = message_id
        if message_id and self.options.get("hex_ids"):
            shown = f"{int(message_id):x}"
        session.answer(pdu, status, message_id=shown)
        if message_id:
            asyncio.get_running_loop().call_later(RECEIPT_AFTER_S, self._report, message_id)

    def _submit_status(self, session: Session) -> int:
        if session.kind in (None, "bind_receiver"):
            return int(consts.SMPP_ESME_RINVBNDSTS)
        self.submits += 1
        every = self.options.get("throttle_every")
        return int(consts.SMPP_ESME_RTHROTTLED if every and self.submits % every == 0 else consts.SMPP_ESME_ROK)

    def report_all(self) -> None:
        """Send every pending receipt that is not in flight."""
        for message_id in list(self.pending):
            self._report(message_id)

    def _report(self, message_id: str) -> None:
        submit = self.pending.get(message_id)
        if not self.receivers or not submit or message_id in self.in_flight:
            return
        withheld = self.options.get("withhold_part")
        if withheld and part_number(submit) == withheld:
            return
        session = self.receivers[0]
        sequence = session.send(
            "deliver_sm",
            esm_class=IS_RECEIPT,
            source_addr=submit["destination"],
            destination_addr=submit["source"],
            user_message_reference=submit["reference"] if self.options.get("echo_reference") else None,
            **self._receipt(message_id),
        )
        session.reported[sequence] = message_id
        self.in_flight.add(message_id)

    def _receipt(self, message_id: str) -> dict[str, Any]:
        stat, err = self.options["stat"], self.options["err"]
        if self.options["receipt"] == "tlv":
            return {
                "receipted_message_id": message_id,
                "message_state": STATES[stat],
                "network_error_code": b"\x03" + int(err).to_bytes(2, "big"),
            }
        at = time.strftime("%y%m%d%H%M", time.gmtime())
        shown = message_id.zfill(DECIMAL_DIGITS) if self.options.get("hex_ids") else message_id
        text = f"id:{shown} sub:001 dlvrd:001 submit date:{at} done date:{at} stat:{stat} err:{err} text:"
        return {"short_message": text.encode()}

    def _on_deliver_resp(self, session: Session, answer: Any) -> None:
        message_id = session.reported.pop(answer.sequence, "")
        self.in_flight.discard(message_id)
        self.emit("deliver_sm_resp", message_id=message_id, status=answer.status, sequence=answer.sequence)
        if message_id and answer.status == consts.SMPP_ESME_ROK:
            self.pending.pop(message_id, None)
        elif message_id:
            asyncio.get_running_loop().call_later(RETRY_AFTER_S, self._report, message_id)

    def _close(self, session: Session) -> None:
        if session in self.receivers:
            self.receivers.remove(session)
        self.in_flight.difference_update(session.reported.values())
        if session.kind:
            self.emit("close", kind=session.kind)
        self.report_all()

    def execute(self, command: str) -> None:
        """Execute a command from standard input."""
        word, _, given = command.partition(" ")
        if word == "write":
            self._write(**json.loads(given))
            return
        assert command == "release", command
        self.options["withhold_part"] = None
        self.report_all()

    def _write(self, source: str, destination: str, text: str) -> None:
        """Send a message of a subscriber, in parts if it is long."""
        parts, data_coding, esm_class = gsm.make_parts(text)
        for part in parts:
            self.receivers[0].send(
                "deliver_sm",
                source_addr=source,
                destination_addr=destination,
                short_message=part,
                data_coding=data_coding,
                esm_class=esm_class,
            )


async def read(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(LENGTH_OCTETS)
    length = int.from_bytes(head, "big")
    if not 16 <= length <= MAX_PDU_OCTETS:
        raise ConnectionError(f"command_length {length}")
    return head + await reader.readexactly(length - LENGTH_OCTETS)


def describe_submit(pdu: Any) -> Submit:
    octets = pdu.message_payload or pdu.short_message or b""
    udh, text = b"", octets
    if pdu.esm_class & consts.SMPP_GSMFEAT_UDHI:
        udh, text = octets[1 : octets[0] + 1], octets[octets[0] + 1 :]
    return {
        "source": pdu.source_addr.decode(),
        "destination": pdu.destination_addr.decode(),
        "text": decode_text(text, pdu.data_coding),
        "udh": udh.hex() or None,
        "raw": octets.hex(),
        "is_payload": bool(pdu.message_payload),
        "data_coding": pdu.data_coding,
        "esm_class": pdu.esm_class,
        "registered_delivery": pdu.registered_delivery,
        "reference": pdu.user_message_reference,
        "sequence": pdu.sequence,
    }


def decode_text(octets: bytes, data_coding: int) -> str | None:
    """Return a text, or None if its data_coding is unknown."""
    if data_coding == consts.SMPP_ENCODING_DEFAULT:
        return decode_gsm(octets)
    return octets.decode(CODECS[data_coding], "replace") if data_coding in CODECS else None


def decode_gsm(octets: bytes) -> str:
    """Return a text in the GSM alphabet; the second half of smpplib's table has the escaped characters."""
    text, half = "", 0
    for octet in octets:
        if octet == ESCAPE:
            half = 0x80
            continue
        text += gsm.GSM_CHARACTER_TABLE[half + octet]
        half = 0
    return text


def part_number(submit: Submit) -> int:
    """Return the segment number of a long message; 0 if it is not segmented."""
    return int(submit["udh"][-2:], 16) if submit["udh"] else 0


def read_commands(smsc: Smsc, loop: asyncio.AbstractEventLoop) -> None:
    """Execute the lines of standard input; exit when it ends."""
    for line in sys.stdin:
        loop.call_soon_threadsafe(smsc.execute, line.strip())
    os._exit(0)


async def main(port: int, options: dict[str, Any]) -> None:
    """Serve until standard input ends."""
    smsc = Smsc(options)
    server = await asyncio.start_server(smsc.serve, "127.0.0.1", port)
    smsc.emit("listening", port=server.sockets[0].getsockname()[1])
    threading.Thread(target=read_commands, args=(smsc, asyncio.get_running_loop()), daemon=True).start()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), json.loads(sys.argv[2])))
