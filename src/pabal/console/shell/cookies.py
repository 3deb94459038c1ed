"""What the browser is given to hold: the session, the secret of forms before it, the language."""

from starlette.requests import Request
from starlette.responses import Response

from pabal.domain.codes import LANGUAGES

SESSION = "pabal_session"
FORM = "pabal_form"
LANGUAGE = "pabal_language"
SECRET_CHARACTERS = 64
A_YEAR_S = 365 * 24 * 3600
_HEX = frozenset("0123456789abcdef")


def secret(request: Request, name: str, *, is_safe: bool) -> str | None:
    """Return a secret that the browser holds, None for what can be none.

    Over TLS only one is believed that nobody but this host, over TLS, can have set.
    """
    found = request.cookies.get(_spelled(name, is_safe), "")
    return found if len(found) == SECRET_CHARACTERS and set(found) <= _HEX else None


def give(response: Response, name: str, value: str, *, is_safe: bool) -> None:
    """Have the browser hold a secret until it is closed, away from scripts and from other sites."""
    response.set_cookie(_spelled(name, is_safe), value, path="/", secure=is_safe, httponly=True, samesite="lax")


def take_back(response: Response, name: str, *, is_safe: bool) -> None:
    """Have the browser forget a secret."""
    response.delete_cookie(_spelled(name, is_safe), path="/", secure=is_safe, httponly=True, samesite="lax")


def language(request: Request) -> str:
    """Return the language that was chosen; Korean if none."""
    chosen = request.cookies.get(LANGUAGE, "")
    return chosen if chosen in LANGUAGES else LANGUAGES[0]


def choose_language(response: Response, locale: str, *, is_safe: bool) -> None:
    """Have the browser remember a language."""
    response.set_cookie(
        LANGUAGE, locale, max_age=A_YEAR_S, path="/console", secure=is_safe, httponly=True, samesite="lax"
    )


def _spelled(name: str, is_safe: bool) -> str:
    return f"__Host-{name}" if is_safe else name
