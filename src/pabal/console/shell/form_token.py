"""The token that every form carries: a secret of the session, and the account that the page was made for."""

from typing import NamedTuple

from pabal.service.access.sign_in import sign_in

_SEPARATOR = "-"
MAX_ID_DIGITS = 18


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
