"""Reads sender profiles and templates in NHN Cloud's shapes."""

from typing import Any

from pabal.carriers.nhncloud.templates import to_remote
from pabal.compat.nhncloud.call import NhnCall, format_time
from pabal.compat.nhncloud.talk.codes import TalkCode, refuse
from pabal.domain.kakao.profile import AuthStatus, Profile, Suspension
from pabal.domain.kakao.template import Template, TemplateContent, TemplateStatus
from pabal.service.relay import categories
from pabal.store.kakao import profiles, templates
from pabal.store.kakao.profiles import ProfileFilter
from pabal.store.kakao.templates import TemplateFilter

_PROFILE_STATUSES = {"YSC02": AuthStatus.WAITING, "YSC03": AuthStatus.APPROVAL}
_PROFILE_STATUS_NAMES = {AuthStatus.WAITING: ("YSC02", "등록 대기 중"), AuthStatus.APPROVAL: ("YSC03", "정상 등록")}
_ACTIVE = ("A", "활성화")
_AT_KAKAO: dict[Suspension | None, tuple[str, str]] = {
    Suspension.BLOCKED: ("B", "차단"),
    Suspension.INACTIVE: ("C", "비활성화"),
    Suspension.DELETED: ("D", "삭제"),
    Suspension.GONE: ("D", "삭제"),
}
_UNLIMITED = {"resendAppKey": None, "isResend": False, "resendSendNo": None, "dailyMaxCount": 0, "sentCount": 0}
"""What is set up for a kind of message: no fallback unless a call asks for one, and no daily quota."""


async def list_senders(call: NhnCall) -> dict[str, Any]:
    """List profiles: GET `senders`."""
    query = call.query
    status = query.get("status")
    if status and status not in _PROFILE_STATUSES:
        raise refuse(TalkCode.INVALID_PARAMETER)
    channel_id = query.get("plusFriendId") or None
    if channel_id and not channel_id.startswith("@"):
        channel_id = f"@{channel_id}"
    wanted = ProfileFilter(
        call.account_id, channel_id, query.get("senderKey") or None, _PROFILE_STATUSES[status] if status else None
    )
    number, size = call.read_page()
    total, found = await call.context.store.read(profiles.find, wanted, number, size)
    return {"senders": [_describe_profile(each) for each in found], "totalCount": total}


async def show_sender(call: NhnCall, sender_key: str) -> dict[str, Any]:
    """Return one profile: GET `senders/{senderKey}`."""
    return {"sender": _describe_profile(await _get_profile(call, sender_key))}


async def list_sender_categories(call: NhnCall) -> dict[str, Any]:
    """List the categories of profiles, each by its whole code: GET `sender/categories`."""
    known = await categories.sender_categories(call.context)
    rows = [{"parentCode": None, "depth": 1, "code": each.code, "name": each.name} for each in known.values()]
    return {"categories": rows}


async def _get_profile(call: NhnCall, sender_key: str) -> Profile:
    """Return the profile of a key.

    Raises CallRefused.
    """
    found = await call.context.store.read(profiles.get_by_sender_key, call.account_id, sender_key)
    if found is None:
        raise refuse(TalkCode.NO_SENDER)
    return found


def _describe_profile(profile: Profile) -> dict[str, Any]:
    is_registered = profile.status is AuthStatus.APPROVAL
    status, status_name = _PROFILE_STATUS_NAMES[profile.status]
    at_kakao, at_kakao_name = _AT_KAKAO.get(profile.suspension, _ACTIVE)
    is_blocked = profile.suspension is Suspension.BLOCKED or not profile.is_enabled
    return {
        "plusFriendId": profile.channel_id,
        "senderKey": profile.sender_key,
        "categoryCode": profile.category,
        "status": status,
        "statusName": status_name,
        "kakaoStatus": ("S" if is_blocked else "A") if is_registered else None,
        "kakaoStatusName": ("차단" if is_blocked else "정상") if is_registered else None,
        "kakaoProfileStatus": at_kakao if is_registered else None,
        "kakaoProfileStatusName": at_kakao_name if is_registered else None,
        "profileSpamLevel": None,
        "profileMessageSpamLevel": None,
        "alimtalk": _UNLIMITED,
        "friendtalk": {**_UNLIMITED, "resendUnsubscribeNo": None},
        "dormant": profile.suspension is Suspension.DORMANT,
        "block": is_blocked,
        "createDate": format_time(profile.created_at),
        "initialUserRestriction": False,
    }


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
    await _get_profile(call, sender_key)
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
    rows = [_describe_template(each, _shown(each)) for each in found]
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
    template = await _get_template(call, sender_key, code)
    return {"templates": _describe_template(template, _shown(template))}


async def list_changes(call: NhnCall, sender_key: str, code: str) -> dict[str, Any]:
    """Return the newest change of an approved template, unless it is approved: GET `…/modifications`."""
    template = await _get_template(call, sender_key, code)
    is_changed = template.approved is not None and template.status is not TemplateStatus.APPROVED
    rows = [_describe_template(template, template.latest, template.status)] if is_changed else []
    return {"templateModificationsResponse": {"templates": rows, "totalCount": len(rows)}}


async def list_template_categories(call: NhnCall) -> dict[str, Any]:
    """List the categories of templates, by their groups: GET `template/categories`."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for each in (await categories.template_categories(call.context)).values():
        group = each.group or each.name
        row = {"code": each.code, "name": each.name, "groupName": group, "inclusion": None, "exclusion": None}
        groups.setdefault(group, []).append(row)
    return {"categories": [{"name": name, "subCategories": rows} for name, rows in groups.items()]}


async def _get_template(call: NhnCall, sender_key: str, code: str) -> Template:
    await _get_profile(call, sender_key)
    wanted = TemplateFilter(call.account_id, sender_key, code)
    _, found = await call.context.store.read(templates.find, wanted, 1, 1)
    if not found:
        raise refuse(TalkCode.NO_TEMPLATE)
    return found[0]


def _shown(template: Template) -> TemplateContent:
    """Return the content that is sent; of a template that was never approved, its newest one."""
    return template.approved or template.latest


def _describe_template(
    template: Template, content: TemplateContent, status: TemplateStatus | None = None
) -> dict[str, Any]:
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
