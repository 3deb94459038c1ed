"""From Solapi's brand messages to a body of ours: in free form, or by a template of the relay behind."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pabal.carriers.relay.kakao import CHAT_BUBBLE_TYPES
from pabal.carriers.solapi.client import find_file_id
from pabal.compat.differences import find_ignored
from pabal.compat.own_values import image_body
from pabal.compat.solapi.bodies import Bms
from pabal.compat.solapi.translation import (
    Item,
    build_button,
    has_fallback,
    has_own_text,
    options_of,
    read_bms,
    variables_of,
)
from pabal.domain.base.codes import Code, Refused, require
from pabal.domain.brand.buttons import CHANNEL_ADDITION
from pabal.domain.brand.message import BrandType
from pabal.domain.content import variables
from pabal.domain.content.image import Image
from pabal.models.bodies import FriendtalkReceiverBody
from pabal.models.brand_bodies import AttachmentBody, SendBrandMessage

_TYPES = {remote: ours.value for ours, remote in CHAT_BUBBLE_TYPES.items()}
_NAMES = {
    "linkMobile": "linkMo",
    "linkAndroid": "schemeAndroid",
    "linkIos": "schemeIos",
    "linkType": "type",
    "imageId": "imageUrl",
    "thumbnailId": "thumbnailUrl",
}
"""Fields of parts that have another name in ours."""
_VIDEO, _FEED = CHAT_BUBBLE_TYPES[BrandType.PREMIUM_VIDEO], CHAT_BUBBLE_TYPES[BrandType.CAROUSEL_FEED]
_VIDEO_NAMES, _CARD_NAMES = {"imageId": "thumbnailId"}, {"content": "message"}
_ATTACHED = ("header", "additionalContent", "coupon", "commerce", "buttons", "carousel")
_PICTURES = ("imageId", "thumbnailId")
_ADDRESS = "https://solapi.invalid/"
"""The beginning of the addresses of pictures that are at Solapi: its carrier reads only the id behind it."""


def build_brand_body(items: Sequence[Item], send_date: str | None, image: Image | None) -> SendBrandMessage:
    """Return the body of a send of brand messages; `image` is their picture, if it was uploaded here.

    Raises Refused for what has no place in it.
    """
    first, options = items[0].body, options_of(items)
    bms = read_bms(options)
    if not bms.targeting:
        raise Refused(Code.MISSING_PARAMETER, "targeting")
    if not bms.chatBubbleType and not options.templateId:
        raise Refused(Code.MISSING_PARAMETER, "chatBubbleType")
    if options.buttons:
        raise Refused(Code.INVALID_BUTTON, "kakaoOptions.buttons")
    has_own = has_own_text(options)
    is_of_video = bms.chatBubbleType == _VIDEO and not options.templateId
    content = bms.content or (first.text if is_of_video else None) or None
    fallback = None if has_own or content is first.text else first.text or None
    attached = _attach(bms, has_image=image is not None)
    fields = {
        "senderKey": options.pfId or "",
        "templateCode": options.templateId or None,
        "sendDate": send_date,
        "messageType": _TYPES.get(bms.chatBubbleType or "", bms.chatBubbleType),
        "targeting": bms.targeting,
        "content": content,
        "image": image_body(image) if image else None,
        "imageLink": bms.imageLink if image else None,
        "adult": bms.adult,
        "attachment": attached or None,
        "resend": has_fallback(first, options) and bool(has_own or fallback or content),
        "resendPhoneNumber": first.sender,
        "resendContent": fallback,
        "buttons": [build_button(each) for each in bms.buttons or ()] if _opens_outside(bms.buttons) else None,
        "receivers": [_build_receiver(each, bms, has_own=has_own) for each in items],
    }
    try:
        body = msgspec.convert(fields, SendBrandMessage, strict=False)
    except msgspec.ValidationError:
        raise Refused(Code.INVALID_PARAMETER, "bms") from None
    if any(find_ignored(attached, AttachmentBody)):
        raise Refused(Code.INVALID_PARAMETER, "bms")
    return body


def _build_receiver(item: Item, bms: Bms, *, has_own: bool) -> FriendtalkReceiverBody:
    """Return a receiver with its text and values; a variable without a value stays as it is."""
    text = item.body.text
    names = variables.find_names(text, bms.content, *_links_of(bms.buttons))
    values = {**{name: f"#{{{name}}}" for name in names}, **variables_of(options_of([item]))}
    content = text if has_own else None
    return FriendtalkReceiverBody(phoneNumber=item.to, content=content, templateData=values or None)


def _links_of(buttons: Sequence[Mapping[str, Any]] | None) -> list[str]:
    return [value for each in buttons or () for value in each.values() if isinstance(value, str)]


def _opens_outside(buttons: Sequence[Mapping[str, Any]] | None) -> bool:
    """Return whether a button leaves the app, which only buttons beside the attachment can."""
    return any(each.get("targetOut") for each in buttons or ())


def _attach(bms: Bms, *, has_image: bool) -> dict[str, Any]:
    """Return what our attachment has, with our names.

    Raises Refused(INVALID_IMAGE).
    """
    found: dict[str, Any] = {name: getattr(bms, name) for name in _ATTACHED}
    if _opens_outside(bms.buttons):
        found["buttons"] = None
    if not has_image:
        found["image"] = {"imageId": bms.imageId, "imageLink": bms.imageLink}
    if bms.mainWideItem or bms.subWideItemList:
        found["item"] = {"list": [bms.mainWideItem or {}, *(bms.subWideItemList or ())]}
    if bms.video:
        found["video"] = _rename_keys(bms.video, _VIDEO_NAMES)
    cards = (bms.carousel or {}).get("list")
    if bms.chatBubbleType == _FEED and isinstance(cards, list):
        found["carousel"] = {**(bms.carousel or {}), "list": [_rename_keys(each, _CARD_NAMES) for each in cards]}
    return {name: each for name, each in _rename(found).items() if each != {}}


def _rename_keys(part: Any, names: Mapping[str, str]) -> Any:
    return {names.get(name, name): each for name, each in part.items()} if isinstance(part, dict) else part


def _rename(part: Any) -> Any:
    """Return a part with our names for its fields and addresses for its pictures, without what has no value."""
    if isinstance(part, list):
        return [_rename(each) for each in part]
    if not isinstance(part, dict):
        return part
    given = {name: each for name, each in part.items() if each is not None}
    if given.get("targetOut") is False:
        del given["targetOut"]
    if given.get("linkType") == "AC":
        given.setdefault("name", CHANNEL_ADDITION)
    found = {name: _address(each) if name in _PICTURES else _rename(each) for name, each in given.items()}
    return _rename_keys(found, _NAMES)


def _address(file_id: Any) -> str:
    """Return the address of a picture that is at Solapi; our endpoints give those that they have shorter ids.

    Raises Refused(INVALID_IMAGE).
    """
    found = require(find_file_id(file_id) if isinstance(file_id, str) else None, Code.INVALID_IMAGE, "image")
    return f"{_ADDRESS}{found}"
