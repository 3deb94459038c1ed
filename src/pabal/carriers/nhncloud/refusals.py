"""What NHN Cloud's refusals to register, change or delete something are to our callers."""

from collections.abc import Awaitable
from typing import TypeVar

from pabal.carriers.nhncloud.client import NoAnswer, NotReached, Said, Throttled
from pabal.carriers.provider import ProviderOutcomeUnknown, ProviderUnavailable
from pabal.domain.codes import Code, Refused, Text

T = TypeVar("T")

NO_SUCH_PROFILE = -2017
NO_SUCH_TEMPLATE = -3003
THROTTLED_S = 10.0
MAX_SAID_CHARACTERS = 200
_IN_TROUBLE = (-9999,)
_KEYS_REFUSED = (-1000, -1001, -1030, -4004, -4005)
"""App key or secret key are wrong, or the service behind them is closed: only an operator can mend that."""
_CODES = {
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
_OF_BUTTONS = (-2018, -3000, -3006, -3007, -3008, -3009, -3024, -3025, -3026, -3050, -3103, -3309, -3310, -3348)
_OF_IMAGES = (-3032, -4007, -4009, -4010, -4018, -4020, -4021, -8001, -8010)


async def refusing(call: Awaitable[T], field: str = "") -> T:
    """Wait for a call, and return its answer; `field` is what a refusal without a place of its own is about.

    Raises Refused, Unreached, Unsure.
    """
    try:
        return await call
    except NotReached as error:
        raise ProviderUnavailable(f"{error}", _AWAY) from None
    except NoAnswer as error:
        raise unsure(f"{error}") from None
    except Throttled:
        raise ProviderUnavailable("too many calls (HTTP 429)", _AWAY, THROTTLED_S) from None
    except Said as said:
        raise _refusal(said, field) from None


def unsure(reason: str) -> ProviderOutcomeUnknown:
    """Return that nobody knows whether something was done."""
    return ProviderOutcomeUnknown(reason, _NO_ANSWER)


_NO_ANSWER = Text(
    "중계사가 제대로 답하지 않았습니다. 상태를 확인하고 다시 시도하세요.",
    "The relay did not answer as it should: look up the state, and try again.",
)
_AWAY = Text(
    "중계사에 연결할 수 없습니다. 잠시 뒤 다시 시도하세요.", "The relay cannot be reached: try again in a while."
)
_LOCKED_OUT = Text(
    "중계사가 이 서비스의 키를 받아들이지 않습니다. 운영자에게 알리세요.",
    "The relay does not accept this service's keys: tell the operator.",
)


def _refusal(said: Said, field: str) -> Refused:
    if said.code in _IN_TROUBLE:
        return unsure(f"code {said.code}")
    if said.code in _KEYS_REFUSED:
        return ProviderUnavailable(f"it refuses the keys of the settings (code {said.code})", _LOCKED_OUT)
    code, place = _CODES.get(said.code, (Code.INVALID_PARAMETER, field))
    if said.code in _OF_BUTTONS:
        code, place = Code.INVALID_BUTTON, "buttons"
    elif said.code in _OF_IMAGES:
        code, place = Code.INVALID_IMAGE, "image"
    return Refused(code, place, in_its_words(said))


def in_its_words(said: Said) -> Text:
    """Return what it said, for callers to read."""
    message = " ".join(said.message.split())[:MAX_SAID_CHARACTERS]
    return Text(f"중계사의 답: {message} ({said.code})", f"The relay says: {message} ({said.code})")
