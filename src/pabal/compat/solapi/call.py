"""One call of Solapi's endpoints, after its key was checked."""

import asyncio
import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from pabal.checks.body.locale import Locale
from pabal.compat import ids
from pabal.compat.differences import CallDifference, note
from pabal.compat.solapi.authentication import parse_time
from pabal.compat.solapi.codes import invalid, not_found
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
    return GROUP_PREFIX + ids.encode(request_id)


def format_message_id(message_id: bytes) -> str:
    return MESSAGE_PREFIX + ids.encode(message_id)


def format_file_id(file_id: bytes) -> str:
    return FILE_PREFIX + ids.encode(file_id)


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
    return ids.decode(spelling.removeprefix(prefix), size) if spelling.startswith(prefix) else None
