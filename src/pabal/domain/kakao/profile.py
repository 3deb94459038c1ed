"""Sender profiles: their categories, states and suspensions."""

import csv
import re
from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base.codes import Code, LabelledEnum, Refused, Text, at_most_characters
from pabal.domain.base.dates import Instant
from pabal.domain.content import text


class Category(NamedTuple):
    """A kind of business (profiles) or of notice (templates)."""

    code: str
    name: str
    group: str | None = None


class InvalidCategoryTable(Exception):
    """A category table is invalid; the message says which line and why."""


def parse_categories(lines: Iterable[str]) -> dict[str, Category]:
    """Return the categories of a CSV table by code; its columns are code, name and optionally group.

    Raises BadTable.
    """
    found: dict[str, Category] = {}
    for number, row in enumerate(csv.DictReader(lines), 2):
        code, name = (row.get("code") or "").strip(), (row.get("name") or "").strip()
        if not code or not name:
            raise InvalidCategoryTable(f"line {number}: code and name are required")
        if code in found:
            raise InvalidCategoryTable(f"line {number}: duplicate code {code}")
        found[code] = Category(code, name, (row.get("group") or "").strip() or None)
    if not found:
        raise InvalidCategoryTable("the table has no categories")
    return found


class Suspension(LabelledEnum):
    """The reason; it is lifted when the relay no longer reports it."""

    GONE = ("gone", Text("중계사에 더 이상 없습니다.", "The relay no longer has it."))
    BLOCKED = ("blocked", Text("중계사나 카카오가 차단했습니다.", "The relay or Kakao has blocked it."))
    DORMANT = ("dormant", Text("중계사에서 휴면 상태입니다.", "It is dormant at the relay."))
    INACTIVE = ("inactive", Text("카카오톡 채널이 비활성화되었습니다.", "The KakaoTalk channel is not active."))
    DELETED = ("deleted", Text("카카오톡 채널이 삭제되었습니다.", "The KakaoTalk channel was deleted."))
    OTHER_BUTTON = (
        "otherButton",
        Text("지원하지 않는 종류의 버튼이 있습니다.", "It has a button of an unsupported type."),
    )
    UNREADABLE = (
        "unreadable",
        Text("지원하지 않는 종류의 템플릿입니다.", "This kind of template is not supported."),
    )


_BY_CODE = {bar.code: bar for bar in Suspension}


def parse_suspension(word: str | None) -> Suspension | None:
    """Return the suspension of a stored word; an unknown word of a later version suspends too."""
    return None if word is None else _BY_CODE.get(word, Suspension.UNREADABLE)


MAX_CHANNEL_ID_CHARACTERS = 30
TOKEN_DIGITS = 6
MAX_WRONG_TOKENS = 5
MAX_TOKENS_PER_HOUR = 5
SENDER_KEY_CHARACTERS = 40

_CHANNEL = re.compile(r"@?[\w.-]+")


class AuthStatus(LabelledEnum):
    """Whether the channel's administrator has confirmed the token."""

    WAITING = ("waiting", Text("인증 대기", "Waiting for the token"))
    APPROVAL = ("approval", Text("승인", "Approved"))


AUTH_STATUS_BY_CODE = {status.code: status for status in AuthStatus}


class Registration(NamedTuple):
    """What a caller gives to register a channel."""

    channel_id: str
    category: str
    cellphone: str


class Profile(NamedTuple):
    """A stored sender profile."""

    id: int
    account_id: int
    channel_id: str
    category: str
    cellphone: str
    status: AuthStatus
    sender_key: str | None
    is_enabled: bool
    created_at: Instant
    changed_at: Instant
    carrier: str | None = None
    """The carrier whose relay has it; None where only we have it."""
    suspension: Suspension | None = None

    @property
    def is_usable(self) -> bool:
        """Whether it can send messages."""
        return self.status is AuthStatus.APPROVAL and self.is_enabled and self.suspension is None


def parse_channel_id(spelling: str) -> str:
    """Return a channel's search id with its `@`.

    Raises Refused: INVALID_PARAMETER, or UNSUPPORTED_CHARACTER as texts do.
    """
    spelling = text.normalize(spelling).strip()
    if not _CHANNEL.fullmatch(spelling):
        raise Refused(
            Code.INVALID_PARAMETER,
            detail=Text(
                "카카오톡 채널의 검색용 아이디를 넣으세요. 글자, 숫자와 . _ - 를 쓸 수 있습니다.",
                "Use the search ID of a KakaoTalk channel: letters, digits and . _ - only.",
            ),
        )
    with_at = spelling if spelling.startswith("@") else f"@{spelling}"
    if len(with_at) > MAX_CHANNEL_ID_CHARACTERS:
        raise Refused(Code.INVALID_PARAMETER, detail=at_most_characters(MAX_CHANNEL_ID_CHARACTERS))
    return with_at
