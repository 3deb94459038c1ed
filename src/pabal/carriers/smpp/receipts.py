"""Stores the receipts and inbound messages that arrive, and acknowledges each once it is durable."""

import asyncio
from typing import NamedTuple

from pabal.carriers.base import InboundMessage, InboundPart, Inbox, OnAnomaly, OnReceipts, Receipt
from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.encoding import DEFAULT_CODING, KS_C_5601_CODING, UCS2_CODING, decode_text
from pabal.carriers.smpp.pdu import Address, Pdu, ShortMessage
from pabal.carriers.smpp.receipt_parser import looks_like_receipt, normalize_message_id, parse_receipt
from pabal.carriers.smpp.session import SmppSession
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Refused
from pabal.domain.people import phone
from pabal.settings.carriers import SmppSettings

MAX_RECEIPTS_PER_BATCH = 1000
BATCH_DELAY_S = 0.1
"""Pause before receipts are stored, so that they are stored in batches; a full batch does not wait."""
MAX_WAITING_DELIVERS = 5000
"""With more deliver_sm waiting than this, their sessions stop reading."""


class _ParsedDeliver(NamedTuple):
    """What is in a deliver_sm, and the status to answer with."""

    receipt: Receipt | None = None
    inbound: InboundMessage | None = None
    status: int = protocol.OK


class ReceiptQueue:
    """The deliver_sm PDUs that are not acknowledged yet."""

    def __init__(self, settings: SmppSettings, on_anomaly: OnAnomaly) -> None:
        self._settings = settings
        self._on_anomaly = on_anomaly
        self._waiting: list[tuple[SmppSession, Pdu]] = []
        self._has_waiting = asyncio.Event()
        self._paused: set[SmppSession] = set()
        self.inbox: Inbox | None = None
        """Stores inbound messages; None: they are acknowledged and forgotten."""

    def add(self, session: SmppSession, delivers: list[Pdu]) -> None:
        """Add deliver_sm PDUs of a session."""
        self._waiting += [(session, deliver) for deliver in delivers]
        self._has_waiting.set()
        if len(self._waiting) > MAX_WAITING_DELIVERS:
            session.pause()
            self._paused.add(session)

    async def run(self, on_receipts: OnReceipts) -> None:
        """Store receipts and inbound messages and acknowledge them, until cancelled."""
        while True:
            await self._has_waiting.wait()
            if len(self._waiting) < MAX_RECEIPTS_PER_BATCH:
                await asyncio.sleep(BATCH_DELAY_S)
            batch = self._waiting[:MAX_RECEIPTS_PER_BATCH]
            parsed = [(session, deliver.sequence, self._parse(deliver)) for session, deliver in batch]
            receipts = [each.receipt for _, _, each in parsed if each.receipt]
            if receipts:
                await on_receipts(receipts)
            inbound = [each.inbound for _, _, each in parsed if each.inbound]
            if inbound and self.inbox:
                await self.inbox.on_messages(inbound)
            for session in {session for session, _, _ in parsed}:
                session.acknowledge(
                    [(sequence, each.status) for owner, sequence, each in parsed if owner is session]
                )
            del self._waiting[: len(batch)]
            if not self._waiting:
                self._has_waiting.clear()
            if len(self._waiting) <= MAX_RECEIPTS_PER_BATCH:
                while self._paused:
                    self._paused.pop().resume()

    def _parse(self, deliver: Pdu) -> _ParsedDeliver:
        """Return what is in a deliver_sm, if it is a final receipt or an inbound message."""
        try:
            message = pdu.decode_short_message(deliver.body)
            parsed = parse_receipt(
                message, self._settings.errors, accepts_unmarked=self._settings.unmarked_receipts
            )
        except pdu.InvalidPdu:
            self._on_anomaly("invalid deliver_sm")
            return _ParsedDeliver(status=protocol.RINVMSGLEN)
        if parsed is None:
            return self._parse_other(message)
        if parsed.outcome is None:
            return _ParsedDeliver()
        in_doubt_reference = None
        if parsed.user_message_reference is not None:
            in_doubt_reference = identifiers.in_doubt_reference(parsed.user_message_reference, parsed.phone)
        reference = normalize_message_id(parsed.message_id, self._settings.receipt_ids) or in_doubt_reference
        if reference is None:
            self._on_anomaly("receipt without a message_id")
            return _ParsedDeliver()
        return _ParsedDeliver(Receipt(reference, parsed.outcome, in_doubt_reference, parsed.code))

    def _parse_other(self, message: ShortMessage) -> _ParsedDeliver:
        """Return the inbound message in a deliver_sm that is not a receipt."""
        if not is_from_subscriber(message) or looks_like_receipt(message):
            self._on_anomaly("deliver_sm that is not a receipt")
        return _ParsedDeliver(inbound=parse_inbound(message) if is_from_subscriber(message) else None)


_TYPE_BITS = 0x3C
_INTERNATIONAL = 1
_CONCATENATION = {0x00: 1, 0x08: 2}
"""The information elements of a UDH that say which part it is, each with the octets of its reference."""


def is_from_subscriber(deliver: ShortMessage) -> bool:
    """Return whether a deliver_sm that is not a receipt was written by a subscriber."""
    return deliver.esm_class & _TYPE_BITS == 0


def parse_inbound(deliver: ShortMessage) -> InboundMessage:
    """Return the message in a deliver_sm, with U+FFFD for what cannot be decoded."""
    has_udh = bool(deliver.esm_class & protocol.HAS_UDH)
    part = _find_part(deliver, has_udh)
    return InboundMessage(
        _normalize_number(deliver.source),
        _normalize_number(deliver.destination),
        _decode(deliver, has_udh, is_part=part is not None),
        part,
    )


def _decode(deliver: ShortMessage, has_udh: bool, *, is_part: bool) -> str:
    octets, coding = deliver.user_data, deliver.data_coding
    if coding == UCS2_CODING and is_part:  # a character outside the first plane may be divided between parts
        body = octets[1 + octets[0] :] if has_udh and octets else octets
        return body[: len(body) & ~1].decode("utf-16-be", "surrogatepass")
    is_gsm = coding == DEFAULT_CODING and all(octet < 0x80 for octet in octets)
    return decode_text(octets, coding if is_gsm or coding != DEFAULT_CODING else KS_C_5601_CODING, has_udh)


def _find_part(deliver: ShortMessage, has_udh: bool) -> InboundPart | None:
    """Return which part of a long message it is, by its UDH or its TLVs; None: it is a whole one."""
    tlvs = deliver.tlvs
    found = [
        tlvs.get(tag)
        for tag in (protocol.SAR_MSG_REF_NUM, protocol.SAR_TOTAL_SEGMENTS, protocol.SAR_SEGMENT_SEQNUM)
    ]
    numbers = [int.from_bytes(each, "big") for each in found if each]
    if len(numbers) < len(found):
        numbers = _read_udh(deliver.user_data) if has_udh else []
    if not numbers:
        return None
    reference, total, number = numbers
    is_valid = 1 < total <= 0xFF and 1 <= number <= total
    return InboundPart(reference, total, number) if is_valid else None


def _read_udh(octets: bytes) -> list[int]:
    """Return reference, number of parts and number of this part; nothing where the UDH does not say."""
    header = octets[1 : 1 + octets[0]] if octets else b""
    at = 0
    while at + 2 <= len(header):
        element, size = header[at], header[at + 1]
        value = header[at + 2 : at + 2 + size]
        wide = _CONCATENATION.get(element)
        if wide is not None and len(value) == wide + 2:
            return [int.from_bytes(value[:wide], "big"), value[wide], value[wide + 1]]
        at += 2 + size
    return []


def _normalize_number(address: Address) -> str:
    """Return the digits of a Korean number in national format; another address as it is, without odd characters."""
    digits = address.digits.strip()
    is_international = address.ton == _INTERNATIONAL or digits.startswith("82")
    try:
        return phone.parse_sender(f"+{digits.removeprefix('+')}" if is_international else digits)
    except Refused:
        return "".join(each for each in digits if each.isascii() and each.isprintable()).strip()
