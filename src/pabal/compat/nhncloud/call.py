"""One call of NHN Cloud's endpoints, after its key was checked: its body, its errors, and what it sends, once."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from pabal.carriers.nhncloud.client import TOO_LARGE
from pabal.checks.body.locale import Locale
from pabal.compat.differences import CallDifference, Query, decode_short, list_ignored, note
from pabal.compat.own_values import decode_id, encode_id
from pabal.compat.relay_api import CallRefused, RouteTable
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Problem, Refused
from pabal.domain.base.dates import MINUTE, Instant
from pabal.domain.base.identifiers import REQUEST_ID_BYTES, requested_at
from pabal.domain.sends.sending import SMALL_RECEIVERS, Sending
from pabal.service.context import Context
from pabal.service.sending.accept import IdempotencyKey, choose_slot, prepare_request
from pabal.service.sending.accept_call import CallSize, accept_call
from pabal.store.accounts.accounts import ApiKey

S = TypeVar("S", bound=msgspec.Struct)

KIND = "nhncloud"
SEOUL = ZoneInfo("Asia/Seoul")
"""The time zone of all dates in these endpoints, whatever the service's is."""
DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE = 15, 1000
MAX_PAGE = 1_000_000


INVALID_PARAMETER = 4
DUPLICATE_CALL = -1005
TOO_MANY_CALLS = 4290000
"""Of the gateway, whose codes begin with the HTTP status."""
UNAVAILABLE = 5030000
_GATEWAY = {
    Code.PAYLOAD_TOO_LARGE: (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LARGE),
    Code.RATE_LIMITED: (HTTPStatus.TOO_MANY_REQUESTS, TOO_MANY_CALLS),
    Code.SERVICE_UNAVAILABLE: (HTTPStatus.SERVICE_UNAVAILABLE, UNAVAILABLE),
}
"""What NHN Cloud's gateway refuses before a call reaches the API: it has an HTTP status."""
COMMON = {
    Code.UNAUTHORIZED: (-1000, "Invalid appKey."),
    Code.KEY_EXPIRED: (-1000, "Invalid appKey."),
    Code.FORBIDDEN: (-1004, "Not allow ip."),
    Code.INVALID_JSON: (-9997, "Invalid API parameters."),
    Code.NOT_FOUND: (-9998, "Not exist API."),
    Code.METHOD_NOT_ALLOWED: (-9998, "Not exist API."),
    Code.INTERNAL_ERROR: (-9999, "System error."),
}
"""Codes and messages that all services have."""


class NhnRefused(CallRefused):
    """An error answer; `body` is what stands beside the header."""

    def __init__(
        self,
        code: int,
        message: str,
        body: Mapping[str, Any] = MappingProxyType({}),
        *,
        status: int = HTTPStatus.OK,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(status, str(code), message, retry_after_s)
        self.body = body


def invalid(message: str) -> NhnRefused:
    """Return the error of a call with a wrong parameter that has no code of its own."""
    return NhnRefused(INVALID_PARAMETER, message)


def not_found() -> NhnRefused:
    """Return the error of a path that is not served."""
    return NhnRefused(*COMMON[Code.NOT_FOUND])


def from_gateway(refused: Refused) -> NhnRefused | None:
    """Return the error of a refusal that concerns no single service; None for another one."""
    problem = refused.problems[0]
    if problem.code in _GATEWAY:
        status, number = _GATEWAY[problem.code]
        return NhnRefused(number, problem.message("ko"), status=status, retry_after_s=refused.retry_after_s)
    if problem.code in COMMON:
        number, words = COMMON[problem.code]
        return NhnRefused(number, explain(words, problem))
    return None


def explain(words: str, problem: Problem) -> str:
    """Return NHN Cloud's message with what ours says in addition."""
    place = f" ({problem.field})" if problem.field else ""
    return f"{words} {problem.message('ko')}{place}"


def header(code: int = 0, message: str = "SUCCESS") -> dict[str, Any]:
    """Return the header of an answer."""
    return {"isSuccessful": code == 0, "resultCode": code, "resultMessage": message}


class Endpoints(NamedTuple):
    """A service: its paths begin with its name, a version and the app key."""

    name: str
    versions: frozenset[str]
    secretless: frozenset[str]
    """Of these, those whose calls have no secret key."""
    table: RouteTable
    code_of: Callable[[Problem], tuple[int, str]]
    """Returns the code and the message for a problem that concerns this service."""
    bad_secret: tuple[int, str] = COMMON[Code.UNAUTHORIZED]


class NhnCall(NamedTuple):
    """What every endpoint needs of a call."""

    context: Context
    key: ApiKey
    locale: Locale
    now: Instant
    version: str
    path: str
    """What comes behind the app key."""
    query: Query
    raw: bytes
    idempotency: str | None
    """The caller's X-NC-API-IDEMPOTENCY-KEY."""

    @property
    def account_id(self) -> int:
        return self.key.account_id

    def note(self, difference: CallDifference, detail: str = "", uses: int = 1) -> None:
        """Count in what this call differs from NHN Cloud's."""
        note(self.context, self.account_id, KIND, difference, detail, uses)

    def note_refusals(self, codes: Iterable[int]) -> None:
        """Count the recipients that were refused, by their codes."""
        for code, uses in Counter(codes).items():
            self.note(CallDifference.REFUSED, str(code), uses)

    def decode(self, shape: type[S]) -> S:
        """Return the body; what no field of `shape` names is ignored, and noted.

        Raises NhnRefused.
        """
        if b"\\u0000" in self.raw:
            raise invalid("Non printable characters are not allowed.")
        try:
            found = msgspec.json.decode(self.raw or b"{}", type=shape)
        except msgspec.ValidationError as error:
            raise invalid(str(error)) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise NhnRefused(*COMMON[Code.INVALID_JSON]) from None
        self.note_ignored(decode_short(self.raw), shape)
        return found

    def note_ignored(self, given: Any, shape: type[msgspec.Struct]) -> None:
        """Count the fields of a part that nothing is done with, by their names."""
        for name in list_ignored(given, shape):
            self.note(CallDifference.FIELD, name)

    def read_page(self) -> tuple[int, int]:
        """Return the number and the size of the page that is asked for.

        Raises NhnRefused.
        """
        number = self.read_number("pageNum", 1, MAX_PAGE)
        size = self.read_number("pageSize", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
        return number, size

    def read_number(self, name: str, default: int, most: int) -> int:
        """Return a whole number from 1 on in the query.

        Raises NhnRefused.
        """
        spelling = self.query.get(name) or str(default)
        if not (spelling.isascii() and spelling.isdigit() and len(spelling) < 10 and 1 <= int(spelling) <= most):
            raise invalid(f"{name}: 1 ~ {most:,}")
        return int(spelling)


def format_request_id(request_id: bytes) -> str:
    """Return a requestId: 18 letters and digits, where NHN Cloud's have 25."""
    return encode_id(request_id)


def parse_request_id(spelling: str) -> bytes | None:
    """Return the id of a request, None where it is malformed."""
    return decode_id(spelling, REQUEST_ID_BYTES)


def format_time(at: Instant | None) -> str | None:
    """Return a time as yyyy-MM-dd HH:mm:ss in Korean time."""
    return None if at is None else dates.format_timestamp(at, SEOUL)


def format_tenths(at: Instant | None) -> str | None:
    """Return a time as the lists of texts write it: yyyy-MM-dd HH:mm:ss.S."""
    return None if at is None else f"{dates.format_timestamp(at, SEOUL)}.{at // 100 % 10}"


def parse_time(spelling: str, units: Sequence[str] = ("minutes", "seconds")) -> Instant | None:
    """Return a time in Korean time, written as yyyy-MM-dd HH:mm:ss up to one of these units; else None."""
    try:
        found = datetime.fromisoformat(spelling)
    except ValueError:
        return None
    if found.tzinfo or all(found.isoformat(" ", unit) != spelling for unit in units):
        return None
    return int(found.replace(tzinfo=SEOUL).timestamp() * 1000)


def page_of(number: int, size: int, total: int, rows: Sequence[Any]) -> dict[str, Any]:
    """Return a page as the lists of SMS have it."""
    return {"pageNum": number, "pageSize": size, "totalCount": total, "data": list(rows)}


REPEAT_MS = 10 * MINUTE
"""How long an idempotency key may not be used again; after that, it is a new one."""
_USED = "The same 'X-NC-API-IDEMPOTENCY-KEY' was used within the last 10 minute."


async def accept_once(call: NhnCall, sends: Sequence[Sending], size: CallSize) -> list[bytes]:
    """Store the sends of a call, which are at most `MAX_STORED_TOGETHER` messages, in one transaction.

    Returns the ids of their requests. Raises NhnRefused where its idempotency key was used minutes ago, and Refused
    as `accept_call` and `prepare_request` do.
    """
    await asyncio.sleep(0)  # where many calls are at this step together, each costs less than by itself
    context, account_id = call.context, call.account_id
    slot = choose_slot(context, account_id, call.idempotency)
    lane = int(sum(len(each.receivers) for each in sends) > SMALL_RECEIVERS)
    name = call.idempotency
    while True:
        prepared = [
            await prepare_request(
                context,
                account_id,
                each,
                _key_of(call, name) if number == 0 else None,
                drops_duplicates=True,  # a refusal would be one of all recipients
                api_key_id=call.key.id,
                slot=slot,
                lane=lane,
            )
            for number, each in enumerate(sends)
        ]
        accepted = await accept_call(context, account_id, prepared, size._replace(is_once=True))
        first = accepted[0]
        if first.is_new:
            return [each.request_id for each in accepted]
        if call.now - requested_at(first.request_id) < REPEAT_MS:
            raise NhnRefused(DUPLICATE_CALL, _USED)
        name = f"{call.idempotency}:{first.request_id.hex()}"  # it was used long ago: look for a later use


def _key_of(call: NhnCall, name: str | None) -> IdempotencyKey | None:
    """Return the key of a call; a repeat is refused whatever its body is, so that the digest says nothing of it."""
    return IdempotencyKey(f"{KIND}:{call.path}:{name}", b"") if name else None
