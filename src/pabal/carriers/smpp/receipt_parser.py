"""Parses delivery receipts, which operators send as deliver_sm."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.encoding import LATIN_1_CODING, UCS2_CODING, decode_text
from pabal.carriers.smpp.pdu import ShortMessage
from pabal.domain.sends.message import Outcome

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
"""The outcome for each message_state; None, as for any other state: not final."""

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
"""The message_state for each value of `stat:`, as the specification and operators spell it."""

NO_ERRORS: Mapping[str, Outcome] = MappingProxyType({})
Base = Literal["text", "hex", "decimal"]

MAX_DIGITS = 128
"""An id with more digits is not taken for a number."""

_TYPE_BITS = 0x3C
_RECEIPT = 0x04
_INTERMEDIATE = 0x20
_UNMARKED = 0x00
_FIELD = re.compile(
    r"(?:^|\s)(id|stat|err)\s*+:\s*+"
    r"(?!(?:id|sub|dlvrd|submit\s+date|done\s+date|stat|err|text)\s*:)([^\s\x00-\x1f\x7f]+)",
    re.IGNORECASE,
)
_WORD = r"[^\s\x00-\x1f\x7f:]+"
_STANDARD_FORM = re.compile(
    rf"id:({_WORD}) sub:{_WORD} dlvrd:{_WORD} submit date:{_WORD} done date:{_WORD}"
    rf" stat:({_WORD}) err:({_WORD})(?=\s)"
)
"""The form in the specification's appendix; parsing it takes a third of the time."""
_HEX = re.compile(r"(?:0x)?([0-9a-f]+)", re.IGNORECASE | re.ASCII)
_DECIMAL = re.compile(r"([0-9]+)", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class ParsedReceipt(NamedTuple):
    """The state of a message, or of one segment, as a delivery receipt reports it."""

    message_id: str
    outcome: Outcome | None
    """None: not final."""
    user_message_reference: int | None
    """Set if the message was submitted with one."""
    phone: str
    """The receiver's number in national format."""
    code: str = ""
    """The operator's own words: its state and its error, such as `UNDELIV 015`."""


def parse_receipt(
    deliver: ShortMessage, errors: Mapping[str, Outcome] = NO_ERRORS, *, accepts_unmarked: bool = False
) -> ParsedReceipt | None:
    """Return the parsed receipt; None if the deliver_sm is not one.

    `errors` maps an operator's error codes to outcomes that are more precise than its states.
    `accepts_unmarked`: a message whose esm_class does not mark it as a receipt counts as one if its text looks
    like one. Anyone with a phone can write such a text.
    """
    kind = deliver.esm_class & _TYPE_BITS
    if kind not in (_RECEIPT, _INTERMEDIATE, _UNMARKED):
        return None
    tlvs = deliver.tlvs
    fields = _fields(deliver)
    tlv_id = pdu.decode_message_id(tlvs.get(protocol.RECEIPTED_MESSAGE_ID, b"")).strip()
    if kind == _UNMARKED and not tlv_id and not (accepts_unmarked and fields.keys() >= {"id", "stat"}):
        return None
    reference = tlvs.get(protocol.USER_MESSAGE_REFERENCE)
    return ParsedReceipt(
        tlv_id or fields.get("id", ""),
        None if kind == _INTERMEDIATE else _outcome(tlvs, fields, errors),
        int.from_bytes(reference, "big") if reference else None,
        _national_format(deliver.source.digits),
        _own_code(tlvs, fields),
    )


def looks_like_receipt(deliver: ShortMessage) -> bool:
    """Return whether the text of a deliver_sm has the fields of a receipt."""
    return _fields(deliver).keys() >= {"id", "stat"}


def normalize_message_id(message_id: str, base: Base) -> str:
    """Return an id in a form that is the same for submit_sm_resp and receipt, which may use different bases.

    An id that is not a number in `base` is returned without control characters: references are stored one a line.
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
    """Return id, stat and err as far as the text has them.

    The first of each counts: the original text comes last and may contain anything.
    """
    # Operators send ASCII with data_coding 0, the default alphabet, which has other characters for _ and @.
    coding = UCS2_CODING if deliver.data_coding == UCS2_CODING else LATIN_1_CODING
    text = decode_text(deliver.user_data, coding, bool(deliver.esm_class & protocol.HAS_UDH))
    if standard := _STANDARD_FORM.match(text):
        return {"id": standard[1], "stat": standard[2], "err": standard[3]}
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(text):
        fields.setdefault(name.lower(), value)
    return fields


def _outcome(tlvs: Mapping[int, bytes], fields: Mapping[str, str], errors: Mapping[str, Outcome]) -> Outcome | None:
    state_tlv = tlvs.get(protocol.MESSAGE_STATE)
    state = state_tlv[0] if state_tlv else STATES.get(fields.get("stat", "").upper())
    outcome = OUTCOMES.get(state) if state is not None else None  # a final state may follow one that we do not know
    if not errors or outcome is None or outcome is Outcome.DELIVERED:
        return outcome
    return _outcome_of_error(tlvs, fields, errors) or outcome


def _own_code(tlvs: Mapping[int, bytes], fields: Mapping[str, str]) -> str:
    """Return state and error as the operator gives them; those of the TLVs where the text has none."""
    state, network = tlvs.get(protocol.MESSAGE_STATE), tlvs.get(protocol.NETWORK_ERROR_CODE)
    stat = fields.get("stat", "") or (str(state[0]) if state else "")
    error = fields.get("err", "") or (str(int.from_bytes(network[-2:], "big")) if network else "")
    return f"{stat} {error}".strip()


def _outcome_of_error(
    tlvs: Mapping[int, bytes], fields: Mapping[str, str], errors: Mapping[str, Outcome]
) -> Outcome | None:
    meanings = {_normalize_error(code): outcome for code, outcome in errors.items()}
    if "err" in fields and (meaning := meanings.get(_normalize_error(fields["err"]))):
        return meaning
    network = tlvs.get(protocol.NETWORK_ERROR_CODE)
    return meanings.get(_normalize_error(str(int.from_bytes(network[-2:], "big")))) if network else None


def _normalize_error(code: str) -> str:
    return code.strip().upper().lstrip("0")


def _national_format(digits: str) -> str:
    international = digits.removeprefix("+")
    return "0" + international[2:].removeprefix("0") if international.startswith("82") else digits
