"""How calls of other relays' endpoints differ from what happens here, and what of them nothing is done with."""

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import msgspec
from msgspec import Struct

from pabal.checks.body.unknown_fields import known_fields
from pabal.domain.base.codes import Text
from pabal.service.context import Context
from pabal.store.accounts.compat_differences import DifferenceKey

_PLAIN = re.compile(r"[][A-Za-z0-9_.*/ -]{1,80}", re.ASCII)
MAX_DIGITS = 8
"""Digits of a detail; a phone number has more."""
UNSHOWN = "?"
"""Stands for a detail that might be something personal."""


class CallDifference(Enum):
    """What differs; `is_refused` says whether it is not done at all."""

    CALL = ("call", False, Text("호출", "calls"))
    """Counted to tell how much was used, not because it differs."""
    ENDPOINT = ("endpoint", True, Text("없는 호출", "endpoints that do not exist here"))
    REFUSED_CALL = (
        "refusedCall",
        True,
        Text("통째로 거절한 호출과 그 코드", "calls that were refused, and the code"),
    )
    REFUSED = ("refused", True, Text("거절한 메시지의 코드", "messages that were refused, by code"))
    KIND = ("kind", True, Text("보낼 수 없는 메시지 종류", "messages of a kind that cannot be sent here"))
    COUNTRY = ("country", True, Text("한국이 아닌 국가로 보내는 메시지", "messages to another country than Korea"))
    FIELD = ("field", False, Text("무시한 항목", "fields that are ignored"))
    QUERY = ("query", False, Text("무시한 조회 조건", "parameters of queries that are ignored"))
    SCHEDULE = (
        "schedule",
        False,
        Text("분 단위로 올린 예약 시각", "scheduled times, rounded up to the minute"),
    )
    REPEAT = (
        "repeat",
        False,
        Text("첫 응답을 다시 받은 반복 호출", "repeats that got the first answer"),
    )
    FALLBACK = (
        "fallback",
        False,
        Text(
            "대체 문자를 요청하지 않아 실패해도 문자가 가지 않는 카카오톡 호출",
            "calls of KakaoTalk that asked for no text in place of failed messages, so that none is sent",
        ),
    )
    BALANCE = ("balance", False, Text("실제가 아닌 잔액 응답", "balances, of which there are none here"))

    def __init__(self, code: str, is_refused: bool, text: Text) -> None:
        self.code = code
        self.is_refused = is_refused
        self.text = text


DIFFERENCE_BY_CODE = {each.code: each for each in CallDifference}


def note(
    context: Context, account_id: int, relay: str, difference: CallDifference, detail: str = "", uses: int = 1
) -> None:
    """Count a difference of an account's calls to a relay's endpoints.

    `detail` is a code, the name of a field or a path without its ids; anything that might be more is not kept.
    """
    key = DifferenceKey(account_id, relay, difference.code, detail)
    if not context.differences.has(key):
        key = key._replace(detail=_shown(detail))
    context.differences.add(key, uses)


def _shown(detail: str) -> str:
    digits = sum(each.isdigit() for each in detail)
    is_plain = not detail or (_PLAIN.fullmatch(detail) and digits <= MAX_DIGITS)
    return detail if is_plain else UNSHOWN


MAX_READ_BYTES = 16 * 1024
"""Longer bodies are not read a second time to find what is ignored in them: that would cost as much as sending."""
MAX_READ_ITEMS = 20
"""Items of a list that are looked at."""
MAX_NAMES = 20
"""Unknown names that are noted of one call."""
_EMPTY: tuple[Any, ...] = (None, [], {}, "")


class Query(dict[str, str]):
    """The parameters of a call, which knows those that nothing has asked for."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self._unread = {name for name, value in given.items() if value}

    def __getitem__(self, name: str) -> str:
        self._unread.discard(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._unread.discard(name)
        return super().get(name, default)

    def list_unread(self) -> list[str]:
        """Return the names of the parameters with a value that nothing has asked for."""
        return sorted(self._unread)[:MAX_NAMES]


def decode_short(raw: bytes) -> Any:
    """Return a short body as it is; None where it is long, or where what its shape ignores is malformed."""
    try:
        return msgspec.json.decode(raw) if len(raw) <= MAX_READ_BYTES else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def list_ignored(given: Any, shape: type[Struct]) -> list[str]:
    """Return the names of the fields of a body, such as `outer.inner`, that have a value and no place."""
    return list(dict.fromkeys(find_ignored(given, shape)))[:MAX_NAMES]


def find_ignored(given: Any, shape: type[Struct], place: str = "") -> Iterator[str]:
    """Yield the names of the fields of a part that have a value and no place in its shape."""
    if isinstance(given, list):
        for each in given[:MAX_READ_ITEMS]:
            yield from find_ignored(each, shape, place)
    elif isinstance(given, dict):
        known = known_fields(shape)
        for name, value in given.items():
            if name not in known:
                if value not in _EMPTY:
                    yield f"{place}{name}"
            elif (inner := known[name]) is not None:
                yield from find_ignored(value, inner, f"{place}{name}.")
