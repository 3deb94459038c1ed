"""Notices: what users are told by mail, and the addresses that they are told at."""

import re
from enum import Enum

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people.user import Role

MAX_ADDRESS_CHARACTERS = 254
MAX_LOCAL_PART_CHARACTERS = 64
_ADDRESS = re.compile(r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*", re.IGNORECASE)
_DOMAIN = re.compile(
    r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])|localhost", re.IGNORECASE
)
WRONG_ADDRESS = Text(
    "메일 주소가 올바르지 않습니다. name@example.com과 같이 영문, 숫자와 기호로 입력하세요.",
    "This is no mail address. Enter one such as name@example.com, in ASCII characters.",
)


class NoticeKind(Enum):
    """What a notice is about; `roles` are told unless they choose otherwise."""

    APPROVAL = ("approval", Text("발송 승인 요청", "Send to approve"), {Role.OWNER, Role.SENDER})
    TEMPLATE = ("template", Text("템플릿 검수 결과", "Template reviewed"), {Role.OWNER})
    CAMPAIGN = ("campaign", Text("캠페인 종료", "Campaign finished"), {Role.OWNER})
    FAILURE = ("failure", Text("높은 실패율", "Failure rate high"), {Role.OWNER})
    CARRIER = ("carrier", Text("발송 경로 장애와 복구", "Carrier down, and up again"), {Role.OPERATOR})
    QUOTA = ("quota", Text("한도 임박", "Limit nearly reached"), {Role.OWNER, Role.OPERATOR})

    __hash__ = object.__hash__

    def __init__(self, code: str, label: Text, roles: set[Role]) -> None:
        self.code = code
        self.label = label
        self.roles = frozenset(roles)


NOTICE_KIND_BY_CODE = {each.code: each for each in NoticeKind}
CONFIRMATION = "confirm"
"""The kind of the mail that asks whether an address is right; it is no notice."""


class MailState(Enum):
    """The state of a mail in the outbox; the values are stored."""

    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"


def usual_kinds(role: Role) -> frozenset[NoticeKind]:
    """Return what users of a role are told until they choose."""
    return frozenset(each for each in NoticeKind if role in each.roles)


def parse_address(spelling: str) -> str:
    """Return a mail address that any server takes: ASCII, without quotes, comments and names.

    Raises Refused: MISSING_PARAMETER, INVALID_PARAMETER.
    """
    found = spelling.strip()
    if not found:
        raise Refused(Code.MISSING_PARAMETER, "address")
    local, _, domain = found.rpartition("@")
    is_short = len(found) <= MAX_ADDRESS_CHARACTERS and len(local) <= MAX_LOCAL_PART_CHARACTERS
    if not is_short or not _ADDRESS.fullmatch(local) or not _DOMAIN.fullmatch(domain):
        raise Refused(Code.INVALID_PARAMETER, "address", WRONG_ADDRESS)
    return f"{local}@{domain.lower()}"
