"""Brand messages at any relay: which messages go out as such, and whether they can."""

from pabal.domain.brand import rules
from pabal.domain.brand.buttons import check_own_buttons
from pabal.domain.brand.message import BrandMessage, BrandType
from pabal.domain.brand.report import Report
from pabal.domain.sends.message import Attempt, Product

CHAT_BUBBLE_TYPES = {
    BrandType.TEXT: "TEXT",
    BrandType.IMAGE: "IMAGE",
    BrandType.WIDE: "WIDE",
    BrandType.WIDE_LIST: "WIDE_ITEM_LIST",
    BrandType.CAROUSEL_FEED: "CAROUSEL_FEED",
    BrandType.CAROUSEL_COMMERCE: "CAROUSEL_COMMERCE",
    BrandType.COMMERCE: "COMMERCE",
    BrandType.PREMIUM_VIDEO: "PREMIUM_VIDEO",
}
"""Kakao's names of the types."""
_TYPE_OF = {
    Product.FRIENDTALK_TEXT: BrandType.TEXT,
    Product.FRIENDTALK_IMAGE: BrandType.IMAGE,
    Product.FRIENDTALK_WIDE_IMAGE: BrandType.WIDE,
}


def as_sent(attempt: Attempt, *, is_friend_talk_brand: bool) -> Attempt:
    """Return a message as a relay sends it: friend talk as a brand message to friends, or not as one."""
    if not attempt.product.is_friend_talk:
        return attempt
    brand = BrandMessage(_TYPE_OF[attempt.product]) if is_friend_talk_brand else None
    return attempt if attempt.brand == brand else attempt._replace(brand=brand)


def is_deliverable(attempt: Attempt) -> bool:
    """Return whether friend talk keeps the rules of brand messages, which are stricter in some points."""
    brand = attempt.brand
    if brand is None or brand.type is None or not attempt.product.is_friend_talk:
        return True
    type_rules = rules.RULES[brand.type]
    report = Report()
    check_own_buttons(report, attempt.buttons, brand.type, type_rules.max_name_characters)
    return (
        not report.problems
        and len(attempt.content) <= type_rules.max_characters
        and attempt.content.count("\n") <= type_rules.max_line_breaks
        and len(attempt.buttons) <= type_rules.max_buttons
    )


def is_by_template(attempt: Attempt) -> bool:
    """Return whether the text of a brand message is a template at the relay."""
    return attempt.parameters is not None
