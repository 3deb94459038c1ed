"""What templates and buttons are called at Kakao, as all relays write it."""

from collections.abc import Callable, Mapping
from typing import Any

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.kakao.template import TemplateContent

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
