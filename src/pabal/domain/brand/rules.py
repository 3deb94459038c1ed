"""What a brand message of each type may and must have."""

import re
from typing import Any, NamedTuple, TypeVar

from msgspec import structs

from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.brand import limits
from pabal.domain.brand.buttons import check_buttons
from pabal.domain.brand.message import BrandAttachment, BrandPart, BrandType
from pabal.domain.brand.parts import (
    check_carousel,
    check_commerce,
    check_coupon,
    check_image,
    check_list,
    check_video,
    given_fields,
    not_for,
)
from pabal.domain.brand.report import Report
from pabal.domain.content import text
from pabal.domain.content.image import Image, measure_px

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
