"""Reads sender profiles in NHN Cloud's shapes."""

from typing import Any

from pabal.compat.nhncloud.call import NhnCall, format_time
from pabal.compat.nhncloud.talk.codes import TalkCode, refuse
from pabal.domain.kakao.profile import AuthStatus, Profile, Suspension
from pabal.service.relay import categories
from pabal.store.kakao import profiles
from pabal.store.kakao.profiles import ProfileFilter

_STATUSES = {"YSC02": AuthStatus.WAITING, "YSC03": AuthStatus.APPROVAL}
_STATUS_NAMES = {AuthStatus.WAITING: ("YSC02", "등록 대기 중"), AuthStatus.APPROVAL: ("YSC03", "정상 등록")}
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
    if status and status not in _STATUSES:
        raise refuse(TalkCode.INVALID_PARAMETER)
    channel_id = query.get("plusFriendId") or None
    if channel_id and not channel_id.startswith("@"):
        channel_id = f"@{channel_id}"
    wanted = ProfileFilter(
        call.account_id, channel_id, query.get("senderKey") or None, _STATUSES[status] if status else None
    )
    number, size = call.read_page()
    total, found = await call.context.store.read(profiles.find, wanted, number, size)
    return {"senders": [_describe(each) for each in found], "totalCount": total}


async def show_sender(call: NhnCall, sender_key: str) -> dict[str, Any]:
    """Return one profile: GET `senders/{senderKey}`."""
    return {"sender": _describe(await get_profile(call, sender_key))}


async def list_categories(call: NhnCall) -> dict[str, Any]:
    """List the categories of profiles, each by its whole code: GET `sender/categories`."""
    known = await categories.sender_categories(call.context)
    rows = [{"parentCode": None, "depth": 1, "code": each.code, "name": each.name} for each in known.values()]
    return {"categories": rows}


async def get_profile(call: NhnCall, sender_key: str) -> Profile:
    """Return the profile of a key.

    Raises CallRefused.
    """
    found = await call.context.store.read(profiles.get_by_sender_key, call.account_id, sender_key)
    if found is None:
        raise refuse(TalkCode.NO_SENDER)
    return found


def _describe(profile: Profile) -> dict[str, Any]:
    is_registered = profile.status is AuthStatus.APPROVAL
    status, status_name = _STATUS_NAMES[profile.status]
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
