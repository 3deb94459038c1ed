"""Alimtalk templates and their review."""

import re
from typing import NamedTuple

from pabal.domain.base.codes import Code, LabelledEnum, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.content import text, variables
from pabal.domain.content.button import Button, links_of
from pabal.domain.kakao.profile import Suspension
from pabal.domain.kakao.template_parts import MAX_CONTENT_CHARACTERS_WITH_ITEMS, NO_PARTS, TemplateParts

MAX_CODE_CHARACTERS = 20
MAX_NAME_CHARACTERS = 150
MAX_CONTENT_CHARACTERS = 1300
MAX_EMPHASIS_CHARACTERS = 50
MAX_MORE_INFO_CHARACTERS = 500

_CODE = re.compile(r"[0-9A-Za-z가-힣][0-9A-Za-z가-힣._-]*")
"""It becomes part of a path at a relay, so it has no slash, and is neither `.` nor `..`."""

MESSAGE_TYPES = ("basic", "extraInfo", "channelAddition", "mixed")
EMPHASIS_TYPES = ("none", "text", "image", "itemList")


def parse_code(spelling: str) -> str:
    """Return the code of a new template.

    Raises Refused: INVALID_PARAMETER, or UNSUPPORTED_CHARACTER as texts do.
    """
    code = text.normalize(spelling)
    if len(code) > MAX_CODE_CHARACTERS or not _CODE.fullmatch(code):
        limit = MAX_CODE_CHARACTERS
        detail = Text(
            f"영문, 한글, 숫자와 . _ - 를 {limit}자까지 쓰고, 글자나 숫자로 시작하세요.",
            f"Use up to {limit} letters (English or Hangul), digits and . _ - and begin with a letter or digit.",
        )
        raise Refused(Code.INVALID_PARAMETER, detail=detail)
    return code


class TemplateStatus(LabelledEnum):
    """The review status of a template."""

    REGISTERED = ("registered", Text("등록", "Registered"))
    INSPECTING = ("inspecting", Text("검수 중", "Under review"))
    APPROVED = ("approved", Text("승인", "Approved"))
    REJECTED = ("rejected", Text("반려", "Rejected"))


TEMPLATE_STATUS_BY_CODE = {status.code: status for status in TemplateStatus}
EDITABLE_STATUSES = (TemplateStatus.REGISTERED, TemplateStatus.APPROVED, TemplateStatus.REJECTED)
DELETABLE_STATUSES = (TemplateStatus.REGISTERED, TemplateStatus.REJECTED)


class TemplateContent(NamedTuple):
    """What the author of a template wrote."""

    name: str
    content: str
    category: str
    message_type: str = "basic"
    emphasis_type: str = "none"
    emphasis_title: str | None = None
    emphasis_assist_phrase: str | None = None
    more_info: str | None = None
    image_name: str | None = None
    image_link: str | None = None
    is_security_template: bool = False
    buttons: tuple[Button, ...] = ()
    parts: TemplateParts = NO_PARTS

    @property
    def title(self) -> str | None:
        """The title above the text if `emphasis_type` is `text`, else None."""
        return self.emphasis_title if self.emphasis_type == "text" else None

    @property
    def texts(self) -> tuple[str | None, ...]:
        """Every text and link that may have variables."""
        return (self.title, self.content, *links_of(self.buttons), *self.parts.texts)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables in its title, text, parts and links."""
        return variables.find_names(*self.texts)

    @property
    def max_characters(self) -> int:
        """How long the text of a message may be."""
        return MAX_CONTENT_CHARACTERS_WITH_ITEMS if self.parts.items else MAX_CONTENT_CHARACTERS


class Template(NamedTuple):
    """A stored template.

    `latest` is the newest content, which `status` refers to. `approved` is the content approved last,
    which is sent while an edit waits for its approval.
    """

    id: int
    account_id: int
    profile_id: int
    sender_key: str
    channel_id: str
    code: str
    latest: TemplateContent
    approved: TemplateContent | None
    status: TemplateStatus
    comment: str | None
    is_enabled: bool
    created_at: Instant
    changed_at: Instant
    carrier: str | None = None
    """The carrier whose relay owns the profile and reviews this template; None if only Pabal has it."""
    suspension: Suspension | None = None

    @property
    def is_usable(self) -> bool:
        """Whether messages can be sent with it."""
        return self.approved is not None and self.is_enabled and self.suspension is None

    @property
    def is_deletable(self) -> bool:
        """Whether it can be deleted: neither approved nor under review, or gone from its relay."""
        return self.status in DELETABLE_STATUSES or self.suspension is Suspension.GONE


class ReviewDecision(NamedTuple):
    """The result of a template's review."""

    is_approved: bool
    comment: str | None = None
