"""Reads templates in NHN Cloud's shapes."""

from typing import Any

from pabal.carriers.nhncloud.templates import to_remote
from pabal.compat.nhncloud.call import NhnCall, format_time
from pabal.compat.nhncloud.talk.codes import TalkCode, refuse
from pabal.compat.nhncloud.talk.profiles import get_profile
from pabal.domain.kakao.profile import Suspension
from pabal.domain.kakao.template import Template, TemplateContent, TemplateStatus
from pabal.service.relay import categories
from pabal.store.kakao import templates
from pabal.store.kakao.templates import TemplateFilter

_STATUSES = {
    "TSC01": TemplateStatus.REGISTERED,
    "TSC02": TemplateStatus.INSPECTING,
    "TSC03": TemplateStatus.APPROVED,
    "TSC04": TemplateStatus.REJECTED,
}
_STATUS_CODES = {status: code for code, status in _STATUSES.items()}
_STATUS_NAMES = {"TSC01": "요청", "TSC02": "검수 중", "TSC03": "승인", "TSC04": "반려"}
_REJECTION = "REJ"
_NOT_IN_LISTS = ("block", "dormant")


async def list_templates(call: NhnCall, sender_key: str) -> dict[str, Any]:
    """List the templates of a profile: GET `senders/{senderKey}/templates`."""
    await get_profile(call, sender_key)
    status = call.query.get("templateStatus")
    if status and status not in _STATUSES:
        raise refuse(TalkCode.INVALID_PARAMETER)
    wanted = TemplateFilter(
        call.account_id,
        sender_key,
        call.query.get("templateCode") or None,
        _STATUSES[status] if status else None,
        name=call.query.get("templateName") or None,
    )
    number, size = call.read_page()
    total, found = await call.context.store.read(templates.find, wanted, number, size)
    rows = [_describe(each, shown(each)) for each in found]
    return {
        "templateListResponse": {
            "templates": [
                {name: value for name, value in row.items() if name not in _NOT_IN_LISTS} for row in rows
            ],
            "totalCount": total,
        }
    }


async def show_template(call: NhnCall, sender_key: str, code: str) -> dict[str, Any]:
    """Return one template: GET `senders/{senderKey}/templates/{templateCode}`."""
    template = await _get(call, sender_key, code)
    return {"templates": _describe(template, shown(template))}


async def list_changes(call: NhnCall, sender_key: str, code: str) -> dict[str, Any]:
    """Return the newest change of an approved template, unless it is approved: GET `…/modifications`."""
    template = await _get(call, sender_key, code)
    is_changed = template.approved is not None and template.status is not TemplateStatus.APPROVED
    rows = [_describe(template, template.latest, template.status)] if is_changed else []
    return {"templateModificationsResponse": {"templates": rows, "totalCount": len(rows)}}


async def list_categories(call: NhnCall) -> dict[str, Any]:
    """List the categories of templates, by their groups: GET `template/categories`."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for each in (await categories.template_categories(call.context)).values():
        group = each.group or each.name
        row = {"code": each.code, "name": each.name, "groupName": group, "inclusion": None, "exclusion": None}
        groups.setdefault(group, []).append(row)
    return {"categories": [{"name": name, "subCategories": rows} for name, rows in groups.items()]}


async def _get(call: NhnCall, sender_key: str, code: str) -> Template:
    await get_profile(call, sender_key)
    wanted = TemplateFilter(call.account_id, sender_key, code)
    _, found = await call.context.store.read(templates.find, wanted, 1, 1)
    if not found:
        raise refuse(TalkCode.NO_TEMPLATE)
    return found[0]


def shown(template: Template) -> TemplateContent:
    """Return the content that is sent; of a template that was never approved, its newest one."""
    return template.approved or template.latest


def _describe(template: Template, content: TemplateContent, status: TemplateStatus | None = None) -> dict[str, Any]:
    if status is None:
        status = TemplateStatus.APPROVED if template.approved is not None else template.status
    code = _STATUS_CODES[status]
    remote = to_remote(content, None)
    return {
        "templateExtra": None,
        "templateAd": None,
        "templateTitle": None,
        "templateSubtitle": None,
        "templateHeader": None,
        "templateItem": None,
        "templateItemHighlight": None,
        "templateRepresentLink": None,
        "templateImageName": content.image_name,
        "templateImageUrl": None,
        "buttons": [],
        "quickReplies": [],
        **remote,
        "plusFriendId": template.channel_id,
        "senderKey": template.sender_key,
        "plusFriendType": "NORMAL",
        "templateCode": template.code,
        "kakaoTemplateCode": template.code,
        "comments": _comments(template) if status is template.status else [],
        "status": code,
        "statusName": _STATUS_NAMES[code],
        "block": template.suspension is Suspension.BLOCKED or not template.is_enabled,
        "dormant": template.suspension is Suspension.DORMANT,
        "createDate": format_time(template.created_at),
        "updateDate": format_time(template.changed_at),
    }


def _comments(template: Template) -> list[dict[str, Any]]:
    if not template.comment:
        return []
    at = format_time(template.changed_at)
    return [
        {
            "id": 1,
            "content": template.comment,
            "userName": None,
            "createdAt": at,
            "attachment": [],
            "status": _REJECTION if template.status is TemplateStatus.REJECTED else "REP",
        }
    ]
