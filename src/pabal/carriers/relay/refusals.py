"""What failed calls of a relay mean: refusals for callers, and used-up quotas and other notices for operators."""

import urllib.parse
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from pabal.carriers.base import NotSent
from pabal.carriers.provider import ProviderOutcomeUnknown, ProviderUnavailable
from pabal.carriers.relay.http import ErrorAnswer, NoResponse, NotProcessed, Throttled
from pabal.domain.base.codes import Refused, Text
from pabal.world import World

T = TypeVar("T")
K = TypeVar("K", int, str)
V = TypeVar("V")

NOT_A_SEGMENT = Text(
    "중계사에 보낼 수 없는 값입니다. /와 \\, 점만으로 된 값은 쓸 수 없습니다.",
    "It cannot be sent to the relay: it has / or \\, or consists of dots.",
)
RETRY_AFTER_S = 10.0
"""When callers may retry after an HTTP 429."""
MAX_QUOTED_CHARACTERS = 200


def by_code(rows: Iterable[tuple[V, Iterable[K]]]) -> dict[K, V]:
    """Return what each code means, from rows of a meaning and its codes."""
    return {code: meaning for meaning, codes in rows for code in codes}


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


def path_segment(given: str, refusal: Refused) -> str:
    """Return a segment of a path, percent-encoded.

    Raises `refusal` for one that a server may take for another path, whatever its encoding.
    """
    if given in ("", ".", "..") or "/" in given or "\\" in given:
        raise refusal
    return urllib.parse.quote(given, safe="")


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


PROBE_INTERVAL_S = 600.0
"""How often something is submitted although a quota was used up: it may have been raised."""
PROBE_TIMEOUT_S = 60.0
"""How long everything else waits for the answer to that."""
NOTICE_S = 300.0
"""How long a notice is shown after the last time it was true, unless something else ends it."""


class Notices:
    """Notices by subject; each ends when it is cleared, or after a time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._notices: dict[str, tuple[str, float]] = {}

    def set(self, subject: str, text: str, for_s: float = NOTICE_S) -> None:
        """Show a notice for so long."""
        self._notices[subject] = text, self._world.monotonic() + for_s

    def clear(self, subject: str) -> None:
        """End a notice."""
        self._notices.pop(subject, None)

    @property
    def shown(self) -> dict[str, str]:
        """The notices of now, by subject."""
        now = self._world.monotonic()
        self._notices = {subject: each for subject, each in self._notices.items() if each[1] > now}
        return {subject: text for subject, (text, _) in self._notices.items()}


class Quotas:
    """The quotas that are used up, by name; a name may count for several holders, such as profiles."""

    def __init__(self, world: World, notices: Notices) -> None:
        self._world = world
        self._notices = notices
        self._retry_at: dict[tuple[str, str], float] = {}

    @property
    def exhausted(self) -> dict[str, int]:
        """How many holders have used up each quota."""
        shown = self._notices.shown
        return Counter(name for name, holder in self._retry_at if _subject(name, holder) in shown)

    def exhaust(self, name: str, text: str, resets_after_s: float, holder: str = "") -> NotSent:
        """Record that a quota is used up; return the verdict on what it concerns. `text` is for the operator."""
        wait_s = max(1.0, min(resets_after_s, PROBE_INTERVAL_S))
        self._retry_at[name, holder] = self._world.monotonic() + wait_s
        self._notices.set(_subject(name, holder), text, wait_s + PROBE_TIMEOUT_S)
        return NotSent(retry_after_s=wait_s)

    def check(self, name: str, holder: str = "") -> NotSent | None:
        """Return the verdict on what a used up quota concerns; None if it may be submitted.

        When it is time to try again, one caller gets None, and the others wait for what it finds.
        """
        retry_at = self._retry_at.get((name, holder))
        if retry_at is None:
            return None
        now = self._world.monotonic()
        if now < retry_at:
            return NotSent(retry_after_s=retry_at - now)
        self._retry_at[name, holder] = now + PROBE_TIMEOUT_S
        return None

    def restore(self, name: str, holder: str = "") -> None:
        """Record that a quota is not used up."""
        if self._retry_at.pop((name, holder), None) is not None:
            self._notices.clear(_subject(name, holder))


def _subject(name: str, holder: str) -> str:
    return f"quota {name} {holder}"
