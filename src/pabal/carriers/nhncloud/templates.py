"""Templates in NHN Cloud's words, and back."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from pabal.carriers.nhncloud import buttons
from pabal.carriers.provider import RemoteTemplate
from pabal.domain.codes import Code, Refused, Text
from pabal.domain.suspension import Suspension
from pabal.domain.template import TemplateContent, TemplateStatus

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
_OF_A_BUTTON = ("ordering", "type", "name", "linkMo", "linkPc", "schemeIos", "schemeAndroid")
"""What a template says of a button; the rest of ours goes along with each message."""
MAX_COMMENT_CHARACTERS = 1000
OTHER_CATEGORY = "999999"


class UploadedImage(NamedTuple):
    """An uploaded picture."""

    name: str
    address: str


class NhnComment(msgspec.Struct):
    """What was said of a template, by its author or a reviewer."""

    id: int | None = None
    content: str | None = None
    status: str | None = None


class NhnTemplate(msgspec.Struct):
    """A template as its lists have it."""

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


def check(design: TemplateContent) -> None:
    """Refuse what there is no place for there, rather than leave it out.

    Raises Refused(INVALID_PARAMETER).
    """
    no_place = {"emphasisType": design.emphasis_type == "itemList", "imageLink": design.image_link is not None}
    for field, is_given in no_place.items():
        if is_given:
            detail = Text(
                f"이 통신사의 템플릿에는 {field} 값을 쓸 수 없습니다. 템플릿을 고치세요.",
                f"This carrier's templates have no place for that {field}: update the template without it.",
            )
            raise Refused(Code.INVALID_PARAMETER, field, detail)


def to_relay(design: TemplateContent, picture: UploadedImage | None) -> dict[str, Any]:
    """Return a design as it is written there; what its kind has no place for is left out."""
    theirs: dict[str, Any] = {
        "templateName": design.name,
        "templateContent": design.content,
        "templateMessageType": _MESSAGE_TYPES[design.message_type],
        "templateEmphasizeType": _EMPHASIS_TYPES[design.emphasis_type],
        "securityFlag": design.is_security_template,
        "categoryCode": design.category,
    }
    if design.message_type in ("extraInfo", "mixed"):
        theirs["templateExtra"] = design.more_info or ""
    if design.emphasis_type == "text":
        theirs["templateTitle"] = design.emphasis_title or ""
        theirs["templateSubtitle"] = design.emphasis_assist_phrase or ""
    if picture is not None:
        theirs["templateImageName"], theirs["templateImageUrl"] = picture
    if design.buttons:
        shown = buttons.all_to_relay(design.buttons)
        theirs["buttons"] = [{field: one[field] for field in _OF_A_BUTTON if field in one} for one in shown]
    return theirs


def is_same(ours: TemplateContent, theirs: TemplateContent) -> bool:
    """Say whether two designs are written there alike; pictures cannot be compared."""
    return _comparable(ours) == _comparable(theirs)


def _comparable(design: TemplateContent) -> dict[str, Any]:
    written = to_relay(design, None)
    return {field: value.strip() if isinstance(value, str) else value for field, value in written.items()}


def from_relay(theirs: NhnTemplate) -> RemoteTemplate:
    """Return a template as we keep one, with what stands in the way of using it."""
    taken = [buttons.from_relay(one) for one in in_order(theirs.buttons or [])]
    status = _STATUSES.get(theirs.status)
    message_type = _OUR_MESSAGE_TYPES.get(theirs.templateMessageType or "BA")
    emphasis_type = _OUR_EMPHASIS_TYPES.get(theirs.templateEmphasizeType or "NONE")
    design = TemplateContent(
        name=theirs.templateName,
        content=theirs.templateContent or "",
        category=theirs.categoryCode or OTHER_CATEGORY,
        message_type=message_type or "basic",
        emphasis_type=emphasis_type or "none",
        emphasis_title=theirs.templateTitle or None,
        emphasis_assist_phrase=theirs.templateSubtitle or None,
        more_info=theirs.templateExtra or None,
        image_name=theirs.templateImageName or None,
        is_security_template=bool(theirs.securityFlag),
        buttons=tuple(one for one in taken if one is not None),
    )
    bar = _beyond_us(theirs, emphasis_type)
    if None in taken:
        bar = bar or Suspension.OTHER_BUTTON
    if status is None or message_type is None or emphasis_type is None:
        bar = Suspension.UNREADABLE
    elif theirs.block or theirs.dormant:  # told only of one template, not in lists
        bar = Suspension.BLOCKED if theirs.block else Suspension.DORMANT
    status = status or TemplateStatus.INSPECTING
    return RemoteTemplate(theirs.templateCode, design, status, _comment(theirs, status), bar)


def in_order(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return their buttons in the order they are shown."""
    return sorted(given, key=lambda one: one["ordering"] if isinstance(one.get("ordering"), int) else 0)


def _beyond_us(theirs: NhnTemplate, emphasis_type: str | None) -> Suspension | None:
    if emphasis_type == "itemList" or theirs.templateHeader or _says(theirs.templateItem):
        return Suspension.ITEM_LIST
    if _says(theirs.templateItemHighlight):
        return Suspension.ITEM_LIST
    if theirs.quickReplies:
        return Suspension.QUICK_REPLIES
    return Suspension.REPRESENT_LINK if _says(theirs.templateRepresentLink) else None


def _says(part: Mapping[str, Any] | None) -> bool:
    """Say whether anything stands in a part: it may be there with all its fields empty."""
    return any(_says(each) if isinstance(each, dict) else bool(each) for each in (part or {}).values())


def _comment(theirs: NhnTemplate, status: TemplateStatus) -> str | None:
    """Return why a template was rejected: the newest rejection, else the newest word."""
    if status is not TemplateStatus.REJECTED:
        return None
    said = sorted((one for one in theirs.comments or [] if one.content), key=lambda one: one.id or 0)
    rejections = [one for one in said if one.status == _REJECTION]
    newest = (rejections or said or [NhnComment()])[-1]
    return (newest.content or "")[:MAX_COMMENT_CHARACTERS] or None
