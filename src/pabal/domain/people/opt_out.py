"""Opt-outs: receivers who want no advertising from an account, or none from one of its sender numbers."""

import hashlib
import unicodedata
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pabal.domain.base import dates
from pabal.domain.base.codes import Code, NumberedEnum, Refused, Text, at_most_characters
from pabal.domain.base.dates import Instant
from pabal.domain.content import text
from pabal.domain.people import phone

MAX_PHONE_NUMBERS = 1000
"""Numbers that one call can add or remove."""
MAX_REASON_CHARACTERS = 200
HASH_BYTES = 16
KEY_BYTES = 32
EVERY_SENDER = ""
"""The sender number of an opt-out that holds for everything that its account sends."""
OPT_OUT_WORDS = frozenset(("수신거부", "거부", "해지", "stop", "unsubscribe"))
"""A reply that is one of these words opts out of advertising."""
MAX_WORD_CHARACTERS = 40
"""A longer reply is not one of these words, whatever blanks and punctuation it has."""


class OptOutSource(NumberedEnum):
    """How an opt-out came about; `number` is the stored value."""

    API = ("api", 1, Text("API", "API"))
    CONSOLE = ("console", 2, Text("콘솔", "Console"))
    COMMAND_LINE = ("commandLine", 3, Text("명령줄", "Command line"))
    REPLY = ("reply", 4, Text("수신자의 답장", "Reply of the receiver"))
    RELAY = ("relay", 5, Text("중계사", "Relay"))


SOURCE_BY_NUMBER = {source.number: source for source in OptOutSource}


class OptOut(NamedTuple):
    """A receiver who wants no advertising."""

    id: int
    phone: str
    sender: str
    """The sender number that it holds for; empty: everything that the account sends."""
    reason: str | None
    source: OptOutSource
    created_at: Instant


class OptOutChange(NamedTuple):
    """An opt-out that was added or removed, for relays that keep lists of their own by number for opting out."""

    phone: str
    opt_out_number: str
    is_removed: bool


class AdReceiver(NamedTuple):
    """Who gets an advertisement of whom; `sender` is the sender number of a text, empty for other messages."""

    account_id: int
    phone: str
    sender: str = EVERY_SENDER


def hash_number(key: bytes, account_id: int, phone: str) -> bytes:
    """Return the keyed hash of a number: two accounts have different ones for the same number."""
    return hashlib.blake2b(f"{account_id}:{phone}".encode(), digest_size=HASH_BYTES, key=key).digest()


def to_record(opt_out: OptOut, zone: ZoneInfo, language: str = "ko") -> dict[str, object]:
    """Return the record of an opt-out, as answers and events have it; what has no value is left out."""
    number = phone.hyphenate(opt_out.phone)
    record: dict[str, object] = {"id": str(opt_out.id), "label": number, "phoneNumber": number}
    if opt_out.sender:
        record["senderNumber"] = phone.hyphenate(opt_out.sender)
    if opt_out.reason:
        record["reason"] = opt_out.reason
    source = opt_out.source
    record["source"] = {"value": source.code, "label": source.label.in_language(language)}
    return {**record, "created": dates.format_timestamp(opt_out.created_at, zone)}


def check_reason(reason: str) -> str | None:
    """Return a reason, None for an empty one.

    Raises Refused(INVALID_PARAMETER) for one that is too long.
    """
    if len(reason) > MAX_REASON_CHARACTERS:
        raise Refused(Code.INVALID_PARAMETER, detail=at_most_characters(MAX_REASON_CHARACTERS))
    return text.normalize(reason).strip() or None


def is_opt_out_text(content: str) -> bool:
    """Return whether a reply is, apart from case, blanks and punctuation, one of the words that opt out."""
    if len(content) > MAX_WORD_CHARACTERS:
        return False
    normal = unicodedata.normalize("NFKC", content).casefold()
    return "".join(filter(str.isalnum, normal)) in OPT_OUT_WORDS
