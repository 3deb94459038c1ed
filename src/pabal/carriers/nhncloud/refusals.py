"""Maps NHN Cloud's errors of profiles and templates to refusals for callers."""

from collections.abc import Awaitable
from typing import TypeVar

from pabal.carriers.nhncloud.client import ErrorResponse, NoResponse, NotProcessed, Throttled
from pabal.carriers.provider import ProviderOutcomeUnknown, ProviderUnavailable
from pabal.domain.codes import Code, Refused, Text

T = TypeVar("T")

NO_SUCH_PROFILE = -2017
NO_SUCH_TEMPLATE = -3003
RETRY_AFTER_S = 10.0
"""When callers may retry after an HTTP 429."""
MAX_QUOTED_CHARACTERS = 200
_SYSTEM_ERRORS = (-9999,)
_KEY_ERRORS = (-1000, -1001, -1030, -4004, -4005)
"""The app key or secret key is wrong, or the service is closed: only an operator can correct that."""
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
_BUTTON_ERRORS = (-2018, -3000, -3006, -3007, -3008, -3009, -3024, -3025, -3026, -3050, -3103, -3309, -3310, -3348)
_IMAGE_ERRORS = (-3032, -4007, -4009, -4010, -4018, -4020, -4021, -8001, -8010)


async def as_refusals(call: Awaitable[T], field: str = "") -> T:
    """Return the answer to a call; `field` is the field of a refusal that does not name one itself.

    Raises Refused, ProviderUnavailable, ProviderOutcomeUnknown.
    """
    try:
        return await call
    except NotProcessed as error:
        raise ProviderUnavailable(f"{error}", _UNREACHABLE) from None
    except NoResponse as error:
        raise outcome_unknown(f"{error}") from None
    except Throttled:
        raise ProviderUnavailable("too many calls (HTTP 429)", _UNREACHABLE, RETRY_AFTER_S) from None
    except ErrorResponse as error:
        raise _refusal(error, field) from None


def outcome_unknown(reason: str) -> ProviderOutcomeUnknown:
    """Return the error for a call that may have been processed or not."""
    return ProviderOutcomeUnknown(reason, _NO_RESPONSE)


_NO_RESPONSE = Text(
    "중계사가 제대로 답하지 않았습니다. 상태를 확인하고 다시 시도하세요.",
    "The relay did not answer properly. Check the state, then try again.",
)
_UNREACHABLE = Text(
    "중계사에 연결할 수 없습니다. 잠시 뒤 다시 시도하세요.", "The relay cannot be reached. Try again later."
)
_KEYS_NOT_ACCEPTED = Text(
    "중계사가 이 서비스의 키를 받아들이지 않습니다. 운영자에게 알리세요.",
    "The relay does not accept this service's keys. Tell the operator.",
)


def _refusal(error: ErrorResponse, field: str) -> Refused:
    if error.code in _SYSTEM_ERRORS:
        return outcome_unknown(f"code {error.code}")
    if error.code in _KEY_ERRORS:
        return ProviderUnavailable(f"the configured keys are not accepted (code {error.code})", _KEYS_NOT_ACCEPTED)
    code, field = _CODES.get(error.code, (Code.INVALID_PARAMETER, field))
    if error.code in _BUTTON_ERRORS:
        code, field = Code.INVALID_BUTTON, "buttons"
    elif error.code in _IMAGE_ERRORS:
        code, field = Code.INVALID_IMAGE, "image"
    return Refused(code, field, quote_error(error))


def quote_error(error: ErrorResponse) -> Text:
    """Return NHN Cloud's error message, for callers."""
    message = " ".join(error.message.split())[:MAX_QUOTED_CHARACTERS]
    return Text(f"중계사의 답: {message} ({error.code})", f"The relay says: {message} ({error.code})")
