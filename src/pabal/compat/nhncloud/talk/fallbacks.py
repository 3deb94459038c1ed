"""The text that stands in for a failed message: NHN Cloud's resendParameter of a receiver, ours of a request."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.compat.nhncloud.talk.bodies import ResendParameter
from pabal.compat.nhncloud.talk.codes import TalkCode
from pabal.domain.base.codes import Refused
from pabal.domain.content import text, variables

_TYPES = ("SMS", "LMS")
_VARIABLE = "resendContent"


class ResendRefused(Exception):
    """A resendParameter that cannot be mapped; `code` says why."""

    def __init__(self, code: TalkCode) -> None:
        super().__init__(code.name)
        self.code = code


class Resend(NamedTuple):
    """The text to send if a message fails: from which number, and what."""

    sender: str
    content: str | None = None


def read_resend(given: ResendParameter | None, channel_id: str, opt_out_number: str = "") -> Resend | None:
    """Return the text that a recipient gets if its message fails; None where there is to be none.

    Without isResend there is none: at NHN Cloud the console would decide. `opt_out_number` is the one that the text
    of an advertisement gets.

    Raises ResendRefused: a text needs a number; a long one has the name of the channel as its title.
    """
    if given is None or not given.isResend:
        return None
    if not given.resendSendNo:
        raise ResendRefused(TalkCode.NO_RESEND_NUMBER)
    number = (given.resendUnsubscribeNo or "").replace("-", "")
    has_own_title = given.resendTitle and given.resendTitle != channel_id and _may_be_long(given)
    if given.resendType not in (None, "", *_TYPES) or has_own_title or (number and number != opt_out_number):
        raise ResendRefused(TalkCode.BAD_RESEND)
    return Resend(given.resendSendNo, given.resendContent or None)


def _may_be_long(given: ResendParameter) -> bool:
    """Return whether a text is sent as LMS, which has a title."""
    if given.resendType == "SMS":
        return False
    if given.resendType == "LMS" or not given.resendContent:
        return True
    try:
        return text.carried_bytes(given.resendContent) > text.SMS_MAX_BYTES
    except Refused:  # it is refused later
        return False


def shared_of(resend: Resend | None) -> tuple[str, bool] | None:
    """Return what recipients of one send have in common of their fallbacks: everything but the text itself."""
    return (resend.sender, resend.content is not None) if resend else None


class ResendText(NamedTuple):
    """The text of a request, and the variable in it, if receivers have texts of their own."""

    content: str | None
    variable: str | None


def join_contents(contents: Sequence[str | None], taken: Sequence[str]) -> ResendText:
    """Return one text for the fallbacks of a request; `taken` are the names of other variables.

    A finished text has no variables of ours, whatever it looks like.
    """
    first = contents[0] if contents else None
    if first is None:
        return ResendText(None, None)
    if all(each == first for each in contents) and not variables.find_names(first):
        return ResendText(first, None)
    name = _VARIABLE
    while name in taken:
        name += "_"
    return ResendText(f"#{{{name}}}", name)
