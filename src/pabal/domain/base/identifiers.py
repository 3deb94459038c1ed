"""Ids of requests and messages: their structure, and their form in the API.

A request's id is 13 bytes: 48 bits of the time it was accepted, 12 bits of its slot, 44 random bits.
A message's id is its request's id and three bytes more, its number within the request: receivers count
from 1, and the fallback of message n is n + the number of receivers, so it can exist only once. Ids
therefore sort by request time, and contain their request, month and slot.
"""

import re
import zlib

from pabal.domain.base.dates import Instant

REQUEST_ID_BYTES = 13
MESSAGE_ID_BYTES = 16
RANDOM_BITS = 44
SLOT_BITS = 12
MAX_MESSAGE_NUMBER = 2**24 - 1
IN_DOUBT_PREFIX = "?"
"""Prefix of an in-doubt reference, which no carrier's own reference has."""

MAX_REFERENCE_CHARACTERS = 255
"""Longest reference of a carrier; SMPP allows 64 characters."""
_BAD_REFERENCE = re.compile("[\0\n\ud800-\udfff]")
_REQUEST_ID = re.compile(r"[0-9a-f]{26}", re.ASCII)
_MESSAGE_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)


def make_request_id(at: Instant, slot: int, random_bits: int) -> bytes:
    """Return the id of a request accepted at `at`; `random_bits` has RANDOM_BITS random bits."""
    number = (at << SLOT_BITS | slot) << RANDOM_BITS | random_bits
    return number.to_bytes(REQUEST_ID_BYTES, "big")


def make_message_id(request: bytes, number: int) -> bytes:
    return request + number.to_bytes(MESSAGE_ID_BYTES - REQUEST_ID_BYTES, "big")


def request_id_of(message: bytes) -> bytes:
    """Return the id of the request a message belongs to."""
    return message[:REQUEST_ID_BYTES]


def number_of(message: bytes) -> int:
    """Return a message's number within its request."""
    return int.from_bytes(message[REQUEST_ID_BYTES:], "big")


def user_message_reference(message: bytes) -> int:
    """Return the 16-bit SMPP user_message_reference of a message, which a receipt may repeat."""
    return zlib.crc32(message) & 0xFFFF


def in_doubt_reference(reference: int, receiver: str) -> str:
    """Return the reference by which a receipt finds a message whose own reference was never received."""
    return f"{IN_DOUBT_PREFIX}{receiver}#{reference:04x}"


def is_usable_reference(reference: str) -> bool:
    """Return whether a carrier's reference can be stored, and told apart from others of the same message."""
    return 0 < len(reference) <= MAX_REFERENCE_CHARACTERS and not _BAD_REFERENCE.search(reference)


def slot_of(identity: bytes) -> int:
    """Return the slot in a request's or message's id."""
    return int.from_bytes(identity[6:8], "big") >> 4


def slot_of_key(account_id: int, key: str, slots: int) -> int:
    """Return the slot of requests with this Idempotency-Key, so that repeats share a slot."""
    return zlib.crc32(f"{account_id} {key}".encode("utf-8", "surrogatepass")) % slots


def requested_at(identity: bytes) -> Instant:
    """Return when the request of this id was accepted."""
    return int.from_bytes(identity[:6], "big")


def lowest_message_id(at: Instant) -> bytes:
    """Return the lowest message id that a request accepted at `at` or later can have."""
    return max(at, 0).to_bytes(6, "big") + bytes(MESSAGE_ID_BYTES - 6)


def message_id_range(request: bytes) -> tuple[bytes, bytes]:
    """Return the lowest and the highest id that a request's messages can have."""
    return request + b"\x00\x00\x00", request + b"\xff\xff\xff"


def parse_request_id(spelling: str) -> bytes | None:
    """Return the id of a `requestId`, None where it is malformed."""
    return bytes.fromhex(spelling) if _REQUEST_ID.fullmatch(spelling) else None


def parse_message_id(spelling: str) -> bytes | None:
    """Return the id of a `messageId`, None where it is malformed."""
    return bytes.fromhex(spelling) if _MESSAGE_ID.fullmatch(spelling) else None
