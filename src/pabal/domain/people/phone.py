"""Phone numbers of recipients and senders."""

import re
from functools import lru_cache

from pabal.domain.base.codes import Code, LabelledEnum, Refused, Text

_USUAL = re.compile(r"(?:0|\+82[- ]?0?)(1[0-9])[- ]?([0-9]{4})[- ]?([0-9]{4})", re.ASCII)
_SPELLING = re.compile(r"\+?[0-9]+(?:[- ]+[0-9]+)*", re.ASCII)
_SEPARATORS = re.compile(r"[- ]+")
_NATIONWIDE = re.compile(r"1[568][0-9]{6}", re.ASCII)
_MOBILE = re.compile(r"01(?:0[0-9]{8}|[16789][0-9]{7,8})", re.ASCII)
_SENDER = re.compile(
    r"01(?:0[0-9]{8}|[16789][0-9]{7,8})"
    r"|02(?!1[568][0-9]{6}$)[0-9]{7,8}"
    r"|0(?:3[1-3]|4[1-4]|5[1-5]|6[1-4])[0-9]{7,8}"
    r"|1[568][0-9]{6}"
    r"|070[2-9][0-9]{7}"
    r"|080[0-9]{7,8}"
    r"|030[0-9]{8,9}",
    re.ASCII,
)
_FREE = re.compile(r"080[0-9]{7,8}", re.ASCII)
MAX_SPELLING_CHARACTERS = 32
_MALFORMED = Text("숫자와 하이픈만 쓰세요.", "Use digits and hyphens only.")
_NOT_KOREAN = Text("국내 번호가 아닙니다.", "It is not a Korean number.")
_NOT_MOBILE = Text("국내 휴대폰 번호가 아닙니다.", "It is not a Korean mobile number.")
_NOT_A_SENDER = Text("발신번호로 쓸 수 없는 번호입니다.", "This number cannot be used as a sender number.")
_NOT_FREE = Text(
    "무료 수신거부 번호는 080으로 시작하는 10~11자리 번호입니다.",
    "A number for opting out is free: it has 10 or 11 digits and begins with 080.",
)


def parse_mobile(spelling: str) -> str:
    """Return the digits of a Korean mobile number.

    Raises Refused(INVALID_PHONE_NUMBER).
    """
    if _MOBILE.fullmatch(spelling):
        return spelling
    usual = _USUAL.fullmatch(spelling)
    digits = "0" + "".join(usual.groups()) if usual else _digits(spelling)
    if not _MOBILE.fullmatch(digits):
        raise _refusal(_NOT_MOBILE)
    return digits


def parse_sender(spelling: str) -> str:
    """Return the digits of a number that can be the sender of a text message.

    Raises Refused(INVALID_PHONE_NUMBER).
    """
    spelling = spelling.strip(" ")
    _check_length(spelling)
    return _parse_short_sender(spelling)


def parse_opt_out(spelling: str) -> str:
    """Return the digits of a number for opting out of advertisements: calls to it must be free.

    Raises Refused(INVALID_PHONE_NUMBER).
    """
    digits = _digits(spelling)
    if not _FREE.fullmatch(digits):
        raise _refusal(_NOT_FREE)
    return digits


@lru_cache(maxsize=1024)
def _parse_short_sender(spelling: str) -> str:
    digits = _digits(spelling)
    if not _SENDER.fullmatch(digits):
        raise _refusal(_NOT_A_SENDER)
    return digits


def hyphenate(digits: str) -> str:
    """Return a number as people write it: 010-1234-5678, 02-123-4567, 1588-0000, 070-1234-5678."""
    if digits.startswith("02"):
        area, rest = digits[:2], digits[2:]
    elif digits.startswith("1"):
        return f"{digits[:4]}-{digits[4:]}"
    elif digits.startswith("030"):
        area, rest = digits[:4], digits[4:]
    else:
        area, rest = digits[:3], digits[3:]
    return f"{area}-{rest[:-4]}-{rest[-4:]}"


def mask(digits: str) -> str:
    """Return a number with its middle hidden: 010-****-5678."""
    first, *middle, last = hyphenate(digits).split("-")
    return f"{first}-****-{last}" if middle else f"{first}-****"


def _digits(spelling: str) -> str:
    spelling = spelling.strip(" ")
    _check_length(spelling)
    if not _SPELLING.fullmatch(spelling):
        raise _refusal(_MALFORMED)
    digits = _SEPARATORS.sub("", spelling)
    if digits.startswith("+"):
        if not digits.startswith("+82"):
            raise _refusal(_NOT_KOREAN)
        national = digits[3:].removeprefix("0")
        return national if _NATIONWIDE.fullmatch(national) else f"0{national}"
    return digits


def _check_length(spelling: str) -> None:
    if len(spelling) > MAX_SPELLING_CHARACTERS:
        raise _refusal(_MALFORMED)


def _refusal(detail: Text) -> Refused:
    return Refused(Code.INVALID_PHONE_NUMBER, detail=detail)


class NumberState(LabelledEnum):
    """Whether an account may send from a number that it registered."""

    PENDING = ("pending", Text("승인 대기", "Pending"))
    APPROVED = ("approved", Text("등록됨", "Registered"))
    REJECTED = ("rejected", Text("반려", "Rejected"))


NUMBER_STATE_BY_CODE = {state.code: state for state in NumberState}
