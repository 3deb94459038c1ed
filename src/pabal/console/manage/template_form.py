"""The form of a template: what its fields hold, and the body that they make."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from pabal.domain.button import KOREAN_NAMES, MAX_BUTTONS
from pabal.domain.codes import Problem, Words
from pabal.domain.image import Image
from pabal.domain.template import Design, Template

PLAIN = (
    "senderKey", "templateCode", "name", "content", "category", "messageType", "emphasisType", "emphasisTitle",
    "emphasisAssistPhrase", "moreInfo", "imageLink",
)  # fmt: skip
MULTILINE = ("content", "moreInfo")
BUTTON_FIELDS = {
    "name": "every",
    "mobileUrl": "link",
    "pcUrl": "link",
    "androidUrl": "app",
    "iosUrl": "app",
    "chatExtra": "chat",
    "chatEvent": "bot",
    "target": "web",
}
"""The fields of a button, and the buttons that have them, as the stylesheet calls them: others are not shown."""
BUTTON = ("buttonType", *BUTTON_FIELDS)
PICTURE_OF = "pictureOf"
"""Names the template whose picture goes along where no other is given."""
FIELDS = (
    *PLAIN,
    PICTURE_OF,
    "securityTemplate",
    *(f"buttons[{n}].{field}" for n in range(MAX_BUTTONS) for field in BUTTON),
)
EMPHASIS = ("none", "text", "image")
"""Emphasis that can be written here; lists of items are given by the interface."""
BUTTON_LABELS = {
    "webLink": Words("웹 링크", "Web link"),
    "appLink": Words("앱 링크", "App link"),
    "channelAddition": Words("채널 추가", "Add the channel"),
    "botKeyword": Words("봇 키워드", "Bot keyword"),
    "messageDelivery": Words("메시지 전달", "Pass the message on"),
    "counselingTalkConversion": Words("상담톡 전환", "Talk to a person"),
    "botConversion": Words("챗봇 전환", "Talk to a bot"),
    "deliveryTracking": Words("배송 조회", "Track the delivery"),
}
assert BUTTON_LABELS.keys() == KOREAN_NAMES.keys()
_PLACE = re.compile(r"buttons\[([0-9]+)\]")


def typed(given: Mapping[str, str]) -> dict[str, str]:
    """Return every field as it was typed, empty where it is absent."""
    return {field: given.get(field, "").replace("\r\n", "\n") for field in FIELDS}


def filled_in(template: Template) -> dict[str, str]:
    """Return the fields that a template fills in."""
    fields = _of_design(template.design)
    return typed({"senderKey": template.sender_key, "templateCode": template.code, **fields})


def body(fields: Mapping[str, str], picture: Image | None) -> dict[str, Any]:
    """Return the body that the fields make; empty ones are left out, and rows of buttons without a type."""
    found: dict[str, Any] = {
        field: fields[field] if field in MULTILINE else fields[field].strip()
        for field in PLAIN
        if fields[field].strip()
    }
    found["securityTemplate"] = bool(fields["securityTemplate"])
    found["buttons"] = [_button(fields, row) for row in rows(fields)]
    if picture:
        encoded = b64encode(picture.body).decode()
        found["image"] = {"contentType": picture.content_type, "fileName": picture.file_name, "body": encoded}
    return found


def rows(fields: Mapping[str, str]) -> list[int]:
    """Return the rows in which a button is written."""
    return [row for row in range(MAX_BUTTONS) if fields[f"buttons[{row}].buttonType"].strip()]


def told(problems: Sequence[Problem], fields: Mapping[str, str], locale: str) -> dict[str, str]:
    """Return what is wrong by the field it is wrong with; buttons are told by their row, not by their number."""
    written = rows(fields)

    def place(field: str) -> str:
        if field.startswith("image."):
            return "image"
        return _PLACE.sub(lambda match: f"buttons[{written[int(match[1])]}]", field)

    return {place(each.field): each.message(locale) for each in problems}


def _button(fields: Mapping[str, str], row: int) -> dict[str, str]:
    found = {field: fields[f"buttons[{row}].{field}"].strip() for field in BUTTON}
    return {field: value for field, value in found.items() if value}


def _of_design(design: Design) -> dict[str, str]:
    plain = {name: value for name, value in design._asdict().items() if isinstance(value, str)}
    buttons = {
        f"buttons[{row}].{field}": str(one[field])
        for row, one in enumerate(design.buttons)
        for field in BUTTON
        if field in one
    }
    return {**plain, **buttons, "securityTemplate": "on" if design.securityTemplate else ""}
