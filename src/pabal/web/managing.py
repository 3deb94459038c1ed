"""The endpoints that manage sender profiles and templates."""

from typing import Any

from pabal.checks.call import Call, paging
from pabal.checks.forms import Form
from pabal.checks.sends import read_buttons, read_image_field, web_link
from pabal.domain import button, phone, text
from pabal.domain.codes import Code, Problem, Refused, Words
from pabal.domain.image import Image
from pabal.domain.profile import AUTH_STATUS_BY_WORD, Registration, channel
from pabal.domain.template import (
    EMPHASIS_TYPES,
    MAX_CODE_CHARACTERS,
    MAX_CONTENT_CHARACTERS,
    MAX_EMPHASIS_CHARACTERS,
    MAX_MORE_INFO_CHARACTERS,
    MAX_NAME_CHARACTERS,
    MESSAGE_TYPES,
    TEMPLATE_STATUS_BY_WORD,
    Design,
    Template,
)
from pabal.models.bodies import WriteTemplate
from pabal.service.relay import categories, profiles, templates
from pabal.service.relay.templates import Place
from pabal.store import profiles as kept_profiles
from pabal.store import templates as kept_templates
from pabal.web import envelope, records
from pabal.web.looking_up import one_of


async def list_sender_categories(call: Call) -> dict[str, Any]:
    """List the categories of sender profiles."""
    known = await categories.of_senders(call.context)
    return envelope.listed([records.category_item(each) for each in known.values()])


async def create_sender(call: Call) -> dict[str, Any]:
    """Register a channel as a sender profile; its administrator's phone gets a token."""
    form = call.form
    category = form.read("category", str)
    channel_id = form.read("channelId", channel)
    cellphone = form.read("cellphone", phone.mobile)
    form.done()
    profile = await profiles.register(
        call.context, call.account_id, Registration(channel_id, category, cellphone), call.deed
    )
    known = await categories.of_senders(call.context)
    return {"item": records.new_sender_item(profile, known.get(profile.category), call.speech)}


async def delete_sender(call: Call) -> dict[str, Any]:
    """Delete a sender profile; its waiting messages are cancelled."""
    form = call.form
    sender_key = form.body.senderKey or None
    channel_id = form.read_optional("channelId", channel) if form.body.channelId else None
    if sender_key is None and not form.body.channelId:
        form.add(Problem(Code.MISSING_PARAMETER, "senderKey"))
    form.done()
    await profiles.delete(call.context, call.account_id, sender_key, channel_id)
    return {}


async def authenticate_sender(call: Call) -> dict[str, Any]:
    """Approve a sender profile by the token that its administrator received."""
    channel_id = call.form.read("channelId", channel)
    token = call.form.read("token", str)
    call.form.done()
    await profiles.authenticate(call.context, call.account_id, channel_id, token, call.deed)
    return {}


async def list_senders(call: Call) -> dict[str, Any]:
    """List the account's sender profiles, newest first."""
    form = call.form
    wanted = kept_profiles.Filter(
        call.account_id,
        form.read_optional("channelId", channel),
        form.body.senderKey,
        form.read_optional("authStatus", one_of(AUTH_STATUS_BY_WORD)),
    )
    page, page_size = paging(form)
    form.done()
    total, found = await call.context.store.read(kept_profiles.find, wanted, page, page_size)
    known = await categories.of_senders(call.context)
    items = [records.sender_item(each, known.get(each.category), call.speech) for each in found]
    return envelope.paged(total, page, page_size, items)


async def list_template_categories(call: Call) -> dict[str, Any]:
    """List the categories of templates."""
    known = await categories.of_templates(call.context)
    return envelope.listed([records.template_category_item(each) for each in known.values()])


async def create_template(call: Call) -> dict[str, Any]:
    """Register a template."""
    place, design, image = _written(call)
    return _one(call, await templates.create(call.context, place, design, image, call.deed))


async def update_template(call: Call) -> dict[str, Any]:
    """Give a template a new text; an approved one stays in use until the new one is approved."""
    place, design, image = _written(call)
    return _one(call, await templates.update(call.context, place, design, image, call.deed))


async def request_template(call: Call) -> dict[str, Any]:
    """Have a template reviewed."""
    return _one(call, await templates.request(call.context, _place(call), call.deed))


async def delete_template(call: Call) -> dict[str, Any]:
    """Delete a template that is registered or rejected."""
    await templates.delete(call.context, _place(call), call.deed)
    return {}


async def list_templates(call: Call) -> dict[str, Any]:
    """List the account's templates, newest first."""
    form = call.form
    wanted = kept_templates.Filter(
        call.account_id,
        form.body.senderKey,
        form.read_optional("templateCode", text.cleaned),
        form.read_optional("status", one_of(TEMPLATE_STATUS_BY_WORD)),
    )
    page, page_size = paging(form)
    form.done()
    total, found = await call.context.store.read(kept_templates.find, wanted, page, page_size)
    return envelope.paged(total, page, page_size, [records.template_item(each, call.speech) for each in found])


def _one(call: Call, template: Template) -> dict[str, Any]:
    return {"item": records.template_item(template, call.speech)}


def _place(call: Call) -> Place:
    sender_key = call.form.read("senderKey", str)
    code = call.form.read("templateCode", text.cleaned)
    call.form.done()
    return Place(call.account_id, sender_key, code)


def _written(call: Call) -> tuple[Place, Design, Image | None]:
    """Return where a template belongs and what its author wrote.

    Raises Refused.
    """
    form: Form[WriteTemplate] = call.form
    body = form.body
    sender_key = form.read("senderKey", str)
    code = form.read("templateCode", lambda given: _short(given, MAX_CODE_CHARACTERS))
    name = form.read("name", lambda given: _short(given, MAX_NAME_CHARACTERS))
    content = form.read("content", _content)
    category = form.read("category", str)
    message_type = form.read_optional("messageType", one_of({word: word for word in MESSAGE_TYPES})) or "basic"
    emphasis_type = form.read_optional("emphasisType", one_of({word: word for word in EMPHASIS_TYPES})) or "none"
    title = form.read_optional("emphasisTitle", lambda given: _short(given, MAX_EMPHASIS_CHARACTERS))
    phrase = form.read_optional("emphasisAssistPhrase", lambda given: _short(given, MAX_EMPHASIS_CHARACTERS))
    more_info = form.read_optional("moreInfo", lambda given: _short(given, MAX_MORE_INFO_CHARACTERS))
    needed = {
        "emphasisTitle": emphasis_type == "text" and not body.emphasisTitle,
        "moreInfo": message_type in ("extraInfo", "mixed") and not body.moreInfo,
        "image": emphasis_type == "image" and body.image is None,
    }
    for field, is_missing in needed.items():
        if is_missing:
            form.add(Problem(Code.MISSING_PARAMETER, field))
    image = read_image_field(form)
    image_link = form.read_optional("imageLink", web_link)
    buttons = form.read_optional("buttons", lambda given: read_buttons(form, given, button.MAX_BUTTONS)) or ()
    form.done()
    design = Design(
        name=name,
        content=content,
        category=category,
        messageType=message_type,
        emphasisType=emphasis_type,
        emphasisTitle=title,
        emphasisAssistPhrase=phrase,
        moreInfo=more_info,
        imageName=image.file_name if image else None,
        imageLink=image_link,
        securityTemplate=bool(body.securityTemplate),
        buttons=tuple(one.given() for one in buttons),
    )
    return Place(call.account_id, sender_key, code), design, image


def _content(given: str) -> str:
    cleaned = text.cleaned(given)
    text.check_characters(cleaned, MAX_CONTENT_CHARACTERS)
    return cleaned


def _short(given: str, most: int) -> str:
    cleaned = text.cleaned(given)
    if len(cleaned) > most:
        detail = Words(f"{most}자까지입니다.", f"At most {most} characters.")
        raise Refused(Code.INVALID_PARAMETER, detail=detail)
    return cleaned
