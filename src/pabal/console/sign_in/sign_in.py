"""Signing in and out, and choosing a language or an account."""

import math

from starlette.responses import Response

from pabal.console.shell import cookies
from pabal.console.shell.page_request import CHOOSE_ACCOUNT, SIGN_IN, PageRequest, safe_redirect_path
from pabal.domain.codes import LANGUAGES, Code, Refused
from pabal.domain.dates import SECOND
from pabal.service.access import sign_in
from pabal.service.access.throttle import DEVICE_LIFETIME_MS

STATUS_WRONG = 401
STATUS_THROTTLED = 429
SECONDS_SHOWN = 90
"""Longer delays are shown in minutes."""


async def show_sign_in(request: PageRequest) -> Response:
    """Show the form; who is signed in is redirected."""
    wanted = safe_redirect_path(request.field("next"))
    if request.session:
        return request.redirect(wanted)
    return _render_form(request, wanted)


async def do_sign_in(request: PageRequest) -> Response:
    """Sign in, always with a new session."""
    wanted = safe_redirect_path(request.field("next"))
    password = request.fields.get("password", "")
    try:
        signed = await sign_in.sign_in(
            request.context,
            request.site.password_threads,
            request.field("name"),
            password,
            request.address,
            cookies.read_secret(request.http, cookies.DEVICE, is_https=request.is_https),
        )
    except Refused as refused:
        return _render_throttled(request, wanted, max(1, math.ceil(refused.retry_after_s or 0)))
    if signed is None:
        return _render_form(request, wanted, request.t("sign_in.wrong"), STATUS_WRONG)
    if request.session:
        await sign_in.sign_out(request.context, request.session_token, request.session)
    response = request.redirect(wanted)
    cookies.set_secret(response, cookies.SESSION, signed.token, is_https=request.is_https)
    cookies.set_secret(
        response,
        cookies.DEVICE,
        signed.device_token,
        is_https=request.is_https,
        max_age_s=DEVICE_LIFETIME_MS // SECOND,
    )
    return response


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
    return request.render("sign_in/accounts.html", accounts=found, wanted=safe_redirect_path(request.field("next")))


async def choose_account(request: PageRequest) -> Response:
    """Switch the account that an operator acts for; an empty one is none."""
    assert request.session is not None
    word = request.field("account")
    account_id = int(word) if word.isascii() and word.isdigit() and len(word) < 19 else None if not word else 0
    if not await sign_in.switch_account(request.context, request.session_token, request.session, account_id):
        raise Refused(Code.NOT_FOUND)
    return request.redirect(safe_redirect_path(request.field("next")) if word else CHOOSE_ACCOUNT)


def _render_form(request: PageRequest, next_path: str, error: str = "", status: int = 200) -> Response:
    return request.render("sign_in/sign_in.html", status, told=error, wanted=next_path, name=request.field("name"))


def _render_throttled(request: PageRequest, next_path: str, wait_s: int) -> Response:
    is_long = wait_s > SECONDS_SHOWN
    error = (
        request.t("sign_in.throttled_minutes", minutes=math.ceil(wait_s / 60))
        if is_long
        else request.t("sign_in.throttled", seconds=wait_s)
    )
    response = _render_form(request, next_path, error, STATUS_THROTTLED)
    response.headers["retry-after"] = str(wait_s)
    return response


def _return_path(request: PageRequest) -> str:
    """Return the page to come back to, which may be the sign-in page."""
    wanted = request.field("next")
    return wanted if wanted == SIGN_IN or wanted.startswith(f"{SIGN_IN}?") else safe_redirect_path(wanted)
