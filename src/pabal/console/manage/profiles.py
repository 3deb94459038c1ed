"""The pages of sender profiles: list, register, verify by token, delete."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.checks.profiles import authenticate_profile
from pabal.checks.profiles import register_profile as register_checked_profile
from pabal.console.manage.category_choices import CategoryChoices, category_choices, split_levels
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import SECOND
from pabal.domain.kakao.profile import AuthStatus, Category, Profile, Registration, parse_channel_id
from pabal.models.bodies import AuthSender, CreateSender
from pabal.service.relay import categories, lookup, profiles
from pabal.service.relay.lookup import ProfileDetails

PROFILES_PATH = "/console/profiles"
PAGE_SIZE = 50
MAX_PAGE = 10_000


class ProfileRow(NamedTuple):
    """A profile in the list."""

    channel: str
    category: str
    phone: str
    status: AuthStatus
    sender_key: str
    is_enabled: bool
    suspension: Text | None
    """Why the relay has suspended it, if it has."""
    registered_at: str


async def list_profiles(request: PageRequest) -> Response:
    """Show the account's profiles, newest first."""
    number = request.field("page")
    page = min(max(int(number), 1), MAX_PAGE) if number.isascii() and number.isdigit() and len(number) < 7 else 1
    total, found = await lookup.find_profiles(request.context, request.account_id, page, PAGE_SIZE)
    known = await categories.sender_categories(request.context)
    rows = [_profile_row(request, each, known) for each in found]
    approved = request.field("approved")
    is_just_approved = any(each.channel == approved and each.status is AuthStatus.APPROVAL for each in rows)
    return request.render(
        "manage/profiles.html",
        rows=rows,
        page=page,
        pages=max(1, -(-total // PAGE_SIZE)),
        approved=approved if is_just_approved else "",
    )


async def show_registration(request: PageRequest) -> Response:
    """Show the registration form."""
    return await _render_registration(request)


async def show_categories(request: PageRequest) -> Response:
    """Answer with the category choices that remain."""
    return request.render("manage/profile_category.html", choices=await _read_category_choices(request), errors={})


async def register_profile(request: PageRequest) -> Response:
    """Register a channel; its administrator's phone gets a token."""
    fields = {name: request.field(name) for name in ("category", "channelId", "cellphone")}
    audit_entry = request.audit_entry("profile.register", _normalized_channel(fields["channelId"]))
    try:
        registered = await register_checked_profile(request.api_call(CreateSender, fields, audit_entry))
    except Refused as refused:
        return await _render_registration(request, refused)
    return request.redirect(_token_url(registered.channel_id))


async def show_token_form(request: PageRequest) -> Response:
    """Show the token form and how long the token is valid.

    Raises Refused(NOT_FOUND).
    """
    details = await _find_profile(request)
    if details.profile.status is AuthStatus.APPROVAL:
        return request.redirect(PROFILES_PATH)
    return _render_token_form(request, details)


async def verify_token(request: PageRequest) -> Response:
    """Approve a profile by its token.

    Raises Refused(NOT_FOUND).
    """
    details = await _find_profile(request)
    channel_id = details.profile.channel_id
    fields = {"channelId": channel_id, "token": request.field("token")}
    try:
        await authenticate_profile(
            request.api_call(AuthSender, fields, request.audit_entry("profile.approve", channel_id))
        )
    except Refused as refused:
        if refused.code is Code.INVALID_STATE:
            return request.redirect(PROFILES_PATH)
        return _render_token_form(request, await _find_profile(request), refused)
    return request.redirect(f"{PROFILES_PATH}?{urlencode({'approved': channel_id})}")


async def resend_token(request: PageRequest) -> Response:
    """Send another token to the same phone.

    Raises Refused(NOT_FOUND).
    """
    details = await _find_profile(request)
    known = details.profile
    registration = Registration(known.channel_id, known.category, known.cellphone)
    try:
        audit_entry = request.audit_entry("profile.register", known.channel_id)
        await profiles.register(request.context, request.account_id, registration, audit_entry)
    except Refused as refused:
        if refused.code is Code.DUPLICATE:
            return request.redirect(PROFILES_PATH)
        return _render_token_form(request, details, refused)
    return request.redirect(_token_url(known.channel_id, is_resent=True))


async def confirm_deletion(request: PageRequest) -> Response:
    """Ask for confirmation before a profile is deleted.

    Raises Refused(NOT_FOUND).
    """
    profile = (await _find_profile(request)).profile
    return request.render("manage/profile_delete.html", channel=profile.channel_id, error="")


async def delete_profile(request: PageRequest) -> Response:
    """Delete a profile; its waiting messages are cancelled.

    Raises Refused(NOT_FOUND).
    """
    profile = (await _find_profile(request)).profile
    try:
        audit_entry = request.audit_entry("profile.delete", profile.channel_id)
        await profiles.delete(request.context, request.account_id, None, profile.channel_id, audit_entry)
    except Refused as refused:
        error = refused.problems[0].message(request.locale.language)
        return request.render(
            "manage/profile_delete.html", refused.code.http_status, channel=profile.channel_id, error=error
        )
    return request.redirect(PROFILES_PATH)


async def _render_registration(request: PageRequest, refused: Refused | None = None) -> Response:
    errors = {}
    if refused:
        errors = {each.field: each.message(request.locale.language) for each in refused.problems}
    return request.render(
        "manage/profile_new.html",
        refused.code.http_status if refused else 200,
        typed={name: request.field(name) for name in ("channelId", "cellphone")},
        choices=await _read_category_choices(request),
        errors=errors,
    )


async def _read_category_choices(request: PageRequest) -> CategoryChoices:
    known = await categories.sender_categories(request.context)
    return category_choices(known, request.field("major"), request.field("minor"), request.field("category"))


def _render_token_form(request: PageRequest, details: ProfileDetails, refused: Refused | None = None) -> Response:
    left_s = max(0, (details.token_expires_at - request.now) // SECOND)
    return request.render(
        "manage/profile_token.html",
        refused.code.http_status if refused else 200,
        channel=details.profile.channel_id,
        digits=details.profile.cellphone,
        left_s=left_s,
        left=f"{left_s // 60}:{left_s % 60:02}",
        attempts_left=details.attempts_left,
        is_resent=request.field("again") == "1" and refused is None,
        error=refused.problems[0].message(request.locale.language) if refused else "",
    )


async def _find_profile(request: PageRequest) -> ProfileDetails:
    """Return the profile of the channel that the form or URL names.

    Raises Refused(NOT_FOUND).
    """
    channel_id = _normalized_channel(request.field("channel"))
    return await lookup.get_profile(request.context, request.account_id, channel_id)


def _normalized_channel(channel: str) -> str:
    """Return a channel as it is stored, empty if it is invalid."""
    try:
        return parse_channel_id(channel)
    except Refused:
        return ""


def _profile_row(request: PageRequest, profile: Profile, known: Mapping[str, Category]) -> ProfileRow:
    category = known.get(profile.category)
    return ProfileRow(
        channel=profile.channel_id,
        category=" › ".join(dict.fromkeys(split_levels(category.name))) if category else profile.category,
        phone=request.phone_number(profile.cellphone),
        status=profile.status,
        sender_key=(profile.sender_key or "") if request.may_see_numbers else "",
        is_enabled=profile.is_enabled,
        suspension=profile.suspension.label if profile.suspension else None,
        registered_at=request.locale.format_timestamp(profile.created_at),
    )


def _token_url(channel_id: str, *, is_resent: bool = False) -> str:
    fields = {"channel": channel_id} | ({"again": "1"} if is_resent else {})
    return f"{PROFILES_PATH}/token?{urlencode(fields)}"
