"""Templates: listed, written with a preview, sent to review, and decided on by operators."""

from collections.abc import Mapping
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.manage import template_form
from pabal.console.shell.page_request import Visit
from pabal.domain.button import KOREAN_NAMES, MAX_BUTTONS
from pabal.domain.codes import Code, Refused
from pabal.domain.image import MAX_FILE_NAME_CHARACTERS, MAX_IMAGE_BYTES, Image
from pabal.domain.profile import AuthStatus
from pabal.domain.template import (
    EDITABLE,
    MAX_CONTENT_CHARACTERS,
    MESSAGE_TYPES,
    TEMPLATE_STATUS_BY_WORD,
    Review,
    Template,
    TemplateStatus,
)
from pabal.domain.variables import parts
from pabal.models.bodies import TemplatePlace, WriteTemplate
from pabal.service.relay import categories, templates
from pabal.store import audit_log
from pabal.store import profiles as kept_profiles
from pabal.store import templates as kept_templates
from pabal.web import managing

PAGE_SIZE = 50
MOST_PROFILES = 1000
MOST_PAGE = 1_000_000
TEMPLATES = "/console/templates"
MAX_COMMENT = 500


class Preview(NamedTuple):
    """A template as a phone shows it; every second piece of its text is the name of a variable."""

    title: str
    phrase: str
    pieces: list[tuple[str, bool]]
    more: list[tuple[str, bool]]
    buttons: list[str]
    length: int
    has_picture: bool
    picture: str
    """Where the picture is that is kept, empty where there is none yet."""


async def list_templates(visit: Visit) -> Response:
    """List the account's templates, newest first."""
    word = visit.field("status")
    given = visit.field("page")
    page = int(given) if given.isascii() and given.isdigit() and len(given) < 8 else 1
    wanted = kept_templates.Filter(visit.account_id, status=TEMPLATE_STATUS_BY_WORD.get(word))
    page = min(max(page, 1), MOST_PAGE)
    total, found = await visit.context.store.read(kept_templates.find, wanted, page, PAGE_SIZE)
    return visit.page(
        "manage/templates.html",
        found=found,
        page=page,
        pages=max(1, -(-total // PAGE_SIZE)),
        status=word,
        statuses=list(TemplateStatus),
    )


async def show_template(visit: Visit) -> Response:
    """Show one template and what can be done with it."""
    return await _shown(visit, await _template(visit))


async def show_new(visit: Visit) -> Response:
    """Show an empty form, or one filled in from another template, to be saved under another code."""
    fields = template_form.typed({})
    if visit.field("copy"):
        copied = await _by_id(visit, visit.field("copy"))
        fields = {**template_form.filled_in(copied), "templateCode": ""} | _picture_of(copied)
    return await _form(visit, fields)


async def create(visit: Visit) -> Response:
    """Register a template."""
    fields = template_form.typed(visit.given)
    deed = visit.deed("template.create", fields["templateCode"].strip())
    try:
        body = template_form.body(fields, await _picture(visit, fields))
        made = await managing.create_template(visit.call(WriteTemplate, body, deed))
    except Refused as refused:
        return await _form(visit, fields, refused)
    return visit.elsewhere(f"{TEMPLATES}/{made['item'].id}")


async def show_edit(visit: Visit) -> Response:
    """Show a template's text, to be changed."""
    template = await _template(visit)
    return await _form(visit, template_form.filled_in(template) | _picture_of(template), template=template)


async def edit(visit: Visit) -> Response:
    """Give a template a new text."""
    template = await _template(visit)
    fields = template_form.typed(visit.given)
    fields |= {"senderKey": template.sender_key, "templateCode": template.code, **_picture_of(template)}
    try:
        if not is_editable(template):
            raise Refused(Code.INVALID_STATE, "content")
        body = template_form.body(fields, await _picture(visit, fields))
        await managing.update_template(
            visit.call(WriteTemplate, body, visit.deed("template.update", template.code))
        )
    except Refused as refused:
        return await _form(visit, fields, refused, template)
    return visit.elsewhere(f"{TEMPLATES}/{template.id}")


async def ask_for_review(visit: Visit) -> Response:
    """Have a template reviewed."""
    template = await _template(visit)
    deed = visit.deed("template.request", template.code)
    try:
        await managing.request_template(visit.call(TemplatePlace, _place(template), deed))
    except Refused as refused:
        return await _shown(visit, template, refused)
    return visit.elsewhere(f"{TEMPLATES}/{template.id}")


async def delete(visit: Visit) -> Response:
    """Delete a template."""
    template = await _template(visit)
    deed = visit.deed("template.delete", template.code)
    try:
        await managing.delete_template(visit.call(TemplatePlace, _place(template), deed))
    except Refused as refused:
        return await _shown(visit, template, refused)
    return visit.elsewhere(TEMPLATES)


async def review(visit: Visit) -> Response:
    """Approve or reject a template that is under review, with a comment where it is rejected."""
    template = await _template(visit)
    is_approved = visit.field("decision") == "approve"
    comment = visit.field("comment")[:MAX_COMMENT]
    try:
        if not is_approved and not comment:
            raise Refused(Code.MISSING_PARAMETER, "comment")
        word = Review(is_approved, comment or None)
        deed = visit.deed("template.approve" if is_approved else "template.reject", template.code)
        await visit.context.store.write(audit_log.along, deed, templates.decide, template.id, word, deed.done_at)
    except Refused as refused:
        return await _shown(visit, template, refused)
    return visit.elsewhere(f"{TEMPLATES}/{template.id}")


async def show_picture(visit: Visit) -> Response:
    """Answer with a template's picture.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    template = await _template(visit)
    image = await visit.context.store.read(kept_templates.image, template.id)
    if image is None:
        raise Refused(Code.NOT_FOUND)
    return Response(image.body, media_type=image.content_type)


async def preview(visit: Visit) -> Response:
    """Answer with what the text that is being written looks like."""
    return visit.page("manage/template_preview.html", preview=_preview(template_form.typed(visit.given)), **_LIMIT)


_LIMIT = {"most": MAX_CONTENT_CHARACTERS, "most_picture_bytes": MAX_IMAGE_BYTES}


def is_editable(template: Template) -> bool:
    """Say whether a template can be changed here: in its state, and without emphasis that would be lost."""
    return template.status in EDITABLE and template.design.emphasisType in template_form.EMPHASIS


async def _template(visit: Visit) -> Template:
    return await _by_id(visit, str(visit.request.path_params["template"]))


async def _by_id(visit: Visit, word: str) -> Template:
    """Return the account's template of this id.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    is_number = word.isascii() and word.isdigit() and len(word) < 19
    found = await visit.context.store.read(kept_templates.by_id, int(word)) if is_number else None
    if found is None or found.account_id != visit.account_id:
        raise Refused(Code.NOT_FOUND)
    return found


def _picture_of(template: Template) -> dict[str, str]:
    return {template_form.PICTURE_OF: str(template.id) if template.design.imageName else ""}


async def _picture(visit: Visit, fields: Mapping[str, str]) -> Image | None:
    """Return the picture that goes with a text: the one that is given, else the one that is kept.

    Raises Refused(NOT_FOUND) where the kept one would be another account's.
    """
    emphasis, given = fields["emphasisType"], visit.files.get("image")
    if given and emphasis == "image":
        # What is cut off is too long in any case, and told so.
        name = given.name[-MAX_FILE_NAME_CHARACTERS:]
        return Image(given.content_type, name, given.body[: MAX_IMAGE_BYTES + 1])
    if not fields[template_form.PICTURE_OF]:
        return None
    template = await _by_id(visit, fields[template_form.PICTURE_OF])
    if emphasis not in ("image", template.design.emphasisType):
        return None
    return await visit.context.store.read(kept_templates.image, template.id)


def _place(template: Template) -> dict[str, str]:
    return {"senderKey": template.sender_key, "templateCode": template.code}


async def _shown(visit: Visit, template: Template, refused: Refused | None = None) -> Response:
    in_use = template.in_use if template.in_use != template.design else None
    category = (await categories.of_templates(visit.context)).get(template.design.category)
    told = [(each.field, each.message(visit.speech.locale)) for each in (refused.problems if refused else ())]
    return visit.page(
        "manage/template.html",
        refused.code.http_status if refused else 200,
        template=template,
        category=category.name if category else template.design.category,
        preview=_preview(template_form.filled_in(template) | _picture_of(template)),
        in_use=in_use,
        told=[why for field, why in told if field != "comment"],
        no_comment=dict(told).get("comment"),
        is_editable=is_editable(template),
        is_requestable=template.status is TemplateStatus.REGISTERED,
        is_deletable=template.is_deletable,
        is_under_review=template.status is TemplateStatus.INSPECTING and template.carrier is None,
        **_LIMIT,
    )


async def _form(
    visit: Visit, fields: Mapping[str, str], refused: Refused | None = None, template: Template | None = None
) -> Response:
    wanted = kept_profiles.Filter(visit.account_id, status=AuthStatus.APPROVAL)
    _, profiles = await visit.context.store.read(kept_profiles.find, wanted, 1, MOST_PROFILES)
    problems = template_form.told(refused.problems, fields, visit.speech.locale) if refused else {}
    return visit.page(
        "manage/template_form.html",
        refused.code.http_status if refused else 200,
        fields=fields,
        wrong=problems,
        template=template,
        can_save=template is None or is_editable(template),
        profiles=[(each.sender_key, each.channel_id) for each in profiles if each.sender_key],
        categories=[
            (each.code, f"{each.group} · {each.name}" if each.group else each.name)
            for each in (await categories.of_templates(visit.context)).values()
        ],
        message_types=[(each, visit.say(f"template_type.{each}")) for each in MESSAGE_TYPES],
        emphasis_types=[(each, visit.say(f"emphasis.{each}")) for each in template_form.EMPHASIS],
        button_types=[("", visit.say("template.no_button"))]
        + [(word, visit.words(label)) for word, label in template_form.BUTTON_LABELS.items()],
        button_fields=template_form.BUTTON_FIELDS,
        rows=range(MAX_BUTTONS),
        written=template_form.rows(fields),
        preview=_preview(fields),
        **_LIMIT,
    )


def _preview(fields: Mapping[str, str]) -> Preview:
    has_title = fields["emphasisType"] == "text"
    return Preview(
        title=fields["emphasisTitle"] if has_title else "",
        phrase=fields["emphasisAssistPhrase"] if has_title else "",
        pieces=_pieces(fields["content"]),
        more=_pieces(fields["moreInfo"]) if fields["messageType"] in ("extraInfo", "mixed") else [],
        buttons=[
            fields[f"buttons[{row}].name"] or KOREAN_NAMES[kind]
            for row in template_form.rows(fields)
            if (kind := fields[f"buttons[{row}].buttonType"]) in KOREAN_NAMES
        ],
        length=len(fields["content"]),
        has_picture=fields["emphasisType"] == "image",
        picture=f"{TEMPLATES}/{kept}/picture" if (kept := fields[template_form.PICTURE_OF]).isdecimal() else "",
    )


def _pieces(text: str) -> list[tuple[str, bool]]:
    """Return a text in pieces, each with whether it is a variable."""
    return [(f"#{{{each}}}" if n % 2 else each, n % 2 == 1) for n, each in enumerate(parts(text)) if each]
