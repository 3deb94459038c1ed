"""Converts templates, their parts and their buttons to NHN Cloud's format and back."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from pabal.carriers.provider import RemoteTemplate
from pabal.carriers.relay import kakao as shared
from pabal.carriers.relay.kakao import (
    BUTTON_TYPES,
    EMPHASIS_TYPES,
    MESSAGE_TYPES,
    OTHER_CATEGORY,
    unsupported,
)
from pabal.domain.content.button import DEFAULT_NAMES, Button
from pabal.domain.kakao.profile import Suspension
from pabal.domain.kakao.template import TemplateContent, TemplateStatus
from pabal.domain.kakao.template_parts import (
    TemplateParts,
    represent_link,
)

_TYPES = {**BUTTON_TYPES, "phoneCall": "TN"}
FRIEND_TALK_TYPES = frozenset(("webLink", "appLink", "botKeyword", "messageDelivery"))
"""The buttons that friend talk has: fewer than Alimtalk."""
_OUR_TYPES = {remote: ours for ours, remote in _TYPES.items()}
_FIELDS = {
    "name": "name",
    "mobile_url": "linkMo",
    "pc_url": "linkPc",
    "android_url": "schemeAndroid",
    "ios_url": "schemeIos",
    "chat_extra": "chatExtra",
    "chat_event": "chatEvent",
    "target": "target",
    "tel_number": "telNumber",
}
_UNSUPPORTED_FIELDS = ("bizFormId", "pluginId", "relayId", "oneClickId", "productId")


def button_to_remote(button: Button, ordering: int = 1) -> dict[str, Any]:
    """Return a button in NHN Cloud's format; `ordering` is its position, from 1."""
    remote: dict[str, Any] = {"ordering": ordering, "type": _TYPES[button.type]}
    for field, remote_field in _FIELDS.items():
        value = getattr(button, field)
        if value is not None:
            remote[remote_field] = value
    if button.type == "channelAddition":
        remote["name"] = DEFAULT_NAMES[button.type]  # NHN Cloud accepts no other name
    return remote


def buttons_to_remote(buttons: Sequence[Button]) -> list[dict[str, Any]]:
    """Return buttons in NHN Cloud's format, in the order they are shown."""
    return [button_to_remote(button, ordering) for ordering, button in enumerate(buttons, 1)]


def fit_friend_talk(buttons: Sequence[Button]) -> bool:
    return all(button.type in FRIEND_TALK_TYPES for button in buttons)


def button_from_remote(remote: Mapping[str, Any]) -> Button | None:
    """Return a button in our format; None if it is of an unsupported kind."""
    kind = _OUR_TYPES.get(str(remote.get("type")))
    if kind is None or any(remote.get(field) for field in _UNSUPPORTED_FIELDS):
        return None
    given = {
        field: str(remote[remote_field]) for field, remote_field in _FIELDS.items() if remote.get(remote_field)
    }
    return Button(kind, given.pop("name", DEFAULT_NAMES[kind]), **given)  # type: ignore[arg-type]


_LINK_FIELDS = {
    "linkMo": "mobile_url",
    "linkPc": "pc_url",
    "schemeIos": "ios_url",
    "schemeAndroid": "android_url",
}


def parts_to_remote(parts: TemplateParts) -> dict[str, Any]:
    """Return the fields of a template or of a recipient."""
    remote: dict[str, Any] = {}
    if parts.header:
        remote["templateHeader"] = parts.header
    if parts.items:
        remote["templateItem"] = shared.items_to_remote(parts)
    if parts.highlight:
        title, description, image_url = parts.highlight
        remote["templateItemHighlight"] = {"title": title, "description": description}
        if image_url:
            remote["templateItemHighlight"]["imageUrl"] = image_url
    if parts.link:
        remote["templateRepresentLink"] = {
            field: link for field, name in _LINK_FIELDS.items() if (link := getattr(parts.link, name))
        }
    if parts.quick_replies:
        remote["quickReplies"] = buttons_to_remote(parts.quick_replies)
    return remote


def _link(remote: Mapping[str, Any]) -> Button | None:
    links = {name: str(remote[field]) for field, name in _LINK_FIELDS.items() if remote.get(field)}
    return represent_link(links)


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


class UploadedImage(NamedTuple):
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
        raise unsupported("imageLink")


def to_remote(content: TemplateContent, image: UploadedImage | None) -> dict[str, Any]:
    """Return a template in NHN Cloud's format; fields that its type does not have are left out."""
    remote: dict[str, Any] = {
        "templateName": content.name,
        "templateContent": content.content,
        "templateMessageType": MESSAGE_TYPES[content.message_type],
        "templateEmphasizeType": EMPHASIS_TYPES[content.emphasis_type],
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
        remote["buttons"] = _template_fields(buttons_to_remote(content.buttons))
    remote |= parts_to_remote(content.parts)
    if "quickReplies" in remote:
        remote["quickReplies"] = _template_fields(remote["quickReplies"])
    return remote


def _template_fields(shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{field: one[field] for field in _TEMPLATE_BUTTON_FIELDS if field in one} for one in shown]


def is_same(ours: TemplateContent, theirs: TemplateContent) -> bool:
    """Return whether both are the same in NHN Cloud's format; images cannot be compared."""
    return shared.is_same(ours, theirs, lambda content: to_remote(content, None))


def from_remote(remote: NhnTemplate) -> RemoteTemplate:
    """Return a template in our format, with the reason why it cannot be used, if there is one."""
    highlight = remote.templateItemHighlight or {}
    content = TemplateContent(
        name=remote.templateName,
        content=remote.templateContent or "",
        category=remote.categoryCode or OTHER_CATEGORY,
        emphasis_title=remote.templateTitle or None,
        emphasis_assist_phrase=remote.templateSubtitle or None,
        more_info=remote.templateExtra or None,
        image_name=remote.templateImageName or None,
        is_security_template=bool(remote.securityFlag),
    )
    return shared.make_remote_template(
        remote.templateCode,
        content,
        _STATUSES.get(remote.status),
        remote.templateMessageType,
        remote.templateEmphasizeType,
        shared.parts_from_remote(
            remote.templateHeader,
            remote.templateItem,
            highlight,
            str(highlight["imageUrl"]) if highlight.get("imageUrl") else None,
            _link(remote.templateRepresentLink or {}),
            _buttons_from_remote(remote.quickReplies),
        ),
        _buttons_from_remote(remote.buttons),
        _comment(remote.comments or []),
        # Set in the answer for one template, not in lists.
        Suspension.BLOCKED if remote.block else Suspension.DORMANT if remote.dormant else None,
    )


def newest(changes: Sequence[NhnTemplate]) -> NhnTemplate:
    """Return the newest of the changes to a template, whatever their order: the last created.

    Of those created in the same second, the one under review is the newest: there can be only one.
    """

    def age(change: NhnTemplate) -> tuple[str, bool, str]:
        is_in_review = _STATUSES.get(change.status) is TemplateStatus.INSPECTING
        return change.createDate or "", is_in_review, change.updateDate or ""

    return max(changes, key=age)


def _buttons_from_remote(given: list[dict[str, Any]] | None) -> list[Button | None]:
    """Return buttons in the order they are shown."""
    in_order = sorted(given or [], key=lambda one: one["ordering"] if isinstance(one.get("ordering"), int) else 0)
    return [button_from_remote(one) for one in in_order]


def _comment(given: list[NhnComment]) -> str:
    """Return why a template was rejected: the newest rejection, else the newest comment."""
    comments = sorted((one for one in given if one.content), key=lambda one: one.id or 0)
    rejections = [one for one in comments if one.status == _REJECTION]
    return next((one.content or "" for one in reversed(rejections or comments)), "")
