"""The rules of brand messages: what each part and each type must and may have."""

import re
from typing import Any, NamedTuple, TypeVar

from msgspec import structs

from pabal.domain.base.codes import Code, Problem, Refused, Text, at_most_characters
from pabal.domain.brand import limits
from pabal.domain.brand.buttons import check_buttons
from pabal.domain.brand.message import (
    BrandAttachment,
    BrandImage,
    BrandPart,
    BrandType,
    Carousel,
    CarouselHead,
    CarouselItem,
    Commerce,
    Coupon,
    Video,
    WideList,
)
from pabal.domain.brand.report import Report
from pabal.domain.content import button, text
from pabal.domain.content.image import Image, measure_px

_COUPON_TITLE = re.compile(
    r"[1-9][0-9]{0,7}원 할인 쿠폰|(?:[1-9][0-9]?|100)% 할인 쿠폰|배송비 할인 쿠폰|.{1,7} (?:무료|UP) 쿠폰", re.ASCII
)
_CHANNEL_COUPON = "alimtalk=coupon://"
_FEED_ONLY = ("header", "message")
_COMMERCE_ONLY = ("additional_content", "commerce")

_BAD_COUPON_TITLE = Text(
    "'1000원 할인 쿠폰', '10% 할인 쿠폰', '배송비 할인 쿠폰', '(7자 이내) 무료 쿠폰',"
    " '(7자 이내) UP 쿠폰' 중 하나만 쓸 수 있습니다.",
    "It must be '1000원 할인 쿠폰', '10% 할인 쿠폰', '배송비 할인 쿠폰', '… 무료 쿠폰' or '… UP 쿠폰'.",
)
ONE_DISCOUNT = Text(
    "discountRate와 discountFixed 가운데 하나만 넣으세요.", "Give exactly one of discountRate and discountFixed."
)
_BAD_VIDEO = Text(
    "https://로 시작하는 500자 이내의 주소여야 합니다. 중계사에 올린 동영상의 videoUrl이나 https://tv.kakao.com/v/1과"
    " 같은 카카오TV 주소를 쓰세요.",
    "It must begin with https:// and have at most 500 characters: the videoUrl of a video that was uploaded at the"
    " relay, or an address such as https://tv.kakao.com/v/1.",
)
_ONE_ADDITION = Text(
    "채널 추가 버튼은 캐러셀 전체에서 하나만 쓸 수 있습니다.", "A carousel has one button for adding the channel."
)


def given_fields(part: BrandPart) -> list[tuple[str, str]]:
    """Return the fields of a part that were given, by our name and by the relay's."""
    return [
        (field.name, field.encode_name) for field in structs.fields(part) if getattr(part, field.name) is not None
    ]


def not_for(kind: BrandType) -> Text:
    """Return what is wrong with a field that a type does not have."""
    return Text(f"{kind.value}에는 쓸 수 없습니다.", f"A message of type {kind.value} does not have it.")


def check_image(report: Report, path: str, image: BrandImage) -> None:
    """Check an image that was uploaded at the relay."""
    report.check_link(f"{path}.imageUrl", image.image_url, needed=True)
    report.check_link(f"{path}.imageLink", image.image_link)


def check_coupon(report: Report, path: str, coupon: Coupon, limit: int) -> None:
    title = coupon.title
    if not title:
        report.add(Code.MISSING_PARAMETER, f"{path}.title")
    elif len(title) > limits.MAX_PRODUCT_CHARACTERS or not _COUPON_TITLE.fullmatch(text.normalize(title)):
        report.add(Code.INVALID_PARAMETER, f"{path}.title", _BAD_COUPON_TITLE)
    report.check_text(f"{path}.description", coupon.description, limit, needed=True)
    schemes = (coupon.scheme_android or "", coupon.scheme_ios or "")
    is_of_channel = any(each.startswith(_CHANNEL_COUPON) for each in schemes)
    report.check_links(path, coupon, needs_mobile=not is_of_channel)


def check_list(report: Report, path: str, given: WideList | None) -> None:
    """Check the items of a wide list."""
    items = (given.items if given else None) or []
    if not report.check_number(f"{path}.list", items, limits.MIN_ITEMS, limits.MAX_ITEMS):
        return
    for index, each in enumerate(items):
        place = f"{path}.list[{index}]"
        limit = limits.MAX_ITEM_CHARACTERS if index else limits.MAX_FIRST_ITEM_CHARACTERS
        report.check_text(f"{place}.title", each.title, limit, 1, needed=index > 0)
        report.check_link(f"{place}.imageUrl", each.image_url, needed=True)
        report.check_links(place, each, needs_mobile=True)


def check_commerce(report: Report, path: str, given: Commerce | None) -> None:
    """Check a product and its prices."""
    if given is None:
        report.add(Code.MISSING_PARAMETER, path)
        return
    report.check_text(f"{path}.title", given.title, limits.MAX_PRODUCT_CHARACTERS, needed=True)
    report.check_amount(f"{path}.regularPrice", given.regular_price, limits.MAX_PRICE, needed=True)
    discounts = [each for each in (given.discount_rate, given.discount_fixed) if each is not None]
    report.check_amount(f"{path}.discountPrice", given.discount_price, limits.MAX_PRICE, needed=bool(discounts))
    report.check_amount(f"{path}.discountRate", given.discount_rate, limits.MAX_DISCOUNT_RATE)
    report.check_amount(f"{path}.discountFixed", given.discount_fixed, limits.MAX_DISCOUNT_FIXED)
    if given.discount_price is not None and len(discounts) != 1:
        report.add(Code.INVALID_PARAMETER, f"{path}.discountPrice", ONE_DISCOUNT)


def check_video(report: Report, path: str, video: Video | None) -> None:
    if video is None or not video.video_url:
        report.add(Code.MISSING_PARAMETER, f"{path}.videoUrl")
        return
    url, thumbnail = video.video_url, video.thumbnail_url
    if len(url) > limits.MAX_VIDEO_URL_CHARACTERS or not url.startswith("https://") or not button.is_web_link(url):
        report.add(Code.INVALID_PARAMETER, f"{path}.videoUrl", _BAD_VIDEO)
    if thumbnail and len(thumbnail) > limits.MAX_VIDEO_URL_CHARACTERS:
        detail = at_most_characters(limits.MAX_VIDEO_URL_CHARACTERS)
        report.add(Code.INVALID_PARAMETER, f"{path}.thumbnailUrl", detail)
    else:
        report.check_link(f"{path}.thumbnailUrl", thumbnail)


def check_carousel(report: Report, path: str, carousel: Carousel | None, kind: BrandType) -> None:
    """Check the cards of a carousel."""
    given = carousel or Carousel()
    if given.head is not None:
        _check_head(report, f"{path}.head", given.head, kind)
    if given.tail is not None:
        report.check_links(f"{path}.tail", given.tail, needs_mobile=True)
    less = 0 if given.head is None else 1
    cards = given.cards or []
    if not report.check_number(f"{path}.list", cards, limits.MIN_CARDS - less, limits.MAX_CARDS - less):
        return
    for index, card in enumerate(cards):
        _check_card(report, f"{path}.list[{index}]", card, kind)
    if sum(one.type == "AC" for card in cards for one in card.buttons or ()) > 1:
        report.add(Code.INVALID_BUTTON, f"{path}.list", _ONE_ADDITION)


def _check_head(report: Report, path: str, head: CarouselHead, kind: BrandType) -> None:
    if kind is not BrandType.CAROUSEL_COMMERCE:
        report.add(Code.INVALID_PARAMETER, path, not_for(kind))
        return
    report.check_text(f"{path}.header", head.header, limits.MAX_HEADER_CHARACTERS, needed=True)
    report.check_text(f"{path}.content", head.content, limits.MAX_INTRODUCTION_CHARACTERS, needed=True)
    report.check_link(f"{path}.imageUrl", head.image_url, needed=True)
    report.check_links(path, head, needs_mobile=any((head.link_pc, head.scheme_android, head.scheme_ios)))


def _check_card(report: Report, path: str, card: CarouselItem, kind: BrandType) -> None:
    is_feed = kind is BrandType.CAROUSEL_FEED
    for name, field in given_fields(card):
        if name in (_COMMERCE_ONLY if is_feed else _FEED_ONLY):
            report.add(Code.INVALID_PARAMETER, f"{path}.{field}", not_for(kind))
    if is_feed:
        limit = limits.MAX_CARD_MESSAGE_CHARACTERS
        report.check_text(f"{path}.header", card.header, limits.MAX_HEADER_CHARACTERS, needed=True)
        report.check_text(f"{path}.message", card.message, limit, limits.MAX_TEXT_LINE_BREAKS, needed=True)
    else:
        report.check_text(f"{path}.additionalContent", card.additional_content, limits.MAX_ADDITIONAL_CHARACTERS, 1)
        check_commerce(report, f"{path}.commerce", card.commerce)
    report.check_link(f"{path}.imageUrl", card.image_url, needed=True)
    report.check_link(f"{path}.imageLink", card.image_link)
    buttons = card.buttons or []
    if report.check_number(f"{path}.buttons", buttons, 1, limits.MAX_CARD_BUTTONS):
        max_name = limits.MAX_SHORT_BUTTON_NAME_CHARACTERS
        check_buttons(report, f"{path}.buttons", buttons, kind, max_name)
    if card.coupon is not None:
        check_coupon(report, f"{path}.coupon", card.coupon, limits.MAX_COUPON_CHARACTERS)


_OPT_OUT_AUTH = re.compile(rf"[0-9]{{1,{limits.MAX_OPT_OUT_AUTH_DIGITS}}}", re.ASCII)
_P = TypeVar("_P", bound=BrandPart)


class TypeRules(NamedTuple):
    """What a type of brand message has."""

    fields: frozenset[str]
    """Its fields of the attachment."""
    max_characters: int = 0
    """Of its text; 0: it has none."""
    max_line_breaks: int = 0
    needs_text: bool = False
    needs_image: bool = False
    min_buttons: int = 0
    max_buttons: int = 0
    max_name_characters: int = limits.MAX_SHORT_BUTTON_NAME_CHARACTERS
    max_coupon_characters: int = limits.MAX_COUPON_CHARACTERS


_BELOW_TEXT = TypeRules(
    frozenset({"buttons", "coupon"}),
    limits.MAX_TEXT_CHARACTERS,
    limits.MAX_TEXT_LINE_BREAKS,
    needs_text=True,
    max_buttons=limits.MAX_BUTTONS,
    max_name_characters=limits.MAX_BUTTON_NAME_CHARACTERS,
)
_WIDE = TypeRules(
    frozenset({"image", "buttons", "coupon"}),
    limits.MAX_WIDE_CHARACTERS,
    limits.MAX_WIDE_LINE_BREAKS,
    needs_text=True,
    needs_image=True,
    max_buttons=2,
    max_coupon_characters=limits.MAX_WIDE_COUPON_CHARACTERS,
)
RULES = {
    BrandType.TEXT: _BELOW_TEXT,
    BrandType.IMAGE: _BELOW_TEXT._replace(fields=frozenset({"image", "buttons", "coupon"}), needs_image=True),
    BrandType.WIDE: _WIDE,
    BrandType.WIDE_LIST: TypeRules(
        frozenset({"header", "item", "buttons", "coupon"}),
        max_buttons=2,
        max_coupon_characters=limits.MAX_WIDE_COUPON_CHARACTERS,
    ),
    BrandType.CAROUSEL_FEED: TypeRules(frozenset({"carousel"})),
    BrandType.CAROUSEL_COMMERCE: TypeRules(frozenset({"carousel"})),
    BrandType.COMMERCE: TypeRules(
        frozenset({"image", "commerce", "additional_content", "buttons", "coupon"}),
        needs_image=True,
        min_buttons=1,
        max_buttons=2,
    ),
    BrandType.PREMIUM_VIDEO: _WIDE._replace(
        fields=frozenset({"video", "header", "buttons", "coupon"}),
        needs_text=False,
        needs_image=False,
        max_buttons=1,
    ),
}


def find_problems(kind: BrandType, attachment: BrandAttachment) -> list[Problem]:
    """Return what is wrong with the attachment of a brand message, by field."""
    report = Report()
    rules = RULES[kind]
    for name, field in given_fields(attachment):
        if name not in rules.fields:
            report.add(Code.INVALID_PARAMETER, f"attachment.{field}", not_for(kind))
    if report.problems:
        return report.problems
    needs_header = kind is BrandType.WIDE_LIST
    report.check_text("attachment.header", attachment.header, limits.MAX_HEADER_CHARACTERS, needed=needs_header)
    more = attachment.additional_content
    report.check_text("attachment.additionalContent", more, limits.MAX_ADDITIONAL_CHARACTERS, 1)
    if attachment.image is not None:
        check_image(report, "attachment.image", attachment.image)
    if attachment.buttons is not None:
        most = max_buttons(kind, attachment)
        if report.check_number("attachment.buttons", attachment.buttons, rules.min_buttons, most):
            max_name = rules.max_name_characters
            check_buttons(report, "attachment.buttons", attachment.buttons, kind, max_name)
    if attachment.coupon is not None:
        check_coupon(report, "attachment.coupon", attachment.coupon, rules.max_coupon_characters)
    if "item" in rules.fields:
        check_list(report, "attachment.item", attachment.item)
    if "commerce" in rules.fields:
        check_commerce(report, "attachment.commerce", attachment.commerce)
    if "video" in rules.fields:
        check_video(report, "attachment.video", attachment.video)
    if "carousel" in rules.fields:
        check_carousel(report, "attachment.carousel", attachment.carousel, kind)
    return report.problems


def max_buttons(kind: BrandType, attachment: BrandAttachment) -> int:
    """Return how many buttons a message may have; a coupon takes the place of one of five."""
    most = RULES[kind].max_buttons
    return min(most, limits.MAX_BUTTONS_WITH_COUPON) if attachment.coupon else most


def check_picture(kind: BrandType, image: Image) -> None:
    """Raises Refused(INVALID_IMAGE) for a JPEG that is too narrow, too flat or too high for its type."""
    size = measure_px(image)
    if size is None:
        return
    width, height = size
    most = limits.MAX_WIDE_IMAGE_RATIO if kind is BrandType.WIDE else limits.MAX_IMAGE_RATIO
    least_px, low = limits.MIN_IMAGE_WIDTH_PX, limits.MIN_IMAGE_RATIO
    if width < least_px or not low <= height / width <= most:
        detail = Text(
            f"가로 {least_px}픽셀 이상, 세로÷가로 {low}~{most}인 이미지를 쓰세요."
            f" 지금은 {width:,}×{height:,}픽셀입니다.",
            f"Use an image at least {least_px} pixels wide, and {low} to {most} times as high as wide;"
            f" it has {width:,} × {height:,}.",
        )
        raise Refused(Code.INVALID_IMAGE, "body", detail)


def normalize_part(part: _P) -> _P:
    """Return a checked part with its texts normalized."""
    changed: dict[str, Any] = {}
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if isinstance(value, str):
            changed[name] = text.normalize(value) or None
        elif isinstance(value, BrandPart):
            changed[name] = normalize_part(value)
        elif isinstance(value, list):
            changed[name] = [normalize_part(each) for each in value]
    return structs.replace(part, **changed) if changed else part


def parse_opt_out_auth_number(spelling: str) -> str:
    """Return the number that a receiver types to opt out.

    Raises Refused(INVALID_PARAMETER).
    """
    if not _OPT_OUT_AUTH.fullmatch(spelling):
        limit = limits.MAX_OPT_OUT_AUTH_DIGITS
        raise Refused(
            Code.INVALID_PARAMETER, detail=Text(f"숫자 {limit}자 이하여야 합니다.", f"At most {limit} digits.")
        )
    return spelling
