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
    """An error response; `extra` is the rest of the body beside the header."""

    def __init__(self, code: int, message: str, extra: Json | None = None) -> None:
        super().__init__(f"{code} {message}")
        self.code = code
        self.message = message
        self.extra = extra or {}


class Reply(NamedTuple):
    status: int
    content_type: str
    body: bytes


class File(NamedTuple):
    """An uploaded file of a form."""

    name: str
    body: bytes


@dataclass(slots=True)
class Request:
    """An HTTP request; header names are in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    path_params: dict[str, str] = field(default_factory=dict)
    """Values of the path parameters, which the documentation writes in braces."""
    recipient_count: int = 0
    """Number of recipients in the body."""

    def form(self) -> dict[str, str | File]:
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
    return {"header": {"isSuccessful": code == 0, "resultCode": code, "resultMessage": message}}


def json_reply(answer: Json, status: int = 200) -> Reply:
    return Reply(status, "application/json;charset=UTF-8", msgspec.json.encode(answer))


def format_seoul(at: int | None, form: str = SECONDS_FORMAT) -> str | None:
    """Return a time in epoch milliseconds as a date in Seoul."""
    return None if at is None else datetime.fromtimestamp(at / 1000, SEOUL).strftime(form)


def format_with_tenths(at: int | None) -> str | None:
    """Return a time in the format of the SMS API: 2018-08-10 10:06:30.0."""
    return None if at is None else f"{format_seoul(at)}.0"


def parse_seoul(given: str, form: str) -> int | None:
    """Return a date in Seoul as epoch milliseconds; None if the format differs."""
    try:
        parsed = datetime.strptime(given, form).replace(tzinfo=SEOUL)
    except ValueError:
        return None
    if parsed.strftime(form) != given:
        return None
    return round((parsed.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))


def paginate(
    found: Sequence[T], query: Mapping[str, str], refusal: ApiError, max_rows: int = MAX_PAGE_SIZE
) -> tuple[int, int, Sequence[T]]:
    """Return number, size and content of the requested page; where no maximum is documented, `max_rows` is one.

    Raises `refusal` for invalid parameters.
    """
    try:
        number, size = int(query.get("pageNum") or 1), int(query.get("pageSize") or DEFAULT_PAGE_SIZE)
    except ValueError:
        raise refusal from None
    if number < 1 or not 1 <= size <= MAX_PAGE_SIZE:
        raise refusal
    size = min(size, max_rows)
    return number, size, found[(number - 1) * size : number * size]
