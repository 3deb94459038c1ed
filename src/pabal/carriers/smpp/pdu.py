"""Encodes and decodes the PDUs of SMPP 3.4."""

import re
from collections.abc import Mapping
from functools import lru_cache
from struct import Struct
from types import MappingProxyType
from typing import NamedTuple

from pabal.carriers.smpp import protocol

HEADER_OCTETS = 16
MAX_PDU_OCTETS = 128 * 1024
"""Longer PDUs are refused; the specification sets no limit."""

_HEADER = Struct(">IIII")
_TLV = Struct(">HH")
_LENGTH_OCTETS = 4
_C_STRING = rb"([^\0]*+)\0"
_BIND = re.compile(_C_STRING * 3 + rb"(...)" + _C_STRING, re.DOTALL)
_SUBMIT_HEAD = re.compile(
    _C_STRING + (rb"(..)" + _C_STRING) * 2 + rb"(...)" + _C_STRING * 2 + rb"(.....)", re.DOTALL
)
_NO_TLVS: Mapping[int, bytes] = MappingProxyType({})


class Pdu(NamedTuple):
    """One PDU: its header, and its body undecoded."""

    command: int
    status: int
    sequence: int
    body: bytes


class InvalidLength(Exception):
    """A command_length that no PDU can have; nothing after it can be read. `preceding` are the PDUs before it."""

    def __init__(self, length: int, preceding: list[Pdu]) -> None:
        super().__init__(f"command_length {length}")
        self.preceding = preceding


class InvalidPdu(Exception):
    """A body that cannot be decoded."""


class Bind(NamedTuple):
    """The fields of a bind_transmitter, bind_receiver or bind_transceiver."""

    system_id: str
    password: str
    system_type: str = ""
    interface_version: int = 0x34
    ton: int = 0
    npi: int = 0
    address_range: str = ""


class Address(NamedTuple):
    """A phone number with its type (TON) and numbering plan (NPI)."""

    ton: int
    npi: int
    digits: str


class ShortMessage(NamedTuple):
    """The fields of a submit_sm or a deliver_sm."""

    source: Address
    destination: Address
    short_message: bytes
    esm_class: int = 0
    data_coding: int = 0
    registered_delivery: int = 0
    service_type: str = ""
    protocol_id: int = 0
    priority: int = 0
    schedule: str = ""
    validity: str = ""
    replace: int = 0
    default_message: int = 0
    tlvs: Mapping[int, bytes] = _NO_TLVS

    @property
    def user_data(self) -> bytes:
        """The octets of the text, from short_message or from message_payload."""
        return self.short_message or self.tlvs.get(protocol.MESSAGE_PAYLOAD, b"")


def split_pdus(data: bytes) -> tuple[list[Pdu], int]:
    """Return all complete PDUs at the beginning of `data`, and how many octets they take.

    Raises InvalidLength.
    """
    pdus: list[Pdu] = []
    at, size = 0, len(data)
    while size - at >= HEADER_OCTETS:
        length, command, status, sequence = _HEADER.unpack_from(data, at)
        if not HEADER_OCTETS <= length <= MAX_PDU_OCTETS:
            raise InvalidLength(length, pdus)
        end = at + length
        if end > size:
            return pdus, at
        pdus.append(Pdu(command, status, sequence, data[at + HEADER_OCTETS : end]))
        at = end
    if size - at >= _LENGTH_OCTETS:
        length = int.from_bytes(data[at : at + _LENGTH_OCTETS], "big")
        if not HEADER_OCTETS <= length <= MAX_PDU_OCTETS:
            raise InvalidLength(length, pdus)
    return pdus, at


def encode_pdu(command: int, sequence: int, body: bytes = b"", status: int = 0) -> bytes:
    """Return a complete PDU.

    Raises ValueError for a body that is too long.
    """
    length = HEADER_OCTETS + len(body)
    if length > MAX_PDU_OCTETS:
        raise ValueError(f"a PDU has at most {MAX_PDU_OCTETS} octets, not {length}")
    return _HEADER.pack(length, command, status, sequence) + body


def encode_bind(bind: Bind) -> bytes:
    """Return the body of a bind.

    Raises ValueError for a value that does not fit its field.
    """
    return b"%b%b%b%b%b" % (
        _c_string(bind.system_id, protocol.MAX_SYSTEM_ID, "system_id"),
        _c_string(bind.password, protocol.MAX_PASSWORD, "password"),
        _c_string(bind.system_type, protocol.MAX_SYSTEM_TYPE, "system_type"),
        bytes((bind.interface_version, bind.ton, bind.npi)),
        _c_string(bind.address_range, protocol.MAX_ADDRESS_RANGE, "address_range"),
    )


def decode_bind(body: bytes) -> Bind:
    """Return the fields of a bind.

    Raises InvalidPdu.
    """
    fields = _BIND.match(body)
    if not fields:
        raise InvalidPdu("the body ends before the end of address_range")
    *names, numbers, address_range = fields.groups()
    system_id, password, system_type = (each.decode("latin-1") for each in names)
    version, ton, npi = numbers
    return Bind(system_id, password, system_type, version, ton, npi, address_range.decode("latin-1"))


def encode_short_message(message: ShortMessage) -> bytes:
    """Return the body of a submit_sm or a deliver_sm.

    Raises ValueError for a value that does not fit its field.
    """
    size = len(message.short_message)
    if size > protocol.MAX_SHORT_MESSAGE:
        raise ValueError(f"short_message has at most {protocol.MAX_SHORT_MESSAGE} octets, not {size}")
    ton, npi, digits = message.destination
    try:
        return b"%b%c%c%b%c%c%c%b%b%c%c%c%c%c%b%b" % (
            _encode_source(message.service_type, message.source),
            ton,
            npi,
            _c_string(digits, protocol.MAX_ADDRESS, "destination"),
            message.esm_class,
            message.protocol_id,
            message.priority,
            _c_string(message.schedule, protocol.MAX_TIME, "schedule") if message.schedule else b"\0",
            _c_string(message.validity, protocol.MAX_TIME, "validity") if message.validity else b"\0",
            message.registered_delivery,
            message.replace,
            message.data_coding,
            message.default_message,
            size,
            message.short_message,
            _encode_tlvs(message.tlvs) if message.tlvs else b"",
        )
    except OverflowError:
        raise ValueError("a numeric field takes more than one octet") from None


def decode_short_message(body: bytes) -> ShortMessage:
    """Return the fields of a submit_sm or a deliver_sm.

    Raises InvalidPdu.
    """
    head = _SUBMIT_HEAD.match(body)
    if not head:
        raise InvalidPdu("the body ends before short_message")
    service_type, source, source_digits, destination, digits, numbers, schedule, validity, more = head.groups()
    registered_delivery, replace, data_coding, default_message, size = more
    at = head.end()
    end = at + size
    if end > len(body):
        raise InvalidPdu("short_message is longer than the rest of the body")
    return ShortMessage(
        Address(source[0], source[1], source_digits.decode("latin-1")),
        Address(destination[0], destination[1], digits.decode("latin-1")),
        body[at:end],
        numbers[0],
        data_coding,
        registered_delivery,
        service_type.decode("latin-1"),
        numbers[1],
        numbers[2],
        schedule.decode("latin-1"),
        validity.decode("latin-1"),
        replace,
        default_message,
        _decode_tlvs(body, end) if end < len(body) else _NO_TLVS,
    )


def encode_message_id(message_id: str) -> bytes:
    """Return the body of a submit_sm_resp or a deliver_sm_resp, or with a system_id that of a bind response.

    Raises ValueError for an id that is too long.
    """
    return _c_string(message_id, protocol.MAX_MESSAGE_ID, "message_id")


def decode_message_id(body: bytes) -> str:
    """Return the id in the body of a response; "" if there is none.

    An id that is too long or lacks its NUL is accepted: it may be the only reference to a message.
    """
    return body.partition(b"\0")[0].decode("latin-1")


@lru_cache(maxsize=1024)
def _encode_source(service_type: str, source: Address) -> bytes:
    ton, npi, digits = source
    return b"%b%c%c%b" % (
        _c_string(service_type, protocol.MAX_SERVICE_TYPE, "service_type"),
        ton,
        npi,
        _c_string(digits, protocol.MAX_ADDRESS, "source"),
    )


def _c_string(text: str, limit: int, name: str) -> bytes:
    try:
        octets = text.encode("latin-1")
    except UnicodeEncodeError:
        raise ValueError(f"{name} has a character beyond Latin-1") from None
    if len(octets) > limit:
        raise ValueError(f"{name} has at most {limit} octets, not {len(octets)}")
    if b"\0" in octets:
        raise ValueError(f"{name} has a NUL inside")
    return octets + b"\0"


def _encode_tlvs(tlvs: Mapping[int, bytes]) -> bytes:
    for tag, value in tlvs.items():
        if not 0 <= tag <= protocol.MAX_TLV or len(value) > protocol.MAX_TLV:
            raise ValueError(f"TLV {tag:#06x} has at most {protocol.MAX_TLV} octets, not {len(value)}")
    return b"".join([_TLV.pack(tag, len(value)) + value for tag, value in tlvs.items()])


def _decode_tlvs(body: bytes, at: int) -> Mapping[int, bytes]:
    tlvs: dict[int, bytes] = {}
    size = len(body)
    while at < size:
        if size - at < _TLV.size:
            raise InvalidPdu("a TLV ends inside its header")
        tag, length = _TLV.unpack_from(body, at)
        at += _TLV.size
        if length > size - at:
            raise InvalidPdu(f"TLV {tag:#06x} is longer than the rest of the body")
        tlvs[tag] = body[at : at + length]
        at += length
    return tlvs
