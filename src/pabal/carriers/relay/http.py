"""The HTTP client of a relay; its errors tell whether a call can have been processed."""

import asyncio
import contextlib
import functools
import ssl
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import quote, urlencode

from pabal.domain.base.dates import SECOND, Instant
from pabal.outbound.calls import CallFailed, Failure, HttpAnswer, HttpRequest, NotConnected, Transport
from pabal.outbound.connections import HttpConnections
from pabal.settings.environment import cannot_read
from pabal.settings.field import BadSetting

MAX_CONNECTIONS = 256
OnAnswer = Callable[[str, str, HttpAnswer], None]
"""Called with the method, the path and the answer of every call that was answered."""
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
        transport: Transport | None = None,
        max_connections: int = MAX_CONNECTIONS,
        on_answer: OnAnswer | None = None,
    ) -> None:
        """`transport` replaces the network in tests. Raises BadSetting for a CA file that cannot be read."""
        try:
            self._context = _trust(ca_file)
        except OSError as error:
            raise BadSetting(*cannot_read("tls_ca", error)) from None
        self.server_time: Instant | None = None
        """The Date header of the last response, with a resolution of one second."""
        self._address = address.rstrip("/")
        self._headers = {**DEFAULT_HEADERS, **(headers or {})}
        self._transport = transport
        self._free = asyncio.Semaphore(max_connections)
        self._on_answer = on_answer
        self._is_closed = False

    async def send(
        self,
        method: str,
        path: str,
        *,
        timeout_s: float,
        content: bytes = b"",
        query: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> HttpAnswer:
        """Make a call and return the answer, whatever its status.

        Raises NotProcessed, NoResponse.
        """
        url = self._address + path + (f"?{urlencode(query, quote_via=quote)}" if query else "")
        request = HttpRequest(method, url, {**self._headers, **(headers or {})}, content)
        is_begun = False
        try:
            async with asyncio.timeout(timeout_s), self._free:
                transport = self._connect()
                is_begun = True
                answer = await transport.send(request)
        except TimeoutError:
            if is_begun:
                raise NoResponse("no response in time") from None
            raise NotProcessed("too many calls at the same time") from None
        except NotConnected as failed:
            raise NotProcessed(_describe(failed)) from None
        except CallFailed as failed:
            raise NoResponse(_describe(failed)) from None
        self.server_time = _server_time(answer)
        if self._on_answer:
            self._on_answer(method, path, answer)
        return answer

    async def close(self) -> None:
        """Close the connections; calls that run fail."""
        self._is_closed = True
        if self._transport:
            await self._transport.close()

    def _connect(self) -> Transport:
        """Return the connections, which need the event loop of the calls.

        Raises NotProcessed.
        """
        if self._is_closed:
            raise NotProcessed("the service is stopping")
        if self._transport is None:
            self._transport = HttpConnections(self._context)
        return self._transport


@functools.cache
def _trust(ca_file: Path | None) -> ssl.SSLContext:
    """Return what tells whether a server is the one meant; reading the authorities takes 50 ms."""
    return ssl.create_default_context(cafile=ca_file)


def _server_time(answer: HttpAnswer) -> Instant | None:
    try:
        return round(parsedate_to_datetime(answer.headers["Date"]).timestamp()) * SECOND
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def _describe(failed: CallFailed) -> str:
    return f"TLS: {failed}" if failed.failure is Failure.TLS else str(failed)
