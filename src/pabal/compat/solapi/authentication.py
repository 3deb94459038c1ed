"""Checks Solapi's Authorization header: an HMAC of a time and a salt, whose secret the caller has.

Every client spells the names in its own letter case, and writes the time as it likes: it is signed as written.
"""

import hashlib
import hmac
import re
from datetime import UTC, datetime
from typing import NamedTuple

from pabal.compat.solapi.codes import CallRefused
from pabal.domain.base.dates import Instant

MAX_SKEW_MS = 15 * 60 * 1000
MIN_SALT_BYTES, MAX_SALT_BYTES = 12, 64
MAX_HEADER_CHARACTERS = 1000
_SCHEME = re.compile(r"(HMAC-SHA256|HMAC-MD5)\s+(.*)", re.IGNORECASE | re.ASCII)
_DIGESTS = {"HMAC-SHA256": hashlib.sha256, "HMAC-MD5": hashlib.md5}


class Signature(NamedTuple):
    """What an Authorization header says."""

    method: str
    api_key: str
    date: str
    salt: str
    signature: str


def parse_header(header: str) -> Signature:
    """Return the parts of a header.

    Raises CallRefused.
    """
    match = _SCHEME.fullmatch(header.strip()) if len(header) <= MAX_HEADER_CHARACTERS else None
    pairs = (part.partition("=") for part in match[2].split(",")) if match else ()
    parts = {name.strip().lower(): value.strip() for name, _, value in pairs}
    try:
        method = match[1].upper() if match else ""
        return Signature(method, parts["apikey"], parts["date"], parts["salt"], parts["signature"].lower())
    except KeyError:
        raise CallRefused(403, "InvalidAPIKey", "유효한 API Key가 아님") from None


def make_signer(secret: bytes, method: str) -> hmac.HMAC:
    """Return what signs with a secret: a copy of it for each call."""
    return hmac.new(secret, digestmod=_DIGESTS[method])


def check_signature(given: Signature, signer: hmac.HMAC, now: Instant) -> None:
    """Raise CallRefused unless a header was signed with a secret, a few minutes ago at most."""
    if abs(now - parse_time(given.date)) >= MAX_SKEW_MS:
        raise CallRefused(403, "RequestTimeTooSkewed", "시간 값이 서버 시간을 15분 이상 벗어남")
    own = signer.copy()
    own.update((given.date + given.salt).encode())
    has_salt = MIN_SALT_BYTES <= len(given.salt.encode()) <= MAX_SALT_BYTES
    if not hmac.compare_digest(own.hexdigest().encode(), given.signature.encode()) or not has_salt:
        raise CallRefused(403, "SignatureDoesNotMatch", "생성한 Signature가 일치하지 않음")


def parse_time(spelling: str) -> Instant:
    """Return a time in any spelling of ISO 8601; without an offset it is in UTC.

    Raises CallRefused.
    """
    try:
        found = datetime.fromisoformat(spelling.strip())
        aware = found if found.tzinfo else found.replace(tzinfo=UTC)
        return int(aware.timestamp() * 1000)
    except (ValueError, OverflowError):
        raise CallRefused(400, "ValidationError", f"날짜 형식이 올바르지 않습니다: {spelling[:40]}") from None
