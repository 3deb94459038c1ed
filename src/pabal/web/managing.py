"""The endpoints that manage sender profiles and templates."""

from typing import Any

from pabal.checks.call import ApiCall, read_paging
from pabal.checks.forms import Form
from pabal.checks.sends import parse_web_link, read_buttons, read_image_field
from pabal.domain import button, phone, text
from pabal.domain.codes import Code, Problem, Refused, Text
from pabal.domain.image import Image
from pabal.domain.profile import AUTH_STATUS_BY_WORD, Registration, parse_channel_id
from pabal.domain.template import (
    EMPHASIS_TYPES,
    MAX_CODE_CHARACTERS,
    MAX_CONTENT_CHARACTERS,
    MAX_EMPHASIS_CHARACTERS,
    MAX_MORE_INFO_CHARACTERS,
    MAX_NAME_CHARACTERS,
    MESSAGE_TYPES,
    TEMPLATE_STATUS_BY_WORD,
    Template,
    TemplateContent,
)
from pabal.models.bodies import WriteTemplate
from pabal.service.relay import categories, profiles, templates
from pabal.service.relay.templates import TemplateRef
from pabal.store import profiles as kept_profiles
from pabal.store import templates as kept_templates
from pabal.web import envelope, records
from pabal.web.looking_up import one_of


async def list_sender_categories(call: ApiCall) -> dict[str, Any]:
    """List the categories of sender profiles."""
    known = await categories.sender_categories(call.context)
    return envelope.list_fields([records.build_category_item(each) for each in known.values()])


async def create_sender(call: ApiCall) -> dict[str, Any]:
    """Register a channel as a sender profile; its administrator's phone gets a token."""
    form = call.form
    category = form.read("category", str)
    channel_id = form.read("channelId", parse_channel_id)
    cellphone = form.read("cellphone", phone.parse_mobile)
    form.raise_problems()
    profile = await profiles.register(
        call.context, call.account_id, Registration(channel_id, category, cellphone), call.audit_entry
    )
    known = await categories.sender_categories(call.context)
    return {"item": records.build_new_sender_item(profile, known.get(profile.category), call.locale)}


async def delete_sender(call: ApiCall) -> dict[str, Any]:
    """Delete a sender profile; its waiting messages are cancelled."""
    form = call.form
    sender_key = form.body.senderKey or None
    channel_id = form.read_optional("channelId", parse_channel_id) if form.body.channelId else None
    if sender_key is None and not form.body.channelId:
        form.add(Problem(Code.MISSING_PARAMETER, "senderKey"))
    form.raise_problems()
    await profiles.delete(call.context, call.account_id, sender_key, channel_id)
    return {}


async def authenticate_sender(call: ApiCall) -> dict[str, Any]:
    """Approve a sender profile by the token that its administrator received."""
    channel_id = call.form.read("channelId", parse_channel_id)
    token = call.form.read("token", str)
    call.form.raise_problems()
    await profiles.authenticate(call.context, call.account_id, channel_id, token, call.audit_entry)
    return {}


async def list_senders(call: ApiCall) -> dict[str, Any]:
    """List the account's sender profiles, newest first."""
    form = call.form
    wanted = kept_profiles.ProfileFilter(
        call.account_id,
        form.read_optional("channelId", parse_channel_id),
        form.body.senderKey,
        form.read_optional("authStatus", one_of(AUTH_STATUS_BY_WORD)),
    )
    page, page_size = read_paging(form)
    form.raise_problems()
    total, found = await call.context.store.read(kept_profiles.find, wanted, page, page_size)
    known = await categories.sender_categories(call.context)
    items = [records.build_sender_item(each, known.get(each.category), call.locale) for each in found]
    return envelope.page_fields(total, page, page_size, items)


async def list_template_categories(call: ApiCall) -> dict[str, Any]:
    """List the categories of templates."""
    known = await categories.template_categories(call.context)
    return envelope.list_fields([records.build_template_category_item(each) for each in known.values()])


async def create_template(call: ApiCall) -> dict[str, Any]:
    """Register a template."""
    place, design, image = _read_template(call)
    return _template_answer(call, await templates.create(call.context, place, design, image, call.audit_entry))


async def update_template(call: ApiCall) -> dict[str, Any]:
    """Give a template a new text; an approved one stays in use until the new one is approved."""
    place, design, image = _read_template(call)
    return _template_answer(call, await templates.update(call.context, place, design, image, call.audit_entry))


async def request_template_review(call: ApiCall) -> dict[str, Any]:
    """Have a template reviewed."""
    return _template_answer(
        call, await templates.request_review(call.context, _read_template_ref(call), call.audit_entry)
    )


async def delete_template(call: ApiCall) -> dict[str, Any]:
    """Delete a template that is registered or rejected."""
    await templates.delete(call.context, _read_template_ref(call), call.audit_entry)
    return {}


async def list_templates(call: ApiCall) -> dict[str, Any]:
    """List the account's templates, newest first."""
    form = call.form
    wanted = kept_templates.TemplateFilter(
        call.account_id,
        form.body.senderKey,
        form.read_optional("templateCode", text.normalize),
        form.read_optional("status", one_of(TEMPLATE_STATUS_BY_WORD)),
    )
    page, page_size = read_paging(form)
    form.raise_problems()
    total, found = await call.context.store.read(kept_templates.find, wanted, page, page_size)
    return envelope.page_fields(
        total, page, page_size, [records.build_template_item(each, call.locale) for each in found]
    )


def _template_answer(call: ApiCall, template: Template) -> dict[str, Any]:
    return {"item": records.build_template_item(template, call.locale)}


def _read_template_ref(call: ApiCall) -> TemplateRef:
    sender_key = call.form.read("senderKey", str)
    code = call.form.read("templateCode", text.normalize)
    call.form.raise_problems()
    return TemplateRef(call.account_id, sender_key, code)


def _read_template(call: ApiCall) -> tuple[TemplateRef, TemplateContent, Image | None]:
    """Return where a template belongs and what its author wrote.

    Raises Refused.
    """
    form: Form[WriteTemplate] = call.form
    body = form.body
    sender_key = form.read("senderKey", str)
    code = form.read("templateCode", lambda given: _parse_short_text(given, MAX_CODE_CHARACTERS))
    name = form.read("name", lambda given: _parse_short_text(given, MAX_NAME_CHARACTERS))
    content = form.read("content", _parse_content)
    category = form.read("category", str)
    message_type = form.read_optional("messageType", one_of({word: word for word in MESSAGE_TYPES})) or "basic"
    emphasis_type = form.read_optional("emphasisType", one_of({word: word for word in EMPHASIS_TYPES})) or "none"
    title = form.read_optional("emphasisTitle", lambda given: _parse_short_text(given, MAX_EMPHASIS_CHARACTERS))
    phrase = form.read_optional(
        "emphasisAssistPhrase", lambda given: _parse_short_text(given, MAX_EMPHASIS_CHARACTERS)
    )
    more_info = form.read_optional("moreInfo", lambda given: _parse_short_text(given, MAX_MORE_INFO_CHARACTERS))
    needed = {
        "emphasisTitle": emphasis_type == "text" and not body.emphasisTitle,
        "moreInfo": message_type in ("extraInfo", "mixed") and not body.moreInfo,
        "image": emphasis_type == "image" and body.image is None,
    }
    for field, is_missing in needed.items():
        if is_missing:
            form.add(Problem(Code.MISSING_PARAMETER, field))
    image = read_image_field(form)
    image_link = form.read_optional("imageLink", parse_web_link)
    buttons = form.read_optional("buttons", lambda given: read_buttons(form, given, button.MAX_BUTTONS)) or ()
    form.raise_problems()
    design = TemplateContent(
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
        is_security_template=bool(body.securityTemplate),
        buttons=buttons,
    )
    return TemplateRef(call.account_id, sender_key, code), design, image


def _parse_content(given: str) -> str:
    cleaned = text.normalize(given)
    text.check_characters(cleaned, MAX_CONTENT_CHARACTERS)
    return cleaned


def _parse_short_text(given: str, limit: int) -> str:
    cleaned = text.normalize(given)
    if len(cleaned) > limit:
        detail = Text(f"{limit}자까지입니다.", f"At most {limit} characters.")
        raise Refused(Code.INVALID_PARAMETER, detail=detail)
    return cleaned
