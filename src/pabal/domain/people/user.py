"""Users of the console: roles, names, passwords."""

import re
import unicodedata
from typing import NamedTuple

from pabal.domain.base.codes import Code, LabelledEnum, Refused, Text
from pabal.domain.base.dates import Instant

MAX_NAME_CHARACTERS = 64
MAX_FULL_NAME_CHARACTERS = 40
MIN_PASSWORD_CHARACTERS = 10
MAX_PASSWORD_CHARACTERS = 200

_NAME = re.compile(r"[\w.@+-]+")


class Role(LabelledEnum):
    """The role of a user; each page declares which roles may open it."""

    OWNER = ("owner", Text("관리자", "Owner"))
    SENDER = ("sender", Text("발송 담당", "Sender"))
    VIEWER = ("viewer", Text("조회 전용", "Viewer"))
    OPERATOR = ("operator", Text("운영자", "Operator"))

    def may_grant(self, other: "Role") -> bool:
        """Return whether a user with this role may give another user that role: never a higher one than the own."""
        return other is not Role.OPERATOR and _RANKS.index(other) <= _RANKS.index(self)

    @property
    def manages_team(self) -> bool:
        """Whether users with this role invite others, and change or remove them."""
        return self in (Role.OWNER, Role.OPERATOR)

    @property
    def sees_phone_numbers(self) -> bool:
        """Whether phone numbers are shown in full."""
        return self is not Role.VIEWER


_RANKS = (Role.VIEWER, Role.SENDER, Role.OWNER, Role.OPERATOR)
ACCOUNT_ROLES = (Role.OWNER, Role.SENDER, Role.VIEWER)
"""The roles that users of an account can have."""
ROLE_BY_CODE = {role.code: role for role in Role}


class User(NamedTuple):
    """A user, without the password."""

    id: int
    account_id: int | None
    account: str | None
    name: str
    role: Role
    created_at: Instant
    disabled_at: Instant | None
    account_disabled_at: Instant | None
    full_name: str = ""

    @property
    def label(self) -> str:
        """What people call the user."""
        return self.full_name or self.name

    @property
    def is_active(self) -> bool:
        return self.disabled_at is None and self.account_disabled_at is None


def parse_name(spelling: str) -> str:
    """Return a user's name as stored: normalized and in lower case, so that names differ visibly.

    Raises Refused(INVALID_PARAMETER).
    """
    found = unicodedata.normalize("NFKC", spelling).strip().casefold()
    if len(found) > MAX_NAME_CHARACTERS or not _NAME.fullmatch(found):
        limit = MAX_NAME_CHARACTERS
        detail = Text(
            f"이름에는 글자, 숫자와 . @ + - _ 만 쓸 수 있고, {limit}자 이하여야 합니다.",
            f"A name can have letters, digits and . @ + - _, at most {limit} characters.",
        )
        raise Refused(Code.INVALID_PARAMETER, "name", detail)
    return found


def parse_full_name(spelling: str) -> str:
    """Return what people call a user, as stored; empty: by the name that the user signs in with.

    Raises Refused(INVALID_PARAMETER).
    """
    found = " ".join(unicodedata.normalize("NFC", spelling).split())
    if len(found) > MAX_FULL_NAME_CHARACTERS or any(unicodedata.category(each)[0] == "C" for each in found):
        detail = Text(
            f"이름은 {MAX_FULL_NAME_CHARACTERS}자까지 입력하세요.",
            f"Enter a name of at most {MAX_FULL_NAME_CHARACTERS} characters.",
        )
        raise Refused(Code.INVALID_PARAMETER, "full_name", detail)
    return found


def validate_password(spelling: str, user: str) -> str:
    """Return the password where it is allowed: long enough, and not the user's name.

    Raises Refused(INVALID_PARAMETER).
    """
    if not MIN_PASSWORD_CHARACTERS <= len(spelling) <= MAX_PASSWORD_CHARACTERS or spelling.casefold() == user:
        least, limit = MIN_PASSWORD_CHARACTERS, MAX_PASSWORD_CHARACTERS
        detail = Text(
            f"비밀번호는 {least}자 이상 {limit}자 이하이고, 이름과 달라야 합니다.",
            f"A password must have {least} to {limit} characters and differ from the name.",
        )
        raise Refused(Code.INVALID_PARAMETER, "password", detail)
    return spelling
