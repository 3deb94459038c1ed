"""Inbound messages: what subscribers have sent to numbers of accounts."""

import re
import unicodedata
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pabal.domain.base import dates
from pabal.domain.base.codes import Refused
from pabal.domain.base.dates import Instant
from pabal.domain.people import phone

SHOWN_DIGITS = 4
"""How much of a foreign number stays when it is masked."""
MISSING_PART = "…"
"""Stands for each part of a long message that never arrived, and for the end of one that is too long."""
MAX_PART_CHARACTERS = 2000
"""Longest part of a message; phones send 153 characters at most, but a PDU has room for 64 KB."""
MAX_CONTENT_CHARACTERS = 40_000
"""Longest message: the 255 parts that phones can send."""
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class Inbound(NamedTuple):
    """A message that a subscriber has sent."""

    id: int
    account_id: int | None
    """None: only operators see it, because no account has registered the number that it was sent to."""
    carrier: str
    sender: str
    receiver: str
    content: str
    has_opted_out: bool
    """Whether it has added an opt-out."""
    received_at: Instant


def tidy_content(content: str) -> str:
    """Return a text that can be stored and shown: in NFC, cut at its limit, U+FFFD for control characters."""
    if len(content) > MAX_CONTENT_CHARACTERS:
        content = content[: MAX_CONTENT_CHARACTERS - len(MISSING_PART)] + MISSING_PART
    content = _CONTROL.sub("\ufffd", content.encode("utf-8", "replace").decode())
    return unicodedata.normalize("NFC", content)


def is_mobile(number: str) -> bool:
    """Return whether digits are a Korean mobile number."""
    try:
        return phone.parse_mobile(number) == number
    except Refused:
        return False


def show_number(number: str) -> str:
    """Return a number as people write it, or as it is where it is not a Korean one."""
    try:
        return phone.hyphenate(phone.parse_sender(number))
    except Refused:
        return number


def mask_number(number: str) -> str:
    """Return a number for those who see none: 010-****-5678, or the last digits of one that is not Korean."""
    try:
        return phone.mask(phone.parse_sender(number))
    except Refused:
        return f"****{number[-SHOWN_DIGITS:]}" if len(number) > 2 * SHOWN_DIGITS else "****"


def to_record(inbound: Inbound, zone: ZoneInfo) -> dict[str, object]:
    """Return the record of an inbound message, as answers and events have it."""
    sender = show_number(inbound.sender)
    return {
        "id": str(inbound.id),
        "label": sender,
        "sender": sender,
        "receiver": show_number(inbound.receiver),
        "content": inbound.content,
        "optOut": inbound.has_opted_out,
        "receivedDate": dates.format_timestamp(inbound.received_at, zone),
    }
