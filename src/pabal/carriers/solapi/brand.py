"""Writes brand messages in Solapi's format."""

from typing import Any

from pabal.carriers.relay.kakao import CHAT_BUBBLE_TYPES, is_by_template
from pabal.carriers.solapi.client import find_file_id
from pabal.carriers.solapi.template_parts import opens_outside
from pabal.domain.brand.buttons import from_button
from pabal.domain.brand.message import (
    BrandAttachment,
    BrandType,
    to_documented,
)
from pabal.domain.content.button import Button
from pabal.domain.sends.message import Attempt

FREE_FORM_TYPE = "BMS_FREE"
IMAGE_KINDS = {BrandType.WIDE: "BMS_WIDE"}
"""What an uploaded image is for, by the type of the message."""
DEFAULT_IMAGE_KIND = "BMS"
_NAMES = {
    "linkMo": "linkMobile",
    "schemeAndroid": "linkAndroid",
    "schemeIos": "linkIos",
    "type": "linkType",
    "message": "content",
    "imageUrl": "imageId",
    "thumbnailUrl": "imageId",
}
"""What Solapi calls the fields to which it gives other names."""
_NO_FIELDS = ("chatEvent", "bizFormKey")


class NotAtSolapi(Exception):
    """The message has an image that was not uploaded to Solapi, or something that Solapi does not have."""


def image_kind_of(attempt: Attempt) -> str:
    """Return what the image of a brand message is uploaded for."""
    brand_type = attempt.brand.type if attempt.brand else None
    return IMAGE_KINDS.get(brand_type, DEFAULT_IMAGE_KIND) if brand_type else DEFAULT_IMAGE_KIND


def to_remote(attempt: Attempt, image_id: str | None) -> dict[str, Any]:
    """Return type, text and options of a brand message; it has no fallback at Solapi.

    Raises NotAtSolapi.
    """
    brand = attempt.brand
    assert brand is not None
    if brand.is_silent:
        raise NotAtSolapi("a message without an alarm")
    options: dict[str, Any] = {"pfId": attempt.sender_key, "disableSms": True}
    bms: dict[str, Any] = {"targeting": brand.targeting.value}
    if is_by_template(attempt):
        variables = {f"#{{{name}}}": value for name, value in (attempt.parameters or {}).items()}
        options |= {"templateId": attempt.template_code, "variables": variables, "bms": bms}
        return {"kakaoOptions": options}
    assert brand.type is not None
    bms |= {"chatBubbleType": CHAT_BUBBLE_TYPES[brand.type], **_attachment(brand.attachment)}
    if brand.is_adult:
        bms["adult"] = True
    if attempt.buttons:
        bms["buttons"] = [_button(button) for button in attempt.buttons]
    if image_id is not None:
        bms["imageId"] = image_id
        if attempt.image_link:
            bms["imageLink"] = attempt.image_link
    options["bms"] = bms
    text = {"text": attempt.content} if attempt.content else {}
    return {"type": FREE_FORM_TYPE, **text, "kakaoOptions": options}


def _attachment(given: BrandAttachment) -> dict[str, Any]:
    remote: dict[str, Any] = _renamed(to_documented(given))
    if not given.buttons:
        remote.pop("buttons", None)
    remote |= remote.pop("image", {})
    if items := remote.pop("item", {}).get("list"):
        remote |= {"mainWideItem": items[0], "subWideItemList": items[1:]}
    for card in remote.get("carousel", {}).get("list", ()):
        card.setdefault("buttons", [])
    return remote


def _button(button: Button) -> dict[str, Any]:
    known = from_button(button)
    if known is None:
        raise NotAtSolapi("a button")
    remote: dict[str, Any] = _renamed(to_documented(known))
    return remote | ({"targetOut": True} if opens_outside(button) else {})


def _renamed(part: Any) -> Any:
    """Return a part of a brand message, as NHN Cloud documents it, with Solapi's names and its ids of images."""
    if isinstance(part, list):
        return [_renamed(each) for each in part]
    if not isinstance(part, dict):
        return part
    if part.get("type") == "BF" and "bizFormKey" in part:
        raise NotAtSolapi("a business form")
    found = {_NAMES.get(name, name): _renamed(value) for name, value in part.items() if name not in _NO_FIELDS}
    if "imageId" in found:
        found["imageId"] = find_file_id(found["imageId"])
        if found["imageId"] is None:
            raise NotAtSolapi("an image")
    return found
