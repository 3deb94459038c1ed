"""The form of a template: its fields, and the request body built from them."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from pabal.checks.buttons import to_api_fields
from pabal.domain.button import DEFAULT_NAMES, MAX_BUTTONS
from pabal.domain.codes import Problem, Text
from pabal.domain.image import Image
from pabal.domain.template import Template, TemplateContent

TEXT_FIELDS = (
    "senderKey", "templateCode", "name", "content", "category", "messageType", "emphasisType", "emphasisTitle",
    "emphasisAssistPhrase", "moreInfo", "imageLink",
)  # fmt: skip
MULTILINE_FIELDS = ("content", "moreInfo")
BUTTON_GROUPS = {
    "name": "every",
    "mobileUrl": "link",
    "pcUrl": "link",
    "androidUrl": "app",
    "iosUrl": "app",
    "chatExtra": "chat",
    "chatEvent": "bot",
    "target": "web",
}
"""The fields of a button, each with the CSS class of the button types that have it."""
BUTTON_FIELDS = ("buttonType", *BUTTON_GROUPS)
IMAGE_OF = "pictureOf"
"""The field that names the template whose image is used where no other is uploaded."""
FIELDS = (
    *TEXT_FIELDS,
    IMAGE_OF,
    "securityTemplate",
    *(f"buttons[{n}].{field}" for n in range(MAX_BUTTONS) for field in BUTTON_FIELDS),
)
EDITABLE_EMPHASIS = ("none", "text", "image")
"""Emphasis types that this form can edit; item lists can be set through the API only."""
BUTTON_LABELS = {
    "webLink": Text("웹 링크", "Web link"),
    "appLink": Text("앱 링크", "App link"),
    "channelAddition": Text("채널 추가", "Add channel"),
    "botKeyword": Text("봇 키워드", "Bot keyword"),
    "messageDelivery": Text("메시지 전달", "Forward message"),
    "counselingTalkConversion": Text("상담톡 전환", "Switch to consultation"),
    "botConversion": Text("챗봇 전환", "Switch to bot"),
    "deliveryTracking": Text("배송 조회", "Track delivery"),
}
assert BUTTON_LABELS.keys() == DEFAULT_NAMES.keys()
_BUTTON_INDEX = re.compile(r"buttons\[([0-9]+)\]")


def read_fields(form: Mapping[str, str]) -> dict[str, str]:
    """Return every field as typed, empty where it is absent."""
    return {field: form.get(field, "").replace("\r\n", "\n") for field in FIELDS}


def fields_of(template: Template) -> dict[str, str]:
    """Return the fields filled in from a template."""
    fields = _content_fields(template.latest)
    return read_fields({"senderKey": template.sender_key, "templateCode": template.code, **fields})


def build_body(fields: Mapping[str, str], image: Image | None) -> dict[str, Any]:
    """Return the request body of the fields, without empty ones and without button rows that have no type."""
    body: dict[str, Any] = {
        field: fields[field] if field in MULTILINE_FIELDS else fields[field].strip()
        for field in TEXT_FIELDS
        if fields[field].strip()
    }
    body["securityTemplate"] = bool(fields["securityTemplate"])
    body["buttons"] = [_button(fields, row) for row in button_rows(fields)]
    if image:
        encoded = b64encode(image.body).decode()
        body["image"] = {"contentType": image.content_type, "fileName": image.file_name, "body": encoded}
    return body


def button_rows(fields: Mapping[str, str]) -> list[int]:
    """Return the rows that hold a button."""
    return [row for row in range(MAX_BUTTONS) if fields[f"buttons[{row}].buttonType"].strip()]


def errors_by_field(problems: Sequence[Problem], fields: Mapping[str, str], language: str) -> dict[str, str]:
    """Return the errors by field; those of buttons by the row in the form."""
    rows = button_rows(fields)

    def form_field(field: str) -> str:
        if field.startswith("image."):
            return "image"
        return _BUTTON_INDEX.sub(lambda match: f"buttons[{rows[int(match[1])]}]", field)

    return {form_field(each.field): each.message(language) for each in problems}


def _button(fields: Mapping[str, str], row: int) -> dict[str, str]:
    values = {field: fields[f"buttons[{row}].{field}"].strip() for field in BUTTON_FIELDS}
    return {field: value for field, value in values.items() if value}


def _content_fields(content: TemplateContent) -> dict[str, str]:
    values = {
        "name": content.name,
        "content": content.content,
        "category": content.category,
        "messageType": content.message_type,
        "emphasisType": content.emphasis_type,
        "emphasisTitle": content.emphasis_title,
        "emphasisAssistPhrase": content.emphasis_assist_phrase,
        "moreInfo": content.more_info,
        "imageLink": content.image_link,
    }
    buttons = {
        f"buttons[{row}].{field}": str(value)
        for row, button in enumerate(content.buttons)
        for field, value in to_api_fields(button).items()
        if field in BUTTON_FIELDS
    }
    filled = {field: value for field, value in values.items() if value is not None}
    return {**filled, **buttons, "securityTemplate": "on" if content.is_security_template else ""}
