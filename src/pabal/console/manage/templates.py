"""The pages of templates: list, write with a preview, request and decide a review."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from starlette.responses import Response

from pabal.checks import templates as template_checks
from pabal.console.manage import template_form
from pabal.console.manage.template_form import KeptTemplate
from pabal.console.shell.form_fields import new_tab_id, page_number, require_id, tab_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused, require
from pabal.domain.content.button import DEFAULT_NAMES, MAX_BUTTONS
from pabal.domain.content.image import MAX_FILE_NAME_CHARACTERS, Image
from pabal.domain.content.variables import split
from pabal.domain.kakao.template import (
    EDITABLE_STATUSES,
    EMPHASIS_TYPES,
    MAX_CONTENT_CHARACTERS,
    MESSAGE_TYPES,
    TEMPLATE_STATUS_BY_CODE,
    ReviewDecision,
    Template,
    TemplateStatus,
)
from pabal.domain.kakao.template_parts import MAX_CONTENT_CHARACTERS_WITH_ITEMS, QUICK_REPLY_TYPES, TemplateParts
from pabal.domain.sends.message import Product
from pabal.models.template_bodies import TemplateKey, WriteTemplate
from pabal.service.relay import categories, lookup

PAGE_SIZE = 50
MAX_PAGE = 1_000_000
TEMPLATES_PATH = "/console/templates"
MAX_COMMENT_CHARACTERS = 500


class TemplatePreview(NamedTuple):
    """A template as a phone shows it; each piece of text says whether it is a variable."""

    title: str
    phrase: str
    pieces: list[tuple[str, bool]]
    more: list[tuple[str, bool]]
    buttons: list[str]
    length: int
    has_image: bool
    image_url: str
    """The URL of the stored image, empty if there is none."""
    parts: TemplateParts
    max_characters: int


async def list_templates(request: PageRequest) -> Response:
    """List the account's templates, newest first."""
    status_code, page = request.field("status"), page_number(request, MAX_PAGE)
    status = TEMPLATE_STATUS_BY_CODE.get(status_code)
    total, found = await lookup.find_templates(request.context, request.account_id, status, page, PAGE_SIZE)
    return request.render(
        "manage/templates.html",
        templates=found,
        page=page,
        pages=max(1, -(-total // PAGE_SIZE)),
        status=status_code,
        statuses=list(TemplateStatus),
    )


async def show_template(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show a template and its actions."""
    return await _render_template(request, await _requested_template(request), refused)


async def show_new_form(request: PageRequest) -> Response:
    """Show an empty form, or one filled in from another template."""
    if request.field("copy"):
        copied = await _find_template(request, request.field("copy"))
        fields = {**template_form.fields_of(copied), "templateCode": ""} | image_field(copied)
        return await _render_form(request, fields)
    typed, kept = await template_form.load_typed(request, template_form.TYPED_NEW)
    return await _render_form(request, typed or template_form.read_fields({}), kept=kept)


async def discard_draft(request: PageRequest) -> Response:
    """Delete what was typed into a form, and show it as it was before."""
    form = request.field(template_form.TYPED_FIELD)
    await template_form.discard_typed(request, form)
    word = form.rpartition(".")[2]
    return request.redirect(f"{TEMPLATES_PATH}/{word}/edit" if word.isdecimal() else f"{TEMPLATES_PATH}/new")


async def create_template(request: PageRequest) -> Response:
    """Register a template."""
    fields = template_form.read_fields(request.fields)
    audit_entry = request.audit_entry("template.create", fields["templateCode"].strip())
    try:
        body = await _read_body(request, fields)
        created = await template_checks.create_template(request.api_call(WriteTemplate, body, audit_entry))
    except Refused as refused:
        return await _render_form(request, fields, refused)
    await template_form.discard_typed(request, template_form.TYPED_NEW)
    return await _show_saved(request, created.id)


async def show_edit_form(request: PageRequest) -> Response:
    """Show the form to edit a template."""
    template = await _requested_template(request)
    typed, kept = await template_form.load_typed(request, template_form.form_name(template))
    stored = template_form.fields_of(template)
    fields = {**(typed or stored), **{name: stored[name] for name in ("senderKey", "templateCode")}}
    return await _render_form(request, fields | image_field(template), template=template, kept=kept)


async def update_template(request: PageRequest) -> Response:
    """Store the edited template."""
    template = await _requested_template(request)
    fields = template_form.read_fields(request.fields)
    fields |= {"senderKey": template.sender_key, "templateCode": template.code, **image_field(template)}
    try:
        if not is_editable(template):
            raise Refused(Code.INVALID_STATE, "content")
        body = await _read_body(request, fields)
        await template_checks.update_template(
            request.api_call(WriteTemplate, body, request.audit_entry("template.update", template.code))
        )
    except Refused as refused:
        return await _render_form(request, fields, refused, template)
    await template_form.discard_typed(request, template_form.form_name(template))
    return await _show_saved(request, template.id)


async def _read_body(request: PageRequest, fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the body of the API that the form stands for.

    Raises Refused.
    """
    template_form.check_more_info(fields)
    return template_form.build_body(fields, await _read_image(request, fields), _read_thumbnail(request, fields))


async def _show_saved(request: PageRequest, template_id: int) -> Response:
    """Show a template that was saved, after its review was requested, if the form asks for that, too."""
    if request.field("then") == "request":
        return await _request_review(request, await _find_template(request, str(template_id)))
    return request.redirect(f"{TEMPLATES_PATH}/{template_id}")


async def request_review(request: PageRequest) -> Response:
    """Request the review of a template."""
    return await _request_review(request, await _requested_template(request))


async def _request_review(request: PageRequest, template: Template) -> Response:
    audit_entry = request.audit_entry("template.request", template.code)
    try:
        await template_checks.request_review(request.api_call(TemplateKey, _template_key(template), audit_entry))
    except Refused as refused:
        return await _render_template(request, template, refused)
    return request.redirect(f"{TEMPLATES_PATH}/{template.id}")


async def delete_template(request: PageRequest) -> Response:
    """Delete a template."""
    template = await _requested_template(request)
    audit_entry = request.audit_entry("template.delete", template.code)
    await template_checks.delete_template(request.api_call(TemplateKey, _template_key(template), audit_entry))
    return request.redirect(TEMPLATES_PATH)


async def decide_review(request: PageRequest) -> Response:
    """Approve or reject a template under review; a rejection requires a comment."""
    template = await _requested_template(request)
    await decide(request, template)
    return request.redirect(f"{TEMPLATES_PATH}/{template.id}")


async def decide(request: PageRequest, template: Template) -> str:
    """Approve or reject a template, as the form says, and return which of both.

    Raises Refused: MISSING_PARAMETER for a rejection without a comment, and as `lookup.decide_review` does.
    """
    is_approved = request.field("decision") == "approve"
    comment = request.field("comment")[:MAX_COMMENT_CHARACTERS]
    if not is_approved and not comment:
        raise Refused(Code.MISSING_PARAMETER, "comment")
    code, account_id = template.code, template.account_id
    audit_entry = request.audit_entry("template.approve" if is_approved else "template.reject", code, account_id)
    await lookup.decide_review(request.context, template, ReviewDecision(is_approved, comment or None), audit_entry)
    return "approve" if is_approved else "reject"


async def show_image(request: PageRequest) -> Response:
    """Answer with a template's image."""
    return await answer_image(request, await _requested_template(request))


async def answer_image(request: PageRequest, template: Template) -> Response:
    """Answer with a template's image.

    Raises Refused(NOT_FOUND) where it has none.
    """
    image = require(await lookup.get_template_image(request.context, template))
    return Response(image.body, media_type=image.content_type)


async def show_preview(request: PageRequest) -> Response:
    """Answer with the preview of the form; what was typed is kept."""
    fields = template_form.read_fields(request.fields)
    await template_form.keep_typed(request, fields)
    profiles = await lookup.list_approved_profiles(request.context, request.account_id)
    named = [each.channel_id for each in profiles if each.sender_key == fields.get("senderKey")]
    channel = request.field("channel") or "".join(named[:1])
    shown = build_preview(fields)
    return request.render("manage/template_preview.html", preview=shown, channel=channel, is_part=True)


def is_editable(template: Template) -> bool:
    """Return whether this form can edit a template."""
    return template.status in EDITABLE_STATUSES


async def _requested_template(request: PageRequest) -> Template:
    return await _find_template(request, str(request.http.path_params["template"]))


async def _find_template(request: PageRequest, template_id: str) -> Template:
    """Return the account's template with this id.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    return await lookup.get_template(request.context, request.account_id, require_id(template_id))


def image_field(template: Template) -> dict[str, str]:
    """Return the field that names the template whose stored image is shown."""
    return {template_form.IMAGE_OF: str(template.id) if template.latest.image_name else ""}


async def _read_image(request: PageRequest, fields: Mapping[str, str]) -> Image | None:
    """Return the image of a template: the uploaded one, else the stored one.

    Raises Refused(NOT_FOUND) if the stored one is another account's.
    """
    emphasis = fields["emphasisType"]
    uploaded = _uploaded_image(request, "image") if emphasis in ("image", "itemList") else None
    if uploaded:
        return uploaded
    if not fields[template_form.IMAGE_OF]:
        return None
    template = await _find_template(request, fields[template_form.IMAGE_OF])
    if emphasis not in ("image", "itemList", template.latest.emphasis_type):
        return None
    return await lookup.get_template_image(request.context, template)


def _read_thumbnail(request: PageRequest, fields: Mapping[str, str]) -> Image | None:
    """Return the uploaded thumbnail of the highlight."""
    if fields["emphasisType"] != "itemList":
        return None
    return _uploaded_image(request, template_form.THUMBNAIL)


def _max_image_bytes(request: PageRequest) -> int:
    return request.context.policy.image_limits_of(Product.ALIMTALK).max_bytes


def _uploaded_image(request: PageRequest, field: str) -> Image | None:
    upload = request.files.get(field)
    if not upload:
        return None
    # What is cut off exceeds the limit anyway and is refused.
    return Image(
        upload.content_type, upload.name[-MAX_FILE_NAME_CHARACTERS:], upload.body[: _max_image_bytes(request) + 1]
    )


def _template_key(template: Template) -> dict[str, str]:
    return {"senderKey": template.sender_key, "templateCode": template.code}


async def _render_template(request: PageRequest, template: Template, refused: Refused | None = None) -> Response:
    return request.render(
        "manage/template.html",
        refused,
        **await describe(request, template, TEMPLATES_PATH, refused),
        in_use=template.approved if template.approved != template.latest else None,
        is_editable=is_editable(template),
        is_requestable=template.status is TemplateStatus.REGISTERED,
        is_deletable=template.is_deletable,
    )


async def describe(
    request: PageRequest, template: Template, path: str, refused: Refused | None
) -> dict[str, object]:
    """Return what pages below a path show of a template, and what was wrong with a form."""
    category = (await categories.template_categories(request.context)).get(template.latest.category)
    errors = request.errors_by_field(refused)
    return {
        "template": template,
        "category": category.name if category else template.latest.category,
        "preview": build_preview(template_form.fields_of(template) | image_field(template), path),
        "buttons": template_form.button_details(template.latest.buttons + template.latest.parts.buttons),
        "no_comment": errors.pop("comment", None),
        "errors": list(errors.values()),
        "is_under_review": template.status is TemplateStatus.INSPECTING and template.carrier is None,
    }


async def _render_form(
    request: PageRequest,
    fields: Mapping[str, str],
    refused: Refused | None = None,
    template: Template | None = None,
    kept: KeptTemplate | None = None,
) -> Response:
    profiles = await lookup.list_approved_profiles(request.context, request.account_id)
    problems = template_form.errors_by_field(refused.problems, fields, request.locale.language) if refused else {}
    return request.render(
        "manage/template_form.html",
        refused,
        fields=fields,
        wrong=problems,
        template=template,
        can_save=template is None or is_editable(template),
        profiles=[(each.sender_key, each.channel_id) for each in profiles if each.sender_key],
        categories=[
            (each.code, f"{each.group} · {each.name}" if each.group else each.name)
            for each in (await categories.template_categories(request.context)).values()
        ],
        message_types=[(each, request.t(f"template_type.{each}")) for each in MESSAGE_TYPES],
        emphasis_types=[(each, request.t(f"emphasis.{each}")) for each in EMPHASIS_TYPES],
        button_types=[("", request.t("template.no_button"))]
        + [(word, request.translate(label)) for word, label in template_form.BUTTON_LABELS.items()],
        button_fields=template_form.BUTTON_GROUPS,
        reply_types=[("", request.t("template.no_button"))]
        + [(word, request.translate(template_form.BUTTON_LABELS[word])) for word in QUICK_REPLY_TYPES],
        lists=template_form.LIST_FIELDS,
        objects=template_form.OBJECT_FIELDS,
        rows=range(MAX_BUTTONS),
        written={name: template_form.rows_in_use(fields, name) for name in template_form.LIST_FIELDS},
        preview=build_preview(fields),
        kept=kept or KeptTemplate(template_form.form_name(template)),
        page=tab_id(request) or new_tab_id(request),
        max_image_bytes=_max_image_bytes(request),
    )


def build_preview(fields: Mapping[str, str], path: str = TEMPLATES_PATH) -> TemplatePreview:
    """Return a template as a phone shows it; its image is below a path."""
    has_title = fields["emphasisType"] == "text"
    parts = template_form.preview_parts(fields)
    return TemplatePreview(
        title=fields["emphasisTitle"] if has_title else "",
        phrase=fields["emphasisAssistPhrase"] if has_title else "",
        pieces=_split_variables(fields["content"]),
        more=_split_variables(fields["moreInfo"]) if fields["messageType"] in template_form.MORE_INFO_TYPES else [],
        buttons=[
            fields[f"buttons[{row}].name"] or DEFAULT_NAMES[kind]
            for row in template_form.button_rows(fields)
            if (kind := fields[f"buttons[{row}].buttonType"]) in DEFAULT_NAMES
        ],
        length=len(fields["content"]),
        has_image=fields["emphasisType"] == "image"
        or (fields["emphasisType"] == "itemList" and bool(fields[template_form.IMAGE_OF])),
        image_url=f"{path}/{kept}/picture" if (kept := fields[template_form.IMAGE_OF]).isdecimal() else "",
        parts=parts,
        max_characters=MAX_CONTENT_CHARACTERS_WITH_ITEMS if parts.items else MAX_CONTENT_CHARACTERS,
    )


def _split_variables(text: str) -> list[tuple[str, bool]]:
    """Return a text in pieces, each with whether it is a variable."""
    return [(f"#{{{each}}}" if n % 2 else each, n % 2 == 1) for n, each in enumerate(split(text)) if each]
