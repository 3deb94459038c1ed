"""The HTTP client of a relay; its errors tell whether a call can have been processed."""

import asyncio
import contextlib
import os
import socket
import ssl
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx

from pabal.carriers.relay.kept_connections import KeptConnections
from pabal.domain.base.dates import SECOND, Instant
from pabal.settings.field import BadSetting

CONNECT_TIMEOUT_S = 5.0
MAX_CAUSES = 10
"""How far the causes of an exception are followed."""

DEFAULT_HEADERS = {"Accept": "*/*", "Accept-Encoding": "gzip, deflate", "User-Agent": "pabal"}


class NotProcessed(Exception):
    """The call was not processed: no connection could be made, or it was refused with a 4xx."""


class NoResponse(Exception):
    """The call may have been processed, but there is no usable response."""


class Throttled(Exception):
    """HTTP 429: the call was not processed; `is_quota` if a usage quota is exceeded, and not only the rate."""

    def __init__(self, is_quota: bool = False) -> None:
        super().__init__("the usage quota of calls is exceeded (HTTP 429)" if is_quota else "")
        self.is_quota = is_quota


class ErrorAnswer(Exception):
    """The relay answered with an error; its subclasses know which."""


@contextlib.contextmanager
def expect_documented_shape() -> Iterator[None]:
    """Treat an answer whose shape differs from the documentation as no response.

    Raises NoResponse.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise NoResponse("the answer is not as documented") from None


class HttpClient:
    """Connections to one address."""

    def __init__(
        self,
        address: str,
        headers: Mapping[str, str] | None = None,
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
        self._address = address.rstrip("/")
        self._headers = {**DEFAULT_HEADERS, **(headers or {})}
        self._transport = transport or KeptConnections(context)
        self._is_closed = False

    async def send(
        self,
        method: str,
        path: str,
        *,
        timeout_s: float,
        content: bytes | None = None,
        query: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        files: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        """Make a call and return the response, whatever its status.

        Raises NotProcessed, NoResponse.
        """
        if self._is_closed:
            raise NotProcessed("the service is stopping")
        request = httpx.Request(
            method,
            self._address + path,
            params=dict(query) if query else None,
            headers={**self._headers, **(headers or {})},
            content=content,
            files=dict(files) if files else None,
            extensions={"timeout": {"connect": min(CONNECT_TIMEOUT_S, timeout_s), "pool": timeout_s}},
        )
        try:
            async with asyncio.timeout(timeout_s):
                response = await self._transport.handle_async_request(request)
                await response.aread()
        except TimeoutError:
            raise NoResponse("no response in time") from None
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise NotProcessed(_describe(error)) from None
        except httpx.HTTPError as error:
            raise NoResponse(_describe(error)) from None
        self.server_time = _server_time(response)
        return response

    async def close(self) -> None:
        """Close the connections."""
        self._is_closed = True
        await self._transport.aclose()


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
    """Return why there is no response, without the URL, which may contain a key."""
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
