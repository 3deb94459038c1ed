"""SMPP 3.4 as octets: the protocol's numbers, its frames, the bodies inside them."""

import re
from collections.abc import Mapping
from functools import lru_cache
from struct import Struct
from types import MappingProxyType
from typing import NamedTuple

HEADER = 16
MAX_PDU = 128 * 1024

RESPONSE = 0x80000000
"""The bit that makes a command the answer to it."""
GENERIC_NACK = 0x80000000
BIND_RECEIVER = 0x1
BIND_TRANSMITTER = 0x2
SUBMIT_SM = 0x4
DELIVER_SM = 0x5
UNBIND = 0x6
BIND_TRANSCEIVER = 0x9
ENQUIRE_LINK = 0x15

OK = 0x0
RINVMSGLEN = 0x1
RINVCMDLEN = 0x2
RINVCMDID = 0x3
RINVBNDSTS = 0x4
RALYBND = 0x5
RSYSERR = 0x8
RINVSRCADR = 0xA
RINVDSTADR = 0xB
RBINDFAIL = 0xD
RINVPASWD = 0xE
RINVSYSID = 0xF
RMSGQFUL = 0x14
RINVSERTYP = 0x15
RINVESMCLASS = 0x43
RSUBMITFAIL = 0x45
RTHROTTLED = 0x58
RX_T_APPN = 0x64
RX_P_APPN = 0x65
RX_R_APPN = 0x66
ROPTPARNOTALLWD = 0xC1
RDELIVERYFAILURE = 0xFE
RUNKNOWNERR = 0xFF
RINVDCS = 0x104
"""Invalid data coding: a word of SMPP 5.0 that 3.4 servers use too."""

STATUS_NAMES: Mapping[int, str] = {
    OK: "ESME_ROK",
    RINVMSGLEN: "ESME_RINVMSGLEN",
    RINVCMDLEN: "ESME_RINVCMDLEN",
    RINVCMDID: "ESME_RINVCMDID",
    RINVBNDSTS: "ESME_RINVBNDSTS",
    RALYBND: "ESME_RALYBND",
    0x6: "ESME_RINVPRTFLG",
    0x7: "ESME_RINVREGDLVFLG",
    RSYSERR: "ESME_RSYSERR",
    RINVSRCADR: "ESME_RINVSRCADR",
    RINVDSTADR: "ESME_RINVDSTADR",
    0xC: "ESME_RINVMSGID",
    RBINDFAIL: "ESME_RBINDFAIL",
    RINVPASWD: "ESME_RINVPASWD",
    RINVSYSID: "ESME_RINVSYSID",
    RMSGQFUL: "ESME_RMSGQFUL",
    RINVSERTYP: "ESME_RINVSERTYP",
    RINVESMCLASS: "ESME_RINVESMCLASS",
    RSUBMITFAIL: "ESME_RSUBMITFAIL",
    0x48: "ESME_RINVSRCTON",
    0x49: "ESME_RINVSRCNPI",
    0x50: "ESME_RINVDSTTON",
    0x51: "ESME_RINVDSTNPI",
    0x53: "ESME_RINVSYSTYP",
    0x55: "ESME_RINVNUMMSGS",
    RTHROTTLED: "ESME_RTHROTTLED",
    0x61: "ESME_RINVSCHED",
    0x62: "ESME_RINVEXPIRY",
    0x63: "ESME_RINVDFTMSGID",
    RX_T_APPN: "ESME_RX_T_APPN",
    RX_P_APPN: "ESME_RX_P_APPN",
    RX_R_APPN: "ESME_RX_R_APPN",
    0xC0: "ESME_RINVOPTPARSTREAM",
    ROPTPARNOTALLWD: "ESME_ROPTPARNOTALLWD",
    0xC2: "ESME_RINVPARLEN",
    0xC3: "ESME_RMISSINGOPTPARAM",
    0xC4: "ESME_RINVOPTPARAMVAL",
    RDELIVERYFAILURE: "ESME_RDELIVERYFAILURE",
    RUNKNOWNERR: "ESME_RUNKNOWNERR",
    RINVDCS: "ESME_RINVDCS",
}

HAS_UDH = 0x40
"""The bit of esm_class that says that a text begins with a user data header."""

RECEIPTED_MESSAGE_ID = 0x001E
USER_MESSAGE_REFERENCE = 0x0204
SC_INTERFACE_VERSION = 0x0210
NETWORK_ERROR_CODE = 0x0423
MESSAGE_PAYLOAD = 0x0424
MESSAGE_STATE = 0x0427

# Without the NUL at their ends.
MAX_SYSTEM_ID = 15
MAX_PASSWORD = 8
MAX_SYSTEM_TYPE = 12
MAX_ADDRESS_RANGE = 40
MAX_SERVICE_TYPE = 5
MAX_DIGITS = 20
MAX_TIME = 16
MAX_MESSAGE_ID = 64
MAX_SHORT_MESSAGE = 254
MAX_OPTION = 0xFFFF

_HEADER = Struct(">IIII")
_OPTION = Struct(">HH")
_LENGTH_OCTETS = 4
_ENDED = rb"([^\0]*+)\0"
_BIND = re.compile(_ENDED * 3 + rb"(...)" + _ENDED, re.DOTALL)
_SUBMIT_HEAD = re.compile(_ENDED + (rb"(..)" + _ENDED) * 2 + rb"(...)" + _ENDED * 2 + rb"(.....)", re.DOTALL)
_NO_OPTIONS: Mapping[int, bytes] = MappingProxyType({})


class Pdu(NamedTuple):
    """One frame of the protocol."""

    command: int
    status: int
    sequence: int
    body: bytes


class InvalidLength(Exception):
    """A frame that gives itself a length no frame has; nothing after it can be read."""

    def __init__(self, length: int, before: list[Pdu]) -> None:
        super().__init__(f"command_length {length}")
        self.before = before


class InvalidPdu(Exception):
    """A body that cannot be read."""


class Bind(NamedTuple):
    """What a bind of any kind says."""

    system_id: str
    password: str
    system_type: str = ""
    interface_version: int = 0x34
    ton: int = 0
    npi: int = 0
    address_range: str = ""


class Address(NamedTuple):
    """A number with its type (TON) and numbering plan (NPI)."""

    ton: int
    npi: int
    digits: str


class ShortMessage(NamedTuple):
    """What a submit_sm or a deliver_sm says."""

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
    options: Mapping[int, bytes] = _NO_OPTIONS

    @property
    def text(self) -> bytes:
        """The octets of its text, whether short_message or message_payload holds them."""
        return self.short_message or self.options.get(MESSAGE_PAYLOAD, b"")


def split_pdus(data: bytes) -> tuple[list[Pdu], int]:
    """Return all whole frames at the beginning of `data`, and how many octets they take.

    Raises BadLength, which holds the frames before the bad one.
    """
    pdus: list[Pdu] = []
    at, size = 0, len(data)
    while size - at >= HEADER:
        length, command, status, sequence = _HEADER.unpack_from(data, at)
        if not HEADER <= length <= MAX_PDU:
            raise InvalidLength(length, pdus)
        end = at + length
        if end > size:
            return pdus, at
        pdus.append(Pdu(command, status, sequence, data[at + HEADER : end]))
        at = end
    if size - at >= _LENGTH_OCTETS:
        length = int.from_bytes(data[at : at + _LENGTH_OCTETS], "big")
        if not HEADER <= length <= MAX_PDU:
            raise InvalidLength(length, pdus)
    return pdus, at


def encode_pdu(command: int, sequence: int, body: bytes = b"", status: int = 0) -> bytes:
    """Return one whole frame.

    Raises ValueError for a body longer than a frame may be.
    """
    length = HEADER + len(body)
    if length > MAX_PDU:
        raise ValueError(f"a PDU has at most {MAX_PDU} octets, not {length}")
    return _HEADER.pack(length, command, status, sequence) + body


def encode_bind(
    system_id: str,
    password: str,
    system_type: str = "",
    interface_version: int = 0x34,
    ton: int = 0,
    npi: int = 0,
    address_range: str = "",
) -> bytes:
    """Return the body of a bind of any kind.

    Raises ValueError for what the protocol has no room for.
    """
    return b"%b%b%b%b%b" % (
        _ended(system_id, MAX_SYSTEM_ID, "system_id"),
        _ended(password, MAX_PASSWORD, "password"),
        _ended(system_type, MAX_SYSTEM_TYPE, "system_type"),
        bytes((interface_version, ton, npi)),
        _ended(address_range, MAX_ADDRESS_RANGE, "address_range"),
    )


def decode_bind(body: bytes) -> Bind:
    """Return what the body of a bind says.

    Raises BadPdu.
    """
    fields = _BIND.match(body)
    if not fields:
        raise InvalidPdu("a bind ends before its address_range does")
    system_id, password, system_type, numbers, address_range = fields.groups()
    return Bind(
        system_id.decode("latin-1"),
        password.decode("latin-1"),
        system_type.decode("latin-1"),
        numbers[0],
        numbers[1],
        numbers[2],
        address_range.decode("latin-1"),
    )


def encode_submit(submit: ShortMessage) -> bytes:
    """Return the body of a submit_sm.

    Raises ValueError for what the protocol has no room for.
    """
    size = len(submit.short_message)
    if size > MAX_SHORT_MESSAGE:
        raise ValueError(f"short_message has at most {MAX_SHORT_MESSAGE} octets, not {size}")
    ton, npi, digits = submit.destination
    try:
        return b"%b%c%c%b%c%c%c%b%b%c%c%c%c%c%b%b" % (
            _sender(submit.service_type, submit.source),
            ton,
            npi,
            _ended(digits, MAX_DIGITS, "destination"),
            submit.esm_class,
            submit.protocol_id,
            submit.priority,
            _ended(submit.schedule, MAX_TIME, "schedule") if submit.schedule else b"\0",
            _ended(submit.validity, MAX_TIME, "validity") if submit.validity else b"\0",
            submit.registered_delivery,
            submit.replace,
            submit.data_coding,
            submit.default_message,
            size,
            submit.short_message,
            _options(submit.options) if submit.options else b"",
        )
    except OverflowError:
        raise ValueError("one of its numbers takes more than an octet") from None


def decode_submit(body: bytes) -> ShortMessage:
    """Return what the body of a submit_sm says.

    Raises BadPdu.
    """
    head = _SUBMIT_HEAD.match(body)
    if not head:
        raise InvalidPdu("it ends before its short_message")
    service_type, source, source_digits, destination, digits, numbers, schedule, validity, more = head.groups()
    registered_delivery, replace, data_coding, default_message, size = more
    at = head.end()
    end = at + size
    if end > len(body):
        raise InvalidPdu("its short_message is longer than what is left")
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
        _read_options(body, end) if end < len(body) else _NO_OPTIONS,
    )


encode_deliver = encode_submit
decode_deliver = decode_submit


def encode_message_id(message_id: str) -> bytes:
    """Return the body of a submit_sm_resp or a deliver_sm_resp, or with a system_id that of a bind's response.

    Raises ValueError for an id the protocol has no room for.
    """
    return _ended(message_id, MAX_MESSAGE_ID, "message_id")


def decode_message_id(body: bytes) -> str:
    """Return the id in the body of a response, "" where there is none.

    Nothing is refused, neither a longer id nor one without its NUL: it may be all we ever hear of a message.
    """
    return body.partition(b"\0")[0].decode("latin-1")


@lru_cache(maxsize=1024)
def _sender(service_type: str, source: Address) -> bytes:
    ton, npi, digits = source
    return b"%b%c%c%b" % (
        _ended(service_type, MAX_SERVICE_TYPE, "service_type"),
        ton,
        npi,
        _ended(digits, MAX_DIGITS, "source"),
    )


def _ended(text: str, most: int, name: str) -> bytes:
    try:
        octets = text.encode("latin-1")
    except UnicodeEncodeError:
        raise ValueError(f"{name} has a character beyond Latin-1") from None
    if len(octets) > most:
        raise ValueError(f"{name} has at most {most} octets, not {len(octets)}")
    if b"\0" in octets:
        raise ValueError(f"{name} has a NUL inside")
    return octets + b"\0"


def _options(options: Mapping[int, bytes]) -> bytes:
    for tag, value in options.items():
        if not 0 <= tag <= MAX_OPTION or len(value) > MAX_OPTION:
            raise ValueError(f"option {tag:#06x} has at most {MAX_OPTION} octets, not {len(value)}")
    return b"".join([_OPTION.pack(tag, len(value)) + value for tag, value in options.items()])


def _read_options(body: bytes, at: int) -> Mapping[int, bytes]:
    options: dict[int, bytes] = {}
    size = len(body)
    while at < size:
        if size - at < _OPTION.size:
            raise InvalidPdu("an option ends in its head")
        tag, length = _OPTION.unpack_from(body, at)
        at += _OPTION.size
        if length > size - at:
            raise InvalidPdu(f"option {tag:#06x} is longer than what is left")
        options[tag] = body[at : at + length]
        at += length
    return options
