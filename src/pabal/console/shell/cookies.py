"""The cookies of the console, and the token of its forms: a secret of cookie or session, and an account."""

from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from pabal.domain.base.codes import LANGUAGES
from pabal.service.access.users import sign_in

SESSION = "pabal_session"
FORM = "pabal_form"
"""The CSRF token of someone who is not signed in."""
DEVICE = "pabal_device"
"""Says that users have signed in in this browser before; it opens nothing by itself."""
OPENID = "pabal_openid"
"""What a browser takes along to the OpenID Connect provider; see `Flow`."""
LANGUAGE = "pabal_language"
SECRET_CHARACTERS = 64
LANGUAGE_MAX_AGE_S = 365 * 24 * 3600
_HEX = frozenset("0123456789abcdef")
_SEPARATOR = "-"
MAX_ID_DIGITS = 18


def read_secret(http: Request, name: str, *, is_https: bool) -> str | None:
    """Return a secret from a cookie, None for what cannot be one.

    Over TLS the `__Host-` prefix makes sure that this host set it, over TLS.
    """
    secret = http.cookies.get(_cookie_name(name, is_https), "")
    return secret if len(secret) == SECRET_CHARACTERS and set(secret) <= _HEX else None


def read_value(http: Request, name: str, *, is_https: bool) -> str:
    """Return the value of a cookie as it is; empty where there is none."""
    return http.cookies.get(_cookie_name(name, is_https), "")


def set_secret(response: Response, name: str, value: str, *, is_https: bool, max_age_s: int | None = None) -> None:
    """Set a cookie, hidden from scripts and from other sites; without an age, until the browser is closed."""
    _set(response, _cookie_name(name, is_https), value, max_age_s, "/", is_https=is_https)


def delete_secret(response: Response, name: str, *, is_https: bool) -> None:
    """Delete a cookie."""
    response.delete_cookie(_cookie_name(name, is_https), path="/", secure=is_https, httponly=True, samesite="lax")


def language(http: Request) -> str:
    """Return the language that was chosen; Korean if none."""
    chosen = http.cookies.get(LANGUAGE, "")
    return chosen if chosen in LANGUAGES else LANGUAGES[0]


def set_language(response: Response, language: str, *, is_https: bool) -> None:
    """Set the cookie of a language."""
    _set(response, LANGUAGE, language, LANGUAGE_MAX_AGE_S, "/console", is_https=is_https)


def _set(response: Response, name: str, value: str, max_age_s: int | None, path: str, *, is_https: bool) -> None:
    response.set_cookie(name, value, max_age=max_age_s, path=path, secure=is_https, httponly=True, samesite="lax")


def _cookie_name(name: str, is_https: bool) -> str:
    return f"__Host-{name}" if is_https else name


class FormToken(NamedTuple):
    """A token as a browser sends it."""

    secret: str
    account_id: int | None

    def is_of(self, secret: str) -> bool:
        """Return whether it was made by one of our pages, for this browser."""
        return sign_in.secrets_equal(self.secret, secret)


def make_token(secret: str, account_id: int | None) -> str:
    """Return the token for the forms of a page; without an account, it is the secret alone."""
    return secret if account_id is None else f"{secret}{_SEPARATOR}{account_id}"


def parse_token(word: str) -> FormToken:
    """Return the parts of a token; a malformed account is none."""
    secret, _, account = word.partition(_SEPARATOR)
    is_id = account.isascii() and account.isdigit() and len(account) <= MAX_ID_DIGITS
    return FormToken(secret, int(account) if is_id else None)
