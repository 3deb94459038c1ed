"""Signing in and out, the way to the OpenID Connect provider, and choosing a language or an account."""

import math

from starlette.responses import Response

from pabal.console.shell import cookies
from pabal.console.shell.form_fields import parse_id
from pabal.console.shell.page_request import (
    CHOOSE_ACCOUNT,
    OPENID_CALLBACK,
    SIGN_IN,
    PageRequest,
    safe_redirect_path,
)
from pabal.domain.base.codes import LANGUAGES, Code, Refused, Text
from pabal.domain.base.dates import SECOND
from pabal.domain.people.user import Role
from pabal.openid.flow import FLOW_LIFETIME_MS
from pabal.service.access.users import sign_in, two_factor
from pabal.service.access.users.provider_sign_in import ProviderRedirect
from pabal.service.access.users.sign_in import CodeNeeded, NewSession
from pabal.service.access.users.sign_in_delays import DEVICE_LIFETIME_MS
from pabal.service.access.users.two_factor import WRONG_CODE

AGAIN = f"{SIGN_IN}/again"
"""Where an open page whose session has ended asks for the password, and goes on."""
STATUS_WRONG = 401
STATUS_THROTTLED = 429
STATUS_OTHER_USER = 409
"""The session of the browser is another user's than the open page's."""
SECONDS_SHOWN = 90
"""Longer delays are shown in minutes."""


async def show_sign_in(request: PageRequest) -> Response:
    """Show the form; who is signed in is redirected."""
    wanted = _wanted(request)
    return request.redirect(wanted) if request.session else render_form(request, wanted)


async def do_sign_in(request: PageRequest) -> Response:
    """Answer to a name and a password: sign in, always with a new session."""
    password, threads = request.fields.get("password", ""), request.site.password_threads
    try:
        signed = await sign_in.sign_in(request.context, threads, request.field("name"), password, request.source)
    except Refused as refused:
        response = _ask_password(request, _describe_wait(request, refused), STATUS_THROTTLED)
        response.headers["retry-after"] = str(_wait_s(refused))
        return response
    if signed is None:
        return _ask_password(request, _describe_failure(request), STATUS_WRONG)
    if isinstance(signed, CodeNeeded):
        return _ask_code(request, signed.token)
    return await _finish(request, signed)


async def do_sign_in_with_code(request: PageRequest) -> Response:
    """Answer to the code of a second factor, after a password that was right."""
    token = request.field("token")
    try:
        signed = await two_factor.sign_in_with_code(request.context, token, request.field("code"), request.source)
        if signed is None:
            await two_factor.find_pending(request.context, token)
    except Refused as refused:
        if refused.code is Code.RATE_LIMITED:
            told = _describe_wait(request, refused)
            return _ask_code(request, token, told, STATUS_THROTTLED)
        return _ask_password(request, request.tell(refused.problems[0]), STATUS_WRONG)
    if signed is None:
        return _ask_code(request, token, request.translate(WRONG_CODE), STATUS_WRONG)
    return await _finish(request, signed)


def _is_in_place(request: PageRequest) -> bool:
    """Return whether an open page asks, whose session has ended."""
    return str(request.http.scope["path"]).startswith(AGAIN)


async def _finish(request: PageRequest, signed: NewSession) -> Response:
    return await (_go_on(request, signed) if _is_in_place(request) else enter(request, _wanted(request), signed))


async def ask_again(request: PageRequest) -> Response:
    """Answer an open page whose session has ended: with the form of the password, or that there is a session.

    There may be one because its user has signed in in another tab. The page is not somebody else's.
    """
    if request.session is None:
        return _ask_password(request)
    is_same = request.user.name == request.field("name")
    return _renewed(request.csrf_secret) if is_same else Response(status_code=STATUS_OTHER_USER)


async def enter(request: PageRequest, wanted: str, signed: NewSession) -> Response:
    """Begin with a new session, in place of the one before."""
    return await _use_session(request, request.redirect(wanted), signed)


async def _go_on(request: PageRequest, signed: NewSession) -> Response:
    """Continue an open page with a new session; an operator keeps acting for the account of that page."""
    session = await sign_in.find_session(request.context, signed.token)
    assert session is not None
    account_id = parse_id(request.field("account"))
    if session.user.role is Role.OPERATOR and account_id is not None:
        await sign_in.switch_account(request.context, signed.token, session, account_id)
    return await _use_session(request, _renewed(session.csrf), signed)


async def do_sign_out(request: PageRequest) -> Response:
    """Sign out."""
    assert request.session is not None
    await sign_in.sign_out(request.context, request.session_token, request.session)
    response = request.redirect(SIGN_IN)
    cookies.delete_secret(response, cookies.SESSION, is_https=request.is_https)
    cookies.delete_secret(response, cookies.FORM, is_https=request.is_https)
    return response


async def choose_language(request: PageRequest) -> Response:
    """Switch the language of the console."""
    response = request.redirect(_return_path(request))
    if request.field("language") in LANGUAGES:
        cookies.set_language(response, request.field("language"), is_https=request.is_https)
    return response


async def show_accounts(request: PageRequest) -> Response:
    """Show an operator all accounts to choose from."""
    found = await sign_in.list_accounts(request.context)
    return request.render("users/accounts.html", accounts=found, wanted=_wanted(request))


async def choose_account(request: PageRequest) -> Response:
    """Switch the account that an operator acts for; an empty one is none."""
    assert request.session is not None
    word = request.field("account")
    account_id = (parse_id(word) or 0) if word else None
    if not await sign_in.switch_account(request.context, request.session_token, request.session, account_id):
        raise Refused(Code.NOT_FOUND)
    return request.redirect(_wanted(request) if word else CHOOSE_ACCOUNT)


def render_form(request: PageRequest, next_path: str, error: str = "", status: int = 200) -> Response:
    """Answer with the form to sign in, and what is wrong."""
    return request.render(
        "users/sign_in.html",
        status,
        told=error,
        wanted=next_path,
        name=request.field("name"),
        has_joined=request.field("joined") == "1",
    )


def _ask_password(request: PageRequest, error: str = "", status: int = 200) -> Response:
    if _is_in_place(request):
        return request.render("users/again.html", status, told=error, name=request.field("name"))
    return render_form(request, _wanted(request), error, status)


def _ask_code(request: PageRequest, token: str, error: str = "", status: int = 200) -> Response:
    template = "users/again_code.html" if _is_in_place(request) else "users/code.html"
    name, wanted = request.field("name"), _wanted(request)
    return request.render(template, status, told=error, token=token, name=name, wanted=wanted)


def _wanted(request: PageRequest) -> str:
    """Return the page to open after the sign-in."""
    return safe_redirect_path(request.field("next"))


def _describe_failure(request: PageRequest) -> str:
    """Return what to do after a failed sign-in; the same for all names, so that nobody learns who may do what."""
    if request.context.policy.break_glass_operator:
        return request.t("sign_in.wrong_or_off", name=request.openid_name)
    return request.t("sign_in.wrong")


def _renewed(csrf_secret: str) -> Response:
    """Answer with the secret of the session, which every form of the open page needs."""
    return Response(status_code=204, headers={"x-csrf-token": csrf_secret})


def _wait_s(refused: Refused) -> int:
    return max(1, math.ceil(refused.retry_after_s or 0))


def _describe_wait(request: PageRequest, refused: Refused) -> str:
    """Return how long to wait before the next attempt."""
    wait_s = _wait_s(refused)
    if wait_s > SECONDS_SHOWN:
        return request.t("sign_in.throttled_minutes", minutes=math.ceil(wait_s / 60))
    return request.t("sign_in.throttled", seconds=wait_s)


async def _use_session(request: PageRequest, response: Response, signed: NewSession) -> Response:
    """Return an answer with the cookies of a new session and of the trusted device; the session before ends."""
    if request.session:
        await sign_in.sign_out(request.context, request.session_token, request.session)
    cookies.set_secret(response, cookies.SESSION, signed.token, is_https=request.is_https)
    cookies.set_secret(
        response,
        cookies.DEVICE,
        signed.device_token,
        is_https=request.is_https,
        max_age_s=DEVICE_LIFETIME_MS // SECOND,
    )
    return response


def _return_path(request: PageRequest) -> str:
    """Return the page to come back to, which may be the sign-in page."""
    wanted = request.field("next")
    return wanted if wanted == SIGN_IN or wanted.startswith(f"{SIGN_IN}?") else safe_redirect_path(wanted)


TEXTS = {
    "sign_in.again": Text("다시 로그인하세요", "Sign in again"),
    "sign_in.again.why": Text(
        "로그인 시간이 끝났습니다. 비밀번호를 입력하면 하던 작업을 그대로 이어 갑니다.",
        "Your session has ended. Enter your password to go on where you were.",
    ),
    "sign_in.again.do": Text("로그인하고 계속", "Sign in and go on"),
    "sign_in.again.other": Text("다른 사용자로 로그인", "Sign in as another user"),
    "sign_in.code": Text("인증 코드", "Code"),
    "sign_in.code.about": Text(
        "인증 앱에 지금 표시된 6자리 코드를 입력하세요. 앱을 쓸 수 없으면 복구 코드를 입력하세요.",
        "Enter the six digits that your authenticator app shows now. Without the app, enter a recovery code.",
    ),
    "sign_in.code.lost": Text(
        "앱과 복구 코드를 모두 잃어버렸다면 계정 관리자나 운영자에게 2단계 인증 해제를 요청하세요.",
        "If you have lost both, ask an owner of your account, or your operator, to turn two-factor sign-in off.",
    ),
    "sign_in.code.back": Text("처음부터 다시 로그인", "Start again"),
    "sign_in.wrong": Text(
        "사용자 이름 또는 비밀번호가 올바르지 않습니다. 확인하고 다시 입력하세요.",
        "Wrong user name or password. Check both and try again.",
    ),
    "sign_in.wrong_or_off": Text(
        "사용자 이름이나 비밀번호가 올바르지 않거나, 비밀번호로 로그인할 수 없는 사용자입니다. {name} 계정으로 "
        "로그인하세요.",
        "Wrong user name or password, or this user may not sign in with a password. Sign in with {name}.",
    ),
    "sign_in.openid": Text("{name} 계정으로 로그인", "Sign in with {name}"),
    "sign_in.openid.tab": Text("새 탭에서 {name} 계정으로 로그인", "Sign in with {name} in a new tab"),
    "sign_in.openid.back": Text(
        "로그인한 뒤 이 탭으로 돌아오면 하던 작업을 이어 갑니다.",
        "Come back to this tab afterwards to go on where you were.",
    ),
    "sign_in.or": Text("또는", "or"),
    "sign_in.emergency": Text("비상 운영자 로그인", "Sign in as the emergency operator"),
    "openid.leaving": Text("{name} 로그인으로 이동합니다", "Continuing to {name}"),
    "openid.go": Text("이동하지 않으면 누르세요", "Continue if nothing happens"),
    "audit_action.openid.link": Text("외부 로그인 연결", "Linked a sign-in by OpenID Connect"),
    "audit_action.openid.unlink": Text("외부 로그인 연결 해제", "Unlinked a sign-in by OpenID Connect"),
    "sign_in.throttled": Text(
        "로그인에 여러 번 실패했습니다. {seconds}초 뒤에 다시 시도하세요.",
        "Too many failed sign-ins. Try again in {seconds} seconds.",
    ),
    "sign_in.throttled_minutes": Text(
        "로그인에 여러 번 실패했습니다. {minutes}분 뒤에 다시 시도하세요.",
        "Too many failed sign-ins. Try again in {minutes} minutes.",
    ),
    "sign_in.help": Text(
        "비밀번호를 잊었다면 계정 관리자나 운영자에게 새 비밀번호를 요청하세요.",
        "If you forgot your password, ask an owner of your account, or your operator, for a new one.",
    ),
}


def callback_url(request: PageRequest) -> str:
    """Return where the provider sends browsers back to; it has to know this address."""
    return f"{request.origin}{OPENID_CALLBACK}"


def leave(request: PageRequest, redirect: ProviderRedirect) -> Response:
    """Answer with a page that leads to the provider at once, and set its cookie.

    It is no redirect: browsers apply `form-action` of our policy to where the answer to a form redirects, and
    providers redirect further to addresses that nobody here knows.
    """
    response = request.render("shell/leave_page.html", url=redirect.url)
    response.headers["refresh"] = f"0;url={redirect.url}"
    cookies.set_secret(
        response,
        cookies.OPENID,
        redirect.cookie,
        is_https=request.is_https,
        max_age_s=FLOW_LIFETIME_MS // SECOND,
    )
    return response
