"""Parses inbound messages: deliver_sm PDUs that subscribers have written."""

from pabal.carriers.base import InboundMessage, InboundPart
from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.encoding import DEFAULT_CODING, KS_C_5601_CODING, UCS2_CODING, decode_text
from pabal.carriers.smpp.pdu import Address, ShortMessage
from pabal.domain.base.codes import Refused
from pabal.domain.people import phone

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
