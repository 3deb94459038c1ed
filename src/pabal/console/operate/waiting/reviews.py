"""The operators' queue of templates under review, of all accounts."""

from starlette.responses import Response

from pabal.console.manage import template_form, templates
from pabal.console.manage.templates import MAX_COMMENT_CHARACTERS, build_preview, image_field
from pabal.console.shell.form_fields import parse_id, require_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused, Text
from pabal.domain.kakao.template import Template, TemplateStatus
from pabal.service.access.accounts import administration
from pabal.service.relay import categories, lookup

REVIEWS_PATH = "/console/operate/reviews"
SHOWN_REVIEWS = 50
DECISIONS = ("approve", "reject")


async def list_reviews(request: PageRequest) -> Response:
    """Show the templates that wait for a decision, longest first."""
    after = parse_id(request.field("after")) or 0
    found = await lookup.list_reviews(request.context, after, SHOWN_REVIEWS + 1)
    done = request.field("done")
    return request.render(
        "operate/waiting/reviews.html",
        rows=[
            (account, template, request.time(template.changed_at)) for account, template in found[:SHOWN_REVIEWS]
        ],
        next_after=found[SHOWN_REVIEWS - 1][1].id if len(found) > SHOWN_REVIEWS else None,
        is_first=not after,
        done=done if done in DECISIONS else "",
    )


async def show_review(request: PageRequest) -> Response:
    """Show a template with all that a reviewer must see."""
    return await _render(request, await _find(request))


async def decide(request: PageRequest) -> Response:
    """Approve or reject a template, and go on with the next one; a rejection requires a comment."""
    template = await _find(request)
    try:
        done = await templates.decide(request, template)
    except Refused as refused:
        return await _render(request, template, refused)
    return request.redirect(f"{REVIEWS_PATH}?done={done}")


async def show_image(request: PageRequest) -> Response:
    """Answer with the image of a template."""
    return await templates.answer_image(request, await _find(request))


async def _find(request: PageRequest) -> Template:
    return await lookup.get_any_template(request.context, require_id(request.http.path_params["template"]))


async def _render(request: PageRequest, template: Template, refused: Refused | None = None) -> Response:
    preview = build_preview(template_form.fields_of(template) | image_field(template))
    category = (await categories.template_categories(request.context)).get(template.latest.category)
    errors = [(each.field, request.tell(each)) for each in (refused.problems if refused else ())]
    return request.render(
        "operate/waiting/review.html",
        refused.code.http_status if refused else 200,
        account=await administration.get_account(request.context, template.account_id),
        template=template,
        category=category.name if category else template.latest.category,
        preview=preview._replace(image_url=f"{REVIEWS_PATH}/{template.id}/picture" if preview.image_url else ""),
        buttons=template_form.button_details(template.latest.buttons + template.latest.parts.buttons),
        errors=[why for field, why in errors if field != "comment"],
        no_comment=dict(errors).get("comment"),
        comment=request.field("comment"),
        is_waiting=template.status is TemplateStatus.INSPECTING and template.carrier is None,
        max_characters=MAX_COMMENT_CHARACTERS,
    )


TEXTS = {
    "operate.part.reviews": Text("템플릿 검수", "Template reviews"),
    "reviews.title": Text("템플릿 검수", "Template reviews"),
    "reviews.about": Text(
        "모든 계정에서 검수를 요청한 템플릿입니다. 먼저 등록한 것부터 보여 주며, 중계사가 검수하는 것은 여기에 "
        "없습니다.",
        "Templates of all accounts whose review was requested, the oldest first. Those that a relay reviews are "
        "not listed.",
    ),
    "reviews.content": Text("내용", "Content"),
    "reviews.back": Text("검수 목록", "Reviews"),
    "reviews.none": Text("검수를 기다리는 템플릿이 없습니다.", "No templates are waiting for review."),
    "reviews.approved": Text("승인했습니다.", "Approved."),
    "reviews.rejected": Text("반려했습니다.", "Rejected."),
    "reviews.not_waiting": Text(
        "이 템플릿은 검수를 기다리지 않습니다. 이미 결정되었거나 요청자가 고쳤습니다.",
        "This template is not waiting for review. It was decided already, or its author has edited it.",
    ),
}
