"""What all relays have of KakaoTalk: the names of templates and buttons, and which messages are brand messages."""

from collections.abc import Callable, Mapping
from typing import Any

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.brand import rules
from pabal.domain.brand.buttons import check_own_buttons
from pabal.domain.brand.message import BrandMessage, BrandType
from pabal.domain.brand.report import Report
from pabal.domain.kakao.template import TemplateContent
from pabal.domain.sends.message import BRAND_TYPE_OF_FRIEND_TALK, Attempt

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


def as_sent(attempt: Attempt, *, is_friend_talk_brand: bool) -> Attempt:
    """Return a message as a relay sends it: friend talk as a brand message to friends, or not as one."""
    if not attempt.product.is_friend_talk:
        return attempt
    brand = BrandMessage(BRAND_TYPE_OF_FRIEND_TALK[attempt.product]) if is_friend_talk_brand else None
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


BUTTON_TYPES = {
    "webLink": "WL",
    "appLink": "AL",
    "deliveryTracking": "DS",
    "botKeyword": "BK",
    "messageDelivery": "MD",
    "counselingTalkConversion": "BC",
    "botConversion": "BT",
    "channelAddition": "AC",
}
MESSAGE_TYPES = {"basic": "BA", "extraInfo": "EX", "channelAddition": "AD", "mixed": "MI"}
EMPHASIS_TYPES = {"none": "NONE", "text": "TEXT", "image": "IMAGE", "itemList": "ITEM_LIST"}
MAX_COMMENT_CHARACTERS = 1000
OTHER_CATEGORY = "999999"
ToRemote = Callable[[TemplateContent], Mapping[str, Any]]


def find_key(words: Mapping[str, str], remote: str | None, default: str) -> str | None:
    """Return what a relay's word, or its default, is called here; None: a word that is unknown."""
    return next((ours for ours, theirs in words.items() if theirs == (remote or default)), None)


def unsupported(field: str) -> Refused:
    """Return the refusal of a field that a relay's templates do not have."""
    detail = Text(
        f"이 중계사의 템플릿에는 {field} 값을 쓸 수 없습니다. 템플릿을 고치세요.",
        f"This carrier's templates have no place for that {field}: update the template without it.",
    )
    return Refused(Code.INVALID_PARAMETER, field, detail)


def is_same(ours: TemplateContent, theirs: TemplateContent, to_remote: ToRemote) -> bool:
    """Return whether both are the same in a relay's format; images cannot be compared."""
    written = [
        {field: value.strip() if isinstance(value, str) else value for field, value in to_remote(content).items()}
        for content in (ours, theirs)
    ]
    return written[0] == written[1]
