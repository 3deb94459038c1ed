"""Writes brand messages in Solapi's format."""

from collections.abc import Sequence
from typing import Any

from pabal.carriers.relay.kakao import CHAT_BUBBLE_TYPES, is_by_template
from pabal.carriers.solapi.client import find_file_id
from pabal.carriers.solapi.template_parts import opens_outside
from pabal.domain.brand.buttons import from_button
from pabal.domain.brand.message import (
    BrandAttachment,
    BrandButton,
    BrandLinks,
    BrandType,
    Carousel,
    CarouselHead,
    CarouselItem,
    Coupon,
    WideListItem,
    to_documented,
)
from pabal.domain.content.button import Button
from pabal.domain.sends.message import Attempt

FREE_FORM_TYPE = "BMS_FREE"
IMAGE_KINDS = {BrandType.WIDE: "BMS_WIDE"}
"""What an uploaded image is for, by the type of the message."""
DEFAULT_IMAGE_KIND = "BMS"
_LINKS = {
    "linkMobile": "link_mo",
    "linkPc": "link_pc",
    "linkAndroid": "scheme_android",
    "linkIos": "scheme_ios",
}


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
        bms["buttons"] = [_own_button(button) for button in attempt.buttons]
    if image_id is not None:
        bms["imageId"] = image_id
        if attempt.image_link:
            bms["imageLink"] = attempt.image_link
    options["bms"] = bms
    text = {"text": attempt.content} if attempt.content else {}
    return {"type": FREE_FORM_TYPE, **text, "kakaoOptions": options}


def _attachment(given: BrandAttachment) -> dict[str, Any]:
    remote: dict[str, Any] = {
        "header": given.header,
        "additionalContent": given.additional_content,
        "buttons": _buttons(given.buttons) if given.buttons else None,
        "coupon": _coupon(given.coupon),
        "commerce": to_documented(given.commerce) if given.commerce else None,
        "carousel": _carousel(given.carousel) if given.carousel else None,
    }
    if given.image:
        remote |= {"imageId": _file_id(given.image.image_url), "imageLink": given.image.image_link}
    if given.item and given.item.items:
        first, *others = map(_wide_item, given.item.items)
        remote |= {"mainWideItem": first, "subWideItemList": others}
    if given.video:
        remote["video"] = _given(videoUrl=given.video.video_url, imageId=_file_id(given.video.thumbnail_url))
    return _given(**remote)


def _wide_item(item: WideListItem) -> dict[str, Any]:
    return _given(title=item.title, imageId=_file_id(item.image_url), **_links(item))


def _carousel(carousel: Carousel) -> dict[str, Any]:
    return _given(
        head=_head(carousel.head) if carousel.head else None,
        list=[_card(card) for card in carousel.cards or ()],
        tail=_links(carousel.tail) if carousel.tail else None,
    )


def _head(head: CarouselHead) -> dict[str, Any]:
    return _given(header=head.header, content=head.content, imageId=_file_id(head.image_url), **_links(head))


def _card(card: CarouselItem) -> dict[str, Any]:
    return _given(
        header=card.header,
        content=card.message,
        additionalContent=card.additional_content,
        imageId=_file_id(card.image_url),
        imageLink=card.image_link,
        commerce=to_documented(card.commerce) if card.commerce else None,
        buttons=_buttons(card.buttons or ()),
        coupon=_coupon(card.coupon),
    )


def _coupon(coupon: Coupon | None) -> dict[str, Any] | None:
    return None if coupon is None else _given(title=coupon.title, description=coupon.description, **_links(coupon))


def _buttons(given: Sequence[BrandButton]) -> list[dict[str, Any]]:
    return [_button(button) for button in given]


def _button(button: BrandButton) -> dict[str, Any]:
    if button.biz_form_key is not None and button.type == "BF":
        raise NotAtSolapi("a business form")
    return _given(linkType=button.type, name=button.name, chatExtra=button.chat_extra, **_links(button))


def _own_button(button: Button) -> dict[str, Any]:
    known = from_button(button)
    if known is None:
        raise NotAtSolapi("a button")
    return _button(known) | ({"targetOut": True} if opens_outside(button) else {})


def _links(part: BrandLinks) -> dict[str, str | None]:
    return {remote: getattr(part, ours) for remote, ours in _LINKS.items() if getattr(part, ours) is not None}


def _file_id(address: str | None) -> str | None:
    if address is None:
        return None
    found = find_file_id(address)
    if found is None:
        raise NotAtSolapi("an image")
    return found


def _given(**fields: Any) -> dict[str, Any]:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}
