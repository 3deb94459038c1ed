"""People who use the console: their roles, their names, their passwords."""

import re
import unicodedata
from enum import Enum
from typing import NamedTuple

from pabal.domain.codes import Code, Refused, Text
from pabal.domain.dates import Instant

MAX_NAME_CHARACTERS = 64
MIN_PASSWORD_CHARACTERS = 10
MAX_PASSWORD_CHARACTERS = 200

_NAME = re.compile(r"[\w.@+-]+")


class Role(Enum):
    """What a user may do; which page is for whom, each page says itself."""

    OWNER = ("owner", Text("관리자", "Owner"))
    SENDER = ("sender", Text("발송 담당", "Sender"))
    VIEWER = ("viewer", Text("조회 전용", "Viewer"))
    OPERATOR = ("operator", Text("운영자", "Operator"))

    def __init__(self, word: str, label: Text) -> None:
        self.word = word
        self.label = label

    @property
    def sees_phone_numbers(self) -> bool:
        """Whether phone numbers are shown whole."""
        return self is not Role.VIEWER


ROLE_BY_WORD = {role.word: role for role in Role}


class User(NamedTuple):
    """Someone who may sign in, all but the password."""

    id: int
    account_id: int | None
    account: str | None
    name: str
    role: Role
    created_at: Instant
    disabled_at: Instant | None
    account_disabled_at: Instant | None

    @property
    def is_active(self) -> bool:
        return self.disabled_at is None and self.account_disabled_at is None


def parse_name(spelling: str) -> str:
    """Return a user's name as it is kept: in lower case, so that nobody signs in as nearly another.

    Raises Refused(INVALID_PARAMETER).
    """
    found = unicodedata.normalize("NFKC", spelling).strip().casefold()
    if len(found) > MAX_NAME_CHARACTERS or not _NAME.fullmatch(found):
        most = MAX_NAME_CHARACTERS
        detail = Text(
            f"이름은 글자, 숫자와 . @ + - _ 로 {most}자까지입니다.",
            f"A name has letters, digits and . @ + - _, at most {most}.",
        )
        raise Refused(Code.INVALID_PARAMETER, "name", detail)
    return found


def validate_password(spelling: str, user: str) -> str:
    """Return a password that may be used: long enough, and not the user's name.

    Raises Refused(INVALID_PARAMETER).
    """
    if not MIN_PASSWORD_CHARACTERS <= len(spelling) <= MAX_PASSWORD_CHARACTERS or spelling.casefold() == user:
        least, most = MIN_PASSWORD_CHARACTERS, MAX_PASSWORD_CHARACTERS
        detail = Text(
            f"비밀번호는 {least}자부터 {most}자까지이고 이름과 달라야 합니다.",
            f"A password has {least} to {most} characters and is not the name.",
        )
        raise Refused(Code.INVALID_PARAMETER, "password", detail)
    return spelling
