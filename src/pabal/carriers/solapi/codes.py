"""Maps Solapi's codes: errors of calls to verdicts, and status codes of messages to verdicts and outcomes."""

from enum import Enum

from pabal.carriers.base import Busy, Declined, Rejected, Verdict
from pabal.carriers.relay.refusals import by_code
from pabal.carriers.solapi.client import SolapiError
from pabal.domain.sends.message import Outcome

ACCEPTED = "2000"
PENDING_CODES = (ACCEPTED, "3000")
"""Accepted, and handed to the operator or Kakao: there is no result yet."""
NO_BALANCE_CODES = ("1030",)
"""The prepaid balance is used up."""
IMAGE_GONE_CODES = ("1023", "1034", "1051")
TEMPLATE_GONE_CODES = ("1042",)
ACCOUNT_CODES = frozenset(("invalidapikey", "signaturedoesnotmatch", "requesttimetooskewed", "1020"))
"""The key, the secret or the clock is wrong, in small letters: clients spell these codes in two ways."""
ACCOUNT_STATUSES = (401, 405)
FORBIDDEN_STATUSES = (403, 404)
PAYMENT_REQUIRED = 402
DUPLICATE_SIGNATURE = "DuplicatedSignature"


class CallError(Enum):
    """What an error of a whole call means; nothing of it was accepted."""

    ACCOUNT_CLOSED = "account closed"
    """The key, the clock or the address is wrong; nothing can be sent until an operator corrects that."""
    NOT_NOW = "not now"
    """Another call may be accepted at once."""
    BUSY = "busy"
    MAY_BE_ONE_MESSAGE = "may be one message"
    """The call is too large, or one of its messages cannot be read: halves tell which."""
    MAY_BE_THE_ACCOUNT = "may be the account"
    """Something is forbidden or missing, but not documented: one message, or the account. Halves tell which."""


def call_error_of(error: SolapiError) -> CallError:
    """Return what an error of a whole call means."""
    if error.code == DUPLICATE_SIGNATURE:
        return CallError.NOT_NOW
    if error.status == PAYMENT_REQUIRED or error.code in NO_BALANCE_CODES:
        return CallError.BUSY
    if error.status in ACCOUNT_STATUSES or error.code.lower() in ACCOUNT_CODES:
        return CallError.ACCOUNT_CLOSED
    return CallError.MAY_BE_THE_ACCOUNT if error.status in FORBIDDEN_STATUSES else CallError.MAY_BE_ONE_MESSAGE


def closes_account(error: SolapiError) -> bool:
    """Return whether an error of a call that concerns no single message means that the account is not usable."""
    return call_error_of(error) in (CallError.ACCOUNT_CLOSED, CallError.MAY_BE_THE_ACCOUNT)


OUTCOMES = by_code(
    [
        (Outcome.DELIVERED, ("4000",)),
        (Outcome.TIMED_OUT, ("3040",)),
        (Outcome.PHONE_OFF, ("3042", "3043")),
        (Outcome.NO_SUBSCRIBER, ("3032",)),
        (Outcome.NUMBER_NOT_ASSIGNED, ("3010",)),
        (Outcome.REFUSED_BY_RECEIVER, ("1060", "1061", "2060", "2061", "3047")),
        (Outcome.SPAM, ("1064", "2064", "2254", "3054", "3055")),
        (Outcome.DIFFERS_FROM_TEMPLATE, ("1043", "3103")),
        (Outcome.NOT_A_USER, ("3104",)),
        (Outcome.BLOCKED_BY_USER, ("3107",)),
        (Outcome.NOT_A_FRIEND, ("3102",)),
        (Outcome.UNKNOWN, ("3014", "3048")),
        (
            Outcome.CARRIER_ERROR,
            ("1010", "1011", "1020", "1024", "2011", "2024", "2063", "2230", "3011", "3012", "3024", "3053"),
        ),
    ]
)
"""Every other code means that the message cannot be delivered."""

_FINAL = frozenset((Outcome.REFUSED_BY_RECEIVER, Outcome.SPAM, Outcome.DIFFERS_FROM_TEMPLATE))
"""No other carrier would deliver it either."""
_BUSY_CODES = ("1024", *NO_BALANCE_CODES)


def outcome_of(code: str) -> Outcome:
    """Return the outcome for the status code of a message that has a result."""
    return OUTCOMES.get(code, Outcome.UNDELIVERABLE)


def is_pending(code: str | None) -> bool:
    """Return whether a message has no result yet."""
    return not code or code in PENDING_CODES


def was_refused(code: str) -> bool:
    """Return whether a message was not accepted: it is listed, but was never sent."""
    return code.startswith("1")


def verdict_for(code: str) -> Verdict:
    """Return the verdict on a message that was refused with a status code."""
    if code in _BUSY_CODES:
        return Busy(code)
    outcome = outcome_of(code)
    return Rejected(outcome, code) if outcome in _FINAL else Declined(outcome, code)
