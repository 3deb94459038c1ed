"""Whether a message is accepted: its type, and its status code (documents: message-status-codes.md)."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from tests.fakes.solapi.state import ACCEPTED, Group, Json, SolapiTemplate, State

MAX_SMS_BYTES, MAX_LMS_BYTES, MAX_SUBJECT_BYTES = 90, 2000, 40
MAX_ATA_CHARACTERS = 1000
MAX_CUSTOM_KEY, MAX_CUSTOM_VALUE = 30, 100
MAX_BUTTONS, MAX_BUTTON_NAME, MAX_BUTTON_LINK = 5, 14, 100
EUC_KR_FIRST_BYTE = 0xA1
TEXT_TYPES = ("SMS", "LMS", "MMS")
KNOWN_TYPES = (*TEXT_TYPES, "ATA", "BMS_FREE")
"""Friend talk (CTA, CTI) ended at Kakao; the other types of the client are not played."""
BUTTON_TYPES = ("WL", "AL", "DS", "BK", "MD", "BC", "BT", "AC")
LINKS = ("linkMo", "linkPc", "linkAnd", "linkIos")
BUBBLES = {
    "TEXT": 1300,
    "IMAGE": 1300,
    "WIDE": 76,
    "WIDE_ITEM_LIST": 0,
    "COMMERCE": 0,
    "CAROUSEL_FEED": 0,
    "CAROUSEL_COMMERCE": 0,
    "PREMIUM_VIDEO": 76,
}
"""The types of brand messages, and the characters of their text (client: bmsConstraints.ts)."""
BUBBLE_IMAGES = {"IMAGE": "BMS", "WIDE": "BMS_WIDE", "COMMERCE": "BMS"}
BUBBLE_BUTTONS = {"TEXT": (5, 14), "IMAGE": (5, 14), "PREMIUM_VIDEO": (1, 8)}
"""How many buttons, and how long their names may be; (2, 8) for all others."""
MIN_PHONE_DIGITS, MAX_PHONE_DIGITS = 9, 12
_VARIABLE = re.compile(r"#\{([^{}]*)\}")
_PHONE = re.compile(rf"0[0-9]{{{MIN_PHONE_DIGITS - 1},{MAX_PHONE_DIGITS - 1}}}")


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
    if kind not in KNOWN_TYPES:
        return "1025"
    if not _PHONE.fullmatch(receiver):
        return "1011"
    if receiver in group.receivers and not group.allows_duplicates:
        return "1026"
    if (given.sender, receiver) in state.denials:
        return "1061"
    return shared_status_code(state, given, kind)


def shared_status_code(state: State, given: MessageBody, kind: str) -> str:
    """Return 2000, or why the message is not accepted for any receiver."""
    fields = given.customFields or {}
    if any(len(key) > MAX_CUSTOM_KEY or len(value) > MAX_CUSTOM_VALUE for key, value in fields.items()):
        return "1032"
    if state.balance <= 0:
        return "1030"
    if kind in TEXT_TYPES:
        return _text_code(state, given, kind)
    if given.kakaoOptions is None:
        return "1010"
    return _alimtalk_code(state, given) if kind == "ATA" else _brand_code(state, given)


def _text_code(state: State, given: MessageBody, kind: str) -> str:
    if not given.text or not given.sender:
        return "1010"
    if given.sender not in state.numbers:
        return "1062"
    if given.kakaoOptions is not None:
        return "1033"
    if kind == "SMS" and given.subject:
        return "1013"
    if given.subject and carried_bytes(given.subject) > MAX_SUBJECT_BYTES:
        return "1014"
    if not (is_euc_kr(given.text) and is_euc_kr(given.subject or "")):
        return "1029"
    if carried_bytes(given.text) > (MAX_SMS_BYTES if kind == "SMS" else MAX_LMS_BYTES):
        return "1031"
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
    if options.get("pfId") not in state.channels:
        return "1041"
    template = state.templates.get(str(options.get("templateId")))
    if template is None or template.channel_id != options["pfId"] or template.status != "APPROVED":
        return "1042"
    text = filled_text(given, template)
    if len(text) > MAX_ATA_CHARACTERS:
        return "1031"
    if given.text is not None:
        return _own_text_code(template, text, options)
    values = options.get("variables") or {}
    if any(f"#{{{name}}}" not in values for name in variables_of(template.fields)):
        return "1010"
    return ACCEPTED if "buttons" not in options else _button_code(template, options)


def _own_text_code(template: SolapiTemplate, text: str, options: Json) -> str:
    """Return the code of an Alimtalk with its own text, which has no place for other parts with variables."""
    has_more = any(_VARIABLE.search(one) for one in _texts(parts_of(template)))
    return "1043" if has_more or not matches(template.fields["content"], text) else _button_code(template, options)


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


def _button_code(template: SolapiTemplate, options: Json) -> str:
    wanted, given = template.fields.get("buttons") or [], options.get("buttons")
    if given is None:
        has_variables = any(_VARIABLE.search(str(one.get(link))) for one in wanted for link in LINKS)
        return ACCEPTED if not has_variables or options.get("variables") else "1046"
    if not wanted:
        return "1047" if given else ACCEPTED
    if len(given) > MAX_BUTTONS:
        return "1050"
    for one in given:
        if one.get("buttonType") not in BUTTON_TYPES or not one.get("buttonName"):
            return "1044"
        if len(one["buttonName"]) > MAX_BUTTON_NAME:
            return "1049"
        if any(len(one.get(link) or "") > MAX_BUTTON_LINK for link in LINKS):
            return "1048"
    if [one["buttonType"] for one in given] != [one["buttonType"] for one in wanted]:
        return "1052"
    for one, other in zip(given, wanted, strict=True):
        if any(not matches(other.get(link) or "", one.get(link) or "") for link in LINKS):
            return "1045"
    return ACCEPTED


def _brand_code(state: State, given: MessageBody) -> str:
    options = given.kakaoOptions or {}
    bms = options.get("bms")
    if options.get("pfId") not in state.channels:
        return "1041"
    if not isinstance(bms, dict) or bms.get("targeting") not in ("I", "M", "N"):
        return "1010"
    bubble = bms.get("chatBubbleType")
    if bubble not in BUBBLES:
        return "1010"
    text = bms.get("content") or given.text or ""
    if BUBBLES[bubble] and (not text or len(text) > BUBBLES[bubble]):
        return "1031" if text else "1010"
    image = state.files.get(str(bms.get("imageId")))
    if bubble in BUBBLE_IMAGES and (image is None or image.type != BUBBLE_IMAGES[bubble]):
        return "1051"
    count, length = BUBBLE_BUTTONS.get(bubble, (2, 8))
    buttons = bms.get("buttons") or []
    if len(buttons) > count:
        return "1050"
    if any(one.get("linkType") != "AC" and len(one.get("name") or "") > length for one in buttons):
        return "1049"
    return ACCEPTED
