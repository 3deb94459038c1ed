"""The HTTP client of NHN Cloud's APIs; its errors tell whether a call can have been processed."""

import io
import re
from collections.abc import AsyncIterator, Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote
from zoneinfo import ZoneInfo

import aiohttp
import msgspec

from pabal.carriers.relay.http import ErrorAnswer, HttpClient, OnAnswer
from pabal.carriers.relay.http import NoResponse as NoResponse
from pabal.carriers.relay.http import NotProcessed as NotProcessed
from pabal.carriers.relay.http import Throttled as Throttled
from pabal.carriers.relay.http import expect_documented_shape as expect_documented_shape
from pabal.outbound.calls import HttpAnswer, Transport

SEOUL = ZoneInfo("Asia/Seoul")
"""The time zone of all dates in NHN Cloud's APIs."""
JSON_TYPE = "application/json;charset=UTF-8"
MAX_MESSAGE_CHARACTERS = 200
"""How much of an error message is passed on."""
PAGE_SIZE = 1000
MAX_PAGES = 1000
FIRST_ERROR_STATUS = 400
FIRST_SERVER_ERROR_STATUS = 500
"""From this status on the call may have been processed, whatever the body says: a gateway answered for the API."""
NOT_ADMITTED_STATUSES = (401, 403, 404)
"""The gateway did not pass the call on: our address, our keys or the path is not allowed there."""
TOO_LARGE = 4131000
"""The gateway's code for a request of more than 10 MB."""
CALL_QUOTA_EXCEEDED = 4291001
"""The gateway's code for a usage quota that is exceeded; other codes with HTTP 429 mean too many calls a second."""
_PLAIN_SENTENCE = re.compile(r"[A-Za-z ,.;:'()@/_…-]*")
"""As documented messages are: no digits and no Hangul, so that it repeats neither a number nor a Korean text."""


class ErrorResponse(ErrorAnswer):
    """The API answered with an error; `answer` is the whole body.

    As a text, for logs and operators, it has the code, and the message if that cannot repeat a number or a text.
    """

    def __init__(self, code: int, message: str, answer: Mapping[str, Any]) -> None:
        super().__init__(f"{code} {message}" if _PLAIN_SENTENCE.fullmatch(message) else str(code))
        self.code = code
        self.message = message
        self.answer = answer


class UploadFile(NamedTuple):
    """A file to upload in a form field."""

    field: str
    name: str
    content_type: str
    body: bytes
    fields: Mapping[str, str] = MappingProxyType({})
    """Other fields of the form."""

    async def encode(self) -> tuple[str, bytes]:
        """Return the type and the body of the form."""
        form = aiohttp.FormData(quote_fields=False)
        form.add_field(self.field, io.BytesIO(self.body), filename=self.name, content_type=self.content_type)
        for name, value in self.fields.items():
            form.add_field(name, value)
        parts = form()
        return parts.headers["Content-Type"], await parts.as_bytes()


class NhnCloudClient(HttpClient):
    """The client of one API: an address, an app key and its secret key."""

    def __init__(
        self,
        address: str,
        app_key: str,
        secret_key: str,
        ca_file: Path | None = None,
        transport: Transport | None = None,
        on_answer: OnAnswer | None = None,
    ) -> None:
        """`transport` replaces the network in tests. Raises BadSetting for a CA file that cannot be read."""
        super().__init__(address, {"X-Secret-Key": secret_key}, ca_file, transport, on_answer=on_answer)
        self._app_key = app_key
        self._secrets = (app_key, secret_key)

    async def request(
        self,
        method: str,
        path: str,
        *,
        timeout_s: float,
        body: Any = None,
        query: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        file: UploadFile | None = None,
    ) -> dict[str, Any]:
        """Make a call and return the answer; `{appkey}` in the path is replaced.

        Raises NotProcessed, NoResponse, Throttled, ErrorResponse.
        """
        content, all_headers = b"", dict(headers or {})
        if body is not None:
            all_headers["Content-Type"], content = JSON_TYPE, msgspec.json.encode(body)
        elif file:
            all_headers["Content-Type"], content = await file.encode()
        response = await self.send(
            method,
            path.replace("{appkey}", quote(self._app_key, safe="")),
            timeout_s=timeout_s,
            content=content,
            query=query,
            headers=all_headers,
        )
        return self._parse(response)

    async def pages(
        self,
        path: str,
        place: tuple[str, str],
        query: Mapping[str, str | int],
        timeout_s: Callable[[], float],
        size: int = PAGE_SIZE,
        *,
        may_be_null: bool = True,
    ) -> AsyncIterator[list[dict[str, Any]]]:
        """Yield the rows of each page of a list, at `place` in its answers; null may mean that it is empty.

        A page may be shorter than asked for, as for some lists no largest size is documented: pages are read up to
        the total, where it is told. Raises as `request` does.
        """
        count = 0
        for number in range(1, MAX_PAGES + 1):
            asked = {**query, "pageNum": number, "pageSize": size}
            answer = await self.request("GET", path, query=asked, timeout_s=timeout_s())
            rows, total = _rows(answer, place, may_be_null=may_be_null)
            yield rows
            count += len(rows)
            if not rows or (len(rows) < size if total is None else count >= total):
                return

    def _parse(self, response: HttpAnswer) -> dict[str, Any]:
        """Return the answer. The status comes first: the gateway's errors have the same header as the API's."""
        status = response.status
        header = _read_header(response)
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            raise Throttled(header is not None and header.code == CALL_QUOTA_EXCEEDED)
        error = header and ErrorResponse(header.code, self._sanitize(header.message), header.answer)
        if status >= FIRST_SERVER_ERROR_STATUS:
            raise NoResponse(f"HTTP {status} ({error})" if error else f"invalid response (HTTP {status})")
        if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            raise ErrorResponse(TOO_LARGE, "The request is too large.", {})
        if status >= FIRST_ERROR_STATUS and (error is None or _is_not_admitted(status, error.code)):
            raise NotProcessed(f"HTTP {status} ({error})" if error else f"HTTP {status}")
        if header is None or error is None:
            raise NoResponse(f"invalid response (HTTP {status})")
        if not header.is_successful:
            raise error
        return header.answer

    def _sanitize(self, message: str) -> str:
        """Return an error message for logs and operators: one line, not too long, without our keys."""
        for secret in filter(None, self._secrets):
            message = message.replace(secret, "…")
        return " ".join(message.split())[:MAX_MESSAGE_CHARACTERS]


class _Header(NamedTuple):
    is_successful: bool
    code: int
    message: str
    answer: dict[str, Any]
    """The whole body."""


def _read_header(response: HttpAnswer) -> _Header | None:
    """Return the header that every answer has; None if this one has none."""
    try:
        answer = dict(msgspec.json.decode(response.body))
        header = answer["header"]
        code, message = int(header["resultCode"]), str(header.get("resultMessage") or "")
        return _Header(header["isSuccessful"] is True, code, message, answer)
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError, AttributeError):
        return None


def _rows(
    answer: Mapping[str, Any], place: tuple[str, str], *, may_be_null: bool
) -> tuple[list[dict[str, Any]], int | None]:
    """Return the rows of a page, and the number of rows on all pages if it is told.

    Some APIs leave out the outer object, and the documentation of one shows two shapes. Raises NoResponse.
    """
    with expect_documented_shape():
        body = answer.get(place[0], answer) or {}
        found, total = body[place[1]], body.get("totalCount")
        rows = found["resultUpdateList"] if isinstance(found, dict) else found
        return list(rows or () if may_be_null else rows), total if isinstance(total, int) else None


def _is_not_admitted(status: int, code: int) -> bool:
    """Return whether the gateway, whose codes begin with the status, refused to pass a call on."""
    return status in NOT_ADMITTED_STATUSES and str(code).startswith(str(status))
