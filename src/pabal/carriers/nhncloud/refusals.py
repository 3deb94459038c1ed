"""Maps NHN Cloud's errors of profiles and templates to refusals for callers."""

from collections.abc import Awaitable
from typing import TypeVar

from pabal.carriers.nhncloud.client import ErrorResponse
from pabal.carriers.relay import refusals
from pabal.carriers.relay.http import ErrorAnswer
from pabal.carriers.relay.refusals import outcome_unknown as outcome_unknown
from pabal.domain.base.codes import Code, Refused, Text

T = TypeVar("T")

NO_SUCH_PROFILE = -2017
NO_SUCH_TEMPLATE = -3003
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
    return await refusals.as_refusals(call, lambda error: _refusal(error, field))


def _refusal(error: ErrorAnswer, field: str) -> Refused:
    assert isinstance(error, ErrorResponse)
    if error.code in _SYSTEM_ERRORS:
        return outcome_unknown(f"code {error.code}")
    if error.code in _KEY_ERRORS:
        return refusals.keys_not_accepted(f"the configured keys are not accepted (code {error.code})")
    code, field = _CODES.get(error.code, (Code.INVALID_PARAMETER, field))
    if error.code in _BUTTON_ERRORS:
        code, field = Code.INVALID_BUTTON, "buttons"
    elif error.code in _IMAGE_ERRORS:
        code, field = Code.INVALID_IMAGE, field if field.endswith("image") else "image"
    return Refused(code, field, quote_error(error))


def quote_error(error: ErrorResponse) -> Text:
    """Return NHN Cloud's error message, for callers."""
    return refusals.quote(error.message, error.code)
