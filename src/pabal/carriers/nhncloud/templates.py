"""Converts templates to NHN Cloud's format and back."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from pabal.carriers.nhncloud import buttons, template_parts
from pabal.carriers.provider import RemoteTemplate
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.kakao.profile import Suspension
from pabal.domain.kakao.template import TemplateContent, TemplateStatus
from pabal.domain.kakao.template_parts import NO_PARTS

_MESSAGE_TYPES = {"basic": "BA", "extraInfo": "EX", "channelAddition": "AD", "mixed": "MI"}
_EMPHASIS_TYPES = {"none": "NONE", "text": "TEXT", "image": "IMAGE", "itemList": "ITEM_LIST"}
_OUR_MESSAGE_TYPES = {theirs: ours for ours, theirs in _MESSAGE_TYPES.items()}
_OUR_EMPHASIS_TYPES = {theirs: ours for ours, theirs in _EMPHASIS_TYPES.items()}
_STATUSES = {
    "TSC01": TemplateStatus.INSPECTING,
    "TSC02": TemplateStatus.INSPECTING,
    "TSC03": TemplateStatus.APPROVED,
    "TSC04": TemplateStatus.REJECTED,
}
_REJECTION = "REJ"
_TEMPLATE_BUTTON_FIELDS = (
    "ordering",
    "type",
    "name",
    "linkMo",
    "linkPc",
    "schemeIos",
    "schemeAndroid",
    "telNumber",
)
"""The fields of a button in a template; the others are sent with each message."""
MAX_COMMENT_CHARACTERS = 1000
OTHER_CATEGORY = "999999"


class UploadedImage(NamedTuple):
    """An uploaded image."""

    name: str
    address: str


class NhnComment(msgspec.Struct):
    """A comment on a template, by its author or a reviewer."""

    id: int | None = None
    content: str | None = None
    status: str | None = None


class NhnTemplate(msgspec.Struct):
    """A template as NHN Cloud's lists have it."""

    templateCode: str
    templateName: str
    status: str
    templateContent: str | None = None
    templateMessageType: str | None = None
    templateEmphasizeType: str | None = None
    templateExtra: str | None = None
    templateTitle: str | None = None
    templateSubtitle: str | None = None
    templateHeader: str | None = None
    templateItem: dict[str, Any] | None = None
    templateItemHighlight: dict[str, Any] | None = None
    templateRepresentLink: dict[str, Any] | None = None
    templateImageName: str | None = None
    templateImageUrl: str | None = None
    buttons: list[dict[str, Any]] | None = None
    quickReplies: list[dict[str, Any]] | None = None
    comments: list[NhnComment] | None = None
    securityFlag: bool | None = None
    categoryCode: str | None = None
    block: bool | None = None
    dormant: bool | None = None
    createDate: str | None = None
    updateDate: str | None = None


def check(content: TemplateContent) -> None:
    """Refuse what NHN Cloud's templates do not support.

    Raises Refused(INVALID_PARAMETER).
    """
    if content.image_link is not None:
        field = "imageLink"
        detail = Text(
            f"이 중계사의 템플릿에는 {field} 값을 쓸 수 없습니다. 템플릿을 고치세요.",
            f"This carrier's templates have no place for that {field}: update the template without it.",
        )
        raise Refused(Code.INVALID_PARAMETER, field, detail)


def to_remote(content: TemplateContent, image: UploadedImage | None) -> dict[str, Any]:
    """Return a template in NHN Cloud's format; fields that its type does not have are left out."""
    remote: dict[str, Any] = {
        "templateName": content.name,
        "templateContent": content.content,
        "templateMessageType": _MESSAGE_TYPES[content.message_type],
        "templateEmphasizeType": _EMPHASIS_TYPES[content.emphasis_type],
        "securityFlag": content.is_security_template,
        "categoryCode": content.category,
    }
    if content.message_type in ("extraInfo", "mixed"):
        remote["templateExtra"] = content.more_info or ""
    if content.emphasis_type == "text":
        remote["templateTitle"] = content.emphasis_title or ""
        remote["templateSubtitle"] = content.emphasis_assist_phrase or ""
    if image is not None:
        remote["templateImageName"], remote["templateImageUrl"] = image
    if content.buttons:
        remote["buttons"] = _template_fields(buttons.all_to_remote(content.buttons))
    remote |= template_parts.to_remote(content.parts)
    if "quickReplies" in remote:
        remote["quickReplies"] = _template_fields(remote["quickReplies"])
    return remote


def _template_fields(shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{field: one[field] for field in _TEMPLATE_BUTTON_FIELDS if field in one} for one in shown]


def is_same(ours: TemplateContent, theirs: TemplateContent) -> bool:
    """Return whether both are the same in NHN Cloud's format; images cannot be compared."""
    return _comparable(ours) == _comparable(theirs)


def _comparable(content: TemplateContent) -> dict[str, Any]:
    written = to_remote(content, None)
    return {field: value.strip() if isinstance(value, str) else value for field, value in written.items()}


def from_remote(remote: NhnTemplate) -> RemoteTemplate:
    """Return a template in our format, with the reason why it cannot be used, if there is one."""
    converted = [buttons.from_remote(one) for one in sort_buttons(remote.buttons or [])]
    parts = template_parts.from_remote(
        remote.templateHeader,
        remote.templateItem,
        remote.templateItemHighlight,
        remote.templateRepresentLink,
        sort_buttons(remote.quickReplies or []),
    )
    status = _STATUSES.get(remote.status)
    message_type = _OUR_MESSAGE_TYPES.get(remote.templateMessageType or "BA")
    emphasis_type = _OUR_EMPHASIS_TYPES.get(remote.templateEmphasizeType or "NONE")
    content = TemplateContent(
        name=remote.templateName,
        content=remote.templateContent or "",
        category=remote.categoryCode or OTHER_CATEGORY,
        message_type=message_type or "basic",
        emphasis_type=emphasis_type or "none",
        emphasis_title=remote.templateTitle or None,
        emphasis_assist_phrase=remote.templateSubtitle or None,
        more_info=remote.templateExtra or None,
        image_name=remote.templateImageName or None,
        is_security_template=bool(remote.securityFlag),
        buttons=tuple(one for one in converted if one is not None),
        parts=parts or NO_PARTS,
    )
    suspension = Suspension.OTHER_BUTTON if None in converted or parts is None else None
    if status is None or message_type is None or emphasis_type is None:
        suspension = Suspension.UNREADABLE
    elif remote.block or remote.dormant:  # set in the answer for one template, not in lists
        suspension = Suspension.BLOCKED if remote.block else Suspension.DORMANT
    status = status or TemplateStatus.INSPECTING
    return RemoteTemplate(remote.templateCode, content, status, _comment(remote, status), suspension)


def newest(changes: Sequence[NhnTemplate]) -> NhnTemplate:
    """Return the newest of the changes to a template, whatever their order: the last created.

    Of those created in the same second, the one under review is the newest: there can be only one.
    """

    def age(change: NhnTemplate) -> tuple[str, bool, str]:
        is_in_review = _STATUSES.get(change.status) is TemplateStatus.INSPECTING
        return change.createDate or "", is_in_review, change.updateDate or ""

    return max(changes, key=age)


def sort_buttons(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return buttons in the order they are shown."""
    return sorted(given, key=lambda one: one["ordering"] if isinstance(one.get("ordering"), int) else 0)


def _comment(remote: NhnTemplate, status: TemplateStatus) -> str | None:
    """Return why a template was rejected: the newest rejection, else the newest comment."""
    if status is not TemplateStatus.REJECTED:
        return None
    comments = sorted((one for one in remote.comments or [] if one.content), key=lambda one: one.id or 0)
    rejections = [one for one in comments if one.status == _REJECTION]
    newest = (rejections or comments or [NhnComment()])[-1]
    return (newest.content or "")[:MAX_COMMENT_CHARACTERS] or None
