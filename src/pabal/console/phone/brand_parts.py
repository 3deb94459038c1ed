"""What a brand message shows besides text and buttons, as the preview and the simulated phone show it."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.brand.message import BrandAttachment, BrandButton, CarouselItem, Commerce
from pabal.domain.content.button import is_web_link


class BrandPreview(NamedTuple):
    """One part of a brand message: a header, an item, a card, a product, a video or a coupon."""

    kind: str
    """How it is drawn: header, video, image, product, item, card, coupon or buttons."""
    title: str = ""
    text: str = ""
    price: str = ""
    regular: str = ""
    """The price before the discount, where there is one."""
    discount: str = ""
    has_image: bool = False
    buttons: Sequence[tuple[str, str]] = ()
    """Name of each button, and its link if a browser can open it."""


def preview_attachment(attachment: BrandAttachment) -> list[BrandPreview]:
    """Return the parts of an attachment, in the order in which a phone shows them."""
    return list(preview_groups(attachment).values())


def preview_groups(attachment: BrandAttachment) -> dict[str, BrandPreview]:
    """Return the parts of an attachment by the key of the fields that make each, in the order of a phone."""
    found = {"header": BrandPreview("header", title=attachment.header)} if attachment.header else {}
    if attachment.video is not None:
        found["video"] = BrandPreview("video", text=attachment.video.video_url or "")
    if attachment.image is not None:
        found["image"] = BrandPreview("image", has_image=True)
    if attachment.commerce is not None:
        found["commerce"] = _product(attachment.commerce, attachment.additional_content)
    for place, item in enumerate((attachment.item.items if attachment.item else None) or (), 1):
        found[f"item-{place}"] = BrandPreview("item", title=item.title or "", has_image=True)
    carousel = attachment.carousel
    if carousel and carousel.head:
        head = carousel.head
        found["head"] = BrandPreview("card", title=head.header or "", text=head.content or "", has_image=True)
    for place, card in enumerate((carousel.cards if carousel else None) or (), 1):
        found[f"card-{place}"] = _card(card)
    if attachment.coupon is not None:
        title, description = attachment.coupon.title or "", attachment.coupon.description or ""
        found["coupon"] = BrandPreview("coupon", title=title, text=description)
    if attachment.buttons:
        found["buttons"] = BrandPreview("buttons", buttons=_buttons(attachment.buttons))
    return found


def _card(card: CarouselItem) -> BrandPreview:
    if card.commerce is None:
        part = BrandPreview("card", title=card.header or "", text=card.message or "")
    else:
        part = _product(card.commerce, card.additional_content)
    return part._replace(kind="card", has_image=True, buttons=_buttons(card.buttons or ()))


def _product(commerce: Commerce, more: str | None) -> BrandPreview:
    regular, reduced = commerce.regular_price, commerce.discount_price
    price = regular if reduced is None else reduced
    rate, off = commerce.discount_rate, commerce.discount_fixed
    return BrandPreview(
        "product",
        title=commerce.title or "",
        text=more or "",
        price=f"{price:,}원" if price is not None else "",
        regular=f"{regular:,}원" if reduced is not None and regular is not None else "",
        discount=f"{rate}%" if rate is not None else f"{off:,}원" if off is not None else "",
    )


def _buttons(buttons: Sequence[BrandButton]) -> list[tuple[str, str]]:
    return [(one.name or "", one.link_mo if one.link_mo and is_web_link(one.link_mo) else "") for one in buttons]
