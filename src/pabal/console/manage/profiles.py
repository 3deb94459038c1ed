"""The pages of sender profiles: list, register, verify by token, delete."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.checks.templates import authenticate_profile
from pabal.checks.templates import register_profile as register_checked_profile
from pabal.console.shell.form_fields import page_number, page_url
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
LEVELS = 3


class CategoryChoices(NamedTuple):
    """The choices at each level, and what is chosen; empty if nothing is."""

    majors: list[tuple[str, str]]
    minors: list[tuple[str, str]]
    leaves: list[tuple[str, str]]
    """Code and name of each category of the last level; names alone have no code."""
    major: str
    minor: str
    code: str


async def list_profiles(request: PageRequest) -> Response:
    """Show the account's profiles, newest first."""
    page = page_number(request, MAX_PAGE)
    total, found = await lookup.find_profiles(request.context, request.account_id, page, PAGE_SIZE)
    known = await categories.sender_categories(request.context)
    rows = [(each, _category_name(each, known)) for each in found]
    approved = request.field("approved")
    is_just_approved = any(each.channel_id == approved and each.status is AuthStatus.APPROVAL for each in found)
    return request.render(
        "manage/profiles.html",
        rows=rows,
        page=page,
        pages=max(1, -(-total // PAGE_SIZE)),
        approved=approved if is_just_approved else "",
    )


async def show_categories(request: PageRequest) -> Response:
    """Answer with the category choices that remain."""
    return request.render("manage/profile_category.html", choices=await _read_category_choices(request))


async def register_profile(request: PageRequest) -> Response:
    """Register a channel; its administrator's phone gets a token."""
    fields = {name: request.field(name) for name in ("category", "channelId", "cellphone")}
    audit_entry = request.audit_entry("profile.register", _normalized_channel(fields["channelId"]))
    registered = await register_checked_profile(request.api_call(CreateSender, fields, audit_entry))
    return request.redirect(_token_url(registered.channel_id))


async def show_token_form(request: PageRequest) -> Response:
    """Show the token form and how long the token is valid."""
    details = await _find_profile(request)
    if details.profile.status is AuthStatus.APPROVAL:
        return request.redirect(PROFILES_PATH)
    return _render_token_form(request, details)


async def verify_token(request: PageRequest) -> Response:
    """Approve a profile by its token."""
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
    """Send another token to the same phone."""
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


async def confirm_deletion(request: PageRequest, refused: Refused | None = None) -> Response:
    """Ask for confirmation before a profile is deleted; after a refusal, say why it was not."""
    profile = (await _find_profile(request)).profile
    error = request.tell(refused.problems[0]) if refused else ""
    return request.render("manage/profile_delete.html", refused, channel=profile.channel_id, error=error)


async def delete_profile(request: PageRequest) -> Response:
    """Delete a profile; its waiting messages are cancelled."""
    channel_id = (await _find_profile(request)).profile.channel_id
    audit_entry = request.audit_entry("profile.delete", channel_id)
    await profiles.delete(request.context, request.account_id, None, channel_id, audit_entry)
    return request.redirect(PROFILES_PATH)


async def show_registration(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show the registration form."""
    return request.render(
        "manage/profile_new.html",
        refused,
        typed={name: request.field(name) for name in ("channelId", "cellphone")},
        choices=await _read_category_choices(request),
    )


async def _read_category_choices(request: PageRequest) -> CategoryChoices:
    known = await categories.sender_categories(request.context)
    return category_choices(known, request.field("major"), request.field("minor"), request.field("category"))


def _render_token_form(request: PageRequest, details: ProfileDetails, refused: Refused | None = None) -> Response:
    left_s = max(0, (details.token_expires_at - request.now) // SECOND)
    return request.render(
        "manage/profile_token.html",
        refused,
        channel=details.profile.channel_id,
        digits=details.profile.cellphone,
        left_s=left_s,
        left=f"{left_s // 60}:{left_s % 60:02}",
        attempts_left=details.attempts_left,
        is_resent=request.field("again") == "1" and refused is None,
        error=request.tell(refused.problems[0]) if refused else "",
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


def _category_name(profile: Profile, known: Mapping[str, Category]) -> str:
    category = known.get(profile.category)
    return " › ".join(dict.fromkeys(split_levels(category.name))) if category else profile.category


def _token_url(channel_id: str, *, is_resent: bool = False) -> str:
    return page_url(f"{PROFILES_PATH}/token", {"channel": channel_id, "again": "1" if is_resent else ""})


def category_choices(categories: Mapping[str, Category], major: str, minor: str, code: str) -> CategoryChoices:
    """Return the choices at each level; what does not belong to the level above counts as not chosen.

    A single choice is made automatically.
    """
    known = [(each.code, split_levels(each.name)) for each in categories.values()]
    majors = _distinct(names[0] for _, names in known)
    major = _valid_choice(major, majors)
    within = [(one, names) for one, names in known if names[0] == major]
    minors = _distinct(names[1] for _, names in within)
    minor = _valid_choice(minor, minors)
    leaves = [(one, names[2]) for one, names in within if names[1] == minor]
    return CategoryChoices(majors, minors, leaves, major, minor, _valid_choice(code, leaves))


def split_levels(name: str) -> list[str]:
    """Return the three levels of a category's name; a shorter name repeats its last level."""
    parts = [part.strip() for part in name.split(",", LEVELS - 1)]
    return parts + parts[-1:] * (LEVELS - len(parts))


def _distinct(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(each, each) for each in dict.fromkeys(names)]


def _valid_choice(chosen: str, choices: Sequence[tuple[str, str]]) -> str:
    if chosen in dict(choices):
        return chosen
    return choices[0][0] if len(choices) == 1 else ""


TEXTS = {
    "menu.profiles": Text("발신 프로필", "Sender profiles"),
    "profiles.about": Text(
        "알림톡과 친구톡은 카카오톡 채널 이름으로 발송됩니다. 채널을 등록하고 인증하면 발송할 수 있습니다.",
        "Alimtalk and friend talk messages are sent from a KakaoTalk channel. Register the channel and "
        "verify it first.",
    ),
    "profiles.list": Text("등록한 채널", "Registered channels"),
    "profiles.none": Text("아직 등록한 채널이 없습니다.", "No channels are registered yet."),
    "profiles.category": Text("카테고리", "Category"),
    "profiles.phone": Text("채널 관리자 휴대폰", "Channel administrator's phone"),
    "profiles.sender_key": Text("발신 프로필 키", "Sender key"),
    "profiles.made": Text("등록 시각", "Registered"),
    "profiles.disabled": Text("운영자가 사용을 중지했습니다.", "Disabled by an operator."),
    "profiles.enter": Text("토큰 입력", "Enter token"),
    "profiles.of": Text("{what}: {channel}", "{what}: {channel}"),
    "profiles.approved": Text(
        "{channel} 채널이 승인되었습니다. 이제 템플릿을 등록하고 메시지를 발송할 수 있습니다.",
        "{channel} is approved. You can now create templates and send messages from it.",
    ),
    "profiles.pages": Text("페이지 이동", "Pages"),
    "profile_new.steps": Text(
        "아래 세 가지를 입력하면 채널 관리자의 휴대폰으로 인증 토큰을 발송합니다. 다음 화면에서 토큰을 입력하세요.",
        "Fill in the three fields below. A token is sent to the channel administrator's phone. Enter it on "
        "the next page.",
    ),
    "profile_new.channel": Text("1. 채널", "1. Channel"),
    "profile_new.channel_id": Text("채널 검색용 아이디", "Channel search ID"),
    "profile_new.channel_help": Text(
        "카카오톡 채널 관리자센터의 프로필 설정에 있는, @로 시작하는 아이디입니다.",
        "It starts with @ and is listed in the channel's profile settings.",
    ),
    "profile_new.category": Text("2. 카테고리", "2. Category"),
    "profile_new.major": Text("대분류", "Major"),
    "profile_new.minor": Text("중분류", "Middle"),
    "profile_new.leaf": Text("소분류", "Minor"),
    "profile_new.choose": Text("선택하세요", "Choose"),
    "profile_new.phone": Text("3. 채널 관리자", "3. Channel administrator"),
    "profile_new.cellphone": Text("채널 관리자의 휴대폰 번호", "Mobile number of the channel administrator"),
    "profile_new.phone_help": Text(
        "카카오톡 채널 관리자로 등록된 휴대폰이어야 합니다. 이 번호로 인증 토큰을 발송합니다.",
        "The phone must be registered as an administrator of the channel. The token is sent to it.",
    ),
    "profile_new.send": Text("인증 토큰 발송", "Send token"),
    "profile_token.title": Text("인증 토큰 입력", "Enter token"),
    "profile_token.sent": Text(
        "{channel} 채널 관리자의 휴대폰({number})으로 여섯 자리 인증 토큰을 발송했습니다.",
        "A six-digit token was sent to {number}, the phone of the administrator of {channel}.",
    ),
    "profile_token.again": Text(
        "인증 토큰을 다시 발송했습니다. 이전 토큰은 쓸 수 없습니다.",
        "A new token was sent. Earlier tokens no longer work.",
    ),
    "profile_token.token": Text("인증 토큰", "Token"),
    "profile_token.left": Text("남은 시간", "Time left"),
    "profile_token.over": Text(
        "유효 시간이 지났습니다. 토큰을 다시 받으세요.", "The token has expired. Request a new one."
    ),
    "profile_token.soon": Text("1분 남았습니다.", "One minute left."),
    "profile_token.tries": Text("앞으로 {tries}번 더 입력할 수 있습니다.", "Attempts left: {tries}."),
    "profile_token.locked": Text(
        "토큰을 여러 번 잘못 입력해 더 입력할 수 없습니다. 토큰을 다시 받으세요.",
        "Too many wrong tokens. Request a new one.",
    ),
    "profile_token.confirm": Text("확인", "Confirm"),
    "profile_token.resend": Text("토큰 다시 받기", "Send a new token"),
    "profile_token.phone": Text("가상 휴대폰에서 토큰 보기", "View the token on the simulated phone"),
    "profile_token.back": Text("발신 프로필 목록으로", "Back to sender profiles"),
    "profile_delete.title": Text("발신 프로필 삭제", "Delete sender profile"),
    "profile_delete.ask": Text("{channel} 채널을 삭제하시겠습니까?", "Delete {channel}?"),
    "profile_delete.what": Text(
        "이 채널로 예약된 메시지가 모두 취소되고, 이 채널의 템플릿을 더 쓸 수 없습니다. 발송 내역은 "
        "남습니다. 다시 쓰려면 새로 등록하고 인증해야 합니다.",
        "All waiting messages of this channel are cancelled, and its templates can no longer be used. The "
        "history stays. To use the channel again, register and verify it again.",
    ),
}
