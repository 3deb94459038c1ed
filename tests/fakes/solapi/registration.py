"""Whether a message is accepted: its type, and its status code (documents: message-status-codes.md)."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from tests.fakes.solapi.state import ACCEPTED, Group, Json, SolapiTemplate, State

MAX_SMS_BYTES = 90
EUC_KR_FIRST_BYTE = 0xA1
TEXT_TYPES = ("SMS", "LMS", "MMS")
BUBBLES = (
    *("TEXT", "IMAGE", "WIDE", "WIDE_ITEM_LIST", "COMMERCE", "CAROUSEL_FEED", "CAROUSEL_COMMERCE", "PREMIUM_VIDEO"),
)
"""The types of brand messages (client: bmsConstraints.ts)."""
BUBBLE_IMAGES = {"IMAGE": "BMS", "WIDE": "BMS_WIDE", "COMMERCE": "BMS"}
_VARIABLE = re.compile(r"#\{([^{}]*)\}")


class MessageBody(msgspec.Struct, rename={"sender": "from"}, forbid_unknown_fields=True):
    """A message as the body of a call has it (documents: addGroupMessages.md; client: message.ts)."""

    to: str | list[str]
    sender: str | None = None
    text: str | None = None
    type: str | None = None
    country: str | None = None
    subject: str | None = None
    imageId: str | None = None
    kakaoOptions: dict[str, Any] | None = None
    naverOptions: dict[str, Any] | None = None
    rcsOptions: dict[str, Any] | None = None
    faxOptions: dict[str, Any] | None = None
    voiceOptions: dict[str, Any] | None = None
    customFields: dict[str, str] | None = None
    replacements: list[Any] | None = None
    replacementText: str | None = None
    autoTypeDetect: bool = True

    @property
    def receivers(self) -> list[str]:
        """The receivers; documents: `to` may be an array."""
        return [self.to] if isinstance(self.to, str) else self.to


def type_of(given: MessageBody) -> str:
    """Return the type of a message, which is detected where it is not given (documents: sendManyDetail)."""
    if given.type is not None:
        return given.type.upper()
    options = given.kakaoOptions or {}
    if options.get("bms"):
        return "BMS_FREE"
    if options:
        return "ATA" if options.get("templateId") else "CTA"
    if given.imageId:
        return "MMS"
    return "LMS" if given.subject or carried_bytes(given.text or "") > MAX_SMS_BYTES else "SMS"


def carried_bytes(text: str) -> int:
    """Return the bytes of a text in EUC-KR."""
    return len(text.encode("cp949", "replace"))


def status_code(state: State, group: Group, given: MessageBody, kind: str, receiver: str) -> str:
    """Return 2000, or why the message is not accepted for this receiver."""
    if receiver in state.behavior.refusals:
        return state.behavior.refusals[receiver]
    if receiver in group.receivers and not group.allows_duplicates:
        return "1026"
    if (given.sender, receiver) in state.denials:
        return "1061"
    if state.balance <= 0:
        return "1030"
    if kind in TEXT_TYPES:
        return _text_code(state, given)
    return _alimtalk_code(state, given) if kind == "ATA" else _brand_code(state, given)


def _text_code(state: State, given: MessageBody) -> str:
    if given.sender not in state.numbers:
        return "1062"
    if not (is_euc_kr(given.text or "") and is_euc_kr(given.subject or "")):
        return "1029"
    if given.imageId is not None and getattr(state.files.get(given.imageId), "type", "") != "MMS":
        return "1034"
    return ACCEPTED


def is_euc_kr(text: str) -> bool:
    """Say whether a text has only characters of EUC-KR: CP949 has 8,822 syllables more."""
    for character in text:
        try:
            encoded = character.encode("cp949")
        except UnicodeEncodeError:
            return False
        if len(encoded) == 2 and min(encoded) < EUC_KR_FIRST_BYTE:
            return False
    return True


def _alimtalk_code(state: State, given: MessageBody) -> str:
    options = given.kakaoOptions or {}
    template = state.templates.get(str(options.get("templateId")))
    if template is None or template.channel_id != options["pfId"] or template.status != "APPROVED":
        return "1042"
    if given.text is not None:  # it has no place for other parts with variables
        has_more = any(_VARIABLE.search(one) for one in _texts(parts_of(template)))
        return "1043" if has_more or not matches(template.fields["content"], given.text) else ACCEPTED
    values = options.get("variables") or {}
    return "1010" if any(f"#{{{name}}}" not in values for name in variables_of(template.fields)) else ACCEPTED


def filled_text(given: MessageBody, template: SolapiTemplate) -> str:
    """Return the text of an Alimtalk: its own, or the template's with its variables (client: kakaoOption.ts)."""
    content = given.text or str(template.fields["content"])
    return str(_fill(content, (given.kakaoOptions or {}).get("variables") or {}))


def shown_parts(given: MessageBody, template: SolapiTemplate) -> Json:
    """Return what an Alimtalk shows beside its text."""
    options = given.kakaoOptions or {}
    shown = {
        **parts_of(template),
        "emphasizeTitle": options.get("title") or template.fields.get("emphasizeTitle"),
        "buttons": options.get("buttons") or template.fields.get("buttons"),
    }
    filled = _fill(shown, options.get("variables") or {})
    return {name: value for name, value in filled.items() if value}


def parts_of(template: SolapiTemplate) -> Json:
    return {name: template.fields.get(name) for name in ("header", "highlight", "item", "quickReplies")}


def variables_of(fields: Json) -> list[str]:
    """Return the names of the variables of a template (solapi.com/developers/api/templates, "변수 목록")."""
    names = ("content", "emphasizeTitle", "header", "highlight", "item", "buttons", "quickReplies")
    texts = _texts([fields.get(name) for name in names])
    return list(dict.fromkeys(name for text in texts for name in _VARIABLE.findall(text)))


def _texts(part: Any) -> Iterator[str]:
    """Yield every text inside a part of a template."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list):
        for each in part.values() if isinstance(part, dict) else part:
            yield from _texts(each)


def _fill(part: Any, values: Json) -> Any:
    """Return a part of a template with its variables filled in."""
    if isinstance(part, str):
        return _VARIABLE.sub(lambda found: str(values.get(found[0], found[0])), part)
    if isinstance(part, dict):
        return {name: _fill(each, values) for name, each in part.items()}
    return [_fill(each, values) for each in part] if isinstance(part, list) else part


def matches(content: str, text: str) -> bool:
    """Say whether a text is a template's content with any values of its variables."""
    parts = _VARIABLE.split(content)[::2]
    pattern = "(?s:.*)".join(re.escape(part) for part in parts)
    return re.fullmatch(pattern, text) is not None


def _brand_code(state: State, given: MessageBody) -> str:
    bms = (given.kakaoOptions or {})["bms"]
    bubble = bms.get("chatBubbleType")
    if bubble not in BUBBLES or bms.get("targeting") not in ("I", "M", "N"):
        return "1010"
    image = state.files.get(str(bms.get("imageId")))
    return (
        "1051" if bubble in BUBBLE_IMAGES and (image is None or image.type != BUBBLE_IMAGES[bubble]) else ACCEPTED
    )
