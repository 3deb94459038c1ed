"""The form of a template: its fields, the request body built from them, and what was typed, kept on the server."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pabal.checks.body.fields import API_FIELDS, API_LINK_FIELDS, to_api_fields
from pabal.console.shell.form_fields import tab_id
from pabal.console.shell.page_request import PageRequest
from pabal.console.shell.problem_texts import spell_problem
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.content.button import DEFAULT_NAMES, LINK_FIELDS, MAX_BUTTONS, Button
from pabal.domain.content.image import Image
from pabal.domain.kakao.template import Template, TemplateContent
from pabal.domain.kakao.template_parts import (
    MAX_ITEMS,
    MAX_QUICK_REPLIES,
    ItemEntry,
    ItemHighlight,
    TemplateParts,
    represent_link,
)
from pabal.service.sending import drafts as draft_service

TEXT_FIELDS = (
    "senderKey", "templateCode", "name", "content", "category", "messageType", "emphasisType", "emphasisTitle",
    "emphasisAssistPhrase", "moreInfo", "imageLink", "header",
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
    "telNumber": "call",
}
"""The fields of a button, each with the CSS class of the button types that have it."""
BUTTON_FIELDS = ("buttonType", *BUTTON_GROUPS)
THUMBNAIL = "itemHighlight.image"
"""The file that replaces the thumbnail of the highlight."""
IMAGE_OF = "pictureOf"
"""The field that names the template whose image is used where no other is uploaded."""
REPLY_FIELDS = tuple(field for field in BUTTON_FIELDS if field not in ("target", "telNumber"))
OBJECT_FIELDS = {
    "itemHighlight": ("title", "description", "imageUrl"),
    "itemList.summary": ("title", "description"),
    "representLink": ("mobileUrl", "pcUrl", "androidUrl", "iosUrl"),
}
"""The objects of the body that are no lists, and their fields."""
LIST_FIELDS = {
    "buttons": (MAX_BUTTONS, BUTTON_FIELDS),
    "quickReplies": (MAX_QUICK_REPLIES, REPLY_FIELDS),
    "itemList.items": (MAX_ITEMS, ("title", "description")),
}
"""The lists of the body, how many rows the form has for each, and the fields of a row."""
FIELDS = (
    *TEXT_FIELDS,
    IMAGE_OF,
    "securityTemplate",
    *(f"{name}.{field}" for name, fields in OBJECT_FIELDS.items() for field in fields),
    *(
        f"{name}[{n}].{field}"
        for name, (most, fields) in LIST_FIELDS.items()
        for n in range(most)
        for field in fields
    ),
)
BUTTON_LABELS = {
    "webLink": Text("웹 링크", "Web link"),
    "appLink": Text("앱 링크", "App link"),
    "channelAddition": Text("채널 추가", "Add channel"),
    "botKeyword": Text("봇 키워드", "Bot keyword"),
    "messageDelivery": Text("메시지 전달", "Forward message"),
    "counselingTalkConversion": Text("상담톡 전환", "Switch to consultation"),
    "botConversion": Text("챗봇 전환", "Switch to bot"),
    "deliveryTracking": Text("배송 조회", "Track delivery"),
    "phoneCall": Text("전화 걸기", "Call a number"),
}
assert BUTTON_LABELS.keys() == DEFAULT_NAMES.keys()
MORE_INFO_TYPES = ("extraInfo", "mixed")
"""Message types that show extra information."""
_NO_MORE_INFO = Text(
    "이 메시지 유형은 부가 정보를 표시하지 않습니다. 부가 정보형이나 복합형을 선택하거나 부가 정보를 지우세요.",
    "This message type shows no extra information. Choose a type that does, or clear the field.",
)
_REPRESENT_LINK = Text("대표 링크", "Representative link")
_LIST_INDEX = re.compile(r"(buttons|quickReplies|itemList\.items)\[([0-9]+)\]")

_LINK_FIELDS = {API_FIELDS[field]: field for field in LINK_FIELDS}
TYPED_FIELD = "draft"
TYPED_NEW = "template.new"
_FORM_NAME = re.compile(r"template\.(new|[0-9]{1,18})", re.ASCII)
_OWN_WORDS = ("templateCode", "name", "content", "emphasisTitle", "moreInfo", "header")
"""Fields that begin empty, so their content is the user's."""


class ButtonDetails(NamedTuple):
    """A button with everything that its author wrote, for reviewers."""

    name: str
    type: Text
    fields: list[tuple[str, str]]
    """Field and value."""


def check_more_info(fields: Mapping[str, str]) -> None:
    """Raise Refused for extra information in a template whose type shows none: it would be lost."""
    if fields["moreInfo"].strip() and fields["messageType"] not in MORE_INFO_TYPES:
        raise Refused(Code.INVALID_PARAMETER, "moreInfo", _NO_MORE_INFO)


def button_details(buttons: Sequence[Button]) -> list[ButtonDetails]:
    """Return buttons, quick replies or a representative link with their addresses."""
    return [
        ButtonDetails(
            each.name or DEFAULT_NAMES.get(each.type, ""),
            BUTTON_LABELS.get(each.type, _REPRESENT_LINK),
            [(field, str(given[field])) for field in BUTTON_GROUPS if field != "name" and given.get(field)],
        )
        for each in buttons
        for given in (to_api_fields(each),)
    ]


def read_fields(form: Mapping[str, str]) -> dict[str, str]:
    """Return every field as typed, empty where it is absent."""
    return {field: form.get(field, "").replace("\r\n", "\n") for field in FIELDS}


def fields_of(template: Template) -> dict[str, str]:
    """Return the fields filled in from a template."""
    fields = _content_fields(template.latest)
    return read_fields({"senderKey": template.sender_key, "templateCode": template.code, **fields})


def build_body(fields: Mapping[str, str], image: Image | None, thumbnail: Image | None = None) -> dict[str, Any]:
    """Return the request body of the fields, without empty ones and without button rows that have no type."""
    body: dict[str, Any] = {
        field: fields[field] if field in MULTILINE_FIELDS else fields[field].strip()
        for field in TEXT_FIELDS
        if fields[field].strip()
    }
    body["securityTemplate"] = bool(fields["securityTemplate"])
    body["buttons"] = _rows_of(fields, "buttons")
    if replies := _rows_of(fields, "quickReplies"):
        body["quickReplies"] = replies
    body |= {name: given for name in ("itemHighlight", "representLink") if (given := _object(fields, name))}
    items, summary = _rows_of(fields, "itemList.items"), _object(fields, "itemList.summary")
    if items or summary:
        body["itemList"] = {"items": items, **({"summary": summary} if summary else {})}
    if image:
        body["image"] = _image_body(image)
    if thumbnail:
        highlight = {name: value for name, value in body.get("itemHighlight", {}).items() if name != "imageUrl"}
        body["itemHighlight"] = {**highlight, "image": _image_body(thumbnail)}
    return body


def _image_body(image: Image) -> dict[str, str]:
    encoded = b64encode(image.body).decode()
    return {"contentType": image.content_type, "fileName": image.file_name, "body": encoded}


def button_rows(fields: Mapping[str, str]) -> list[int]:
    """Return the rows that hold a button."""
    return rows_in_use(fields, "buttons")


def rows_in_use(fields: Mapping[str, str], name: str) -> list[int]:
    """Return the rows of a list that are filled in; one of a button is if it has a type."""
    most, names = LIST_FIELDS[name]
    deciding = names[:1] if names[0] == "buttonType" else names
    return [row for row in range(most) if any(fields[f"{name}[{row}].{field}"].strip() for field in deciding)]


def errors_by_field(problems: Sequence[Problem], fields: Mapping[str, str], language: str) -> dict[str, str]:
    """Return the errors by field; those of lists by the row in the form."""
    rows = {name: rows_in_use(fields, name) for name in LIST_FIELDS}

    def form_field(field: str) -> str:
        for file in ("image", THUMBNAIL):
            if field.startswith(f"{file}."):
                return file
        return _LIST_INDEX.sub(lambda match: f"{match[1]}[{rows[match[1]][int(match[2])]}]", field)

    return {form_field(each.field): spell_problem(each).in_language(language) for each in problems}


def _rows_of(fields: Mapping[str, str], name: str) -> list[dict[str, str]]:
    """Return the rows of a list that are filled in, each without its empty fields."""
    return [_given(fields, f"{name}[{row}]", LIST_FIELDS[name][1]) for row in rows_in_use(fields, name)]


def _object(fields: Mapping[str, str], name: str) -> dict[str, str]:
    return _given(fields, name, OBJECT_FIELDS[name])


def _given(fields: Mapping[str, str], place: str, names: Sequence[str]) -> dict[str, str]:
    values = {field: fields[f"{place}.{field}"].strip() for field in names}
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
    filled = {field: value for field, value in values.items() if value is not None}
    buttons = _button_fields("buttons", content.buttons) | _button_fields(
        "quickReplies", content.parts.quick_replies
    )
    security = {"securityTemplate": "on" if content.is_security_template else ""}
    return {**filled, **buttons, **_part_fields(content.parts), **security}


def _button_fields(name: str, buttons: Sequence[Button]) -> dict[str, str]:
    return {
        f"{name}[{row}].{field}": str(value)
        for row, button in enumerate(buttons)
        for field, value in to_api_fields(button).items()
        if field in LIST_FIELDS[name][1]
    }


def _part_fields(parts: TemplateParts) -> dict[str, str]:
    found = {"header": parts.header or ""}
    for place, given in (
        ("itemHighlight", parts.highlight),
        ("itemList.summary", parts.summary),
        *((f"itemList.items[{row}]", item) for row, item in enumerate(parts.items)),
    ):
        if given:
            found |= {f"{place}.title": given.title, f"{place}.description": given.description}
    if parts.highlight and parts.highlight.image_url:
        found["itemHighlight.imageUrl"] = parts.highlight.image_url
    if parts.link:
        links = to_api_fields(parts.link)
        found |= {f"representLink.{field}": str(links[field]) for field in API_LINK_FIELDS if field in links}
    return found


def preview_parts(fields: Mapping[str, str]) -> TemplateParts:
    """Return the parts of a template as they were typed, to show them."""
    is_list = fields["emphasisType"] == "itemList"
    highlight, summary = _object(fields, "itemHighlight"), _object(fields, "itemList.summary")
    links = {_LINK_FIELDS[field]: link for field, link in _object(fields, "representLink").items()}
    return TemplateParts(
        fields["header"] if is_list else None,
        ItemHighlight(highlight.get("title", ""), highlight.get("description", ""))
        if is_list and highlight
        else None,
        tuple(
            ItemEntry(each.get("title", ""), each.get("description", ""))
            for each in (_rows_of(fields, "itemList.items") if is_list else ())
        ),
        ItemEntry(summary.get("title", ""), summary.get("description", "")) if is_list and summary else None,
        represent_link(links),
        tuple(
            Button(each["buttonType"], each.get("name") or DEFAULT_NAMES.get(each["buttonType"], ""))
            for each in _rows_of(fields, "quickReplies")
        ),
    )


class KeptTemplate(NamedTuple):
    """The name of the form, and when what it shows was typed; empty: it shows nothing that was typed before."""

    form: str
    loaded_from: str = ""


def form_name(template: Template | None) -> str:
    """Return the form of a template, or of a new one."""
    return f"template.{template.id}" if template else TYPED_NEW


async def keep_typed(request: PageRequest, fields: Mapping[str, str]) -> None:
    """Keep what was typed, unless it is as good as empty."""
    form = request.field(TYPED_FIELD)
    if not _FORM_NAME.fullmatch(form):
        return
    if any(fields[name].strip() for name in _OWN_WORDS):
        await draft_service.save(request.context, request.draft_key(form), fields, tab_id(request))
    else:
        await draft_service.discard(request.context, request.draft_key(form))


async def load_typed(request: PageRequest, form: str) -> tuple[dict[str, str] | None, KeptTemplate]:
    """Return what was typed before, None if nothing, and what the page says of it."""
    found = await draft_service.load(request.context, request.draft_key(form))
    if found is None:
        return None, KeptTemplate(form)
    return read_fields(found.fields), KeptTemplate(form, request.time(found.changed_at))


async def discard_typed(request: PageRequest, form: str) -> None:
    """Delete what was typed: it is stored now, or its author wants none of it."""
    if _FORM_NAME.fullmatch(form):
        await draft_service.end(request.context, request.draft_key(form), tab_id(request))
