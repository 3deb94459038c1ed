"""Templates: listed, written with a preview, sent to review, and decided on by operators."""

from collections.abc import Mapping
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.manage import template_form
from pabal.console.shell.page_request import Visit
from pabal.domain.button import DEFAULT_NAMES, MAX_BUTTONS
from pabal.domain.codes import Code, Refused
from pabal.domain.image import MAX_FILE_NAME_CHARACTERS, MAX_IMAGE_BYTES, Image
from pabal.domain.profile import AuthStatus
from pabal.domain.template import (
    EDITABLE_STATUSES,
    MAX_CONTENT_CHARACTERS,
    MESSAGE_TYPES,
    TEMPLATE_STATUS_BY_WORD,
    ReviewDecision,
    Template,
    TemplateStatus,
)
from pabal.domain.variables import split
from pabal.models.bodies import TemplateKey, WriteTemplate
from pabal.service.relay import categories, templates
from pabal.store import audit_log
from pabal.store import profiles as kept_profiles
from pabal.store import templates as kept_templates
from pabal.web import managing

PAGE_SIZE = 50
MAX_PROFILES = 1000
MAX_PAGE = 1_000_000
TEMPLATES_PATH = "/console/templates"
MAX_COMMENT_CHARACTERS = 500


class TemplatePreview(NamedTuple):
    """A template as a phone shows it; every second piece of its text is the name of a variable."""

    title: str
    phrase: str
    pieces: list[tuple[str, bool]]
    more: list[tuple[str, bool]]
    buttons: list[str]
    length: int
    has_image: bool
    image_url: str
    """Where the picture is that is kept, empty where there is none yet."""


async def list_templates(visit: Visit) -> Response:
    """List the account's templates, newest first."""
    word = visit.field("status")
    given = visit.field("page")
    page = int(given) if given.isascii() and given.isdigit() and len(given) < 8 else 1
    wanted = kept_templates.TemplateFilter(visit.account_id, status=TEMPLATE_STATUS_BY_WORD.get(word))
    page = min(max(page, 1), MAX_PAGE)
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
    return await _render_template(visit, await _requested_template(visit))


async def show_new_form(visit: Visit) -> Response:
    """Show an empty form, or one filled in from another template, to be saved under another code."""
    fields = template_form.read_fields({})
    if visit.field("copy"):
        copied = await _find_template(visit, visit.field("copy"))
        fields = {**template_form.fields_of(copied), "templateCode": ""} | _image_field(copied)
    return await _render_form(visit, fields)


async def create_template(visit: Visit) -> Response:
    """Register a template."""
    fields = template_form.read_fields(visit.given)
    deed = visit.deed("template.create", fields["templateCode"].strip())
    try:
        body = template_form.build_body(fields, await _read_image(visit, fields))
        made = await managing.create_template(visit.call(WriteTemplate, body, deed))
    except Refused as refused:
        return await _render_form(visit, fields, refused)
    return visit.elsewhere(f"{TEMPLATES_PATH}/{made['item'].id}")


async def show_edit_form(visit: Visit) -> Response:
    """Show a template's text, to be changed."""
    template = await _requested_template(visit)
    return await _render_form(visit, template_form.fields_of(template) | _image_field(template), template=template)


async def update_template(visit: Visit) -> Response:
    """Give a template a new text."""
    template = await _requested_template(visit)
    fields = template_form.read_fields(visit.given)
    fields |= {"senderKey": template.sender_key, "templateCode": template.code, **_image_field(template)}
    try:
        if not is_editable(template):
            raise Refused(Code.INVALID_STATE, "content")
        body = template_form.build_body(fields, await _read_image(visit, fields))
        await managing.update_template(
            visit.call(WriteTemplate, body, visit.deed("template.update", template.code))
        )
    except Refused as refused:
        return await _render_form(visit, fields, refused, template)
    return visit.elsewhere(f"{TEMPLATES_PATH}/{template.id}")


async def request_review(visit: Visit) -> Response:
    """Have a template reviewed."""
    template = await _requested_template(visit)
    deed = visit.deed("template.request", template.code)
    try:
        await managing.request_template_review(visit.call(TemplateKey, _template_key(template), deed))
    except Refused as refused:
        return await _render_template(visit, template, refused)
    return visit.elsewhere(f"{TEMPLATES_PATH}/{template.id}")


async def delete_template(visit: Visit) -> Response:
    """Delete a template."""
    template = await _requested_template(visit)
    deed = visit.deed("template.delete", template.code)
    try:
        await managing.delete_template(visit.call(TemplateKey, _template_key(template), deed))
    except Refused as refused:
        return await _render_template(visit, template, refused)
    return visit.elsewhere(TEMPLATES_PATH)


async def decide_review(visit: Visit) -> Response:
    """Approve or reject a template that is under review, with a comment where it is rejected."""
    template = await _requested_template(visit)
    is_approved = visit.field("decision") == "approve"
    comment = visit.field("comment")[:MAX_COMMENT_CHARACTERS]
    try:
        if not is_approved and not comment:
            raise Refused(Code.MISSING_PARAMETER, "comment")
        word = ReviewDecision(is_approved, comment or None)
        deed = visit.deed("template.approve" if is_approved else "template.reject", template.code)
        await visit.context.store.write(
            audit_log.run_audited, deed, templates.decide_review, template.id, word, deed.created_at
        )
    except Refused as refused:
        return await _render_template(visit, template, refused)
    return visit.elsewhere(f"{TEMPLATES_PATH}/{template.id}")


async def show_image(visit: Visit) -> Response:
    """Answer with a template's picture.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    template = await _requested_template(visit)
    image = await visit.context.store.read(kept_templates.get_image, template.id)
    if image is None:
        raise Refused(Code.NOT_FOUND)
    return Response(image.body, media_type=image.content_type)


async def show_preview(visit: Visit) -> Response:
    """Answer with what the text that is being written looks like."""
    return visit.page(
        "manage/template_preview.html", preview=_build_preview(template_form.read_fields(visit.given)), **_LIMITS
    )


_LIMITS = {"most": MAX_CONTENT_CHARACTERS, "most_picture_bytes": MAX_IMAGE_BYTES}


def is_editable(template: Template) -> bool:
    """Say whether a template can be changed here: in its state, and without emphasis that would be lost."""
    return template.status in EDITABLE_STATUSES and template.latest.emphasisType in template_form.EDITABLE_EMPHASIS


async def _requested_template(visit: Visit) -> Template:
    return await _find_template(visit, str(visit.request.path_params["template"]))


async def _find_template(visit: Visit, word: str) -> Template:
    """Return the account's template of this id.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    is_number = word.isascii() and word.isdigit() and len(word) < 19
    found = await visit.context.store.read(kept_templates.get_by_id, int(word)) if is_number else None
    if found is None or found.account_id != visit.account_id:
        raise Refused(Code.NOT_FOUND)
    return found


def _image_field(template: Template) -> dict[str, str]:
    return {template_form.IMAGE_OF: str(template.id) if template.latest.imageName else ""}


async def _read_image(visit: Visit, fields: Mapping[str, str]) -> Image | None:
    """Return the picture that goes with a text: the one that is given, else the one that is kept.

    Raises Refused(NOT_FOUND) where the kept one would be another account's.
    """
    emphasis, given = fields["emphasisType"], visit.files.get("image")
    if given and emphasis == "image":
        # What is cut off is too long in any case, and told so.
        name = given.name[-MAX_FILE_NAME_CHARACTERS:]
        return Image(given.content_type, name, given.body[: MAX_IMAGE_BYTES + 1])
    if not fields[template_form.IMAGE_OF]:
        return None
    template = await _find_template(visit, fields[template_form.IMAGE_OF])
    if emphasis not in ("image", template.latest.emphasisType):
        return None
    return await visit.context.store.read(kept_templates.get_image, template.id)


def _template_key(template: Template) -> dict[str, str]:
    return {"senderKey": template.sender_key, "templateCode": template.code}


async def _render_template(visit: Visit, template: Template, refused: Refused | None = None) -> Response:
    in_use = template.approved if template.approved != template.latest else None
    category = (await categories.template_categories(visit.context)).get(template.latest.category)
    told = [(each.field, each.message(visit.speech.language)) for each in (refused.problems if refused else ())]
    return visit.page(
        "manage/template.html",
        refused.code.http_status if refused else 200,
        template=template,
        category=category.name if category else template.latest.category,
        preview=_build_preview(template_form.fields_of(template) | _image_field(template)),
        in_use=in_use,
        told=[why for field, why in told if field != "comment"],
        no_comment=dict(told).get("comment"),
        is_editable=is_editable(template),
        is_requestable=template.status is TemplateStatus.REGISTERED,
        is_deletable=template.is_deletable,
        is_under_review=template.status is TemplateStatus.INSPECTING and template.carrier is None,
        **_LIMITS,
    )


async def _render_form(
    visit: Visit, fields: Mapping[str, str], refused: Refused | None = None, template: Template | None = None
) -> Response:
    wanted = kept_profiles.ProfileFilter(visit.account_id, status=AuthStatus.APPROVAL)
    _, profiles = await visit.context.store.read(kept_profiles.find, wanted, 1, MAX_PROFILES)
    problems = template_form.errors_by_field(refused.problems, fields, visit.speech.language) if refused else {}
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
            for each in (await categories.template_categories(visit.context)).values()
        ],
        message_types=[(each, visit.say(f"template_type.{each}")) for each in MESSAGE_TYPES],
        emphasis_types=[(each, visit.say(f"emphasis.{each}")) for each in template_form.EDITABLE_EMPHASIS],
        button_types=[("", visit.say("template.no_button"))]
        + [(word, visit.words(label)) for word, label in template_form.BUTTON_LABELS.items()],
        button_fields=template_form.BUTTON_GROUPS,
        rows=range(MAX_BUTTONS),
        written=template_form.button_rows(fields),
        preview=_build_preview(fields),
        **_LIMITS,
    )


def _build_preview(fields: Mapping[str, str]) -> TemplatePreview:
    has_title = fields["emphasisType"] == "text"
    return TemplatePreview(
        title=fields["emphasisTitle"] if has_title else "",
        phrase=fields["emphasisAssistPhrase"] if has_title else "",
        pieces=_split_variables(fields["content"]),
        more=_split_variables(fields["moreInfo"]) if fields["messageType"] in ("extraInfo", "mixed") else [],
        buttons=[
            fields[f"buttons[{row}].name"] or DEFAULT_NAMES[kind]
            for row in template_form.button_rows(fields)
            if (kind := fields[f"buttons[{row}].buttonType"]) in DEFAULT_NAMES
        ],
        length=len(fields["content"]),
        has_image=fields["emphasisType"] == "image",
        image_url=f"{TEMPLATES_PATH}/{kept}/picture"
        if (kept := fields[template_form.IMAGE_OF]).isdecimal()
        else "",
    )


def _split_variables(text: str) -> list[tuple[str, bool]]:
    """Return a text in pieces, each with whether it is a variable."""
    return [(f"#{{{each}}}" if n % 2 else each, n % 2 == 1) for n, each in enumerate(split(text)) if each]
