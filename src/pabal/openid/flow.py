"""The cookie of a sign-in through an OpenID Connect provider, and the secrets derived from it."""

import base64
import binascii
import hashlib
import hmac
from enum import StrEnum

import msgspec

from pabal.domain.base.dates import MINUTE, Instant

FLOW_LIFETIME_MS = 10 * MINUTE
"""How long a sign-in at the provider may take."""
MAX_COOKIE_CHARACTERS = 4000
"""Browsers keep cookies of up to 4,096 bytes, with their names."""
MAX_PATH_CHARACTERS = 1000
SECRET_CHARACTERS = 64


class Purpose(StrEnum):
    """Why a user is sent to the provider."""

    SIGN_IN = "sign_in"
    LINK = "link"
    JOIN = "join"


class Flow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One sign-in through the provider; only the browser's cookie has its secret.

    State, nonce and the verifier of PKCE are derived from the secret, so that nothing is stored before the provider
    has vouched for somebody.
    """

    secret: str
    """64 hexadecimal digits."""
    purpose: Purpose
    started_at: Instant
    next_path: str = ""
    """The page to open afterwards."""
    invite: str = ""
    """The token of the invitation to accept."""
    name: str = ""
    """The name that the new user has chosen."""

    def to_cookie(self) -> str:
        """Return the value of the browser's cookie."""
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).rstrip(b"=").decode()

    def state(self, session_secret: str = "") -> str:
        """Return the `state`: it belongs to this browser, purpose and, if given, session."""
        return self._derive(f"state\n{self.to_cookie()}\n{session_secret}").hex()

    @property
    def nonce(self) -> str:
        """What the ID token has to contain."""
        return self._derive("nonce").hex()

    @property
    def verifier(self) -> str:
        """What proves to the provider that a code was issued for this browser."""
        return _spell(self._derive("verifier"))

    @property
    def challenge(self) -> str:
        """The hash of the verifier, which the provider gets first."""
        return _spell(hashlib.sha256(self.verifier.encode()).digest())

    def is_current(self, now: Instant) -> bool:
        """Return whether it has not taken too long."""
        return self.started_at <= now < self.started_at + FLOW_LIFETIME_MS

    def _derive(self, label: str) -> bytes:
        return hmac.digest(self.secret.encode(), label.encode(), "sha256")


def read_cookie(value: str) -> Flow | None:
    """Return what a cookie contains; None for what cannot be one of ours."""
    if not value or len(value) > MAX_COOKIE_CHARACTERS:
        return None
    try:
        flow = msgspec.json.decode(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)), type=Flow)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        return None
    is_secret = len(flow.secret) == SECRET_CHARACTERS and set(flow.secret) <= set("0123456789abcdef")
    return flow if is_secret else None


def _spell(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
