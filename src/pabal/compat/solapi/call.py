"""One call of Solapi's endpoints: its signature, and what it says of ids, times and pages."""

import asyncio
import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from pabal.checks.body.locale import Locale
from pabal.compat.differences import CallDifference, note
from pabal.compat.own_values import decode_id, encode_id
from pabal.compat.solapi.codes import CallRefused, invalid, not_found
from pabal.domain.base.dates import Instant, Period
from pabal.domain.base.identifiers import MESSAGE_ID_BYTES, REQUEST_ID_BYTES
from pabal.service.context import Context
from pabal.service.sending.accept import IdempotencyKey
from pabal.store.accounts.accounts import ApiKey

KIND = "solapi"
GROUP_PREFIX, MESSAGE_PREFIX, FILE_PREFIX = "G4V", "M4V", "ST01FJ"
FILE_ID_BYTES = 16
SENDS_AT_A_TIME = 20
"""Sends of a call that are checked before other calls go on: each takes up to a millisecond."""
DEFAULT_LIMIT, MAX_LIMIT = 20, 1000


class CompatCall(NamedTuple):
    """What every endpoint needs of a call."""

    context: Context
    key: ApiKey
    locale: Locale
    now: Instant
    path: str
    query: Mapping[str, str]
    raw: bytes
    signature: str
    """Used once by a client, so that a repeat of it is the same call again."""

    @property
    def account_id(self) -> int:
        return self.key.account_id

    @property
    def account_name(self) -> str:
        """What answers call accountId."""
        return str(self.key.account_id)

    def digest(self) -> bytes:
        """Return what tells this call from another with the same signature; it takes as long as the body is."""
        return hashlib.sha256(self.path.encode() + b"\n" + self.raw).digest()

    def idempotency_key(self, part: int, digest: bytes) -> IdempotencyKey:
        """Return what marks a part of what this call sends, which has this digest."""
        return IdempotencyKey(f"{KIND}:{self.signature}:{part}", digest)

    def note(self, difference: CallDifference, detail: str = "", uses: int = 1) -> None:
        """Count in what this call differs from Solapi's."""
        note(self.context, self.account_id, KIND, difference, detail, uses)

    def read_limit(self) -> int:
        """Return how many rows a page has.

        Raises CallRefused.
        """
        spelling = self.query.get("limit") or str(DEFAULT_LIMIT)
        if not spelling.isascii() or not spelling.isdigit() or len(spelling) > 9 or int(spelling) < 1:
            raise invalid("limit 의 데이터 타입은 숫자여야 됩니다.")
        return min(int(spelling), MAX_LIMIT)

    def read_period(self, start: str, end: str) -> Period | None:
        """Return the time between two parameters, both included, one of which may be missing; None without both.

        Raises CallRefused.
        """
        first, last = self.query.get(start), self.query.get(end)
        if not first and not last:
            return None
        since = parse_time(first) if first else None
        return Period(since, max(since or 0, parse_time(last) + 1) if last else None)


async def let_others_run(number: int) -> None:
    """Let other calls go on now and then, after so many sends of a call that has very many.

    Single sends wait too: where many calls are at the same step, each costs a quarter less than by itself.
    """
    if number % SENDS_AT_A_TIME == 0:
        await asyncio.sleep(0)


def format_group_id(request_id: bytes) -> str:
    return GROUP_PREFIX + encode_id(request_id)


def format_message_id(message_id: bytes) -> str:
    return MESSAGE_PREFIX + encode_id(message_id)


def format_file_id(file_id: bytes) -> str:
    return FILE_PREFIX + encode_id(file_id)


def parse_group_id(spelling: str) -> bytes:
    """Return the id of a call.

    Raises CallRefused.
    """
    found = _parse(spelling, GROUP_PREFIX, REQUEST_ID_BYTES)
    if found is None:
        raise not_found()
    return found


def parse_message_id(spelling: str) -> bytes | None:
    """Return the id of a message, None where it is malformed."""
    return _parse(spelling, MESSAGE_PREFIX, MESSAGE_ID_BYTES)


def parse_file_id(spelling: str) -> bytes | None:
    """Return the id of a file, None where it is malformed."""
    return _parse(spelling, FILE_PREFIX, FILE_ID_BYTES)


def _parse(spelling: str, prefix: str, size: int) -> bytes | None:
    return decode_id(spelling.removeprefix(prefix), size) if spelling.startswith(prefix) else None


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
    """Return the parts of an Authorization header: an HMAC of a time and a salt, whose secret the caller has.

    Every client spells the names in its own letter case, and writes the time as it likes: it is signed as written.
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
