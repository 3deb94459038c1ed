"""The endpoints for templates."""

from typing import Any

from msgspec import UNSET

from pabal.answers.kakao_records import build_template_item
from pabal.checks import templates
from pabal.checks.body.call import ApiCall, read_paging
from pabal.checks.body.fields import one_of
from pabal.domain.content import text
from pabal.domain.kakao.template import TEMPLATE_STATUS_BY_CODE, Template
from pabal.models.answers import TemplateCategoryItem
from pabal.service.relay import categories
from pabal.store.kakao import templates as stored_templates
from pabal.web import envelope


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
