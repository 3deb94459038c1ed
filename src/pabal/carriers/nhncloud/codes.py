"""Maps NHN Cloud's codes: errors of calls to verdicts and refusals, results of messages to outcomes."""

from collections.abc import Awaitable, Mapping
from enum import Enum, auto
from typing import Any, TypeVar

from pabal.carriers.base import Busy, Declined, NotSent, Rejected, Unknown, Verdict
from pabal.carriers.nhncloud.client import TOO_LARGE, ErrorResponse
from pabal.carriers.relay import refusals
from pabal.carriers.relay.http import ErrorAnswer
from pabal.carriers.relay.refusals import by_code
from pabal.carriers.relay.refusals import outcome_unknown as outcome_unknown
from pabal.domain.base.codes import Code, Refused
from pabal.domain.sends.message import Outcome
from pabal.domain.sends.price import FRIEND_MARK

T = TypeVar("T")

DUPLICATE_CALL = -1005
"""KakaoTalk Bizmessage: the idempotency key was used within the last ten minutes."""
ALL_FAILED = -1031
"""KakaoTalk Bizmessage: every recipient of a call was refused; the reason of each may be missing."""
ATTACHMENT_EXPIRED = -2004
"""SMS: the attachment does not exist any more."""
NO_AUTH_WORD = {True: -8000, False: -8006}
"""By whether it is the SMS API: the line for one-time codes wants a word in the text that this one lacks."""
NO_SUCH_PROFILE = -2017
NO_SUCH_TEMPLATE = -3003
_SYSTEM_ERRORS = (-9999,)
_KEY_ERRORS = (-1000, -1001, -1030, -4004, -4005)
"""The app key or secret key is wrong, or the service is closed: only an operator can correct that."""
_REFUSALS = {
    NO_SUCH_PROFILE: (Code.SENDER_NOT_APPROVED, "senderKey"),
    -1006: (Code.SENDER_NOT_APPROVED, "senderKey"),
    -1014: (Code.SENDER_NOT_APPROVED, "senderKey"),
    -1027: (Code.SENDER_NOT_APPROVED, "senderKey"),
    NO_SUCH_TEMPLATE: (Code.TEMPLATE_NOT_FOUND, "templateCode"),
    -3001: (Code.DUPLICATE, "templateCode"),
    -3012: (Code.INVALID_STATE, "templateCode"),
    -3013: (Code.INVALID_STATE, "templateCode"),
    -3034: (Code.INVALID_STATE, "templateCode"),
    -2019: (Code.CONTENT_TOO_LONG, "content"),
}
_BUTTON_ERRORS = (-2018, -3000, -3006, -3007, -3008, -3009, -3024, -3025, -3026, -3050, -3103, -3309, -3310, -3348)
_IMAGE_ERRORS = (-3032, -4007, -4009, -4010, -4018, -4020, -4021, -8001, -8010)


class ErrorKind(Enum):
    """What an error code means."""

    ACCOUNT_CLOSED = auto()
    """The keys or the account are not accepted; nothing can be sent until an operator corrects that."""
    BUSY = auto()
    TEXT_QUOTA = auto()
    """The organisation may send no more texts this month; the message was not accepted."""
    DAILY_QUOTA = auto()
    """The sender profile may send no more messages today; the message was not accepted."""
    UNCERTAIN = auto()
    """The call failed inside NHN Cloud: only a lookup tells whether it has the messages."""
    INVALID_NUMBER = auto()
    REFUSED_BY_RECEIVER = auto()
    SPAM = auto()
    DIFFERS_FROM_TEMPLATE = auto()
    MESSAGE_NOT_SUPPORTED = auto()
    """Not by this carrier, because of something in one message: its text or its buttons."""
    CALL_NOT_SUPPORTED = auto()
    """Not by this carrier, because of something all messages of a call share: sender, template or image."""
    BRAND_NOT_SUPPORTED = auto()
    """The same of a brand message; in one by template, the values of one receiver may be the reason."""
    INVALID_CALL = auto()
    """Our call was invalid, whatever its messages are."""
    UNEXPECTED = auto()
    """A message was invalid, or the code is not documented."""

    @property
    def concerns_one_message(self) -> bool:
        """Whether a single message may be the reason for the refusal of a whole call."""
        return self in (*_REJECTED, ErrorKind.MESSAGE_NOT_SUPPORTED, ErrorKind.UNEXPECTED)


_REJECTED = {
    ErrorKind.INVALID_NUMBER: Outcome.NUMBER_NOT_ASSIGNED,
    ErrorKind.REFUSED_BY_RECEIVER: Outcome.REFUSED_BY_RECEIVER,
    ErrorKind.SPAM: Outcome.SPAM,
    ErrorKind.DIFFERS_FROM_TEMPLATE: Outcome.DIFFERS_FROM_TEMPLATE,
}
"""How a message ends that no other carrier would deliver either."""
_DECLINED = {
    ErrorKind.MESSAGE_NOT_SUPPORTED: Outcome.UNDELIVERABLE,
    ErrorKind.CALL_NOT_SUPPORTED: Outcome.UNDELIVERABLE,
    ErrorKind.BRAND_NOT_SUPPORTED: Outcome.UNDELIVERABLE,
    ErrorKind.INVALID_CALL: Outcome.CARRIER_ERROR,
    ErrorKind.UNEXPECTED: Outcome.CARRIER_ERROR,
}
_SMS = by_code(
    [
        (ErrorKind.ACCOUNT_CLOSED, (-1000, -1001, -1002, -1003, -1004, -1007, -1008, -9995)),
        (ErrorKind.BUSY, (-2009, -2010, -2047, -2051)),
        (ErrorKind.TEXT_QUOTA, (-2052,)),
        (ErrorKind.UNCERTAIN, (-9999, -2021)),
        (ErrorKind.INVALID_NUMBER, (-2018, -2019)),
        (ErrorKind.REFUSED_BY_RECEIVER, (-6001,)),
        (ErrorKind.CALL_NOT_SUPPORTED, (-2002, -2003, -2004, -2005, -2015, -2023)),
        (ErrorKind.CALL_NOT_SUPPORTED, (-2312, -2313, -6000, -6003, -6004)),
        # The words of -2014 are about a recipient; the others depend on the country of its number.
        (ErrorKind.MESSAGE_NOT_SUPPORTED, (TOO_LARGE, -2014, -2024, -2044, -2045, -2046)),
        (ErrorKind.INVALID_CALL, (-1005, -1006, -2000, -2001, -9996, -9998)),
    ]
)
_TALK = by_code(
    [
        (ErrorKind.ACCOUNT_CLOSED, (-1000, -1001, -1030, -4004, -4005)),
        (ErrorKind.BUSY, (-4018, -8010)),
        (ErrorKind.DAILY_QUOTA, (-1017,)),
        (ErrorKind.UNCERTAIN, (-7000, -9999, DUPLICATE_CALL)),
        (ErrorKind.INVALID_NUMBER, (-4019, -5000)),
        (ErrorKind.REFUSED_BY_RECEIVER, (-3301,)),
        (ErrorKind.SPAM, (-8008,)),
        (ErrorKind.DIFFERS_FROM_TEMPLATE, (-3010, -3011, -3033, -3042, -3043, -3046, -3049)),
        (ErrorKind.MESSAGE_NOT_SUPPORTED, (TOO_LARGE, ALL_FAILED, -1028, -2000, -2001, -2018, -2019, -2023, -2024)),
        (ErrorKind.MESSAGE_NOT_SUPPORTED, (*range(-2037, -2029), -2504, -2505, -3000, -3004, *range(-3009, -3005))),
        (ErrorKind.MESSAGE_NOT_SUPPORTED, (-3026, *range(-3041, -3037), -3044, -3045, -3048, -3051, -3052, -3053)),
        (ErrorKind.MESSAGE_NOT_SUPPORTED, (-3101, -3102, -3103, *range(-3226, -3199), -3326, -3327)),
        (ErrorKind.CALL_NOT_SUPPORTED, (-1006, -1014, -1024, -1027, -2017, -3003, -3005)),
        (ErrorKind.CALL_NOT_SUPPORTED, (-4007, -4009, -8001, -8002, -8005, -9992)),
        # Brand messages: all but the number and the values of a template are shared by a call.
        (ErrorKind.CALL_NOT_SUPPORTED, (-3298, -3300, -3340, -3341, -4029)),
        (ErrorKind.BRAND_NOT_SUPPORTED, (*range(-3323, -3302), -3325, *range(-3338, -3327), -3348, -3349)),
        (ErrorKind.DIFFERS_FROM_TEMPLATE, (-3299, -3324, -3344, -3347)),
        (ErrorKind.INVALID_CALL, (-9993, -9996, -9998)),
    ]
)


def error_kind_of(code: int, *, is_text: bool) -> ErrorKind:
    """Return what an error code of a call, or of one of its recipients, means."""
    return (_SMS if is_text else _TALK).get(code, ErrorKind.UNEXPECTED)


def verdict_for(kind: ErrorKind, code: str | None = None) -> Verdict:
    """Return the verdict on a message after an error with this code."""
    if kind in _REJECTED:
        return Rejected(_REJECTED[kind], code)
    if kind in _DECLINED:
        return Declined(_DECLINED[kind], code)
    if kind in (ErrorKind.TEXT_QUOTA, ErrorKind.DAILY_QUOTA):
        return NotSent()
    return Unknown() if kind is ErrorKind.UNCERTAIN else Busy(code)


IN_PROGRESS = "4161"
"""KakaoTalk Bizmessage: the message is being processed; this is no result yet."""
_FAILED_SMS_STATUSES = ("0", "4", "5", "6")
_FAILED_STATUSES = ("FAILED", "CANCEL", "DUPLICATED", "FAILED_AD")


SMS_OUTCOMES = by_code(
    [
        (Outcome.DELIVERED, ("1000",)),
        (Outcome.TIMED_OUT, ("1019", "2000")),
        (Outcome.PHONE_OFF, ("2003",)),
        (Outcome.NO_SUBSCRIBER, ("3001", "4005")),
        (Outcome.NUMBER_NOT_ASSIGNED, ("1002", "3003", "4003")),
        (Outcome.REFUSED_BY_RECEIVER, ("3006",)),
        (Outcome.SPAM, ("3012", "4008")),
        (Outcome.UNKNOWN, ("E915",)),  # a duplicate of another message, whose result is not given here
        (Outcome.CARRIER_ERROR, ("1001", "3011", "4007", "4009", "E900", "E999")),
    ]
)
TALK_OUTCOMES = by_code(
    [
        (Outcome.DELIVERED, ("1000",)),
        (Outcome.UNKNOWN, ("3005", "4000", "4001")),  # sent, but the arrival is not confirmed
        (Outcome.NUMBER_NOT_ASSIGNED, ("3008", "1020")),
        (Outcome.DIFFERS_FROM_TEMPLATE, ("3016", "3027", "3028", "3030", "3031", "3033", "3036", "3038", "3042")),
        (
            Outcome.DIFFERS_FROM_TEMPLATE,
            ("1033", "3043", "3044", "3045", "3053", "3054", "3055", "3057", "4132", "4134"),
        ),
        (Outcome.NOT_A_USER, ("3019",)),
        (Outcome.BLOCKED_BY_USER, ("3020",)),
        (Outcome.CARRIER_ERROR, ("2001", "2005", "3000", "3006", "3010", "3012", "9998", "9999")),
    ]
)


def outcome_of(code: str, *, is_text: bool) -> Outcome:
    """Return the outcome for a result code."""
    return (SMS_OUTCOMES if is_text else TALK_OUTCOMES).get(code, Outcome.UNDELIVERABLE)


def own_code_of(row: Mapping[str, Any]) -> str | None:
    """Return the result code in a row; marked if the row of a brand message says that its receiver is a friend."""
    code = _code_of(row)
    return f"{code}{FRIEND_MARK}" if code and row.get("isAddedChannel") is True else code


def _code_of(row: Mapping[str, Any]) -> str | None:
    return str(row.get("resultCode") or "") or None


def outcome_of_row(row: Mapping[str, Any], *, is_text: bool) -> Outcome | None:
    """Return the outcome in a row of a list, of results or of a webhook; None while the message has not ended.

    A row may say that a message failed without a result code.
    """
    code = _code_of(row)
    if code and (is_text or code != IN_PROGRESS):
        return outcome_of(code, is_text=is_text)
    has_failed = str(row.get("msgStatus")) in _FAILED_SMS_STATUSES or row.get("messageStatus") in _FAILED_STATUSES
    return Outcome.UNDELIVERABLE if has_failed and not code else None


async def as_refusals(call: Awaitable[T], field: str = "") -> T:
    """Return the answer to a call; `field` is the field of a refusal that does not name one itself.

    Raises Refused, ProviderUnavailable, ProviderOutcomeUnknown.
    """
    return await refusals.as_refusals(call, lambda error: _refusal(error, field))


def _refusal(error: ErrorAnswer, field: str) -> Refused:
    assert isinstance(error, ErrorResponse)
    if error.code in _SYSTEM_ERRORS:
        return outcome_unknown(f"code {error.code}")
    if error.code in _KEY_ERRORS:
        return refusals.keys_not_accepted(f"the configured keys are not accepted (code {error.code})")
    code, field = _REFUSALS.get(error.code, (Code.INVALID_PARAMETER, field))
    if error.code in _BUTTON_ERRORS:
        code, field = Code.INVALID_BUTTON, "buttons"
    elif error.code in _IMAGE_ERRORS:
        code, field = Code.INVALID_IMAGE, field if field.endswith("image") else "image"
    return Refused(code, field, refusals.quote(error.message, error.code))
