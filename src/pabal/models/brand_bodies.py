"""The body of a brand message, with the parts that relays document."""

from typing import Annotated

from msgspec import Meta, Struct, field

from pabal.models.bodies import (
    EXPIRE_MINUTES,
    RESEND_CONTENT,
    RESEND_PHONE_NUMBER,
    SEND_DATE,
    ButtonBody,
    FriendtalkReceiverBody,
    ImageBody,
)


def _describe(description: str) -> Meta:
    return Meta(description=description)


MobileLink = Annotated[str | None, _describe("Mobile web link.")]
PcLink = Annotated[str | None, _describe("PC web link.")]
AndroidLink = Annotated[str | None, _describe("Android app link.")]
IosLink = Annotated[str | None, _describe("iOS app link.")]


class LinksBody(Struct, kw_only=True, omit_defaults=True):
    """Where a part leads."""

    linkMo: MobileLink = None
    linkPc: PcLink = None
    schemeAndroid: AndroidLink = None
    schemeIos: IosLink = None


class BrandButtonBody(LinksBody, kw_only=True, omit_defaults=True):
    """A button as the relay documents it."""

    name: Annotated[str | None, _describe("At most 14 characters under a text or an image, else 8.")] = None
    type: Annotated[str | None, _describe("WL, AL, BK, MD, BT, BF or AC.")] = None
    chatExtra: Annotated[str | None, _describe("Passed to the bot of a BT button.")] = None
    chatEvent: Annotated[str | None, _describe("Bot event of a BT button.")] = None
    bizFormKey: Annotated[str | None, _describe("Business form of a BF button.")] = None


class CouponBody(LinksBody, kw_only=True, omit_defaults=True):
    """A coupon."""

    title: Annotated[
        str | None,
        _describe(
            "One of: `N원 할인 쿠폰`, `N% 할인 쿠폰`, `배송비 할인 쿠폰`, `… 무료 쿠폰`, `… UP 쿠폰`"
            " (at most 7 characters in front)."
        ),
    ] = None
    description: Annotated[str | None, _describe("At most 12 characters; 18 for the wide types and video.")] = None


class CommerceBody(Struct, kw_only=True, omit_defaults=True):
    """What is for sale, and its price in won."""

    title: Annotated[str | None, _describe("At most 30 characters.")] = None
    regularPrice: Annotated[int | None, _describe("Won.")] = None
    discountPrice: Annotated[int | None, _describe("With one of discountRate and discountFixed.")] = None
    discountRate: Annotated[int | None, _describe("Percent.")] = None
    discountFixed: Annotated[int | None, _describe("Won.")] = None


class BrandImageBody(Struct, kw_only=True, omit_defaults=True):
    """An image that was uploaded at the relay."""

    imageUrl: Annotated[str | None, _describe("Address that the relay gave the image.")] = None
    imageLink: Annotated[str | None, _describe("Link of the image.")] = None


class WideListItemBody(LinksBody, kw_only=True, omit_defaults=True):
    """An item of a wide list."""

    title: Annotated[str | None, _describe("At most 25 characters for the first item, else 30.")] = None
    imageUrl: Annotated[str | None, _describe("Address that the relay gave the image.")] = None


class WideListBody(Struct, kw_only=True, omit_defaults=True):
    """The items of a wide list."""

    items: Annotated[list[WideListItemBody] | None, _describe("3 or 4 items.")] = field(default=None, name="list")


class VideoBody(Struct, kw_only=True, omit_defaults=True):
    """A video of Kakao TV."""

    videoUrl: Annotated[str | None, _describe("Address at tv.kakao.com.")] = None
    thumbnailUrl: Annotated[str | None, _describe("Address of an image that was uploaded at the relay.")] = None


class CarouselHeadBody(LinksBody, kw_only=True, omit_defaults=True):
    """The introduction of a commerce carousel."""

    header: Annotated[str | None, _describe("At most 20 characters.")] = None
    content: Annotated[str | None, _describe("At most 50 characters.")] = None
    imageUrl: Annotated[str | None, _describe("Address that the relay gave the image.")] = None


class CarouselItemBody(Struct, kw_only=True, omit_defaults=True):
    """A card of a carousel."""

    header: Annotated[str | None, _describe("carouselFeed: at most 20 characters.")] = None
    message: Annotated[str | None, _describe("carouselFeed: at most 180 characters.")] = None
    additionalContent: Annotated[str | None, _describe("carouselCommerce: at most 34 characters.")] = None
    imageUrl: Annotated[str | None, _describe("Address that the relay gave the image.")] = None
    imageLink: Annotated[str | None, _describe("Link of the image.")] = None
    commerce: Annotated[CommerceBody | None, _describe("carouselCommerce: required.")] = None
    buttons: Annotated[list[BrandButtonBody] | None, _describe("1 or 2 buttons.")] = None
    coupon: Annotated[CouponBody | None, _describe("Coupon of the card.")] = None


class CarouselBody(Struct, kw_only=True, omit_defaults=True):
    """The cards of a carousel."""

    head: Annotated[CarouselHeadBody | None, _describe("carouselCommerce only.")] = None
    cards: Annotated[list[CarouselItemBody] | None, _describe("2 to 6 cards; 1 to 5 after an introduction.")] = (
        field(default=None, name="list")
    )
    tail: Annotated[LinksBody | None, _describe("Where `more` at the end leads.")] = None


class AttachmentBody(Struct, kw_only=True, omit_defaults=True):
    """What a brand message shows besides text, image and buttons; which fields it has depends on its type."""

    header: Annotated[
        str | None, _describe("wideList, premiumVideo: at most 20 characters. Required for wideList.")
    ] = None
    additionalContent: Annotated[str | None, _describe("commerce: at most 34 characters.")] = None
    image: Annotated[
        BrandImageBody | None,
        _describe("image, wide, commerce: instead of `image` and `imageLink` of the request."),
    ] = None
    buttons: Annotated[
        list[BrandButtonBody] | None, _describe("As the relay documents them, instead of `buttons` of the request.")
    ] = None
    item: Annotated[WideListBody | None, _describe("wideList: required.")] = None
    coupon: Annotated[CouponBody | None, _describe("Every type but carousels, whose cards have their own.")] = None
    commerce: Annotated[CommerceBody | None, _describe("commerce: required.")] = None
    video: Annotated[VideoBody | None, _describe("premiumVideo: required.")] = None
    carousel: Annotated[CarouselBody | None, _describe("carouselFeed, carouselCommerce: required.")] = None


class SendBrandMessage(Struct, kw_only=True, omit_defaults=True):
    """A brand message to each receiver: in free form, or by a template of the relay."""

    senderKey: Annotated[str, _describe("Key of the sender profile.")]
    templateCode: Annotated[
        str | None,
        _describe(
            "Code of a brand message template at the relay, instead of text, image, buttons and attachment."
            " `templateData` has the values of its variables."
        ),
    ] = None
    sendDate: Annotated[str | None, SEND_DATE] = None
    expireMinutes: Annotated[int | None, EXPIRE_MINUTES] = None
    messageType: Annotated[
        str | None,
        _describe(
            "text, image, wide, wideList, carouselFeed, carouselCommerce, commerce or premiumVideo."
            " Default: image with an image, else text."
        ),
    ] = None
    targeting: Annotated[
        str | None,
        _describe(
            "I: friends of the channel (default); M: people who consented to advertising;"
            " N: people who consented and are not friends."
        ),
    ] = None
    content: Annotated[
        str | None,
        _describe(
            "Text of text and image (at most 1,300 characters), wide and premiumVideo (76)."
            " Required for the first three unless every receiver has its own."
        ),
    ] = None
    image: Annotated[ImageBody | None, _describe("Image of image, wide and commerce.")] = None
    imageLink: Annotated[str | None, _describe("Link of the image.")] = None
    attachment: Annotated[AttachmentBody | None, _describe("What the type shows besides.")] = None
    optOutNumber: Annotated[
        str | None,
        Meta(
            description="Free 080 number to opt out. Default: that of the sender profile at the relay.",
            examples=["080-123-4567"],
        ),
    ] = None
    optOutAuthNumber: Annotated[
        str | None, _describe("Number to type after calling it, at most 10 digits. Only with `optOutNumber`.")
    ] = None
    resend: Annotated[bool | None, _describe("Whether to send a text message if this message fails.")] = None
    resendPhoneNumber: Annotated[str | None, RESEND_PHONE_NUMBER] = None
    resendContent: Annotated[str | None, RESEND_CONTENT] = None
    buttons: Annotated[
        list[ButtonBody] | None,
        _describe("Buttons of every type but carousels. Under a text or an image at most 5, else fewer."),
    ] = None
    receivers: list[FriendtalkReceiverBody]
