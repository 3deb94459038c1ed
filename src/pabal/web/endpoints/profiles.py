"""The endpoints for sender profiles."""

from typing import Any

from pabal.answers.kakao_records import build_new_sender_item, build_sender_item
from pabal.checks.body.call import ApiCall, read_paging
from pabal.checks.body.fields import one_of
from pabal.checks.profiles import authenticate_profile, register_profile
from pabal.domain.base.codes import Code, Problem
from pabal.domain.kakao.profile import AUTH_STATUS_BY_CODE, parse_channel_id
from pabal.models.answers import CategoryItem
from pabal.service.relay import categories, profiles
from pabal.store.kakao import profiles as stored_profiles
from pabal.web import envelope


async def list_sender_categories(call: ApiCall) -> dict[str, Any]:
    """List the categories of sender profiles."""
    known = await categories.sender_categories(call.context)
    return envelope.list_fields(
        [CategoryItem(each.code, each.name, each.code, each.name) for each in known.values()]
    )


async def create_sender(call: ApiCall) -> dict[str, Any]:
    """Register a channel as a sender profile and send a token to its administrator's phone."""
    profile = await register_profile(call)
    known = await categories.sender_categories(call.context)
    return {"item": build_new_sender_item(profile, known.get(profile.category), call.locale)}


async def delete_sender(call: ApiCall) -> dict[str, Any]:
    """Delete a sender profile and cancel its waiting messages."""
    form = call.form
    sender_key = form.body.senderKey or None
    channel_id = form.read_optional("channelId", parse_channel_id) if form.body.channelId else None
    if sender_key is None and not form.body.channelId:
        form.add(Problem(Code.MISSING_PARAMETER, "senderKey"))
    form.raise_problems()
    await profiles.delete(call.context, call.account_id, sender_key, channel_id)
    return {}


async def authenticate_sender(call: ApiCall) -> dict[str, Any]:
    """Approve a sender profile with the token that its administrator received."""
    await authenticate_profile(call)
    return {}


async def list_senders(call: ApiCall) -> dict[str, Any]:
    """List the account's sender profiles, newest first."""
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
