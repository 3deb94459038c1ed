"""What all relays have of KakaoTalk: the names of templates and buttons, and which messages are brand messages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pabal.carriers.provider import RemoteTemplate
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.brand import rules
from pabal.domain.brand.buttons import check_own_buttons
from pabal.domain.brand.message import BrandMessage, BrandType
from pabal.domain.brand.report import Report
from pabal.domain.content.button import Button
from pabal.domain.kakao.profile import Suspension
from pabal.domain.kakao.template import TemplateContent, TemplateStatus
from pabal.domain.kakao.template_parts import (
    NO_PARTS,
    QUICK_REPLY_TYPES,
    ItemEntry,
    ItemHighlight,
    TemplateParts,
)
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


def _find_key(words: Mapping[str, str], remote: str) -> str | None:
    """Return what a relay's word is called here; None: a word that is unknown."""
    return next((ours for ours, theirs in words.items() if theirs == remote), None)


def make_remote_template(
    code: str,
    content: TemplateContent,
    status: TemplateStatus | None,
    message_type: str | None,
    emphasis_type: str | None,
    parts: TemplateParts | None,
    buttons: Sequence[Button | None],
    comment: str,
    suspension: Suspension | None = None,
) -> RemoteTemplate:
    """Return a template of a relay, with the reason why it cannot be used, if there is one.

    The types are the relay's words. What is None, also among the buttons, we do not know.
    """
    ours = _find_key(MESSAGE_TYPES, message_type or "BA"), _find_key(EMPHASIS_TYPES, emphasis_type or "NONE")
    if status is None or None in ours:
        suspension = Suspension.UNREADABLE
    elif suspension is None and (None in buttons or parts is None):
        suspension = Suspension.OTHER_BUTTON
    content = content._replace(
        message_type=ours[0] or "basic",
        emphasis_type=ours[1] or "none",
        buttons=tuple(one for one in buttons if one is not None),
        parts=parts or NO_PARTS,
    )
    reason = comment[:MAX_COMMENT_CHARACTERS] if status is TemplateStatus.REJECTED else ""
    return RemoteTemplate(code, content, status or TemplateStatus.INSPECTING, reason or None, suspension)


def parts_from_remote(
    header: str | None,
    item: Mapping[str, Any] | None,
    highlight: Mapping[str, Any] | None,
    thumbnail: str | None,
    link: Button | None,
    replies: Sequence[Button | None],
) -> TemplateParts | None:
    """Return parts in our format; None if a quick reply is of an unsupported kind."""
    known = tuple(one for one in replies if one is not None and one.type in QUICK_REPLY_TYPES)
    if len(known) < len(replies):
        return None
    shown = _entry(highlight or {})
    lines = [_entry(each) for each in (item or {}).get("list") or ()]
    return TemplateParts(
        header or None,
        ItemHighlight(*shown, thumbnail) if shown else None,
        tuple(each for each in lines if each),
        _entry((item or {}).get("summary") or {}),
        link,
        known,
    )


def items_to_remote(parts: TemplateParts) -> dict[str, Any]:
    """Return an item list in a relay's format."""
    summary = {"summary": parts.summary._asdict()} if parts.summary else {}
    return {"list": [each._asdict() for each in parts.items], **summary}


def _entry(remote: Mapping[str, Any]) -> ItemEntry | None:
    title, description = str(remote.get("title") or ""), str(remote.get("description") or "")
    return ItemEntry(title, description) if title or description else None


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
