"""Checks the parts of a template other than its text."""

from collections.abc import Sequence
from typing import Any

from pabal.checks.body.fields import API_FIELDS, clean_template, parse_web_link, read_buttons, read_image_field
from pabal.checks.body.forms import Form
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.content import button, text, variables
from pabal.domain.content.button import Button
from pabal.domain.content.image import JPEG, Image, ImageLimits, parse_image
from pabal.domain.kakao.template_parts import (
    MAX_BUTTONS_WITH_QUICK_REPLIES,
    MAX_HEADER_CHARACTERS,
    MAX_ITEM_CHARACTERS,
    MAX_ITEM_TITLE_CHARACTERS,
    MAX_ITEMS,
    MAX_QUICK_REPLIES,
    MAX_SUMMARY_CHARACTERS,
    MIN_ITEMS,
    QUICK_REPLY_TYPES,
    ItemEntry,
    ItemHighlight,
    TemplateParts,
    is_amount,
    represent_link,
)
from pabal.models import bodies, template_bodies

ITEM_LIST_FIELDS = ("header", "itemHighlight", "itemList")
"""Fields that only a template of emphasisType itemList may have."""
_NOT_AN_ITEM_LIST = Text(
    "emphasisType이 itemList인 템플릿에만 쓸 수 있습니다.", "Only templates of emphasisType itemList may have it."
)
_ONE_THUMBNAIL = Text("image와 imageUrl 중 하나만 쓸 수 있습니다.", "Give either image or imageUrl.")
_NOT_A_JPEG = Text("JPEG만 쓸 수 있습니다.", "It must be a JPEG.")
NO_VARIABLES = Text("변수를 쓸 수 없습니다.", "It may not contain variables.")
_NOT_SECURITY = Text(
    "emphasisType이 itemList인 템플릿은 보안 템플릿이 될 수 없습니다.",
    "A template of emphasisType itemList cannot be a security template.",
)
NOT_AN_AMOUNT = Text(
    "요약에는 숫자, 쉼표, 마침표, 화폐 단위와 변수만 쓸 수 있습니다.",
    "A summary may contain digits, commas, periods, currencies and variables only.",
)


def read_parts(form: Form[template_bodies.WriteTemplate], emphasis_type: str, limits: ImageLimits) -> TemplateParts:
    """Return the parts of a template, with an image within `limits`; `raise_problems` reports what is wrong."""
    body = form.body
    _check_emphasis(form, emphasis_type)
    header = form.read_optional("header", lambda given: _parse_text(given, MAX_HEADER_CHARACTERS))
    highlight = form.read_optional("itemHighlight", lambda given: _read_highlight(form, given, limits))
    items, summary = form.read_optional("itemList", lambda given: _read_items(form, given)) or ((), None)
    link = form.read_optional("representLink", _parse_represent_link)
    replies = form.read_optional("quickReplies", lambda given: _read_quick_replies(form, given)) or ()
    if replies and len(body.buttons or ()) > MAX_BUTTONS_WITH_QUICK_REPLIES:
        limit = MAX_BUTTONS_WITH_QUICK_REPLIES
        detail = Text(
            f"바로연결이 있으면 버튼은 {limit}개까지 넣을 수 있습니다.",
            f"With quick replies, at most {limit} buttons are allowed.",
        )
        form.add(Problem(Code.INVALID_BUTTON, "buttons", detail))
    return TemplateParts(header or None, highlight, items, summary, link, replies)


def read_thumbnail(body: template_bodies.WriteTemplate, limits: ImageLimits) -> Image | None:
    """Return the image of the item highlight that is to be uploaded; `read_parts` has checked it."""
    given = body.itemHighlight.image if body.itemHighlight else None
    return None if given is None else parse_image(given.contentType, given.fileName, given.body, limits)


def _check_emphasis(form: Form[template_bodies.WriteTemplate], emphasis_type: str) -> None:
    """Add a problem where the parts do not suit the type."""
    body = form.body
    given = [field for field in ITEM_LIST_FIELDS if getattr(body, field)]
    if emphasis_type != "itemList":
        for field in given:
            form.add(Problem(Code.INVALID_PARAMETER, field, _NOT_AN_ITEM_LIST))
        return
    if not given and body.image is None:
        form.add(Problem(Code.MISSING_PARAMETER, "itemList"))
    if body.securityTemplate:
        form.add(Problem(Code.INVALID_PARAMETER, "securityTemplate", _NOT_SECURITY))


def _read_highlight(
    form: Form[Any], given: template_bodies.ItemHighlightBody, image_limits: ImageLimits
) -> ItemHighlight | None:
    if any(problem.field.startswith("itemHighlight.") for problem in form.problems):
        return None
    reader = Form(given, [])
    image_url = reader.read_optional("imageUrl", parse_web_link) if given.imageUrl else None
    thumbnail = read_image_field(reader, image_limits)
    if thumbnail is not None and thumbnail.content_type != JPEG:
        reader.add(Problem(Code.INVALID_IMAGE, "image.contentType", _NOT_A_JPEG))
    if given.image is not None and given.imageUrl:
        reader.add(Problem(Code.INVALID_PARAMETER, "imageUrl", _ONE_THUMBNAIL))
    limits = ItemHighlight("", "", image_url or ("" if given.image is None else given.image.fileName or JPEG))
    title = reader.read("title", lambda raw: _parse_text(raw, limits.max_title_characters))
    description = reader.read("description", lambda raw: _parse_text(raw, limits.max_characters))
    _add_problems(form, reader, "itemHighlight")
    return ItemHighlight(title, description, image_url)


def _read_items(
    form: Form[Any], given: template_bodies.ItemListBody
) -> tuple[tuple[ItemEntry, ...], ItemEntry | None]:
    lines = given.items
    if any(problem.field.startswith("itemList") for problem in form.problems) or lines is None:
        return (), None
    if not MIN_ITEMS <= len(lines) <= MAX_ITEMS:
        detail = Text(
            f"{MIN_ITEMS}개부터 {MAX_ITEMS}개까지 넣을 수 있습니다.",
            f"From {MIN_ITEMS} to {MAX_ITEMS} are allowed.",
        )
        form.add(Problem(Code.INVALID_PARAMETER, "itemList.items", detail))
        return (), None
    items = [
        _read_entry(form, each, f"itemList.items[{number}]", MAX_ITEM_CHARACTERS)
        for number, each in enumerate(lines)
    ]
    summary = None
    if given.summary is not None:
        summary = _read_entry(form, given.summary, "itemList.summary", MAX_SUMMARY_CHARACTERS)
        literals = "".join(variables.split(given.summary.description or "")[::2])
        if not is_amount(literals):
            form.add(Problem(Code.INVALID_PARAMETER, "itemList.summary.description", NOT_AN_AMOUNT))
    return tuple(items), summary


def _read_entry(form: Form[Any], given: template_bodies.ItemBody, place: str, limit: int) -> ItemEntry:
    reader = Form(given, [])
    title = reader.read("title", _parse_item_title)
    description = reader.read("description", lambda raw: _parse_text(raw, limit))
    _add_problems(form, reader, place)
    return ItemEntry(title, description)


def _parse_item_title(given: str) -> str:
    title = _parse_text(given, MAX_ITEM_TITLE_CHARACTERS)
    if variables.find_names(title):
        raise Refused(Code.INVALID_PARAMETER, detail=NO_VARIABLES)
    return title


def _parse_text(given: str, limit: int) -> str:
    """Return a text of at most so many characters, variables included, as the relay counts them."""
    cleaned = clean_template(given)
    size = len(cleaned)
    if size > limit:
        detail = Text(
            f"{limit}자까지 쓸 수 있는데 {size}자입니다.", f"It has {size} characters; the limit is {limit}."
        )
        raise Refused(Code.INVALID_PARAMETER, detail=detail)
    return cleaned


def _parse_represent_link(given: template_bodies.RepresentLinkBody) -> Button | None:
    links = {
        field: text.normalize(link)
        for field in button.LINK_FIELDS
        if (link := getattr(given, API_FIELDS[field], None))
    }
    if not links:
        raise Refused(Code.MISSING_PARAMETER, "mobileUrl")
    found = represent_link(links)
    assert found is not None
    problems = [
        Problem(Code.INVALID_PARAMETER, API_FIELDS[field], detail)
        for field, detail in button.find_link_problems(found, button.MAX_TEMPLATE_LINK_CHARACTERS)
    ]
    if problems:
        raise Refused.from_problems(problems)
    return found


def _read_quick_replies(form: Form[Any], given: Sequence[bodies.ButtonBody]) -> tuple[Button, ...]:
    found = read_buttons(
        form, given, MAX_QUICK_REPLIES, QUICK_REPLY_TYPES, "quickReplies", button.MAX_TEMPLATE_LINK_CHARACTERS
    )
    for number, each in enumerate(given if found else ()):
        if variables.find_names(each.name):
            form.add(Problem(Code.INVALID_BUTTON, f"quickReplies[{number}].name", NO_VARIABLES))
    return found


def _add_problems(form: Form[Any], reader: Form[Any], place: str) -> None:
    for problem in reader.problems:
        form.add(problem._replace(field=f"{place}.{problem.field}"))
