"""What NHN Cloud's codes mean here: those that answer a call, and those that tell how a message ended."""

from collections.abc import Iterable, Mapping
from enum import Enum

from pabal.carriers.base import Busy, Declined, Rejected, Unknown, Verdict
from pabal.domain.message import Outcome

TAKEN_BEFORE = -1005
"""KakaoTalk Bizmessage to a call whose idempotency key it has had within ten minutes."""
FILE_GONE = -2004
"""SMS to an attachment that it has no more."""


class ErrorKind(Enum):
    """What follows from a code that answers a call: a word, and how a message ends by it where it does."""

    CLOSED = ("closed", None)
    """The account is not served: nothing can be given to it until someone mends that."""
    BUSY = ("busy", None)
    UNSURE = ("unsure", None)
    """It failed over the call: whether it has the messages must be asked."""
    NO_NUMBER = ("no number", Outcome.NUMBER_NOT_ASSIGNED)
    REFUSED = ("refused", Outcome.REFUSED_BY_RECEIVER)
    SPAM = ("spam", Outcome.SPAM)
    DIFFERS = ("differs", Outcome.DIFFERS_FROM_TEMPLATE)
    NOT_THIS = ("not this", Outcome.UNDELIVERABLE)
    """Not by this carrier, for what is in one message: its text or its buttons."""
    NOT_HERE = ("not here", Outcome.UNDELIVERABLE)
    """Not by this carrier, for what all messages of a call share: their sender, their template, their picture."""
    ODD = ("odd", Outcome.CARRIER_ERROR)
    """It did not understand us, or said something that its documentation does not tell of."""

    def __init__(self, word: str, outcome: Outcome | None) -> None:
        self.word = word
        self.outcome = outcome

    @property
    def is_about_one(self) -> bool:
        """Whether a whole call may have been refused for what one of its messages is alone in."""
        return self in (
            ErrorKind.NO_NUMBER,
            ErrorKind.REFUSED,
            ErrorKind.SPAM,
            ErrorKind.DIFFERS,
            ErrorKind.NOT_THIS,
        )


def _table(rows: Iterable[tuple[ErrorKind, Iterable[int]]]) -> dict[int, ErrorKind]:
    return {code: refusal for refusal, codes in rows for code in codes}


_SMS = _table(
    [
        (ErrorKind.CLOSED, (-1000, -1001, -1002, -1003, -1004, -1007, -1008, -9995)),
        (ErrorKind.BUSY, (-2009, -2010, -2047, -2051, -2052)),
        (ErrorKind.UNSURE, (-9999, -2021)),
        (ErrorKind.NO_NUMBER, (-2018, -2019)),
        (ErrorKind.REFUSED, (-6001,)),
        (ErrorKind.NOT_HERE, (-2002, -2003, -2004, -2005, -2014, -2015, -2023, -2024, -2044, -2045, -2046)),
        (ErrorKind.NOT_HERE, (-2312, -2313, -6000, -6003, -6004)),
    ]
)
_TALK = _table(
    [
        (ErrorKind.CLOSED, (-1000, -1001, -1030, -4004, -4005)),
        (ErrorKind.BUSY, (-4018, -8010)),
        (ErrorKind.UNSURE, (-7000, -9999, TAKEN_BEFORE)),
        (ErrorKind.NO_NUMBER, (-4019, -5000)),
        (ErrorKind.REFUSED, (-3301,)),
        (ErrorKind.SPAM, (-8008,)),
        (ErrorKind.DIFFERS, (-3010, -3011, -3033, -3042, -3043, -3046, -3049)),
        (ErrorKind.NOT_THIS, (-1028, -2018, -2019, -2023, -2024, -2030, -2031, -2032, -3004)),
        (ErrorKind.NOT_HERE, (-1006, -1014, -1024, -1027, -2017, -3003, -3005)),
        (ErrorKind.NOT_HERE, (-4007, -4009, -8001, -8002, -8005, -9992)),
    ]
)


def refusal_of(code: int, *, is_text: bool) -> ErrorKind:
    """Return what follows from a code that answers a call, or one recipient of it."""
    return (_SMS if is_text else _TALK).get(code, ErrorKind.ODD)


def verdict_of(refusal: ErrorKind) -> Verdict:
    """Return what a refusal says of one message."""
    if refusal.outcome is None:
        return Unknown() if refusal is ErrorKind.UNSURE else Busy()
    if refusal in (ErrorKind.NOT_THIS, ErrorKind.NOT_HERE, ErrorKind.ODD):
        return Declined(refusal.outcome)
    return Rejected(refusal.outcome)


def _ends(rows: Iterable[tuple[Outcome, Iterable[str]]]) -> Mapping[str, Outcome]:
    return {code: outcome for outcome, codes in rows for code in codes}


_SMS_ENDS = _ends(
    [
        (Outcome.DELIVERED, ("1000",)),
        (Outcome.TIMED_OUT, ("1019", "2000")),
        (Outcome.PHONE_OFF, ("2003",)),
        (Outcome.NO_SUBSCRIBER, ("3001", "4005")),
        (Outcome.NUMBER_NOT_ASSIGNED, ("1002", "3003", "4003")),
        (Outcome.REFUSED_BY_RECEIVER, ("3006",)),
        (Outcome.SPAM, ("3012", "4008")),
        (Outcome.UNKNOWN, ("E915",)),  # a duplicate of one that it has: how that one fared it does not say here
        (Outcome.CARRIER_ERROR, ("1001", "3011", "4007", "4009", "E900", "E999")),
    ]
)
_TALK_ENDS = _ends(
    [
        (Outcome.DELIVERED, ("1000",)),
        (Outcome.UNKNOWN, ("3005", "4000", "4001")),  # sent, but nobody saw it arrive
        (Outcome.NUMBER_NOT_ASSIGNED, ("3008", "1020")),
        (Outcome.DIFFERS_FROM_TEMPLATE, ("3016", "3027", "3028", "3030", "3031", "3033", "3036", "3038", "3042")),
        (Outcome.NOT_A_USER, ("3019",)),
        (Outcome.BLOCKED_BY_USER, ("3020",)),
        (Outcome.NOT_A_FRIEND, ("2003",)),
        (Outcome.CARRIER_ERROR, ("2001", "2005", "3000", "3006", "3010", "3012", "9998", "9999")),
    ]
)


def outcome_of(code: str, *, is_text: bool) -> Outcome:
    """Return how a message ended, by the code of its result."""
    return (_SMS_ENDS if is_text else _TALK_ENDS).get(code, Outcome.UNDELIVERABLE)
