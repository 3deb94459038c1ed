"""The endpoints for sender profiles and their templates."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from msgspec import UNSET

from pabal.answers.kakao_records import build_new_sender_item, build_sender_item, build_template_item
from pabal.checks import templates
from pabal.checks.body.call import ApiCall, read_paging
from pabal.checks.body.fields import one_of
from pabal.checks.templates import authenticate_profile, register_profile
from pabal.domain.base.codes import Code, Problem, Text
from pabal.domain.content import text
from pabal.domain.kakao.profile import AUTH_STATUS_BY_CODE, parse_channel_id
from pabal.domain.kakao.template import TEMPLATE_STATUS_BY_CODE, Template
from pabal.models import operations
from pabal.models.answers import CategoryItem, TemplateCategoryItem
from pabal.service.relay import categories, profiles
from pabal.store.kakao import profiles as stored_profiles
from pabal.store.kakao import templates as stored_templates
from pabal.web import envelope
from pabal.web.endpoints.endpoint import FIELD_CODES, Group


async def _list_sender_categories(call: ApiCall) -> dict[str, Any]:
    known = await categories.sender_categories(call.context)
    return envelope.list_fields(
        [CategoryItem(each.code, each.name, each.code, each.name) for each in known.values()]
    )


async def _create_sender(call: ApiCall) -> dict[str, Any]:
    profile = await register_profile(call)
    known = await categories.sender_categories(call.context)
    return {"item": build_new_sender_item(profile, known.get(profile.category), call.locale)}


async def _delete_sender(call: ApiCall) -> dict[str, Any]:
    form = call.form
    sender_key = form.body.senderKey or None
    channel_id = form.read_optional("channelId", parse_channel_id) if form.body.channelId else None
    if sender_key is None and not form.body.channelId:
        form.add(Problem(Code.MISSING_PARAMETER, "senderKey"))
    form.raise_problems()
    await profiles.delete(call.context, call.account_id, sender_key, channel_id)
    return {}


async def _authenticate_sender(call: ApiCall) -> dict[str, Any]:
    await authenticate_profile(call)
    return {}


async def _list_senders(call: ApiCall) -> dict[str, Any]:
    form = call.form
    profile_filter = stored_profiles.ProfileFilter(
        call.account_id,
        form.read_optional("channelId", parse_channel_id),
        form.body.senderKey,
        form.read_optional("authStatus", one_of(AUTH_STATUS_BY_CODE)),
    )
    page, page_size = read_paging(form)
    form.raise_problems()
    total, found = await call.context.store.read(stored_profiles.find, profile_filter, page, page_size)
    known = await categories.sender_categories(call.context)
    items = [build_sender_item(each, known.get(each.category), call.locale) for each in found]
    return envelope.page_fields(total, page, page_size, items)


_SENDERS = Group(Text("발신 프로필", "Sender profiles"))
PROFILE_ENDPOINTS = (
    _SENDERS.endpoint(
        operations.LIST_SENDER_CATEGORIES,
        _list_sender_categories,
        "read",
        "발신 프로필의 카테고리 조회",
        "List the categories of sender profiles",
    ),
    _SENDERS.endpoint(
        operations.CREATE_SENDER,
        _create_sender,
        "manage",
        "채널을 발신 프로필로 등록하고 관리자의 휴대폰으로 토큰 보내기",
        "Register a channel as a sender profile and send a token to its administrator's phone",
        *FIELD_CODES,
        Code.INVALID_PHONE_NUMBER,
        Code.CATEGORY_NOT_FOUND,
        Code.DUPLICATE,
        Code.PRODUCT_NOT_AVAILABLE,
    ),
    _SENDERS.endpoint(
        operations.DELETE_SENDER,
        _delete_sender,
        "manage",
        "발신 프로필을 삭제하고 대기 중인 메시지 취소",
        "Delete a sender profile and cancel its waiting messages",
        *FIELD_CODES,
        Code.SENDER_NOT_FOUND,
        Code.SENDER_NOT_APPROVED,
    ),
    _SENDERS.endpoint(
        operations.AUTHENTICATE_SENDER,
        _authenticate_sender,
        "manage",
        "관리자가 받은 토큰으로 발신 프로필 승인",
        "Approve a sender profile with the token that its administrator received",
        *FIELD_CODES,
        Code.SENDER_NOT_FOUND,
        Code.INVALID_STATE,
        Code.TOKEN_INVALID,
        Code.TOKEN_EXPIRED,
        Code.TOKEN_LOCKED,
        Code.DUPLICATE,
        Code.PRODUCT_NOT_AVAILABLE,
    ),
    _SENDERS.endpoint(
        operations.LIST_SENDERS,
        _list_senders,
        "read",
        "계정의 발신 프로필을 최신순으로 조회",
        "List the account's sender profiles, newest first",
        Code.INVALID_PARAMETER,
        Code.UNSUPPORTED_CHARACTER,
    ),
)


async def _list_template_categories(call: ApiCall) -> dict[str, Any]:
    known = await categories.template_categories(call.context)
    items = [
        TemplateCategoryItem(each.code, each.name, each.code, each.name, each.group or UNSET)
        for each in known.values()
    ]
    return envelope.list_fields(items)


async def _change_template(change: Callable[[ApiCall], Awaitable[Template]], call: ApiCall) -> dict[str, Any]:
    return {"item": build_template_item(await change(call), call.locale)}


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
TEMPLATE_ENDPOINTS = (
    _TEMPLATES.endpoint(
        operations.LIST_TEMPLATE_CATEGORIES,
        _list_template_categories,
        "read",
        "템플릿의 카테고리 조회",
        "List the categories of templates",
    ),
    _TEMPLATES.endpoint(
        operations.CREATE_TEMPLATE,
        partial(_change_template, templates.create_template),
        "manage",
        "템플릿 만들기",
        "Create a template",
        *_TEMPLATE_WRITE_CODES,
        Code.DUPLICATE,
    ),
    _TEMPLATES.endpoint(
        operations.UPDATE_TEMPLATE,
        partial(_change_template, templates.update_template),
        "manage",
        "템플릿의 본문 바꾸기. 승인된 본문은 새 본문이 승인될 때까지 그대로 쓰입니다",
        "Replace a template's text; an approved text stays in use until the new one is approved",
        *_TEMPLATE_WRITE_CODES,
        Code.TEMPLATE_NOT_FOUND,
    ),
    _TEMPLATES.endpoint(
        operations.DELETE_TEMPLATE,
        _delete_template,
        "manage",
        "등록되었거나 반려된 템플릿 삭제",
        "Delete a template that is registered or rejected",
        *_TEMPLATE_CODES,
        Code.INVALID_STATE,
        Code.SENDER_NOT_APPROVED,
    ),
    _TEMPLATES.endpoint(
        operations.REQUEST_TEMPLATE,
        partial(_change_template, templates.request_review),
        "manage",
        "템플릿 검수 요청",
        "Submit a template for review",
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
        "계정의 템플릿을 최신순으로 조회",
        "List the account's templates, newest first",
        Code.INVALID_PARAMETER,
        Code.UNSUPPORTED_CHARACTER,
    ),
)
