"""Converts the buttons and the other parts of Alimtalk templates to Solapi's format and back."""

from collections.abc import Mapping, Sequence
from typing import Any

from pabal.carriers.relay import kakao as shared
from pabal.carriers.relay.kakao import BUTTON_TYPES, items_to_remote
from pabal.carriers.solapi.client import find_file_id
from pabal.domain.content.button import DEFAULT_NAMES, Button
from pabal.domain.kakao.template_parts import TemplateParts

OUTSIDE = "out"
"""The target of a link that opens outside KakaoTalk."""
FILE_ADDRESS = "https://api.solapi.com/storage/v1/files/"
_OUR_TYPES = {remote: ours for ours, remote in BUTTON_TYPES.items()}
_LINKS = {"mobile_url": "linkMo", "pc_url": "linkPc", "android_url": "linkAnd", "ios_url": "linkIos"}
_LINKS_OF = {"WL": ("linkMo", "linkPc"), "AL": ("linkAnd", "linkIos")}
"""The links that a type of button has; the others have none."""
_BUTTON, _QUICK_REPLY = ("buttonType", "buttonName"), ("linkType", "name")
"""What the type and the name are called."""


def are_supported(buttons: Sequence[Button]) -> bool:
    return all(button.type in BUTTON_TYPES for button in buttons)


def message_buttons(buttons: Sequence[Button]) -> list[dict[str, Any]]:
    """Return the buttons of a message, which have types, names and links only."""
    return [_to_remote(button, _BUTTON) for button in buttons]


def template_buttons(buttons: Sequence[Button]) -> list[dict[str, Any]]:
    """Return the buttons of a template, in the order they are shown."""
    return [_to_remote(button, _BUTTON) | _details(button) for button in buttons]


def button_from_remote(remote: Mapping[str, Any]) -> Button | None:
    """Return a button in our format; None if it is of an unsupported kind."""
    return _from_remote(remote, _BUTTON)


def parts_to_remote(parts: TemplateParts) -> dict[str, Any]:
    """Return the fields of a template that has these parts; Solapi has no representative link."""
    remote: dict[str, Any] = {}
    if parts.header:
        remote["header"] = parts.header
    if parts.highlight:
        title, description, image_url = parts.highlight
        remote["highlight"] = {"title": title, "description": description}
        if image_url:
            remote["highlight"]["imageId"] = find_file_id(image_url)
    if parts.items:
        remote["item"] = items_to_remote(parts)
    if parts.quick_replies:
        remote["quickReplies"] = [_to_remote(each, _QUICK_REPLY) | _details(each) for each in parts.quick_replies]
    return remote


def parts_from_remote(
    header: str | None,
    highlight: Mapping[str, Any] | None,
    item: Mapping[str, Any] | None,
    replies: Sequence[Mapping[str, Any]],
) -> TemplateParts | None:
    """Return parts in our format; None if a quick reply is of an unsupported kind."""
    image_id = (highlight or {}).get("imageId")
    thumbnail = f"{FILE_ADDRESS}{image_id}" if image_id else None
    converted = [_from_remote(one, _QUICK_REPLY) for one in replies]
    return shared.parts_from_remote(header, item, highlight, thumbnail, None, converted)


def has_foreign_thumbnail(parts: TemplateParts) -> bool:
    """Return whether a highlight has a thumbnail that was not uploaded to Solapi."""
    address = parts.highlight.image_url if parts.highlight else None
    return address is not None and find_file_id(address) is None


def without_thumbnail(parts: TemplateParts) -> TemplateParts:
    return parts._replace(highlight=parts.highlight and parts.highlight._replace(image_url=None))


def _to_remote(button: Button, words: tuple[str, str]) -> dict[str, Any]:
    """Return type, name and links; links that the type does not have are left out."""
    kind = BUTTON_TYPES[button.type]
    name = DEFAULT_NAMES[button.type] if button.type == "channelAddition" else button.name
    remote: dict[str, Any] = dict(zip(words, (kind, name), strict=True))
    for field, link in _LINKS.items():
        if link in _LINKS_OF.get(kind, ()) and (value := getattr(button, field)) is not None:
            remote[link] = value
    return remote


def _details(button: Button) -> dict[str, Any]:
    """Return what a counsellor or bot gets, and whether a link opens outside KakaoTalk; there is no chatEvent."""
    found: dict[str, Any] = {}
    if button.chat_extra is not None:
        found["chatExtra"] = button.chat_extra
    if opens_outside(button):
        found["targetOut"] = True
    return found


def opens_outside(button: Button) -> bool:
    """Return whether a button has a link that opens outside KakaoTalk."""
    return button.target == OUTSIDE and BUTTON_TYPES[button.type] in _LINKS_OF


def _from_remote(remote: Mapping[str, Any], words: tuple[str, str]) -> Button | None:
    kind = _OUR_TYPES.get(str(remote.get(words[0])))
    if kind is None:
        return None
    given = {field: str(remote[link]) for field, link in _LINKS.items() if remote.get(link)}
    if remote.get("chatExtra"):
        given["chat_extra"] = str(remote["chatExtra"])
    if remote.get("targetOut"):
        given["target"] = OUTSIDE
    return Button(kind, str(remote.get(words[1]) or DEFAULT_NAMES[kind]), **given)  # type: ignore[arg-type]
