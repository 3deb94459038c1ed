"""Calls to one of NHN Cloud's interfaces, and what can be said of a call that brought no answer."""

import asyncio
import contextlib
import logging
import os
import socket
import ssl
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec

from pabal.domain.dates import SECOND, Instant
from pabal.settings.field import BadSetting

CONNECT_S = 5.0
IDLE_S = 30.0
"""A connection that nothing was sent over for so long is not used again: the far end may just be closing it."""
MOST_CONNECTIONS = 256
MOST_CAUSES = 10
MOST_WORDS = 200
"""How many characters of what it says are told to others."""
THROTTLED = 429
SERVER_ERRORS = 500
"""From here on whatever stands before the interface says it, or the interface in trouble: it may have arrived."""

logging.getLogger("httpx").setLevel(logging.WARNING)  # it would log every address, and app keys stand in them


class NotReached(Exception):
    """The call never left: nobody is there, or nobody answered the connection."""


class NoAnswer(Exception):
    """The call may have arrived, but what became of it nobody said."""


class Throttled(Exception):
    """Too many calls: this one was not looked at."""


class Said(Exception):
    """The interface answered that it will not; `answer` is all that it said."""

    def __init__(self, code: int, message: str, answer: Mapping[str, Any]) -> None:
        super().__init__(f"{code} {message}")
        self.code = code
        self.message = message
        self.answer = answer


@contextlib.contextmanager
def read_as_documented() -> Iterator[None]:
    """Take an answer that is not made as its documentation says for none at all.

    Raises NoAnswer.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise NoAnswer("an answer that is not as documented") from None


class File(NamedTuple):
    """A file to upload, in the form field of this name."""

    field: str
    name: str
    content_type: str
    body: bytes


class NhnCloudClient:
    """One of its interfaces: an address, an app key and the secret that goes with it."""

    def __init__(
        self,
        address: str,
        app_key: str,
        secret_key: str,
        authority: Path | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`transport` stands in for the network. Raises BadSetting for an authority that cannot be read."""
        try:
            context = ssl.create_default_context(cafile=authority)
        except OSError as error:
            raise BadSetting(f"tls_ca: cannot be read ({error.strerror})") from None
        self.date: Instant | None = None
        """What its clock showed when it answered last, to the second."""
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
                max_connections=MOST_CONNECTIONS,
                max_keepalive_connections=MOST_CONNECTIONS,
                keepalive_expiry=IDLE_S,
            ),
        )

    async def ask(
        self,
        method: str,
        path: str,
        *,
        within_s: float,
        body: Any = None,
        query: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        file: File | None = None,
    ) -> dict[str, Any]:
        """Call, and return what was answered; `{appkey}` in the path is filled in.

        Raises NotReached, NoAnswer, Throttled, Said.
        """
        if self._http.is_closed:
            raise NotReached("the service is stopping")
        content = None if body is None else msgspec.json.encode(body)
        all_headers = dict(headers or {})
        if content is not None:
            all_headers["Content-Type"] = "application/json;charset=UTF-8"
        request = self._http.build_request(
            method,
            path.replace("{appkey}", self._app_key),
            content=content,
            params=dict(query) if query else None,
            headers=all_headers,
            files={file.field: (file.name, file.body, file.content_type)} if file else None,
            timeout=httpx.Timeout(None, connect=min(CONNECT_S, within_s), pool=within_s),
        )
        try:
            async with asyncio.timeout(within_s):
                response = await self._http.send(request)
        except TimeoutError:
            raise NoAnswer("no answer in time") from None
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise NotReached(_in_words(error)) from None
        except httpx.HTTPError as error:
            raise NoAnswer(_in_words(error)) from None
        self.date = _date(response)
        return self._read(response)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def _read(self, response: httpx.Response) -> dict[str, Any]:
        if response.status_code == THROTTLED:
            raise Throttled
        try:
            answer = msgspec.json.decode(response.content)
            header = answer["header"]
            is_successful, code = header["isSuccessful"], int(header["resultCode"])
            message = str(header.get("resultMessage") or "")
        except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError, AttributeError):
            if response.status_code >= SERVER_ERRORS or response.status_code < 400:
                raise NoAnswer(f"an answer that is none (HTTP {response.status_code})") from None
            raise NotReached(f"HTTP {response.status_code}") from None
        if is_successful is not True:
            raise Said(code, self._clean(message), answer)
        return dict(answer)

    def _clean(self, message: str) -> str:
        """Return its words for logs and operators: one line, not too long, and without our keys in them."""
        for secret in filter(None, self._secrets):
            message = message.replace(secret, "…")
        return " ".join(message.split())[:MOST_WORDS]


def _date(response: httpx.Response) -> Instant | None:
    try:
        return round(parsedate_to_datetime(response.headers["date"]).timestamp()) * SECOND
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what led to it; of several addresses that were tried, the first counts."""
    found: BaseException | None = error
    for _ in range(MOST_CAUSES):
        if found is None:
            return
        yield found
        if isinstance(found, BaseExceptionGroup):
            found = found.exceptions[0]
        else:
            found = found.__cause__ or found.__context__


def _in_words(error: Exception) -> str:
    """Return why there was no answer, without the address: a key stands in it."""
    if isinstance(error, httpx.ConnectTimeout):
        return "the connection was not answered"
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    for each in _causes(error):
        if isinstance(each, ssl.SSLError):
            return f"TLS: {getattr(each, 'verify_message', '') or each.reason or type(each).__name__}"
        if isinstance(each, OSError) and each.errno:
            is_of_names = isinstance(each, socket.gaierror)  # whose numbers are others
            return str(each.strerror) if is_of_names else os.strerror(each.errno)
    return f"the connection failed ({type(error).__name__})"
