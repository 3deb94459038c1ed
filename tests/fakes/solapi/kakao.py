"""Channels and templates (client: kakaoChannelService.ts, kakaoTemplateService.ts; documents: kakao/)."""

from typing import Any

import msgspec

from tests.fakes.nhncloud.answers import Request
from tests.fakes.solapi.messages import decode, find_page
from tests.fakes.solapi.registration import variables_of
from tests.fakes.solapi.state import ApiError, Channel, Json, SolapiTemplate, State, iso

TOKEN_DIGITS = 6
CHANNEL_CATEGORIES = {
    "00100010001": "건강,병원,종합병원",
    "00100010002": "건강,병원,피부과",
    "00200010001": "음식료,식품,건강식품",
}
TEMPLATE_CATEGORIES = {"001001": "회원가입", "006003": "배송완료", "999999": "기타"}


class ChannelBody(msgspec.Struct):
    """What registers a channel; the token comes in a second call."""

    searchId: str
    phoneNumber: str
    categoryCode: str | None = None
    token: str | None = None


class TemplateBody(msgspec.Struct, omit_defaults=True):
    """A template (client: createKakaoAlimtalkTemplateRequest.ts)."""

    name: str | None = None
    content: str | None = None
    categoryCode: str | None = None
    channelId: str | None = None
    buttons: list[dict[str, Any]] | None = None
    quickReplies: list[dict[str, Any]] | None = None
    messageType: str | None = None
    emphasizeType: str | None = None
    header: str | None = None
    highlight: dict[str, Any] | None = None
    item: dict[str, Any] | None = None
    extra: str | None = None
    emphasizeTitle: str | None = None
    emphasizeSubTitle: str | None = None
    emphasizeSubtitle: str | None = None
    securityFlag: bool | None = None
    imageId: str | None = None


def channel_categories(state: State, request: Request) -> Any:
    return [{"code": code, "name": name} for code, name in CHANNEL_CATEGORIES.items()]


def template_categories(state: State, request: Request) -> Any:
    return [{"code": code, "name": name} for code, name in TEMPLATE_CATEGORIES.items()]


def request_token(state: State, request: Request) -> Json:
    """Send a token to the channel's administrator."""
    given = decode(request, ChannelBody)
    token = str(state.random.randrange(10**TOKEN_DIGITS)).zfill(TOKEN_DIGITS)
    state.pending_tokens[_search_id(given.searchId), given.phoneNumber] = token
    return {"success": True}


def add_channel(state: State, request: Request) -> Json:
    """Link a channel by its token."""
    given = decode(request, ChannelBody)
    search_id = _search_id(given.searchId)
    if state.pending_tokens.get((search_id, given.phoneNumber)) != given.token:
        raise ApiError(400, "InvalidToken", "토큰이 일치하지 않습니다.")
    del state.pending_tokens[search_id, given.phoneNumber]
    channel = Channel(state.new_id("KA01PF"), search_id, given.phoneNumber, given.categoryCode or "", state.clock())
    state.channels[channel.channel_id] = channel
    return _channel(state, channel)


def list_channels(state: State, request: Request) -> Json:
    """List channels; `searchId` filters."""
    rows = list(state.channels.values())
    if wanted := request.query.get("searchId"):
        rows = [one for one in rows if one.search_id == _search_id(wanted)]
    page, keys = find_page(state, rows, lambda one: one.channel_id, request)
    return {**keys, "channelList": [_channel(state, one) for one in page]}


def show_channel(state: State, request: Request) -> Json:
    """Show a channel."""
    return _channel(state, _find_channel(state, request.path_params["channelId"]))


def remove_channel(state: State, request: Request) -> Json:
    """Unlink a channel; its templates go with it."""
    channel = _find_channel(state, request.path_params["channelId"])
    del state.channels[channel.channel_id]
    for template in [one for one in state.templates.values() if one.channel_id == channel.channel_id]:
        del state.templates[template.template_id]
    return _channel(state, channel)


def add_template(state: State, request: Request) -> Json:
    """Add a template, which waits until its review is requested."""
    given = decode(request, TemplateBody)
    channel = _find_channel(state, given.channelId or "")
    template = SolapiTemplate(state.new_id("KA01TP"), channel.channel_id, msgspec.to_builtins(given), state.clock())
    state.templates[template.template_id] = template
    return describe_template(state, template)


def change_template(state: State, request: Request) -> Json:
    """Change a template that waits (client example: only in the state PENDING)."""
    template = _template(state, request)
    _check_status(template, "PENDING")
    given = decode(request, TemplateBody)
    template.fields |= msgspec.to_builtins(given)
    return describe_template(state, template)


def inspect_template(state: State, request: Request) -> Json:
    """Request the review of a template that waits (documents: templateinspection.md)."""
    template = _template(state, request)
    _check_status(template, "PENDING")
    template.status = "INSPECTING"
    after_s = state.behavior.review_after_s
    template.decided_at = None if after_s is None else state.clock() + round(after_s * 1000)
    return describe_template(state, template)


def list_templates(state: State, request: Request) -> Json:
    """List templates by channel and name (`name[like]`)."""
    rows = list(state.templates.values())
    query = request.query
    if wanted := query.get("channelId"):
        rows = [one for one in rows if one.channel_id == wanted]
    if wanted := query.get("name[like]"):
        rows = [one for one in rows if wanted in one.fields["name"]]
    page, keys = find_page(state, rows, lambda one: one.template_id, request)
    return {**keys, "templateList": [describe_template(state, one) for one in page]}


def show_template(state: State, request: Request) -> Json:
    return describe_template(state, _template(state, request))


def remove_template(state: State, request: Request) -> Json:
    """Remove a template that waits or was rejected (client: removeKakaoAlimtalkTemplate)."""
    template = _template(state, request)
    _check_status(template, "PENDING", "REJECTED")
    del state.templates[template.template_id]
    return describe_template(state, template)


def describe_template(state: State, template: SolapiTemplate) -> Json:
    """Return a template as the client reads it (getKakaoTemplateResponse.ts)."""
    fields = {
        "messageType": "BA",
        "emphasizeType": "NONE",
        "extra": None,
        "emphasizeTitle": None,
        "securityFlag": False,
        "imageId": None,
        "buttons": [],
        "quickReplies": [],
        "header": None,
        "highlight": None,
        "item": None,
        **{name: value for name, value in template.fields.items() if value is not None},
    }
    subtitle = fields.get(state.behavior.subtitle_field)
    fields.pop("emphasizeSubTitle", None)
    details = {"chatExtra": None, "targetOut": False}
    return {
        **fields,
        "emphasizeSubtitle": subtitle,
        "buttons": [{**details, **one} for one in fields["buttons"]],
        "quickReplies": [{**details, **one} for one in fields["quickReplies"]],
        "variables": [{"name": name} for name in variables_of(template.fields)],
        "channelId": template.channel_id,
        "channelGroupId": None,
        "isHidden": template.is_hidden,
        "assignType": "CHANNEL",
        "accountId": state.account_id,
        "commentable": True,
        "comments": template.comments,
        "templateId": template.template_id,
        "code": None,
        "status": template.status,
        "dateCreated": iso(template.created_at),
        "dateUpdated": iso(template.created_at),
    }


def _check_status(template: SolapiTemplate, *allowed: str) -> None:
    if template.status not in allowed:
        raise ApiError(400, "InvalidTemplateStatus", f"{template.status} 상태에서는 할 수 없습니다.")


def _search_id(given: str) -> str:
    return given if given.startswith("@") else f"@{given}"


def _find_channel(state: State, channel_id: str) -> Channel:
    channel = state.channels.get(channel_id)
    if channel is None:
        raise ApiError(404, "ResourceNotFound", "해당 채널이 없음")
    return channel


def _template(state: State, request: Request) -> SolapiTemplate:
    template = state.templates.get(request.path_params["templateId"])
    if template is None:
        raise ApiError(404, "ResourceNotFound", "해당 템플릿이 없음")
    return template


def _channel(state: State, channel: Channel) -> Json:
    return {
        "channelId": channel.channel_id,
        "searchId": channel.search_id,
        "accountId": state.account_id,
        "phoneNumber": channel.phone,
        "sharedAccountIds": [],
        "dateCreated": iso(channel.created_at),
        "dateUpdated": iso(channel.created_at),
    }
