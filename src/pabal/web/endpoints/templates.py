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
from pabal.models import operations
from pabal.models.answers import TemplateCategoryItem
from pabal.service.relay import categories
from pabal.store.kakao import templates as stored_templates
from pabal.web import envelope
from pabal.web.endpoints.endpoint import FIELD_CODES, Group


async def _list_template_categories(call: ApiCall) -> dict[str, Any]:
    known = await categories.template_categories(call.context)
    items = [
        TemplateCategoryItem(each.code, each.name, each.code, each.name, each.group or UNSET)
        for each in known.values()
    ]
    return envelope.list_fields(items)


async def _create_template(call: ApiCall) -> dict[str, Any]:
    return _build_answer(call, await templates.create_template(call))


async def _update_template(call: ApiCall) -> dict[str, Any]:
    return _build_answer(call, await templates.update_template(call))


async def _request_template_review(call: ApiCall) -> dict[str, Any]:
    return _build_answer(call, await templates.request_review(call))


async def _delete_template(call: ApiCall) -> dict[str, Any]:
    await templates.delete_template(call)
    return {}


async def _list_templates(call: ApiCall) -> dict[str, Any]:
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
_TEMPLATES = Group(Text("템플릿", "Templates"))
ENDPOINTS = (
    _TEMPLATES.endpoint(
        operations.LIST_TEMPLATE_CATEGORIES,
        _list_template_categories,
        "read",
        Text("템플릿의 카테고리 조회", "List the categories of templates"),
    ),
    _TEMPLATES.endpoint(
        operations.CREATE_TEMPLATE,
        _create_template,
        "manage",
        Text("템플릿 만들기", "Create a template"),
        *_TEMPLATE_WRITE_CODES,
        Code.DUPLICATE,
    ),
    _TEMPLATES.endpoint(
        operations.UPDATE_TEMPLATE,
        _update_template,
        "manage",
        Text(
            "템플릿의 본문 바꾸기. 승인된 본문은 새 본문이 승인될 때까지 그대로 쓰입니다",
            "Replace a template's text; an approved text stays in use until the new one is approved",
        ),
        *_TEMPLATE_WRITE_CODES,
        Code.TEMPLATE_NOT_FOUND,
    ),
    _TEMPLATES.endpoint(
        operations.DELETE_TEMPLATE,
        _delete_template,
        "manage",
        Text("등록되었거나 반려된 템플릿 삭제", "Delete a template that is registered or rejected"),
        *_TEMPLATE_CODES,
        Code.INVALID_STATE,
        Code.SENDER_NOT_APPROVED,
    ),
    _TEMPLATES.endpoint(
        operations.REQUEST_TEMPLATE,
        _request_template_review,
        "manage",
        Text("템플릿 검수 요청", "Submit a template for review"),
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
    _TEMPLATES.endpoint(
        operations.LIST_TEMPLATES,
        _list_templates,
        "read",
        Text("계정의 템플릿을 최신순으로 조회", "List the account's templates, newest first"),
        Code.INVALID_PARAMETER,
        Code.UNSUPPORTED_CHARACTER,
    ),
)
