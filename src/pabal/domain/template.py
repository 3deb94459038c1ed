"""Alimtalk templates and their review."""

from enum import Enum
from typing import NamedTuple

from pabal.domain import variables
from pabal.domain.button import Button, links_of
from pabal.domain.codes import Text
from pabal.domain.dates import Instant
from pabal.domain.suspension import Suspension

MAX_CODE_CHARACTERS = 20
MAX_NAME_CHARACTERS = 150
MAX_CONTENT_CHARACTERS = 1000
MAX_EMPHASIS_CHARACTERS = 50
MAX_MORE_INFO_CHARACTERS = 500

MESSAGE_TYPES = ("basic", "extraInfo", "channelAddition", "mixed")
EMPHASIS_TYPES = ("none", "text", "image", "itemList")


class TemplateStatus(Enum):
    """The review status of a template."""

    REGISTERED = ("registered", Text("등록", "Registered"))
    INSPECTING = ("inspecting", Text("검수 중", "Under review"))
    APPROVED = ("approved", Text("승인", "Approved"))
    REJECTED = ("rejected", Text("반려", "Rejected"))

    def __init__(self, code: str, label: Text) -> None:
        self.code = code
        self.label = label


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

    @property
    def title(self) -> str | None:
        """The title above the text if `emphasis_type` is `text`, else None."""
        return self.emphasis_title if self.emphasis_type == "text" else None

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables in its title, text and button links."""
        return variables.find_names(self.title, self.content, *links_of(self.buttons))


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
    def is_deletable(self) -> bool:
        """Whether it can be deleted: neither approved nor under review, or gone from its relay."""
        return self.status in DELETABLE_STATUSES or self.suspension is Suspension.GONE


class ReviewDecision(NamedTuple):
    """The result of a template's review."""

    is_approved: bool
    comment: str | None = None
