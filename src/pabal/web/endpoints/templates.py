"""The endpoints for templates."""

from typing import Any

from msgspec import UNSET

from pabal.answers.kakao_records import build_template_item
from pabal.checks import templates
from pabal.checks.body.call import ApiCall, read_paging
from pabal.checks.body.fields import one_of
from pabal.domain.base.codes import Code, Text
from pabal.domain.content import text
from pabal.domain.kakao.template import TEMPLATE_STATUS_BY_CODE, Template
from pabal.models import answers, bodies, template_bodies
from pabal.models.answers import TemplateCategoryItem
from pabal.service.relay import categories
from pabal.store.kakao import templates as stored_templates
from pabal.web import envelope
from pabal.web.endpoints.endpoint import FIELD_CODES, Endpoint


async def list_template_categories(call: ApiCall) -> dict[str, Any]:
    """List the categories of templates."""
    known = await categories.template_categories(call.context)
    items = [
        TemplateCategoryItem(each.code, each.name, each.code, each.name, each.group or UNSET)
        for each in known.values()
    ]
    return envelope.list_fields(items)


async def create_template(call: ApiCall) -> dict[str, Any]:
    """Create a template."""
    return _build_answer(call, await templates.create_template(call))


async def update_template(call: ApiCall) -> dict[str, Any]:
    """Replace a template's text; an approved text stays in use until the new one is approved."""
    return _build_answer(call, await templates.update_template(call))


async def request_template_review(call: ApiCall) -> dict[str, Any]:
    """Submit a template for review."""
    return _build_answer(call, await templates.request_review(call))


async def delete_template(call: ApiCall) -> dict[str, Any]:
    """Delete a template that is registered or rejected."""
    await templates.delete_template(call)
    return {}


async def list_templates(call: ApiCall) -> dict[str, Any]:
    """List the account's templates, newest first."""
    form = call.form
    template_filter = stored_templates.TemplateFilter(
        call.account_id,
        form.body.senderKey,
        form.read_optional("templateCode", text.normalize),
        form.read_optional("status", one_of(TEMPLATE_STATUS_BY_CODE)),
    )
    page, page_size = read_paging(form)
    form.raise_problems()
    total, found = await call.context.store.read(stored_templates.find, template_filter, page, page_size)
    items = [build_template_item(each, call.locale) for each in found]
    return envelope.page_fields(total, page, page_size, items)


def _build_answer(call: ApiCall, template: Template) -> dict[str, Any]:
    return {"item": build_template_item(template, call.locale)}


_TEMPLATE_CODES = (*FIELD_CODES, Code.SENDER_NOT_FOUND, Code.TEMPLATE_NOT_FOUND)
_TEMPLATE_WRITE_CODES = (
    *FIELD_CODES,
    Code.SENDER_NOT_FOUND,
    Code.CATEGORY_NOT_FOUND,
    Code.CONTENT_TOO_LONG,
    Code.INVALID_IMAGE,
    Code.INVALID_BUTTON,
    Code.INVALID_STATE,
    Code.PRODUCT_NOT_AVAILABLE,
    Code.SENDER_NOT_APPROVED,
)
_TEMPLATES = Text("템플릿", "Templates")
ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/template/categories.v1.0",
        operation_id="list_template_categories",
        summary=Text("템플릿의 카테고리 조회", "List the categories of templates"),
        group=_TEMPLATES,
        scope="read",
        input_source="query",
        body=bodies.NoFields,
        answer=answers.TemplateCategoriesAnswer,
        handler=list_template_categories,
        own_codes=(),
    ),
    Endpoint(
        method="POST",
        path="/api/template/create.v1.0",
        operation_id="create_template",
        summary=Text("템플릿 만들기", "Create a template"),
        group=_TEMPLATES,
        scope="manage",
        input_source="body",
        body=template_bodies.WriteTemplate,
        answer=answers.TemplateAnswer,
        handler=create_template,
        own_codes=(*_TEMPLATE_WRITE_CODES, Code.DUPLICATE),
    ),
    Endpoint(
        method="POST",
        path="/api/template/update.v1.0",
        operation_id="update_template",
        summary=Text(
            "템플릿의 본문 바꾸기. 승인된 본문은 새 본문이 승인될 때까지 그대로 쓰입니다",
            "Replace a template's text; an approved text stays in use until the new one is approved",
        ),
        group=_TEMPLATES,
        scope="manage",
        input_source="body",
        body=template_bodies.WriteTemplate,
        answer=answers.TemplateAnswer,
        handler=update_template,
        own_codes=(*_TEMPLATE_WRITE_CODES, Code.TEMPLATE_NOT_FOUND),
    ),
    Endpoint(
        method="POST",
        path="/api/template/delete.v1.0",
        operation_id="delete_template",
        summary=Text("등록되었거나 반려된 템플릿 삭제", "Delete a template that is registered or rejected"),
        group=_TEMPLATES,
        scope="manage",
        input_source="body",
        body=template_bodies.TemplateKey,
        answer=answers.EnvelopeOnly,
        handler=delete_template,
        own_codes=(*_TEMPLATE_CODES, Code.INVALID_STATE, Code.SENDER_NOT_APPROVED),
    ),
    Endpoint(
        method="POST",
        path="/api/template/request.v1.0",
        operation_id="request_template",
        summary=Text("템플릿 검수 요청", "Submit a template for review"),
        group=_TEMPLATES,
        scope="manage",
        input_source="body",
        body=template_bodies.TemplateKey,
        answer=answers.TemplateAnswer,
        handler=request_template_review,
        own_codes=(
            *_TEMPLATE_CODES,
            Code.INVALID_STATE,
            Code.PRODUCT_NOT_AVAILABLE,
            Code.SENDER_NOT_APPROVED,
            Code.DUPLICATE,
            Code.CATEGORY_NOT_FOUND,
            Code.CONTENT_TOO_LONG,
            Code.INVALID_IMAGE,
            Code.INVALID_BUTTON,
        ),
    ),
    Endpoint(
        method="GET",
        path="/api/template/list.v1.0",
        operation_id="list_templates",
        summary=Text("계정의 템플릿을 최신순으로 조회", "List the account's templates, newest first"),
        group=_TEMPLATES,
        scope="read",
        input_source="query",
        body=template_bodies.ListTemplates,
        answer=answers.TemplatesAnswer,
        handler=list_templates,
        own_codes=(Code.INVALID_PARAMETER, Code.UNSUPPORTED_CHARACTER),
    ),
)
