"""Checks what a call says about a sender profile or a template, and passes it to the service."""

from collections.abc import Sequence

from pabal.checks.body.call import ApiCall
from pabal.checks.body.fields import (
    check_shared_text,
    clean_template,
    one_of,
    parse_web_link,
    read_buttons,
    read_image_field,
)
from pabal.checks.body.forms import Form
from pabal.checks.template_parts import NO_VARIABLES, read_parts, read_thumbnail
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.content import button, text, variables
from pabal.domain.content.button import Button
from pabal.domain.content.image import Image
from pabal.domain.kakao.profile import Profile, Registration, parse_channel_id
from pabal.domain.kakao.template import (
    EMPHASIS_TYPES,
    MAX_CONTENT_CHARACTERS,
    MAX_EMPHASIS_CHARACTERS,
    MAX_MORE_INFO_CHARACTERS,
    MAX_NAME_CHARACTERS,
    MESSAGE_TYPES,
    Template,
    TemplateContent,
    parse_code,
)
from pabal.domain.kakao.template_parts import MAX_CONTENT_CHARACTERS_WITH_ITEMS
from pabal.domain.people import phone
from pabal.domain.sends.message import Product
from pabal.models.bodies import ButtonBody
from pabal.models.template_bodies import WriteTemplate
from pabal.service.relay import profiles, templates
from pabal.service.relay.templates import TemplateRef

_parse_message_type = one_of({word: word for word in MESSAGE_TYPES})
_parse_emphasis_type = one_of({word: word for word in EMPHASIS_TYPES})


async def create_template(call: ApiCall) -> Template:
    """Store a new template.

    Raises Refused.
    """
    ref, content, image = _read_template(call)
    thumbnail = read_thumbnail(call.form.body, call.context.policy.image_limits_of(Product.ALIMTALK))
    return await templates.create(call.context, ref, content, image, call.audit_entry, thumbnail)


async def update_template(call: ApiCall) -> Template:
    """Replace a template's content; an approved one stays in use until the new one is approved.

    Raises Refused.
    """
    ref, content, image = _read_template(call)
    thumbnail = read_thumbnail(call.form.body, call.context.policy.image_limits_of(Product.ALIMTALK))
    return await templates.update(call.context, ref, content, image, call.audit_entry, thumbnail)


async def request_review(call: ApiCall) -> Template:
    """Submit a template for review.

    Raises Refused.
    """
    return await templates.request_review(call.context, _read_ref(call), call.audit_entry)


async def delete_template(call: ApiCall) -> None:
    """Delete a template.

    Raises Refused.
    """
    await templates.delete(call.context, _read_ref(call), call.audit_entry)


def _read_ref(call: ApiCall) -> TemplateRef:
    sender_key = call.form.read("senderKey", str)
    code = call.form.read("templateCode", text.normalize)
    call.form.raise_problems()
    return TemplateRef(call.account_id, sender_key, code)


def _read_template(call: ApiCall) -> tuple[TemplateRef, TemplateContent, Image | None]:
    """Return which template is written, its content and its image.

    Raises Refused.
    """
    form: Form[WriteTemplate] = call.form
    sender_key = form.read("senderKey", str)
    code = form.read("templateCode", parse_code)
    name = form.read("name", lambda given: _parse_short_text(given, MAX_NAME_CHARACTERS))
    content = form.read("content", _parse_content)
    category = form.read("category", str)
    message_type = form.read_optional("messageType", _parse_message_type) or "basic"
    emphasis_type = form.read_optional("emphasisType", _parse_emphasis_type) or "none"
    title = form.read_optional("emphasisTitle", lambda given: _parse_short_text(given, MAX_EMPHASIS_CHARACTERS))
    phrase = form.read_optional("emphasisAssistPhrase", lambda given: _parse_fixed(given, MAX_EMPHASIS_CHARACTERS))
    more_info = form.read_optional("moreInfo", lambda given: _parse_fixed(given, MAX_MORE_INFO_CHARACTERS))
    _check_required_by_type(form, message_type, emphasis_type)
    limits = call.context.policy.image_limits_of(Product.ALIMTALK)
    image = read_image_field(form, limits)
    image_link = form.read_optional("imageLink", parse_web_link)
    buttons = form.read_optional("buttons", lambda given: _read_buttons(form, given)) or ()
    parts = read_parts(form, emphasis_type, limits)
    if parts.items:
        check_shared_text(form, content, _check_length_with_items, "content")
    form.raise_problems()
    template_content = TemplateContent(
        name=name,
        content=content,
        category=category,
        message_type=message_type,
        emphasis_type=emphasis_type,
        emphasis_title=title,
        emphasis_assist_phrase=phrase,
        more_info=more_info,
        image_name=image.file_name if image else None,
        image_link=image_link,
        is_security_template=bool(form.body.securityTemplate),
        buttons=buttons,
        parts=parts,
    )
    return TemplateRef(call.account_id, sender_key, code), template_content, image


def _read_buttons(form: Form[WriteTemplate], given: Sequence[ButtonBody]) -> tuple[Button, ...]:
    max_link = button.MAX_TEMPLATE_LINK_CHARACTERS
    return read_buttons(form, given, button.MAX_BUTTONS, max_link=max_link)


def _check_required_by_type(form: Form[WriteTemplate], message_type: str, emphasis_type: str) -> None:
    """Add a problem for each field that the types require and the body does not have."""
    body = form.body
    is_missing = {
        "emphasisTitle": emphasis_type == "text" and not body.emphasisTitle,
        "moreInfo": message_type in ("extraInfo", "mixed") and not body.moreInfo,
        "image": emphasis_type == "image" and body.image is None,
    }
    for field in (field for field, missing in is_missing.items() if missing):
        form.add(Problem(Code.MISSING_PARAMETER, field))


def _parse_content(given: str) -> str:
    cleaned = clean_template(given)
    text.check_characters(cleaned, MAX_CONTENT_CHARACTERS)
    return cleaned


def _check_length_with_items(content: str) -> None:
    text.check_characters(content, MAX_CONTENT_CHARACTERS_WITH_ITEMS)


def _parse_fixed(given: str, limit: int) -> str:
    """Return a text that is the same in every message: nobody would fill in its variables."""
    fixed = _parse_short_text(given, limit)
    if variables.find_names(fixed):
        raise Refused(Code.INVALID_PARAMETER, detail=NO_VARIABLES)
    return fixed


def _parse_short_text(given: str, limit: int) -> str:
    normalized = text.normalize(given)
    if len(normalized) > limit:
        detail = Text(
            f"{limit:,}자까지 쓸 수 있는데 {len(normalized):,}자입니다.",
            f"It has {len(normalized):,} characters; the limit is {limit:,}.",
        )
        raise Refused(Code.INVALID_PARAMETER, detail=detail)
    return normalized


async def register_profile(call: ApiCall) -> Profile:
    """Register a channel as a sender profile; its administrator's phone receives a token.

    Raises Refused.
    """
    form = call.form
    category = form.read("category", str)
    channel_id = form.read("channelId", parse_channel_id)
    cellphone = form.read("cellphone", phone.parse_mobile)
    form.raise_problems()
    registration = Registration(channel_id, category, cellphone)
    return await profiles.register(call.context, call.account_id, registration, call.audit_entry)


async def authenticate_profile(call: ApiCall) -> None:
    """Approve a sender profile with the token that its administrator received.

    Raises Refused.
    """
    channel_id = call.form.read("channelId", parse_channel_id)
    token = call.form.read("token", str)
    call.form.raise_problems()
    await profiles.authenticate(call.context, call.account_id, channel_id, token, call.audit_entry)
