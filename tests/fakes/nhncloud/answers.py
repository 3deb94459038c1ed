"""The shared formats of the interfaces: dates in Seoul time, pages, errors and strict parsing."""

import email.parser
import email.policy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, NamedTuple, TypeVar

import msgspec

T = TypeVar("T")
Json = dict[str, Any]

SEOUL = timezone(timedelta(hours=9))
SECONDS_FORMAT = "%Y-%m-%d %H:%M:%S"
MINUTES_FORMAT = "%Y-%m-%d %H:%M"
DAY_MS = 24 * 3600 * 1000
MAX_PAGE_SIZE = 1000
DEFAULT_PAGE_SIZE = 15


class ApiError(Exception):
    """The interface says no; `extra` is what it answers beside the header."""

    def __init__(self, code: int, message: str, extra: Json | None = None) -> None:
        super().__init__(f"{code} {message}")
        self.code = code
        self.message = message
        self.extra = extra or {}


class Reply(NamedTuple):
    """An answer as HTTP has it."""

    status: int
    content_type: str
    body: bytes


class File(NamedTuple):
    """A file of a form."""

    name: str
    body: bytes


@dataclass(slots=True)
class Request:
    """A request as HTTP has it; header names in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    path_params: dict[str, str] = field(default_factory=dict)
    """What stood in the path where the documentation has names in braces."""
    recipient_count: int = 0
    """How many recipients it names."""

    def form(self) -> dict[str, str | File]:
        """Return the fields of a multipart form."""
        head = f"Content-Type: {self.headers.get('content-type', '')}\r\n\r\n".encode()
        message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + self.body)
        found: dict[str, str | File] = {}
        for each in message.iter_parts() if message.is_multipart() else ():
            name = str(each.get_param("name", header="content-disposition", failobj=""))
            content = each.get_payload(decode=True)
            body = content if isinstance(content, bytes) else b""
            file_name = each.get_filename()
            found[name] = body.decode("utf-8", "replace") if file_name is None else File(file_name, body)
        return found


def header(code: int = 0, message: str = "SUCCESS") -> Json:
    """Return the header that every answer has."""
    return {"header": {"isSuccessful": code == 0, "resultCode": code, "resultMessage": message}}


def json_reply(answer: Json, status: int = 200) -> Reply:
    """Return an answer as the interfaces give it."""
    return Reply(status, "application/json;charset=UTF-8", msgspec.json.encode(answer))


def format_seoul(at: int | None, form: str = SECONDS_FORMAT) -> str | None:
    """Return a moment, in epoch milliseconds, as a date in Seoul."""
    return None if at is None else datetime.fromtimestamp(at / 1000, SEOUL).strftime(form)


def format_with_tenths(at: int | None) -> str | None:
    """Return a moment as the SMS interface tells it: 2018-08-10 10:06:30.0."""
    return None if at is None else f"{format_seoul(at)}.0"


def parse_seoul(given: str, form: str) -> int | None:
    """Return the moment of a date in Seoul, in epoch milliseconds; none if it is not written so."""
    try:
        parsed = datetime.strptime(given, form).replace(tzinfo=SEOUL)
    except ValueError:
        return None
    if parsed.strftime(form) != given:
        return None
    return round((parsed.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))


def minute_of_day(at: int) -> int:
    """Return how many minutes of the day have passed in Seoul."""
    local = datetime.fromtimestamp(at / 1000, SEOUL)
    return local.hour * 60 + local.minute


def paginate(found: Sequence[T], query: Mapping[str, str], refusal: ApiError) -> tuple[int, int, Sequence[T]]:
    """Return number, size and content of the page that is asked for; `refusal` is raised for one that cannot be."""
    try:
        number, size = int(query.get("pageNum") or 1), int(query.get("pageSize") or DEFAULT_PAGE_SIZE)
    except ValueError:
        raise refusal from None
    if number < 1 or not 1 <= size <= MAX_PAGE_SIZE:
        raise refusal
    return number, size, found[(number - 1) * size : number * size]
