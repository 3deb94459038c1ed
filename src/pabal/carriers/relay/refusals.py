"""Maps failed calls about profiles and templates to refusals for callers."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from pabal.carriers.provider import ProviderOutcomeUnknown, ProviderUnavailable
from pabal.carriers.relay.http import ErrorAnswer, NoResponse, NotProcessed, Throttled
from pabal.domain.base.codes import Refused, Text

T = TypeVar("T")

RETRY_AFTER_S = 10.0
"""When callers may retry after an HTTP 429."""
MAX_QUOTED_CHARACTERS = 200


async def as_refusals(call: Awaitable[T], refusal_of: Callable[[ErrorAnswer], Refused]) -> T:
    """Return the answer to a call; `refusal_of` says how the relay's own errors are refused.

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
    except ErrorAnswer as error:
        raise refusal_of(error) from None


def outcome_unknown(reason: str) -> ProviderOutcomeUnknown:
    """Return the error for a call that may have been processed or not."""
    return ProviderOutcomeUnknown(reason, _NO_RESPONSE)


def keys_not_accepted(reason: str) -> ProviderUnavailable:
    """Return the error for a relay that does not accept our keys."""
    return ProviderUnavailable(reason, _KEYS_NOT_ACCEPTED)


def quote(message: str, code: int | str) -> Text:
    """Return the relay's error message, for callers."""
    message = " ".join(message.split())[:MAX_QUOTED_CHARACTERS]
    return Text(f"중계사의 답: {message} ({code})", f"The relay says: {message} ({code})")


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
ALREADY_REGISTERED = Text(
    "이 채널은 중계사에 이미 등록되어 있습니다. 운영자가 `pabal profile adopt`로 가져올 수 있습니다.",
    "This channel is already registered at the relay. An operator can assign it with `pabal profile adopt`.",
)
OTHER_IN_REVIEW = Text(
    "중계사가 이 템플릿의 다른 내용을 검수하고 있습니다.",
    "The relay is reviewing another version of this template.",
)
