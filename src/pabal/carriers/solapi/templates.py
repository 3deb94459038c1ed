"""Converts templates to Solapi's format and back."""

from collections.abc import Sequence
from typing import Any

from pabal.carriers.provider import RemoteTemplate
from pabal.carriers.solapi import buttons
from pabal.carriers.solapi.template_ids import APPROVED, TemplateName, TemplateRow
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.kakao.profile import Suspension
from pabal.domain.kakao.template import TemplateContent, TemplateStatus

PENDING, INSPECTING, REJECTED = "PENDING", "INSPECTING", "REJECTED"
OTHER_CATEGORY = "999999"
MAX_COMMENT_CHARACTERS = 1000
_MESSAGE_TYPES = {"basic": "BA", "extraInfo": "EX", "channelAddition": "AD", "mixed": "MI"}
_EMPHASIS_TYPES = {"none": "NONE", "text": "TEXT", "image": "IMAGE", "itemList": "ITEM_LIST"}
_OUR_MESSAGE_TYPES = {theirs: ours for ours, theirs in _MESSAGE_TYPES.items()}
_OUR_EMPHASIS_TYPES = {theirs: ours for ours, theirs in _EMPHASIS_TYPES.items()}
_STATUSES = {
    PENDING: TemplateStatus.REGISTERED,
    INSPECTING: TemplateStatus.INSPECTING,
    APPROVED: TemplateStatus.APPROVED,
    REJECTED: TemplateStatus.REJECTED,
}

Versions = Sequence[tuple[TemplateName, TemplateRow]]
"""The versions of a template, the newest first."""


def check(content: TemplateContent) -> None:
    """Refuse what this carrier does not register.

    Raises Refused(INVALID_PARAMETER).
    """
    found = {
        "emphasisType": content.emphasis_type == "itemList",
        "imageLink": content.image_link is not None,
        "quickReplies": bool(content.parts.quick_replies),
        "representLink": content.parts.link is not None,
        "buttons": not buttons.are_supported(content.buttons),
    }
    for field, is_given in found.items():
        if is_given:
            raise unsupported(field)


def unsupported(field: str) -> Refused:
    """Return the refusal of a field that this carrier does not register."""
    detail = Text(
        f"이 중계사의 템플릿에는 {field} 값을 쓸 수 없습니다. 템플릿을 고치세요.",
        f"This carrier's templates have no place for that {field}: update the template without it.",
    )
    return Refused(Code.INVALID_PARAMETER, field, detail)


def to_remote(content: TemplateContent, name: TemplateName, image_id: str | None) -> dict[str, Any]:
    """Return a template in Solapi's format; fields that its type does not have are left out."""
    remote: dict[str, Any] = {
        "name": str(name),
        "content": content.content,
        "categoryCode": content.category,
        "messageType": _MESSAGE_TYPES[content.message_type],
        "emphasizeType": _EMPHASIS_TYPES[content.emphasis_type],
        "securityFlag": content.is_security_template,
        "buttons": buttons.all_to_remote(content.buttons),
    }
    if content.message_type in ("extraInfo", "mixed"):
        remote["extra"] = content.more_info or ""
    if content.emphasis_type == "text":
        remote["emphasizeTitle"] = content.emphasis_title or ""
        remote["emphasizeSubTitle"] = content.emphasis_assist_phrase or ""
    if image_id is not None:
        remote["imageId"] = image_id
    return remote


def is_same(ours: TemplateContent, theirs: TemplateContent) -> bool:
    """Return whether both are the same in Solapi's format; images cannot be compared, and names are shortened."""
    return _comparable(ours) == _comparable(theirs)


def _comparable(content: TemplateContent) -> dict[str, Any]:
    written = to_remote(content, TemplateName("", 1, content.name), None)
    del written["name"]
    return {field: value.strip() if isinstance(value, str) else value for field, value in written.items()}


def current_of(versions: Versions) -> tuple[TemplateName, TemplateRow] | None:
    """Return the version that is in use: the newest approved one, or the newest if none is."""
    approved = (each for each in versions if each[1].status == APPROVED)
    return next(approved, versions[0] if versions else None)


def change_of(versions: Versions) -> tuple[TemplateName, TemplateRow] | None:
    """Return the newest version if it is newer than the one in use."""
    current = current_of(versions)
    return None if current is None or versions[0][1] is current[1] else versions[0]


def from_remote(name: TemplateName, row: TemplateRow) -> RemoteTemplate:
    """Return a template in our format, with the reason why it cannot be used, if there is one."""
    converted = [buttons.from_remote(one) for one in row.buttons or []]
    status = _STATUSES.get(row.status)
    message_type = _OUR_MESSAGE_TYPES.get(row.messageType or "BA")
    emphasis_type = _OUR_EMPHASIS_TYPES.get(row.emphasizeType or "NONE")
    content = TemplateContent(
        name=name.name,
        content=row.content or "",
        category=row.categoryCode or OTHER_CATEGORY,
        message_type=message_type or "basic",
        emphasis_type=emphasis_type or "none",
        emphasis_title=row.emphasizeTitle or None,
        emphasis_assist_phrase=row.emphasizeSubtitle or None,
        more_info=row.extra or None,
        image_name=row.imageId or None,
        is_security_template=bool(row.securityFlag),
        buttons=tuple(one for one in converted if one is not None),
    )
    suspension = Suspension.OTHER_BUTTON if None in converted else None
    has_parts = bool(emphasis_type == "itemList" or row.header or row.item or row.highlight or row.quickReplies)
    if has_parts or status is None or message_type is None or emphasis_type is None:
        suspension = Suspension.UNREADABLE
    status = status or TemplateStatus.INSPECTING
    return RemoteTemplate(name.code, content, status, _comment(row, status), suspension)


def _comment(row: TemplateRow, status: TemplateStatus) -> str | None:
    """Return why a template was rejected: the newest comment of a reviewer, else the newest comment."""
    if status is not TemplateStatus.REJECTED:
        return None
    comments = [one for one in row.comments or [] if one.get("content")]
    reviews = [one for one in comments if one.get("isAdmin")]
    newest = (reviews or comments or [{}])[-1]
    return str(newest.get("content") or "")[:MAX_COMMENT_CHARACTERS] or None
