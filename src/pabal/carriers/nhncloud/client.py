"""The HTTP client of NHN Cloud's interfaces; its errors tell whether a call can have been processed."""

import asyncio
import contextlib
import logging
import os
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
import msgspec

from pabal.domain.dates import SECOND, Instant
from pabal.settings.field import BadSetting

CONNECT_TIMEOUT_S = 5.0
KEEPALIVE_S = 30.0
"""A connection idle for this long is not used again: the server may be closing it."""
MAX_CONNECTIONS = 256
MAX_CAUSES = 10
"""How far the causes of an exception are followed."""
MAX_MESSAGE_CHARACTERS = 200
"""How much of an error message is passed on."""
TOO_MANY_REQUESTS = 429
FIRST_SERVER_ERROR = 500
"""From this status on the call may have been processed: a gateway answered, or the API failed midway."""
_PLAIN_SENTENCE = re.compile(r"[A-Za-z ,.;:'()@/_…-]*")
"""As documented messages are: no digits and no Hangul, so that it repeats neither a number nor a Korean text."""

logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs every URL, and these contain app keys


class NotProcessed(Exception):
    """The call was not processed: no connection could be made, or it was refused with a 4xx."""


class NoResponse(Exception):
    """The call may have been processed, but there is no usable response."""


class Throttled(Exception):
    """HTTP 429: the call was not processed."""


class ErrorResponse(Exception):
    """The interface answered with an error; `answer` is the whole body.

    As a text, for logs and operators, it has the code, and the message if that cannot repeat a number or a text.
    """

    def __init__(self, code: int, message: str, answer: Mapping[str, Any]) -> None:
        super().__init__(f"{code} {message}" if _PLAIN_SENTENCE.fullmatch(message) else str(code))
        self.code = code
        self.message = message
        self.answer = answer


@contextlib.contextmanager
def expect_documented_shape() -> Iterator[None]:
    """Treat an answer whose shape differs from the documentation as no response.

    Raises NoResponse.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise NoResponse("the answer is not as documented") from None


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
        try:
            context = ssl.create_default_context(cafile=ca_file)
        except OSError as error:
            raise BadSetting(f"tls_ca: cannot be read ({error.strerror})") from None
        self.server_time: Instant | None = None
        """The Date header of the last response, with a resolution of one second."""
        self._app_key = app_key
        self._secrets = (app_key, secret_key)
        self._http = httpx.AsyncClient(
            base_url=address,
            transport=transport,
            headers={"X-Secret-Key": secret_key},
            verify=context,
            follow_redirects=False,
            trust_env=False,
            limits=httpx.Limits(
                max_connections=MAX_CONNECTIONS,
                max_keepalive_connections=MAX_CONNECTIONS,
                keepalive_expiry=KEEPALIVE_S,
            ),
        )

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

        Raises Unreachable, NoResponse, Throttled, ErrorResponse.
        """
        if self._http.is_closed:
            raise NotProcessed("the service is stopping")
        content = None if body is None else msgspec.json.encode(body)
        all_headers = dict(headers or {})
        if content is not None:
            all_headers["Content-Type"] = "application/json;charset=UTF-8"
        request = self._http.build_request(
            method,
            path.replace("{appkey}", quote(self._app_key, safe="")),
            content=content,
            params=dict(query) if query else None,
            headers=all_headers,
            files={file.field: (file.name, file.body, file.content_type)} if file else None,
            timeout=httpx.Timeout(None, connect=min(CONNECT_TIMEOUT_S, timeout_s), pool=timeout_s),
        )
        try:
            async with asyncio.timeout(timeout_s):
                response = await self._http.send(request)
        except TimeoutError:
            raise NoResponse("no response in time") from None
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise NotProcessed(_describe(error)) from None
        except httpx.HTTPError as error:
            raise NoResponse(_describe(error)) from None
        self.server_time = _server_time(response)
        return self._parse(response)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

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


def _server_time(response: httpx.Response) -> Instant | None:
    try:
        return round(parsedate_to_datetime(response.headers["date"]).timestamp()) * SECOND
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes; of several IP addresses that were tried, the first counts."""
    found: BaseException | None = error
    for _ in range(MAX_CAUSES):
        if found is None:
            return
        yield found
        if isinstance(found, BaseExceptionGroup):
            found = found.exceptions[0]
        else:
            found = found.__cause__ or found.__context__


def _describe(error: Exception) -> str:
    """Return why there is no response, without the URL, which contains a key."""
    if isinstance(error, httpx.ConnectTimeout):
        return "the connection timed out"
    if isinstance(error, httpx.TimeoutException):
        return "no response in time"
    for each in _causes(error):
        if isinstance(each, ssl.SSLError):
            return f"TLS: {getattr(each, 'verify_message', '') or each.reason or type(each).__name__}"
        if isinstance(each, OSError) and each.errno:
            is_dns_error = isinstance(each, socket.gaierror)  # its codes are EAI_*, not errno
            return str(each.strerror) if is_dns_error else os.strerror(each.errno)
    return f"the connection failed ({type(error).__name__})"
