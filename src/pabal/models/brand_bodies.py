"""The body of a brand message, with the parts that relays document."""

from typing import Annotated

from msgspec import Struct, field

from pabal.models import describe
from pabal.models.bodies import (
    EXPIRE_MINUTES,
    RESEND_CONTENT,
    RESEND_PHONE_NUMBER,
    SEND_DATE,
    ButtonBody,
    FriendtalkReceiverBody,
    ImageBody,
)

MobileLink = Annotated[str | None, describe("모바일 웹 링크", "Mobile web link.")]
PcLink = Annotated[str | None, describe("PC 웹 링크", "PC web link.")]
AndroidLink = Annotated[str | None, describe("Android 앱 링크", "Android app link.")]
IosLink = Annotated[str | None, describe("iOS 앱 링크", "iOS app link.")]


class LinksBody(Struct, kw_only=True, omit_defaults=True):
    """Where a part leads."""

    linkMo: MobileLink = None
    linkPc: PcLink = None
    schemeAndroid: AndroidLink = None
    schemeIos: IosLink = None


class BrandButtonBody(LinksBody, kw_only=True, omit_defaults=True):
    """A button as the relay documents it."""

    name: Annotated[
        str | None,
        describe(
            "텍스트나 이미지 아래에서 최대 14자, 그 밖에는 8자",
            "At most 14 characters under a text or an image, else 8.",
        ),
    ] = None
    type: Annotated[str | None, describe("WL, AL, BK, MD, BT, BF 또는 AC", "WL, AL, BK, MD, BT, BF or AC.")] = None
    chatExtra: Annotated[str | None, describe("BT 버튼의 봇에 넘길 값", "Passed to the bot of a BT button.")] = None
    chatEvent: Annotated[str | None, describe("BT 버튼의 봇 이벤트", "Bot event of a BT button.")] = None
    bizFormKey: Annotated[str | None, describe("BF 버튼의 비즈니스폼", "Business form of a BF button.")] = None


class CouponBody(LinksBody, kw_only=True, omit_defaults=True):
    """A coupon."""

    title: Annotated[
        str | None,
        describe(
            "다음 중 하나: `N원 할인 쿠폰`, `N% 할인 쿠폰`, `배송비 할인 쿠폰`, `… 무료 쿠폰`, `… UP"
            " 쿠폰`(앞은 최대 7자)",
            "One of: `N원 할인 쿠폰`, `N% 할인 쿠폰`, `배송비 할인 쿠폰`, `… 무료 쿠폰`, `… UP 쿠폰` (at most"
            " 7 characters in front).",
        ),
    ] = None
    description: Annotated[
        str | None,
        describe(
            "최대 12자, 와이드 유형과 동영상은 18자", "At most 12 characters; 18 for the wide types and video."
        ),
    ] = None


class CommerceBody(Struct, kw_only=True, omit_defaults=True):
    """What is for sale, and its price in won."""

    title: Annotated[str | None, describe("최대 30자", "At most 30 characters.")] = None
    regularPrice: Annotated[int | None, describe("원", "Won.")] = None
    discountPrice: Annotated[
        int | None,
        describe("discountRate나 discountFixed 중 하나와 함께", "With one of discountRate and discountFixed."),
    ] = None
    discountRate: Annotated[int | None, describe("퍼센트", "Percent.")] = None
    discountFixed: Annotated[int | None, describe("원", "Won.")] = None


class BrandImageBody(Struct, kw_only=True, omit_defaults=True):
    """An image that was uploaded at the relay."""

    imageUrl: Annotated[
        str | None, describe("중계사가 이미지에 준 주소", "Address that the relay gave the image.")
    ] = None
    imageLink: Annotated[str | None, describe("이미지의 링크", "Link of the image.")] = None


class WideListItemBody(LinksBody, kw_only=True, omit_defaults=True):
    """An item of a wide list."""

    title: Annotated[
        str | None,
        describe(
            "첫 번째 아이템은 최대 25자, 그 밖에는 30자", "At most 25 characters for the first item, else 30."
        ),
    ] = None
    imageUrl: Annotated[
        str | None, describe("중계사가 이미지에 준 주소", "Address that the relay gave the image.")
    ] = None


class WideListBody(Struct, kw_only=True, omit_defaults=True):
    """The items of a wide list."""

    items: Annotated[list[WideListItemBody] | None, describe("아이템 3~4개", "3 or 4 items.")] = field(
        default=None, name="list"
    )


class VideoBody(Struct, kw_only=True, omit_defaults=True):
    """A video of Kakao TV, or one that was uploaded at the relay."""

    videoUrl: Annotated[
        str | None,
        describe(
            "tv.kakao.com의 주소, 또는 중계사에 올린 동영상의 `videoUrl`",
            "Address at tv.kakao.com, or the `videoUrl` of a video that was uploaded at the relay.",
        ),
    ] = None
    thumbnailUrl: Annotated[
        str | None, describe("중계사에 올린 이미지의 주소", "Address of an image that was uploaded at the relay.")
    ] = None


class CarouselHeadBody(LinksBody, kw_only=True, omit_defaults=True):
    """The introduction of a commerce carousel."""

    header: Annotated[str | None, describe("최대 20자", "At most 20 characters.")] = None
    content: Annotated[str | None, describe("최대 50자", "At most 50 characters.")] = None
    imageUrl: Annotated[
        str | None, describe("중계사가 이미지에 준 주소", "Address that the relay gave the image.")
    ] = None


class CarouselItemBody(Struct, kw_only=True, omit_defaults=True):
    """A card of a carousel."""

    header: Annotated[str | None, describe("carouselFeed: 최대 20자", "carouselFeed: at most 20 characters.")] = (
        None
    )
    message: Annotated[
        str | None, describe("carouselFeed: 최대 180자", "carouselFeed: at most 180 characters.")
    ] = None
    additionalContent: Annotated[
        str | None, describe("carouselCommerce: 최대 34자", "carouselCommerce: at most 34 characters.")
    ] = None
    imageUrl: Annotated[
        str | None, describe("중계사가 이미지에 준 주소", "Address that the relay gave the image.")
    ] = None
    imageLink: Annotated[str | None, describe("이미지의 링크", "Link of the image.")] = None
    commerce: Annotated[CommerceBody | None, describe("carouselCommerce: 필수", "carouselCommerce: required.")] = (
        None
    )
    buttons: Annotated[list[BrandButtonBody] | None, describe("버튼 1~2개", "1 or 2 buttons.")] = None
    coupon: Annotated[CouponBody | None, describe("카드의 쿠폰", "Coupon of the card.")] = None


class CarouselBody(Struct, kw_only=True, omit_defaults=True):
    """The cards of a carousel."""

    head: Annotated[CarouselHeadBody | None, describe("carouselCommerce만", "carouselCommerce only.")] = None
    cards: Annotated[
        list[CarouselItemBody] | None,
        describe("카드 2~6장, 인트로가 있으면 1~5장", "2 to 6 cards; 1 to 5 after an introduction."),
    ] = field(default=None, name="list")
    tail: Annotated[
        LinksBody | None, describe("맨 끝의 더보기(`more`)가 가는 곳", "Where `more` at the end leads.")
    ] = None


class AttachmentBody(Struct, kw_only=True, omit_defaults=True):
    """What a brand message shows besides text, image and buttons; which fields it has depends on its type."""

    header: Annotated[
        str | None,
        describe(
            "wideList, premiumVideo: 최대 20자. wideList에는 필수입니다",
            "wideList, premiumVideo: at most 20 characters. Required for wideList.",
        ),
    ] = None
    additionalContent: Annotated[
        str | None, describe("commerce: 최대 34자", "commerce: at most 34 characters.")
    ] = None
    image: Annotated[
        BrandImageBody | None,
        describe(
            "image, wide, commerce: 요청의 `image`와 `imageLink` 대신",
            "image, wide, commerce: instead of `image` and `imageLink` of the request.",
        ),
    ] = None
    buttons: Annotated[
        list[BrandButtonBody] | None,
        describe(
            "요청의 `buttons` 대신, 중계사의 문서대로",
            "As the relay documents them, instead of `buttons` of the request.",
        ),
    ] = None
    item: Annotated[WideListBody | None, describe("wideList: 필수", "wideList: required.")] = None
    coupon: Annotated[
        CouponBody | None,
        describe(
            "캐러셀을 뺀 모든 유형. 캐러셀의 카드에는 각자의 것이 있습니다",
            "Every type but carousels, whose cards have their own.",
        ),
    ] = None
    commerce: Annotated[CommerceBody | None, describe("commerce: 필수", "commerce: required.")] = None
    video: Annotated[VideoBody | None, describe("premiumVideo: 필수", "premiumVideo: required.")] = None
    carousel: Annotated[
        CarouselBody | None,
        describe("carouselFeed, carouselCommerce: 필수", "carouselFeed, carouselCommerce: required."),
    ] = None


class SendBrandMessage(Struct, kw_only=True, omit_defaults=True):
    """A brand message to each receiver: in free form, or by a template of the relay."""

    senderKey: Annotated[str, describe("발신 프로필의 키", "Key of the sender profile.")]
    templateCode: Annotated[
        str | None,
        describe(
            "본문, 이미지, 버튼, 첨부 요소 대신 쓸 중계사의 브랜드 메시지 템플릿 코드. 변수의 값은"
            " `templateData`에 넣습니다",
            "Code of a brand message template at the relay, instead of text, image, buttons and attachment."
            " `templateData` has the values of its variables.",
        ),
    ] = None
    sendDate: Annotated[str | None, SEND_DATE] = None
    expireMinutes: Annotated[int | None, EXPIRE_MINUTES] = None
    messageType: Annotated[
        str | None,
        describe(
            "text, image, wide, wideList, carouselFeed, carouselCommerce, commerce 또는 premiumVideo. 기본값:"
            " 이미지가 있으면 image, 없으면 text",
            "text, image, wide, wideList, carouselFeed, carouselCommerce, commerce or premiumVideo. Default:"
            " image with an image, else text.",
        ),
    ] = None
    targeting: Annotated[
        str | None,
        describe(
            "I: 채널의 친구(기본값), M: 광고 수신에 동의한 사람, N: 동의했지만 친구가 아닌 사람",
            "I: friends of the channel (default); M: people who consented to advertising; N: people who"
            " consented and are not friends.",
        ),
    ] = None
    content: Annotated[
        str | None,
        describe(
            "text와 image(1,300자까지), wide와 premiumVideo(76자까지)의 본문. 모든 수신자에게 각자의 본문이"
            " 있지 않으면 앞의 셋에 필수입니다",
            "Text of text and image (at most 1,300 characters), wide and premiumVideo (76). Required for the"
            " first three unless every receiver has its own.",
        ),
    ] = None
    image: Annotated[
        ImageBody | None, describe("image, wide, commerce의 이미지", "Image of image, wide and commerce.")
    ] = None
    imageLink: Annotated[str | None, describe("이미지의 링크", "Link of the image.")] = None
    attachment: Annotated[
        AttachmentBody | None, describe("그 밖에 유형이 보여 주는 것", "What the type shows besides.")
    ] = None
    adult: Annotated[
        bool | None,
        describe(
            "성인용 메시지인지 여부. 기본값: false. `templateCode`와는 함께 쓸 수 없습니다",
            "Whether the message is for adults only. Default: false. Not with `templateCode`.",
        ),
    ] = None
    pushAlarm: Annotated[
        bool | None,
        describe("푸시 알림을 울릴지 여부. 기본값: true", "Whether phones announce the message. Default: true."),
    ] = None
    optOutNumber: Annotated[
        str | None,
        describe(
            "무료 080 수신거부 번호. 기본값: 중계사에 있는 발신 프로필의 번호",
            "Free 080 number to opt out. Default: that of the sender profile at the relay.",
            examples=["080-123-4567"],
        ),
    ] = None
    optOutAuthNumber: Annotated[
        str | None,
        describe(
            "전화한 뒤 누를 번호, 최대 10자리. `optOutNumber`와 함께만 씁니다",
            "Number to type after calling it, at most 10 digits. Only with `optOutNumber`.",
        ),
    ] = None
    resend: Annotated[
        bool | None,
        describe(
            "이 메시지가 실패하면 문자를 보낼지 여부", "Whether to send a text message if this message fails."
        ),
    ] = None
    resendPhoneNumber: Annotated[str | None, RESEND_PHONE_NUMBER] = None
    resendContent: Annotated[str | None, RESEND_CONTENT] = None
    buttons: Annotated[
        list[ButtonBody] | None,
        describe(
            "캐러셀을 뺀 모든 유형의 버튼. 텍스트나 이미지 아래에는 최대 5개, 그 밖에는 더 적습니다",
            "Buttons of every type but carousels. Under a text or an image at most 5, else fewer.",
        ),
    ] = None
    receivers: list[FriendtalkReceiverBody]
