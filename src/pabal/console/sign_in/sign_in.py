"""The pages to sign in and out, and what anyone may change of how they see the console."""

from starlette.responses import Response

from pabal.console.shell import cookies
from pabal.console.shell.page_request import HOME, SIGN_IN, Visit, local
from pabal.domain.codes import LANGUAGES, Code, Refused
from pabal.service.access import sign_in
from pabal.store import accounts

STATUS_WRONG = 401
STATUS_THROTTLED = 429


async def show_sign_in(visit: Visit) -> Response:
    """Show the form; who is signed in goes on."""
    wanted = local(visit.field("next"))
    if visit.session:
        return visit.elsewhere(wanted)
    return _form(visit, wanted)


async def do_sign_in(visit: Visit) -> Response:
    """Sign in, with a session that is new whatever the browser held before."""
    wanted = local(visit.field("next"))
    password = visit.given.get("password", "")
    try:
        signed = await sign_in.sign_in(
            visit.context, visit.rooms.beside, visit.field("name"), password, visit.address
        )
    except Refused as refused:
        minutes = -int(-(refused.retry_after_s or 0) // 60)
        return _form(visit, wanted, visit.say("sign_in.throttled", minutes=minutes), STATUS_THROTTLED)
    if signed is None:
        return _form(visit, wanted, visit.say("sign_in.wrong"), STATUS_WRONG)
    if visit.session:
        await sign_in.sign_out(visit.context, visit.token, visit.session)
    response = visit.elsewhere(wanted)
    cookies.give(response, cookies.SESSION, signed.token, is_safe=visit.is_safe)
    return response


async def do_sign_out(visit: Visit) -> Response:
    """Sign out."""
    assert visit.session is not None
    await sign_in.sign_out(visit.context, visit.token, visit.session)
    response = visit.elsewhere(SIGN_IN)
    cookies.take_back(response, cookies.SESSION, is_safe=visit.is_safe)
    cookies.take_back(response, cookies.FORM, is_safe=visit.is_safe)
    return response


async def choose_language(visit: Visit) -> Response:
    """Speak another language from now on."""
    response = visit.elsewhere(_back(visit))
    if visit.field("language") in LANGUAGES:
        cookies.choose_language(response, visit.field("language"), is_safe=visit.is_safe)
    return response


async def show_accounts(visit: Visit) -> Response:
    """Show an operator all accounts, to choose one to look at."""
    found = await visit.context.store.read(accounts.list_accounts)
    return visit.page("sign_in/accounts.html", accounts=found)


async def choose_account(visit: Visit) -> Response:
    """Have an operator look at another account."""
    assert visit.session is not None
    word = visit.field("account")
    account_id = int(word) if word.isascii() and word.isdigit() and len(word) < 19 else 0
    if not await sign_in.switch_account(visit.context, visit.token, visit.session, account_id):
        raise Refused(Code.NOT_FOUND)
    return visit.elsewhere(HOME)


def _form(visit: Visit, wanted: str, told: str = "", status: int = 200) -> Response:
    return visit.page("sign_in/sign_in.html", status, told=told, wanted=wanted, name=visit.field("name"))


def _back(visit: Visit) -> str:
    """Return where the visitor was; also to the page to sign in."""
    wanted = visit.field("next")
    return wanted if wanted == SIGN_IN or wanted.startswith(f"{SIGN_IN}?") else local(wanted)
