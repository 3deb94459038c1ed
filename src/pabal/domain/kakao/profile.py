"""Sender profiles: the KakaoTalk channels that send Alimtalk and friend talk."""

import re
from enum import Enum
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.content import text
from pabal.domain.kakao.suspension import Suspension

MAX_CHANNEL_ID_CHARACTERS = 30
TOKEN_DIGITS = 6
MAX_WRONG_TOKENS = 5
MAX_TOKENS_PER_HOUR = 5
SENDER_KEY_CHARACTERS = 40

_CHANNEL = re.compile(r"@?[\w.-]+")


class AuthStatus(Enum):
    """Whether the channel's administrator has confirmed the token."""

    WAITING = ("waiting", Text("인증 대기", "Waiting for the token"))
    APPROVAL = ("approval", Text("승인", "Approved"))

    def __init__(self, code: str, label: Text) -> None:
        self.code = code
        self.label = label


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
        limit = MAX_CHANNEL_ID_CHARACTERS
        raise Refused(
            Code.INVALID_PARAMETER, detail=Text(f"{limit}자 이하여야 합니다.", f"At most {limit} characters.")
        )
    return with_at
