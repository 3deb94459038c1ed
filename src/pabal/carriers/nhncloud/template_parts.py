"""Converts what a template has beside its text to NHN Cloud's format and back."""

from collections.abc import Mapping, Sequence
from typing import Any

from pabal.carriers.nhncloud import buttons
from pabal.domain.content.button import Button
from pabal.domain.kakao.template_parts import (
    QUICK_REPLY_TYPES,
    ItemEntry,
    ItemHighlight,
    TemplateParts,
    represent_link,
)

_LINK_FIELDS = {
    "linkMo": "mobile_url",
    "linkPc": "pc_url",
    "schemeIos": "ios_url",
    "schemeAndroid": "android_url",
}


def to_remote(parts: TemplateParts) -> dict[str, Any]:
    """Return the fields of a template or of a recipient."""
    remote: dict[str, Any] = {}
    if parts.header:
        remote["templateHeader"] = parts.header
    if parts.items:
        remote["templateItem"] = {"list": [each._asdict() for each in parts.items]}
        if parts.summary:
            remote["templateItem"]["summary"] = parts.summary._asdict()
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
        remote["quickReplies"] = buttons.all_to_remote(parts.quick_replies)
    return remote


def from_remote(
    header: str | None,
    item: Mapping[str, Any] | None,
    highlight: Mapping[str, Any] | None,
    link: Mapping[str, Any] | None,
    replies: Sequence[Mapping[str, Any]],
) -> TemplateParts | None:
    """Return parts in our format; None if a quick reply is of an unsupported kind."""
    converted = [buttons.from_remote(one) for one in replies]
    if any(one is None or one.type not in QUICK_REPLY_TYPES for one in converted):
        return None
    lines = [_entry(each) for each in (item or {}).get("list") or ()]
    return TemplateParts(
        header or None,
        _highlight(highlight or {}),
        tuple(each for each in lines if each),
        _entry((item or {}).get("summary") or {}),
        _link(link or {}),
        tuple(one for one in converted if one is not None),
    )


def _entry(remote: Mapping[str, Any]) -> ItemEntry | None:
    title, description = str(remote.get("title") or ""), str(remote.get("description") or "")
    return ItemEntry(title, description) if title or description else None


def _highlight(remote: Mapping[str, Any]) -> ItemHighlight | None:
    entry = _entry(remote)
    return ItemHighlight(*entry, str(remote["imageUrl"]) if remote.get("imageUrl") else None) if entry else None


def _link(remote: Mapping[str, Any]) -> Button | None:
    links = {name: str(remote[field]) for field, name in _LINK_FIELDS.items() if remote.get(field)}
    return represent_link(links)
