"""The HTTP client of NHN Cloud's interfaces; its errors tell whether a call can have been processed."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
import msgspec

from pabal.carriers.relay.http import ErrorAnswer, HttpClient
from pabal.carriers.relay.http import NoResponse as NoResponse
from pabal.carriers.relay.http import NotProcessed as NotProcessed
from pabal.carriers.relay.http import Throttled as Throttled
from pabal.carriers.relay.http import expect_documented_shape as expect_documented_shape
from pabal.domain.dates import Instant

MAX_MESSAGE_CHARACTERS = 200
"""How much of an error message is passed on."""
TOO_MANY_REQUESTS = 429
FIRST_SERVER_ERROR = 500
"""From this status on the call may have been processed: a gateway answered, or the API failed midway."""
_PLAIN_SENTENCE = re.compile(r"[A-Za-z ,.;:'()@/_…-]*")
"""As documented messages are: no digits and no Hangul, so that it repeats neither a number nor a Korean text."""


class ErrorResponse(ErrorAnswer):
    """The interface answered with an error; `answer` is the whole body.

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


class NhnCloudClient:
    """The client of one interface: an address, an app key and its secret key."""

    def __init__(
        self,
        address: str,
        app_key: str,
        secret_key: str,
        ca_file: Path | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`transport` replaces the network in tests. Raises BadSetting for a CA file that cannot be read."""
        self._app_key = app_key
        self._secrets = (app_key, secret_key)
        self._http = HttpClient(address, {"X-Secret-Key": secret_key}, ca_file, transport)

    @property
    def server_time(self) -> Instant | None:
        """The Date header of the last response."""
        return self._http.server_time

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
        content = None if body is None else msgspec.json.encode(body)
        all_headers = dict(headers or {})
        if content is not None:
            all_headers["Content-Type"] = "application/json;charset=UTF-8"
        response = await self._http.send(
            method,
            path.replace("{appkey}", quote(self._app_key, safe="")),
            timeout_s=timeout_s,
            content=content,
            query=query,
            headers=all_headers,
            files={file.field: (file.name, file.body, file.content_type)} if file else None,
        )
        return self._parse(response)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

    def _parse(self, response: httpx.Response) -> dict[str, Any]:
        if response.status_code == TOO_MANY_REQUESTS:
            raise Throttled
        try:
            answer = msgspec.json.decode(response.content)
            header = answer["header"]
            is_successful, code = header["isSuccessful"], int(header["resultCode"])
            message = str(header.get("resultMessage") or "")
        except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError, AttributeError):
            if response.status_code >= FIRST_SERVER_ERROR or response.status_code < 400:
                raise NoResponse(f"invalid response (HTTP {response.status_code})") from None
            raise NotProcessed(f"HTTP {response.status_code}") from None
        if is_successful is not True:
            raise ErrorResponse(code, self._sanitize(message), answer)
        return dict(answer)

    def _sanitize(self, message: str) -> str:
        """Return an error message for logs and operators: one line, not too long, without our keys."""
        for secret in filter(None, self._secrets):
            message = message.replace(secret, "…")
        return " ".join(message.split())[:MAX_MESSAGE_CHARACTERS]
