"""Reads channels and templates: our sender profiles and templates, in Solapi's shapes."""

from typing import Any

from pabal.carriers.solapi.templates import TemplateName, to_remote
from pabal.compat.solapi.call import CompatCall
from pabal.compat.solapi.codes import invalid, not_found
from pabal.domain.base import dates
from pabal.domain.content.variables import find_names
from pabal.domain.kakao.profile import AuthStatus, Profile
from pabal.domain.kakao.template import Template, TemplateStatus
from pabal.store.kakao import profiles, templates
from pabal.store.kakao.profiles import ProfileFilter
from pabal.store.kakao.templates import TemplateFilter

MAX_PAGE_DIGITS = 6
_STATUSES = {
    "PENDING": TemplateStatus.REGISTERED,
    "INSPECTING": TemplateStatus.INSPECTING,
    "APPROVED": TemplateStatus.APPROVED,
    "REJECTED": TemplateStatus.REJECTED,
}
_ENABLED = {"true": False, "false": True}
"""Whether a template is enabled, by what `isHidden` says."""
_CREATED = "dateCreated[gte]", "dateCreated[lte]"
_STATUS_NAMES = {status: name for name, status in _STATUSES.items()}


async def list_channels(call: CompatCall) -> dict[str, Any]:
    """Return the channels of an account, page by page."""
    search_id = call.query.get("searchId")
    if search_id and not search_id.startswith("@"):
        search_id = f"@{search_id}"
    wanted = ProfileFilter(
        call.account_id,
        search_id or None,
        call.query.get("channelId") or None,
        AuthStatus.APPROVAL,
        cellphone=(call.query.get("phoneNumber") or "").replace("-", "") or None,
        category=call.query.get("categoryCode") or None,
        created=call.read_period(*_CREATED),
    )
    page, limit = _read_page(call), call.read_limit()
    total, found = await call.context.store.read(profiles.find, wanted, page, limit)
    return {**_keys(call, page, limit, total), "channelList": [_describe_channel(call, each) for each in found]}


async def show_channel(call: CompatCall, channel_id: str) -> dict[str, Any]:
    """Return one channel."""
    found = await call.context.store.read(profiles.get_by_sender_key, call.account_id, channel_id)
    if found is None:
        raise not_found()
    return _describe_channel(call, found)


async def list_templates(call: CompatCall) -> dict[str, Any]:
    """Return the templates of an account, page by page."""
    status = call.query.get("status")
    if status and status not in _STATUSES:
        raise invalid("status 의 값이 올바르지 않습니다.")
    is_hidden = call.query.get("isHidden")
    if is_hidden and is_hidden not in _ENABLED:
        raise invalid("isHidden 의 값이 올바르지 않습니다.")
    if call.query.get("name[ne]"):
        raise invalid("name[ne] 조건은 사용할 수 없습니다.")
    wanted = TemplateFilter(
        call.account_id,
        call.query.get("channelId") or None,
        call.query.get("templateId") or None,
        _STATUSES[status] if status else None,
        name=call.query.get("name[eq]") or call.query.get("name") or None,
        name_part=call.query.get("name[like]") or None,
        is_enabled=_ENABLED[is_hidden] if is_hidden else None,
        created=call.read_period(*_CREATED),
    )
    page, limit = _read_page(call), call.read_limit()
    total, found = await call.context.store.read(templates.find, wanted, page, limit)
    return {**_keys(call, page, limit, total), "templateList": [_describe_template(call, each) for each in found]}


async def show_template(call: CompatCall, template_id: str) -> dict[str, Any]:
    """Return the newest template of an account with this code."""
    _, found = await call.context.store.read(
        templates.find, TemplateFilter(call.account_id, code=template_id), 1, 1
    )
    if not found:
        raise not_found()
    return _describe_template(call, found[0])


def _read_page(call: CompatCall) -> int:
    """Return the number of the page that `startKey` names."""
    spelling = call.query.get("startKey") or "1"
    if not spelling.isascii() or not spelling.isdigit() or len(spelling) > MAX_PAGE_DIGITS or spelling == "0":
        raise invalid("startKey 의 값이 올바르지 않습니다.")
    return int(spelling)


def _keys(call: CompatCall, page: int, limit: int, total: int) -> dict[str, Any]:
    following = str(page + 1) if page * limit < total else None
    return {"startKey": call.query.get("startKey"), "nextKey": following, "limit": limit}


def _describe_channel(call: CompatCall, profile: Profile) -> dict[str, Any]:
    zone = call.context.policy.zone
    return {
        "channelId": profile.sender_key,
        "searchId": profile.channel_id,
        "accountId": call.account_name,
        "phoneNumber": profile.cellphone,
        "sharedAccountIds": [],
        "dateCreated": dates.format_iso(profile.created_at, zone),
        "dateUpdated": dates.format_iso(profile.changed_at, zone),
    }


def _describe_template(call: CompatCall, template: Template) -> dict[str, Any]:
    """Return a template: the content that is sent, and the state of its newest one."""
    content, zone = template.approved or template.latest, call.context.policy.zone
    remote = to_remote(content, TemplateName(template.code, 1, content.name), None)
    return {
        **remote,
        "name": content.name,
        "templateId": template.code,
        "channelId": template.sender_key,
        "channelGroupId": None,
        "accountId": call.account_name,
        "assignType": "CHANNEL",
        "status": _STATUS_NAMES[template.status],
        "isHidden": not template.is_enabled,
        "commentable": False,
        "comments": [],
        "code": None,
        "variables": [{"name": name} for name in find_names(*content.texts)],
        "dateCreated": dates.format_iso(template.created_at, zone),
        "dateUpdated": dates.format_iso(template.changed_at, zone),
    }
