"""Codes of authenticator apps as in RFC 6238, and recovery codes for who has lost the app."""

import base64
import hashlib
import hmac
import re
from urllib.parse import quote, urlencode

from pabal.domain.base.dates import SECOND, Instant

DIGITS = 6
PERIOD_MS = 30 * SECOND
DRIFT_STEPS = 1
"""Codes of this many periods before and after are accepted: clocks of phones differ, and typing takes time."""
SECRET_BYTES = 20
"""As long as the hash, as RFC 4226 recommends."""
RECOVERY_CODES = 10
RECOVERY_CODE_BYTES = 10
"""So much randomness that one round of a hash protects a code in the store."""
ISSUER = "Pabal"
_CODE = re.compile(rf"[0-9]{{{DIGITS}}}", re.ASCII)
_BLANKS = re.compile(r"[\s-]+")
_GROUP = 4


def code_at(secret: bytes, step: int) -> str:
    """Return the code of a period."""
    digest = hmac.digest(secret, step.to_bytes(8, "big"), "sha1")
    start = digest[-1] & 0x0F
    number = int.from_bytes(digest[start : start + 4], "big") & 0x7FFFFFFF
    return str(number % 10**DIGITS).zfill(DIGITS)


def step_of(now: Instant) -> int:
    """Return the number of the period that a time is in."""
    return now // PERIOD_MS


def find_step(secret: bytes, typed: str, now: Instant) -> int | None:
    """Return the period that a typed code belongs to; None if it is none of those around now."""
    code = _BLANKS.sub("", typed)
    if not _CODE.fullmatch(code):
        return None
    found = None
    for step in range(step_of(now) - DRIFT_STEPS, step_of(now) + DRIFT_STEPS + 1):
        if hmac.compare_digest(code_at(secret, step), code):
            found = step
    return found


def spell_secret(secret: bytes) -> str:
    """Return a secret as it is typed into an app: base32, in groups."""
    return _in_groups(base64.b32encode(secret).decode().rstrip("="), " ")


def make_uri(secret: bytes, user: str) -> str:
    """Return the link that adds a secret to an app; digits, period and hash are what apps assume."""
    fields = {
        "secret": base64.b32encode(secret).decode().rstrip("="),
        "issuer": ISSUER,
    }
    return f"otpauth://totp/{quote(f'{ISSUER}:{user}', safe='')}?{urlencode(fields)}"


def spell_recovery_code(code: bytes) -> str:
    """Return a recovery code as it is shown: base32, in groups."""
    return _in_groups(base64.b32encode(code).decode(), "-")


def hash_recovery_code(user_id: int, typed: str) -> bytes:
    """Return the stored hash of a recovery code, whatever its case, blanks and hyphens."""
    code = _BLANKS.sub("", typed).upper()
    return hashlib.sha256(f"recovery\n{user_id}\n{code}".encode("utf-8", "surrogatepass")).digest()


def _in_groups(text: str, separator: str) -> str:
    return separator.join(text[start : start + _GROUP] for start in range(0, len(text), _GROUP))
