"""The page of one's own password, sessions, two-factor sign-in, and link to the OpenID Connect provider."""

import math
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.shell.leave_page import callback_url, depart
from pabal.console.shell.page_request import PageRequest
from pabal.console.team.join import check_new_password
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.users import totp, user
from pabal.openid.flow import Purpose
from pabal.service.access.sign_in import passwords, sign_in, two_factor
from pabal.service.access.users import profile_settings, provider_sign_in
from pabal.service.access.users.profile_settings import ListedSession

ME_PATH = "/console/me"
WRONG_PASSWORD = Text("현재 비밀번호가 올바르지 않습니다.", "This is not your current password.")
BEGIN_AGAIN = Text(
    "설정 키가 바뀌었습니다. 내 정보에서 2단계 인증 설정을 다시 시작하세요.",
    "The setup key has changed. Begin again on your profile.",
)
_HASH_CHARACTERS = 64


class SessionRow(NamedTuple):
    """A browser in which the user is signed in."""

    id: str
    browser: str
    created_at: str
    used_at: str
    is_this: bool


async def show_me(request: PageRequest) -> Response:
    """Show one's own sessions, and the forms for password and two-factor sign-in."""
    return await render_me(request, notice="me.openid.done" if request.field("linked") == "1" else "")


async def change_password(request: PageRequest) -> Response:
    """Change one's own password; other browsers are signed out."""
    fields = request.fields
    try:
        check_new_password(request.user.name, fields.get("password", ""), fields.get("repeated", ""))
        await check_password(request, "current")
    except Refused as refused:
        return await render_me(request, refused)
    salt = passwords.new_salt(request.context.world)
    hash = await request.site.password_threads.run(passwords.hash_with_salt, fields["password"], salt)
    await profile_settings.change_password(
        request.context,
        request.user,
        hash,
        request.session_token,
        request.source.device_token,
        request.own_audit_entry("user.password", request.user.name),
    )
    return await render_me(request, notice="me.password.done")


async def end_session(request: PageRequest) -> Response:
    """Sign out in another browser; a session that has ended already is no error."""
    word = request.field("session")
    if len(word) == _HASH_CHARACTERS and set(word) <= set("0123456789abcdef"):
        audit_entry = request.own_audit_entry("session.revoke")
        await profile_settings.end_session(request.context, request.user, bytes.fromhex(word), audit_entry)
    return await render_me(request, notice="me.session.done")


async def end_other_sessions(request: PageRequest) -> Response:
    """Sign out in all other browsers."""
    audit_entry = request.own_audit_entry("session.revoke")
    await profile_settings.end_other_sessions(request.context, request.user, request.session_token, audit_entry)
    return await render_me(request, notice="me.sessions.done")


async def begin_two_factor(request: PageRequest) -> Response:
    """Show a new secret for the user's app, and ask for its first code.

    It needs the password: who finds an open session could lock its user out with a phone of their own. Raises
    Refused(INVALID_STATE) for a user who has a second factor.
    """
    try:
        await check_password(request, "enable_password")
    except Refused as refused:
        return await render_me(request, refused)
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
    """Show new recovery codes, once; those before stop working.

    Raises Refused(INVALID_STATE) for a user without a second factor.
    """
    try:
        await check_password(request, "renew_password")
    except Refused as refused:
        return await render_me(request, refused)
    audit_entry = request.own_audit_entry("two_factor.codes")
    return _render_codes(request, await two_factor.renew_codes(request.context, request.user, audit_entry))


async def disable_two_factor(request: PageRequest) -> Response:
    """Turn two-factor sign-in off."""
    try:
        await check_password(request, "disable_password")
    except Refused as refused:
        return await render_me(request, refused)
    audit_entry = request.own_audit_entry("two_factor.disable")
    await two_factor.disable(request.context, request.user.id, audit_entry)
    return await render_me(request, notice="me.two_factor.disabled")


async def begin_link(request: PageRequest) -> Response:
    """Send the browser to the OpenID Connect provider, to be linked to who the user is there.

    Raises Refused(NOT_FOUND) without a provider.
    """
    assert request.session is not None
    try:
        await check_password(request, "openid_password")
        departure = await provider_sign_in.begin(
            request.context, Purpose.LINK, callback_url(request), session_secret=request.session.csrf
        )
    except Refused as refused:
        if refused.code is Code.NOT_FOUND:
            raise
        if refused.code is Code.SERVICE_UNAVAILABLE:
            return await render_me(request, told=request.describe(refused), status=refused.code.http_status)
        return await render_me(request, refused)
    return depart(request, departure)


async def unlink(request: PageRequest) -> Response:
    """Have the user not sign in through the OpenID Connect provider any more."""
    audit_entry = request.own_audit_entry("openid.unlink", request.user.name)
    try:
        await check_password(request, "openid_password")
        await provider_sign_in.unlink(request.context, request.user, audit_entry)
    except Refused as refused:
        return await render_me(request, refused)
    return await render_me(request, notice="me.openid.undone")


async def check_password(request: PageRequest, field: str) -> None:
    """Check that the user knows the password: an open session may be somebody else's chance.

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


def _with_wait(refused: Refused, field: str) -> Refused:
    """Return a refusal that says at the field how long to wait."""
    wait_s = max(1, math.ceil(refused.retry_after_s or 0))
    detail = Text(
        f"여러 번 틀렸습니다. {wait_s}초 뒤에 다시 시도하세요.",
        f"Too many failures. Try again in {wait_s} seconds.",
    )
    return Refused(refused.code, field, detail, refused.retry_after_s)


async def render_me(
    request: PageRequest, refused: Refused | None = None, notice: str = "", *, told: str = "", status: int = 200
) -> Response:
    """Answer with the page, and what was done or is wrong: at its fields, or `told` above them."""
    found = await profile_settings.list_sessions(request.context, request.user)
    state = await two_factor.get_state(request.context, request.user)
    link = await provider_sign_in.get_state(request.context, request.user)
    return request.render(
        "me/me.html",
        refused.code.http_status if refused else status,
        sessions=[_session_row(request, each) for each in found],
        enabled_at=request.locale.format_timestamp(state.enabled_at)[:16] if state.enabled_at is not None else "",
        recovery_codes=state.recovery_codes,
        all_codes=totp.RECOVERY_CODES,
        least=user.MIN_PASSWORD_CHARACTERS,
        link=link,
        linked_at=request.locale.format_timestamp(link.linked_at)[:16] if link.linked_at is not None else "",
        notice=notice,
        told=told,
        errors={each.field: each.message(request.locale.language) for each in refused.problems} if refused else {},
    )


def _session_row(request: PageRequest, session: ListedSession) -> SessionRow:
    return SessionRow(
        session.hash.hex(),
        session.browser,
        request.locale.format_timestamp(session.created_at)[:16],
        request.locale.format_timestamp(session.used_at)[:16],
        profile_settings.is_of_token(session, request.session_token),
    )


def _render_setup(request: PageRequest, secret: bytes, refused: Refused | None = None) -> Response:
    uri = totp.make_uri(secret, request.user.name)
    return request.render(
        "me/two_factor.html",
        refused.code.http_status if refused else 200,
        secret=totp.spell_secret(secret),
        uri=uri,
        picture=_draw_code(uri),
        problem=refused.problems[0].message(request.locale.language) if refused else "",
    )


def _draw_code(text: str) -> str:
    """Return a text as a QR code, an SVG that is as large as what it is put into."""
    import segno  # few pages need it

    code = segno.make_qr(text, error="L")
    return code.svg_inline(omitsize=True, light="#fff", svgclass=None, lineclass=None)


def _render_codes(request: PageRequest, codes: list[str]) -> Response:
    return request.render("me/recovery_codes.html", codes=codes)
