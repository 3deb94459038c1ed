"""The page of one's own password, sessions, two-factor sign-in, and link to the OpenID Connect provider."""

import math

from starlette.responses import Response

from pabal.console.shell.form_fields import require_field
from pabal.console.shell.page_request import PageRequest
from pabal.console.users.join import check_new_password
from pabal.console.users.sign_in import callback_url, leave
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people import totp, user
from pabal.openid.flow import Purpose
from pabal.service.access.users import provider_sign_in, sign_in, two_factor, users

ME_PATH = "/console/me"
WRONG_PASSWORD = Text("현재 비밀번호가 올바르지 않습니다.", "This is not your current password.")
BEGIN_AGAIN = Text(
    "설정 키가 바뀌었습니다. 내 정보에서 2단계 인증 설정을 다시 시작하세요.",
    "The setup key has changed. Begin again on your profile.",
)
DONE = {"linked": "me.openid.done", "named": "me.full_name.done"}
"""What the page says for a field of its address."""
_HASH_CHARACTERS = 64


async def change_password(request: PageRequest) -> Response:
    """Change one's own password; other browsers are signed out."""
    fields = request.fields
    check_new_password(request.user.name, fields.get("password", ""), fields.get("repeated", ""))
    await check_password(request, "current")
    await request.context.store.write(
        users.change_own_password,
        request.user,
        await request.hash_password(fields["password"]),
        request.session_token,
        request.source.device_token,
        request.own_audit_entry("user.password", request.user.name),
    )
    return await show_me(request, notice="me.password.done")


async def change_full_name(request: PageRequest) -> Response:
    """Change what colleagues call one."""
    full_name = user.parse_full_name(request.field("full_name"))
    audit_entry = request.own_audit_entry("user.full_name", request.user.name)
    await request.context.store.write(users.change_full_name, request.user.id, full_name, audit_entry)
    return request.redirect(f"{ME_PATH}?named=1")


async def end_session(request: PageRequest) -> Response:
    """Sign out in another browser; a session that has ended already is no error."""
    word = request.field("session")
    if len(word) == _HASH_CHARACTERS and set(word) <= set("0123456789abcdef"):
        audit_entry = request.own_audit_entry("session.revoke")
        await request.context.store.write(users.end_session, request.user.id, bytes.fromhex(word), audit_entry)
    return await show_me(request, notice="me.session.done")


async def end_other_sessions(request: PageRequest) -> Response:
    """Sign out in all other browsers."""
    audit_entry = request.own_audit_entry("session.revoke")
    await request.context.store.write(users.end_other_sessions, request.user.id, request.session_token, audit_entry)
    return await show_me(request, notice="me.sessions.done")


async def begin_two_factor(request: PageRequest) -> Response:
    """Show a new secret for the user's app, and ask for its first code.

    It needs the password: who finds an open session could lock its user out with a phone of their own. Raises
    Refused(INVALID_STATE) for a user who has a second factor.
    """
    await check_password(request, "enable_password")
    return _render_setup(request, await two_factor.begin(request.context, request.user))


async def confirm_two_factor(request: PageRequest) -> Response:
    """Turn two-factor sign-in on, and show the recovery codes, once.

    The form has the secret, so that only who was shown it, after the password, can use it or see it again. Raises
    Refused(INVALID_STATE) where it was not begun, has begun anew, or is on already.
    """
    proposed = await two_factor.get_proposed(request.context, request.user)
    if proposed and not sign_in.secrets_equal(request.field("secret"), totp.spell_secret(proposed)):
        raise Refused(Code.INVALID_STATE, "", BEGIN_AGAIN)
    audit_entry = request.own_audit_entry("two_factor.enable")
    try:
        codes = await two_factor.confirm(request.context, request.user, request.field("code"), audit_entry)
    except Refused as refused:
        if refused.code is not Code.INVALID_PARAMETER or proposed is None:
            raise
        return _render_setup(request, proposed, refused)
    return _render_codes(request, codes)


async def renew_codes(request: PageRequest) -> Response:
    """Show new recovery codes, once; those before stop working. It needs a code, as turning it off does.

    Raises Refused(INVALID_STATE) for a user without a second factor.
    """
    await check_password(request, "renew_password")
    await _check_code(request, "renew_code")
    audit_entry = request.own_audit_entry("two_factor.codes")
    return _render_codes(request, await two_factor.renew_codes(request.context, request.user, audit_entry))


async def disable_two_factor(request: PageRequest) -> Response:
    """Turn two-factor sign-in off; it needs the password and a code: who has learned one does not get past both."""
    await check_password(request, "disable_password")
    await _check_code(request, "disable_code")
    audit_entry = request.own_audit_entry("two_factor.disable")
    await request.context.store.write(two_factor.delete_factor, request.user.id, audit_entry)
    return await show_me(request, notice="me.two_factor.disabled")


async def begin_link(request: PageRequest) -> Response:
    """Send the browser to the OpenID Connect provider, to be linked to who the user is there.

    Raises Refused(NOT_FOUND) without a provider.
    """
    assert request.session is not None
    await check_password(request, "openid_password")
    redirect = await provider_sign_in.begin(
        request.context, Purpose.LINK, callback_url(request), session_secret=request.session.csrf
    )
    return leave(request, redirect)


async def unlink(request: PageRequest) -> Response:
    """Have the user not sign in through the OpenID Connect provider any more."""
    audit_entry = request.own_audit_entry("openid.unlink", request.user.name)
    await check_password(request, "openid_password")
    await provider_sign_in.unlink(request.context, request.user, audit_entry)
    return await show_me(request, notice="me.openid.undone")


async def check_password(request: PageRequest, field: str) -> None:
    """Check that the user knows the password: somebody else may have found the session open.

    Raises Refused: MISSING_PARAMETER, INVALID_PARAMETER, RATE_LIMITED.
    """
    password = request.fields.get(field, "")
    if not password:
        raise Refused(Code.MISSING_PARAMETER, field)
    try:
        is_right = await sign_in.verify_password(
            request.context, request.site.password_threads, request.user, password, request.source
        )
    except Refused as refused:
        raise _with_wait(refused, field) from None
    if not is_right:
        raise Refused(Code.INVALID_PARAMETER, field, WRONG_PASSWORD)


async def _check_code(request: PageRequest, field: str) -> None:
    """Check that a user with a second factor has it, by a code of the app or a recovery code.

    Raises Refused: MISSING_PARAMETER, INVALID_PARAMETER, RATE_LIMITED.
    """
    if (await request.context.store.read(two_factor.get_state, request.user.id)).enabled_at is None:
        return
    code = require_field(request, field)
    try:
        is_right = await two_factor.verify_code(request.context, request.user, code, request.source)
    except Refused as refused:
        raise _with_wait(refused, field) from None
    if not is_right:
        raise Refused(Code.INVALID_PARAMETER, field, two_factor.WRONG_CODE)


def _with_wait(refused: Refused, field: str) -> Refused:
    """Return a refusal that says at the field how long to wait."""
    wait_s = max(1, math.ceil(refused.retry_after_s or 0))
    detail = Text(
        f"여러 번 틀렸습니다. {wait_s}초 뒤에 다시 시도하세요.",
        f"Too many failures. Try again in {wait_s} seconds.",
    )
    return Refused(refused.code, field, detail, refused.retry_after_s)


async def show_me(
    request: PageRequest, refused: Refused | None = None, notice: str = "", *, told: str = ""
) -> Response:
    """Show one's own sessions, and the forms for password and two-factor sign-in.

    What is wrong is said at its fields; `told`, or what is about no field, above them.
    """
    if refused and not refused.problems[0].field:
        told = request.describe(refused)
    notice = notice or next((each for field, each in DONE.items() if request.field(field) == "1"), "")
    found = await users.list_sessions(request.context, request.user)
    state = await request.context.store.read(two_factor.get_state, request.user.id)
    link = await provider_sign_in.get_state(request.context, request.user)
    return request.render(
        "users/me.html",
        refused,
        sessions=[(each, users.is_of_token(each, request.session_token)) for each in found],
        enabled_at=request.minute(state.enabled_at),
        recovery_codes=state.recovery_codes,
        all_codes=totp.RECOVERY_CODES,
        least=user.MIN_PASSWORD_CHARACTERS,
        link=link,
        linked_at=request.minute(link.linked_at),
        full_name=request.field("full_name") if refused else request.user.full_name,
        most_characters=user.MAX_FULL_NAME_CHARACTERS,
        notice=notice,
        told=told,
        errors={} if told else request.errors_by_field(refused),
    )


def _render_setup(request: PageRequest, secret: bytes, refused: Refused | None = None) -> Response:
    uri = totp.make_uri(secret, request.user.name)
    picture, picture_size = _draw_code(uri)
    return request.render(
        "users/two_factor.html",
        refused,
        secret=totp.spell_secret(secret),
        uri=uri,
        picture=picture,
        picture_size=picture_size,
        problem=request.tell(refused.problems[0]) if refused else "",
    )


def _draw_code(text: str) -> tuple[str, int]:
    """Return a text as a QR code: the path of its dark modules, and how many modules it is wide."""
    import segno  # few pages need it

    rows = list(segno.make_qr(text, error="L").matrix_iter(border=4))
    dark = [(x, y) for y, row in enumerate(rows) for x, is_dark in enumerate(row) if is_dark]
    return "".join(f"M{x} {y}h1v1h-1z" for x, y in dark), len(rows)


def _render_codes(request: PageRequest, codes: list[str]) -> Response:
    return request.render("users/recovery_codes.html", codes=codes)


TEXTS = {
    "me.title": Text("내 정보", "My profile"),
    "me.link": Text("내 정보: {name}", "My profile: {name}"),
    "me.back": Text("내 정보로", "Back to my profile"),
    "me.full_name": Text("이름", "Name"),
    "me.full_name.about": Text(
        "동료에게 보이는 이름입니다. 로그인에는 사용자 이름({name})을 씁니다.",
        "What your colleagues see. You sign in with your user name ({name}).",
    ),
    "me.full_name.do": Text("이름 저장", "Save name"),
    "me.full_name.done": Text("이름을 저장했습니다.", "The name was saved."),
    "audit_action.user.full_name": Text("이름 변경", "Changed their own name"),
    "me.refused": Text("바꾸지 않았습니다. 아래 내용을 확인하세요.", "Nothing was changed. See below."),
    "me.password.current": Text("현재 비밀번호", "Current password"),
    "me.password.new": Text("새 비밀번호 ({least}자 이상)", "New password (at least {least} characters)"),
    "me.password.repeated": Text("새 비밀번호 확인", "New password again"),
    "me.password.about": Text(
        "비밀번호를 바꾸면 다른 브라우저에서는 로그아웃됩니다.", "Other browsers are signed out when you change it."
    ),
    "me.password.do": Text("비밀번호 변경", "Change password"),
    "me.password.done": Text(
        "비밀번호를 바꿨습니다. 다른 브라우저에서는 로그아웃되었습니다.",
        "The password was changed, and other browsers were signed out.",
    ),
    "me.password.none": Text(
        "비밀번호가 없는 사용자입니다. 필요하면 계정 관리자에게 새 비밀번호를 요청하세요.",
        "You have no password. If you need one, ask an owner of your account.",
    ),
    "me.openid": Text("{name} 계정으로 로그인", "Sign-in with {name}"),
    "me.openid.on": Text("연결됨", "Linked"),
    "me.openid.off": Text("연결 안 됨", "Not linked"),
    "me.openid.about": Text(
        "연결하면 비밀번호 대신 {name} 계정으로 로그인할 수 있습니다. 2단계 인증은 {name}에서 합니다.",
        "Once linked, you can sign in with {name} in place of your password. A second factor is up to {name} then.",
    ),
    "me.openid.link": Text("{name} 계정 연결", "Link {name}"),
    "me.openid.since": Text("{time}에 연결했습니다.", "Linked on {time}."),
    "me.openid.subject": Text("로그인 서비스의 사용자 ID:", "Your id there:"),
    "me.openid.unlink": Text("연결 해제", "Unlink"),
    "me.openid.unlink.ask": Text(
        "{name} 계정으로 로그인할 수 없게 됩니다.", "You cannot sign in with {name} any more then."
    ),
    "me.openid.done": Text("연결했습니다.", "You are linked."),
    "me.openid.undone": Text("연결을 해제했습니다.", "The link was removed."),
    "me.two_factor.provider": Text(
        "{name} 계정으로 로그인할 때는 쓰지 않습니다.", "It is not asked for when you sign in with {name}."
    ),
    "me.two_factor.on": Text("사용 중", "On"),
    "me.two_factor.off": Text("사용 안 함", "Off"),
    "me.two_factor.about": Text(
        "비밀번호가 새어 나가도 남이 로그인하지 못하게 합니다. 로그인할 때 비밀번호와 함께 휴대폰 인증 앱의 코드를 "
        "입력합니다.",
        "Protects you if somebody learns your password: signing in also needs a code from an app on your phone.",
    ),
    "me.two_factor.since": Text("{time}부터 사용하고 있습니다.", "On since {time}."),
    "me.two_factor.left": Text("남은 복구 코드: {all}개 중 {left}개.", "Recovery codes left: {left} of {all}."),
    "me.two_factor.begin": Text("2단계 인증 사용하기", "Turn on two-factor sign-in"),
    "me.two_factor.step_app": Text(
        "휴대폰에 인증 앱을 준비하세요. Google OTP, Microsoft Authenticator, 네이버 OTP 등을 쓸 수 있습니다.",
        "Have an authenticator app ready, such as Google Authenticator, Microsoft Authenticator or 1Password.",
    ),
    "me.two_factor.step_key": Text(
        "앱에서 계정을 추가하고 QR 코드를 찍거나 아래 설정 키를 입력하세요. 시간 기준, 6자리입니다.",
        "Add an account in the app: scan the QR code, or enter this key. It is time-based, with six digits.",
    ),
    "me.two_factor.picture": Text("설정 키의 QR 코드", "QR code of the setup key"),
    "me.two_factor.key": Text("설정 키", "Setup key"),
    "me.two_factor.open_app": Text("이 기기의 인증 앱에서 열기", "Open in an app on this device"),
    "me.two_factor.step_code": Text("앱에 표시된 코드를 입력하세요.", "Enter the code that the app shows."),
    "me.two_factor.confirm": Text("확인하고 사용", "Confirm and turn on"),
    "me.two_factor.code": Text("인증 앱의 코드나 복구 코드", "Code of the app, or a recovery code"),
    "me.two_factor.disable": Text("2단계 인증 끄기", "Turn off"),
    "me.two_factor.disable.ask": Text(
        "끄면 비밀번호만으로 로그인하고 복구 코드는 지워집니다.",
        "The password alone is enough then, and the recovery codes are deleted.",
    ),
    "me.two_factor.disable.do": Text("예, 끕니다", "Yes, turn it off"),
    "me.two_factor.disabled": Text("2단계 인증을 껐습니다.", "Two-factor sign-in is off."),
    "me.codes": Text("복구 코드", "Recovery codes"),
    "me.codes.once": Text(
        "지금 한 번만 표시합니다. 휴대폰과 다른 안전한 곳에 보관하세요.",
        "These are shown only once. Keep them in a safe place, apart from your phone.",
    ),
    "me.codes.about": Text(
        "휴대폰을 쓸 수 없을 때 인증 코드 대신 하나씩 입력합니다. 코드마다 한 번만 쓸 수 있습니다.",
        "Without your phone, enter one of them in place of the code. Each works once.",
    ),
    "me.codes.done": Text("보관했습니다", "I have kept them"),
    "me.codes.renew": Text("복구 코드 새로 받기", "New recovery codes"),
    "me.codes.renew.ask": Text("이전 복구 코드는 쓸 수 없게 됩니다.", "The previous codes stop working."),
    "me.codes.renew.do": Text("새로 받기", "Create new codes"),
    "me.sessions": Text("로그인한 브라우저", "Where you are signed in"),
    "me.sessions.about": Text(
        "모르는 브라우저가 있으면 로그아웃하고 비밀번호를 바꾸세요.",
        "If you do not know one of them, sign it out, and change your password.",
    ),
    "me.browser": Text("브라우저", "Browser"),
    "me.browser.unknown": Text("알 수 없는 브라우저", "Unknown browser"),
    "me.created_at": Text("로그인 시각", "Signed in at"),
    "me.session.this": Text("지금 이 브라우저", "This browser"),
    "me.session.done": Text("그 브라우저에서 로그아웃했습니다.", "That browser was signed out."),
    "me.sessions.end": Text("다른 브라우저 모두 로그아웃", "Sign out everywhere else"),
    "me.sessions.end.ask": Text(
        "이 브라우저를 뺀 모든 곳에서 로그아웃합니다.", "All browsers except this one are signed out."
    ),
    "me.sessions.end.do": Text("예, 로그아웃합니다", "Yes, sign out"),
    "me.sessions.done": Text("다른 브라우저에서 로그아웃했습니다.", "Other browsers were signed out."),
    "audit_action.session.revoke": Text("다른 브라우저 로그아웃", "Signed out another browser"),
    "audit_action.two_factor.enable": Text("2단계 인증 사용", "Turned on two-factor sign-in"),
    "audit_action.two_factor.disable": Text("2단계 인증 끔", "Turned off two-factor sign-in"),
    "audit_action.two_factor.codes": Text("복구 코드 새로 발급", "Renewed recovery codes"),
    "audit_action.two_factor.recovery": Text("복구 코드로 로그인", "Signed in with a recovery code"),
    "audit_action.two_factor.reset": Text("2단계 인증 해제", "Reset two-factor sign-in"),
}
