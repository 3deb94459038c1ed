"""What a deliver_sm says of a message that was handed over before."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from pabal.carriers.smpp import pdu
from pabal.carriers.smpp.encoding import LATIN_1_CODING, UCS2_CODING, decode_text
from pabal.carriers.smpp.pdu import ShortMessage
from pabal.domain.message import Outcome

OUTCOMES: Mapping[int, Outcome | None] = {
    0: None,
    1: None,
    2: Outcome.DELIVERED,
    3: Outcome.TIMED_OUT,
    4: Outcome.UNDELIVERABLE,
    5: Outcome.UNDELIVERABLE,
    6: None,
    7: Outcome.UNKNOWN,
    8: Outcome.UNDELIVERABLE,
}
"""What each message_state means; None, as for any other: it is still on its way."""

STATES: Mapping[str, int] = {
    "SCHEDULED": 0,
    "SCHEDLD": 0,
    "ENROUTE": 1,
    "DELIVRD": 2,
    "DELIVERED": 2,
    "EXPIRED": 3,
    "DELETED": 4,
    "UNDELIV": 5,
    "UNDELIVERABLE": 5,
    "ACCEPTD": 6,
    "ACCEPTED": 6,
    "UNKNOWN": 7,
    "REJECTD": 8,
    "REJECTED": 8,
}
"""The message_state for each word of `stat:`, as the specification and as operators spell it."""

NO_ERRORS: Mapping[str, Outcome] = MappingProxyType({})
Base = Literal["text", "hex", "decimal"]

MAX_DIGITS = 128
"""An id with more of them is no number."""

_KIND = 0x3C
_RECEIPT = 0x04
_INTERMEDIATE = 0x20
_UNMARKED = 0x00
_FIELD = re.compile(
    r"(?:^|\s)(id|stat|err)\s*+:\s*+"
    r"(?!(?:id|sub|dlvrd|submit\s+date|done\s+date|stat|err|text)\s*:)([^\s\x00-\x1f\x7f]+)",
    re.IGNORECASE,
)
_WORD = r"[^\s\x00-\x1f\x7f:]+"
_USUAL = re.compile(
    rf"id:({_WORD}) sub:{_WORD} dlvrd:{_WORD} submit date:{_WORD} done date:{_WORD}"
    rf" stat:({_WORD}) err:({_WORD})(?=\s)"
)
"""The form of the specification, which is read in a third of the time."""
_HEX = re.compile(r"(?:0x)?([0-9a-f]+)", re.IGNORECASE | re.ASCII)
_DECIMAL = re.compile(r"([0-9]+)", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class ParsedReceipt(NamedTuple):
    """How a message, or a part of it, is getting on."""

    message_id: str
    outcome: Outcome | None
    """None: it is still on its way."""
    mark: int | None
    """Its user_message_reference, if it was sent with one."""
    phone: str
    """The receiver's number, in national spelling."""


def parse_receipt(
    deliver: ShortMessage, errors: Mapping[str, Outcome] = NO_ERRORS, *, believes_text: bool = False
) -> ParsedReceipt | None:
    """Return what a delivery receipt says, None for a message that is no receipt.

    `errors` says what an operator's error numbers mean, for more than its states tell.
    `believes_text`: also a message without the mark of a receipt is one if its text looks like it; anyone with
    a phone can write such a text.
    """
    kind = deliver.esm_class & _KIND
    if kind not in (_RECEIPT, _INTERMEDIATE, _UNMARKED):
        return None
    options = deliver.options
    fields = _fields(deliver)
    told_id = pdu.decode_message_id(options.get(pdu.RECEIPTED_MESSAGE_ID, b"")).strip()
    if kind == _UNMARKED and not told_id and not (believes_text and fields.keys() >= {"id", "stat"}):
        return None
    mark = options.get(pdu.USER_MESSAGE_REFERENCE)
    return ParsedReceipt(
        told_id or fields.get("id", ""),
        None if kind == _INTERMEDIATE else _outcome(options, fields, errors),
        int.from_bytes(mark, "big") if mark else None,
        _national(deliver.source.digits),
    )


def normalize_message_id(message_id: str, base: Base) -> str:
    """Return an id in the one spelling that responses and receipts share, where each may write it its own way.

    An id that is no number of this base stays as it is, but for control characters: references are kept one a line.
    """
    if base == "text" and message_id.isalnum():
        return message_id
    message_id = _CONTROL.sub("", message_id).strip()
    if base == "text":
        return message_id
    number = (_HEX if base == "hex" else _DECIMAL).fullmatch(message_id)
    if not number or len(number[1]) > MAX_DIGITS:
        return message_id
    return str(int(number[1], 16 if base == "hex" else 10))


def _fields(deliver: ShortMessage) -> dict[str, str]:
    """Return id, stat and err, as far as the text has them.

    The first of each counts: the text that was sent comes last, and may say anything.
    """
    # Operators write ASCII and call it the default alphabet, which has other characters for _ and @.
    coding = UCS2_CODING if deliver.data_coding == UCS2_CODING else LATIN_1_CODING
    text = decode_text(deliver.text, coding, bool(deliver.esm_class & pdu.HAS_UDH))
    if usual := _USUAL.match(text):
        return {"id": usual[1], "stat": usual[2], "err": usual[3]}
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(text):
        fields.setdefault(name.lower(), value)
    return fields


def _outcome(
    options: Mapping[int, bytes], fields: Mapping[str, str], errors: Mapping[str, Outcome]
) -> Outcome | None:
    told = options.get(pdu.MESSAGE_STATE)
    state = told[0] if told else STATES.get(fields.get("stat", "").upper())
    outcome = OUTCOMES.get(state) if state is not None else None  # after a state we do not know, the end may follow
    if not errors or outcome is None or outcome is Outcome.DELIVERED:
        return outcome
    return _told_by_error(options, fields, errors) or outcome


def _told_by_error(
    options: Mapping[int, bytes], fields: Mapping[str, str], errors: Mapping[str, Outcome]
) -> Outcome | None:
    meanings = {_bare(word): outcome for word, outcome in errors.items()}
    if "err" in fields and (meaning := meanings.get(_bare(fields["err"]))):
        return meaning
    network = options.get(pdu.NETWORK_ERROR_CODE)
    return meanings.get(_bare(str(int.from_bytes(network[-2:], "big")))) if network else None


def _bare(word: str) -> str:
    return word.strip().upper().lstrip("0")


def _national(digits: str) -> str:
    foreign = digits.removeprefix("+")
    return "0" + foreign[2:].removeprefix("0") if foreign.startswith("82") else digits
