"""Brand messages: their types, who they are for, and what they show besides a text."""

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct, field

from pabal.domain.base.codes import Text


class BrandType(StrEnum):
    """How a brand message looks."""

    TEXT = "text"
    IMAGE = "image"
    WIDE = "wide"
    WIDE_LIST = "wideList"
    CAROUSEL_FEED = "carouselFeed"
    CAROUSEL_COMMERCE = "carouselCommerce"
    COMMERCE = "commerce"
    PREMIUM_VIDEO = "premiumVideo"

    @property
    def label(self) -> Text:
        return _TYPE_LABELS[self]


class Targeting(StrEnum):
    """Whom a brand message is for; others do not get it."""

    FRIENDS = "I"
    CONSENTED = "M"
    CONSENTED_NOT_FRIENDS = "N"

    @property
    def label(self) -> Text:
        return _TARGETING_LABELS[self]


_TYPE_LABELS = {
    BrandType.TEXT: Text("텍스트형", "Text"),
    BrandType.IMAGE: Text("이미지형", "Image"),
    BrandType.WIDE: Text("와이드 이미지형", "Wide image"),
    BrandType.WIDE_LIST: Text("와이드 아이템 리스트형", "Wide item list"),
    BrandType.CAROUSEL_FEED: Text("캐러셀 피드형", "Carousel feed"),
    BrandType.CAROUSEL_COMMERCE: Text("캐러셀 커머스형", "Carousel commerce"),
    BrandType.COMMERCE: Text("커머스형", "Commerce"),
    BrandType.PREMIUM_VIDEO: Text("프리미엄 동영상형", "Premium video"),
}
_TARGETING_LABELS = {
    Targeting.FRIENDS: Text("I: 채널 친구", "I: friends of the channel"),
    Targeting.CONSENTED: Text("M: 마케팅 수신 동의자", "M: people who consented to advertising"),
    Targeting.CONSENTED_NOT_FRIENDS: Text(
        "N: 친구가 아닌 마케팅 수신 동의자", "N: people who consented and are not friends"
    ),
}


class BrandPart(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A part of a brand message; a field that was not given is None."""


class BrandLinks(BrandPart, frozen=True, kw_only=True):
    """Where a part leads."""

    link_mo: str | None = None
    link_pc: str | None = None
    scheme_android: str | None = None
    scheme_ios: str | None = None


class BrandButton(BrandLinks, frozen=True, kw_only=True):
    """A button as the relay documents it."""

    name: str | None = None
    type: str | None = None
    chat_extra: str | None = None
    chat_event: str | None = None
    biz_form_key: str | None = None


class Coupon(BrandLinks, frozen=True, kw_only=True):
    title: str | None = None
    description: str | None = None


class Commerce(BrandPart, frozen=True, kw_only=True):
    """What is for sale, and its price in won."""

    title: str | None = None
    regular_price: int | None = None
    discount_price: int | None = None
    discount_rate: int | None = None
    discount_fixed: int | None = None


class BrandImage(BrandPart, frozen=True, kw_only=True):
    """An image that was uploaded at the relay."""

    image_url: str | None = None
    image_link: str | None = None


class WideListItem(BrandLinks, frozen=True, kw_only=True):
    title: str | None = None
    image_url: str | None = None


class WideList(BrandPart, frozen=True, kw_only=True):
    """The items of a wide list."""

    items: list[WideListItem] | None = field(default=None, name="list")


class Video(BrandPart, frozen=True, kw_only=True):
    """A video of Kakao TV, or one that was uploaded at the relay."""

    video_url: str | None = None
    thumbnail_url: str | None = None


class CarouselHead(BrandLinks, frozen=True, kw_only=True):
    """The introduction of a commerce carousel."""

    header: str | None = None
    content: str | None = None
    image_url: str | None = None


class CarouselItem(BrandPart, frozen=True, kw_only=True):
    """A card of a carousel."""

    header: str | None = None
    message: str | None = None
    additional_content: str | None = None
    image_url: str | None = None
    image_link: str | None = None
    commerce: Commerce | None = None
    buttons: list[BrandButton] | None = None
    coupon: Coupon | None = None


class Carousel(BrandPart, frozen=True, kw_only=True):
    """The cards of a carousel."""

    head: CarouselHead | None = None
    cards: list[CarouselItem] | None = field(default=None, name="list")
    tail: BrandLinks | None = None


class BrandAttachment(BrandPart, frozen=True, kw_only=True):
    """What a brand message shows besides text, image and buttons; which fields it has depends on its type."""

    header: str | None = None
    additional_content: str | None = None
    image: BrandImage | None = None
    buttons: list[BrandButton] | None = None
    item: WideList | None = None
    coupon: Coupon | None = None
    commerce: Commerce | None = None
    video: Video | None = None
    carousel: Carousel | None = None


class BrandMessage(Struct, frozen=True, omit_defaults=True):
    """What a brand message has that other messages do not; friend talk may be delivered as one."""

    type: BrandType | None = None
    """None: the template at the relay decides."""
    targeting: Targeting = Targeting.FRIENDS
    attachment: BrandAttachment = BrandAttachment()
    opt_out_auth_number: str | None = None
    """What a receiver types after calling the number to opt out."""
    is_adult: bool = False
    """Whether it is for adults only."""
    is_silent: bool = False
    """Whether it arrives without a push alarm."""


_decode = msgspec.json.Decoder(BrandMessage).decode


def encode_brand(brand: BrandMessage | None) -> str | None:
    """Return a brand message as the store keeps it."""
    return None if brand is None else msgspec.json.encode(brand).decode()


def decode_brand(stored: str | None) -> BrandMessage | None:
    """Return the brand message that `encode_brand` wrote."""
    return None if stored is None else _decode(stored)


def to_documented(part: BrandPart) -> dict[str, Any]:
    """Return a part in the shape that the relay documents, without the fields that were not given."""
    return dict(msgspec.to_builtins(part))
