"""Events: what is reported to callers, and how far each of them has read."""

import base64
import hashlib
import struct
import zlib
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from pabal.domain.base.dates import Instant

EVENT_ID_BYTES = 16
EVENT_ID_PREFIX = "evt_"
NUMBERS_PER_MS = 1000
"""Event numbers in a millisecond: a number contains the time at which it was given."""
_CURSOR_VERSION = 1
_CHECKSUM = struct.Struct(">I")
_MAX_VARINT_BITS = 63
_MAX_SLOT = (1 << 12) - 1
"""Ids have 12 bits for the slot."""
MAX_CURSOR_CHARACTERS = 16_384
"""Longest cursor: one position of at most nine bytes for each of 1,024 slots fits."""


class EventType(Enum):
    """What happened; `number` is the stored value."""

    MESSAGE_RESULT = ("message.result", 1)
    MESSAGE_INBOUND = ("message.inbound", 2)
    TEMPLATE_STATUS = ("template.status", 3)
    SENDER_AUTH = ("sender.auth", 4)
    CAMPAIGN_FINISHED = ("campaign.finished", 5)
    OPT_OUT_ADDED = ("optOut.added", 6)
    LIMIT_NEAR = ("limit.near", 7)
    WEBHOOK_TEST = ("webhook.test", 8)
    FAILURE_HIGH = ("failure.high", 9)
    CARRIER_STATUS = ("carrier.status", 10)

    __hash__ = object.__hash__

    def __init__(self, code: str, number: int) -> None:
        self.code = code
        self.number = number


EVENT_TYPE_BY_NUMBER = {each.number: each for each in EventType}
EVENT_TYPE_BY_CODE = {each.code: each for each in EventType}

Positions = Mapping[int, int]
"""How far events were read: for each slot, the number of the last one."""


class Event(NamedTuple):
    """One event of an account; what it is about is looked up by its id."""

    slot: int
    number: int
    type: EventType
    product: int
    """The stored value of the message's product; 0: it is not about a message."""
    id: bytes
    """Unique for good: that of the message, or a digest."""


def make_event_id(account_id: int, type: EventType, key: str) -> bytes:
    """Return the id of an event that is not a message's end; the same key makes the same id."""
    return hashlib.sha256(f"{account_id}\n{type.code}\n{key}".encode()).digest()[:EVENT_ID_BYTES]


def format_event_id(identity: bytes) -> str:
    """Return the `eventId` that callers see."""
    return f"{EVENT_ID_PREFIX}{identity.hex()}"


def lowest_number(at: Instant) -> int:
    """Return the lowest number that an event numbered at `at` or later has, unless the clock was set back."""
    return at * NUMBERS_PER_MS


def encode_positions(positions: Positions) -> bytes:
    """Return positions as bytes: slots in order, each number as its distance from the lowest one."""
    slots = sorted(positions)
    base = min(positions.values(), default=0)
    packed = bytearray(_varint(base))
    for before, slot in zip([-1, *slots], slots, strict=False):
        packed += _varint(slot - before - 1) + _varint(positions[slot] - base)
    return bytes(packed)


def decode_positions(packed: bytes) -> dict[int, int]:
    """Return the positions of encode_positions.

    Raises ValueError.
    """
    numbers = _read_varints(packed)
    if len(numbers) % 2 == 0:
        raise ValueError("incomplete positions")
    base, slot, positions = numbers[0], -1, {}
    for step, distance in zip(numbers[1::2], numbers[2::2], strict=True):
        slot += step + 1
        positions[slot] = base + distance
        if slot > _MAX_SLOT or positions[slot] >> _MAX_VARINT_BITS:
            raise ValueError("there is no such position")
    return positions


def format_cursor(positions: Positions) -> str:
    """Return positions as an opaque cursor."""
    packed = bytes([_CURSOR_VERSION]) + encode_positions(positions)
    return base64.urlsafe_b64encode(packed + _CHECKSUM.pack(zlib.crc32(packed))).rstrip(b"=").decode()


def parse_cursor(cursor: str) -> dict[int, int] | None:
    """Return the positions of a cursor, None where it is none of ours."""
    if len(cursor) > MAX_CURSOR_CHARACTERS or not cursor.isascii():
        return None
    try:
        whole = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        packed, checksum = whole[: -_CHECKSUM.size], whole[-_CHECKSUM.size :]
        if packed[:1] != bytes([_CURSOR_VERSION]) or checksum != _CHECKSUM.pack(zlib.crc32(packed)):
            return None
        return decode_positions(packed[1:])
    except ValueError:  # also of base64
        return None


def _varint(number: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first; all but the last have their high bit set."""
    packed = bytearray()
    while number > 0x7F:
        packed.append(number & 0x7F | 0x80)
        number >>= 7
    packed.append(number)
    return bytes(packed)


def _read_varints(packed: bytes) -> list[int]:
    numbers: list[int] = []
    number = shift = 0
    for byte in packed:
        number |= (byte & 0x7F) << shift
        shift += 7
        if shift > _MAX_VARINT_BITS:
            raise ValueError("number too long")
        if not byte & 0x80:
            numbers.append(number)
            number = shift = 0
    if shift:
        raise ValueError("unfinished number")
    return numbers
