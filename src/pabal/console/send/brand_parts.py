"""What a brand message shows besides text and buttons, as the preview and the simulated phone show it."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from pabal.domain.brand.message import BrandAttachment, BrandButton, BrandType, CarouselItem, Commerce
from pabal.domain.content.button import is_web_link

_PICTURE = "https://example.com/image.jpg"
_LINK = "https://example.com"
_CARD_BUTTON = {"name": "보러 가기", "type": "WL", "linkMo": _LINK}
_PRICE = {"title": "상품 이름", "regularPrice": 30000, "discountPrice": 27000, "discountRate": 10}
_FEED = {"header": "제목", "message": "내용", "imageUrl": _PICTURE, "buttons": [_CARD_BUTTON]}
_OFFER = {"commerce": _PRICE, "imageUrl": _PICTURE, "buttons": [_CARD_BUTTON]}
EXAMPLES: dict[BrandType, dict[str, Any]] = {
    BrandType.WIDE_LIST: {
        "header": "제목",
        "item": {"list": [{"title": f"상품 {n}", "imageUrl": _PICTURE, "linkMo": _LINK} for n in (1, 2, 3)]},
    },
    BrandType.CAROUSEL_FEED: {"carousel": {"list": [_FEED, _FEED]}},
    BrandType.CAROUSEL_COMMERCE: {"carousel": {"list": [_OFFER, _OFFER]}},
    BrandType.COMMERCE: {"commerce": _PRICE},
    BrandType.PREMIUM_VIDEO: {"header": "제목", "video": {"videoUrl": "https://tv.kakao.com/v/1"}},
}
"""What the attachment of a type looks like, to start from."""


class BrandPreview(NamedTuple):
    """One part of a brand message: a header, an item, a card, a product, a video or a coupon."""

    title: str = ""
    text: str = ""
    price: str = ""
    has_image: bool = False
    is_video: bool = False
    is_coupon: bool = False
    buttons: Sequence[tuple[str, str]] = ()
    """Name of each button, and its link if a browser can open it."""


def example_of(kind: BrandType) -> str:
    """Return the attachment to start a draft with; empty where the type needs none."""
    return json.dumps(EXAMPLES[kind], ensure_ascii=False, indent=2) if kind in EXAMPLES else ""


def read_attachment(typed: str) -> Any:
    """Return what was typed as JSON; what is none stays a text, which the check of fields refuses."""
    try:
        return json.loads(typed) if typed.strip() else None
    except (ValueError, RecursionError):
        return typed


def attachment_of(given: Any) -> BrandAttachment:
    """Return the attachment to preview; nothing of one that has fields of the wrong type."""
    try:
        return msgspec.convert(given or {}, BrandAttachment)
    except (msgspec.ValidationError, RecursionError):
        return BrandAttachment()


def preview_attachment(attachment: BrandAttachment) -> list[BrandPreview]:
    """Return the parts of an attachment, in the order in which a phone shows them."""
    found = [BrandPreview(title=attachment.header)] if attachment.header else []
    if attachment.video is not None:
        found.append(BrandPreview(text=attachment.video.video_url or "", is_video=True))
    if attachment.image is not None:
        found.append(BrandPreview(has_image=True))
    if attachment.commerce is not None:
        found.append(_product(attachment.commerce, attachment.additional_content))
    for item in (attachment.item.items if attachment.item else None) or ():
        found.append(BrandPreview(title=item.title or "", has_image=bool(item.image_url)))
    carousel = attachment.carousel
    if carousel and carousel.head:
        head = carousel.head
        found.append(BrandPreview(title=head.header or "", text=head.content or "", has_image=bool(head.image_url)))
    found += [_card(card) for card in (carousel.cards if carousel else None) or ()]
    if attachment.coupon is not None:
        title, description = attachment.coupon.title or "", attachment.coupon.description or ""
        found.append(BrandPreview(title=title, text=description, is_coupon=True))
    if attachment.buttons:
        found.append(BrandPreview(buttons=_buttons(attachment.buttons)))
    return found


def _card(card: CarouselItem) -> BrandPreview:
    if card.commerce is None:
        part = BrandPreview(title=card.header or "", text=card.message or "")
    else:
        part = _product(card.commerce, card.additional_content)
    return part._replace(has_image=bool(card.image_url), buttons=_buttons(card.buttons or ()))


def _product(commerce: Commerce, more: str | None) -> BrandPreview:
    price = commerce.regular_price if commerce.discount_price is None else commerce.discount_price
    shown = f"{price:,}원" if price is not None else ""
    return BrandPreview(title=commerce.title or "", text=more or "", price=shown)


def _buttons(buttons: Sequence[BrandButton]) -> list[tuple[str, str]]:
    return [(one.name or "", one.link_mo if one.link_mo and is_web_link(one.link_mo) else "") for one in buttons]
