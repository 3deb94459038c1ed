"""Kept connections of HTTP calls: aiohttp, with limits that it does not have."""

import asyncio
import contextlib
import io
import select
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import AddrInfoType, Connection, SocketFactoryType
from aiohttp.tracing import Trace
from yarl import URL

from pabal.outbound.calls import Failure, HttpAnswer, HttpRequest, NotConnected, Unanswered, describe

CONNECT_TIMEOUT_S = 5.0
KEEPALIVE_S = 30.0
"""A connection idle for this long is closed: the server may be closing it, too."""
MAX_HEAD_LINE_BYTES = 64 * 1024
MAX_BODY_BYTES = 64 * 1024 * 1024
"""A longer body is not read, neither as it is sent nor as it is unpacked."""
MAX_ANSWER_BYTES = MAX_BODY_BYTES + 1024 * 1024
"""How much of one answer is received: interim answers, head and body, of which some is received ahead."""
MAX_ANSWER_PIECES = 100_000
"""In how many pieces an answer may arrive; each costs time."""
WHOLE_BODY_BYTES = 1024 * 1024
"""A longer body of a request is written piece by piece, so that the event loop is not held up."""
FIRST_FINAL_STATUS = 200


class HttpConnections:
    """Connections that are used again; redirects, cookies and proxies are ignored."""

    def __init__(
        self,
        context: ssl.SSLContext,
        *,
        keepalive_s: float = KEEPALIVE_S,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        max_body_bytes: int = MAX_BODY_BYTES,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
        max_answer_pieces: int = MAX_ANSWER_PIECES,
        addresses: Sequence[str] | None = None,
    ) -> None:
        """`addresses`: the only ones that are connected to, whatever the host of a call is."""
        context.set_alpn_protocols(["http/1.1"])
        pinned = {} if addresses is None else {"resolver": _Pinned(addresses), "socket_factory": _allow(addresses)}
        self._max_body_bytes = max_body_bytes
        self._session = aiohttp.ClientSession(
            connector=_Connector(
                max_answer_bytes,
                max_answer_pieces,
                ssl=context,
                limit=0,
                keepalive_timeout=keepalive_s,
                use_dns_cache=False,
                **pinned,
            ),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout_s),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            middlewares=(_send_once,),
            max_line_size=MAX_HEAD_LINE_BYTES,
            max_field_size=MAX_HEAD_LINE_BYTES,
            trust_env=False,
        )

    async def send(self, request: HttpRequest) -> HttpAnswer:
        """Make a call and return the answer, unpacked.

        Raises NotConnected, Unanswered.
        """
        async with self.open(request, unpacks=True) as response:
            if response.status < FIRST_FINAL_STATUS:
                raise Unanswered(Failure.ANSWER, "the server speaks another protocol")
            body = bytearray()
            async for part in response.content.iter_any():
                body += part
                if len(body) > self._max_body_bytes:
                    raise _AnswerTooLong
            return HttpAnswer(response.status, response.headers, bytes(body))

    @contextlib.asynccontextmanager
    async def open(self, request: HttpRequest, *, unpacks: bool = False) -> AsyncIterator[aiohttp.ClientResponse]:
        """Make a call and lend the response once its head is there; if its body is not read, it is dropped.

        Raises NotConnected, Unanswered, also while the body is read.
        """
        if self._session.closed:
            raise NotConnected(Failure.CONNECTION, "the connections were closed")
        try:
            async with self._session.request(
                request.method,
                URL(request.url, encoded=True),
                data=io.BytesIO(request.body) if len(request.body) > WHOLE_BODY_BYTES else request.body or None,
                headers=request.headers,
                allow_redirects=False,
                auto_decompress=unpacks,
            ) as response:
                yield response
        except aiohttp.ConnectionTimeoutError:
            raise NotConnected(Failure.CONNECTION, "the connection timed out") from None
        except (aiohttp.ClientConnectorError, aiohttp.InvalidURL) as error:
            raise NotConnected(*describe(error.__cause__ or error)) from None
        except _AnswerTooLong:
            raise Unanswered(Failure.LENGTH, "the answer is too large") from None
        except aiohttp.ClientResponseError:
            raise Unanswered(Failure.ANSWER, "the answer is not valid HTTP") from None
        except aiohttp.ClientError as error:
            raise Unanswered(*describe(error.__cause__ or error)) from None

    async def close(self) -> None:
        """Close the connections; calls that run fail."""
        await self._session.close()


class _AnswerTooLong(aiohttp.ClientError):
    """The server sends more bytes or pieces than are read."""


class _Interrupted(aiohttp.ClientError):
    """The connection was lost during a call."""


async def _send_once(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Make a call; aiohttp would repeat a PUT or DELETE whose connection is lost before the answer."""
    try:
        return await send(request)
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise _Interrupted from error


class _Connector(aiohttp.TCPConnector):
    """Bounds every answer, and uses no kept connection again on which anything came in between.

    aiohttp would take that for the answer to the next call, whose message would then be sent twice.
    """

    def __init__(self, max_answer_bytes: int, max_answer_pieces: int, **options: Any) -> None:
        super().__init__(**options)
        self._max_answer_bytes = max_answer_bytes
        self._max_answer_pieces = max_answer_pieces

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        """Return a kept connection, or a new one."""
        while True:
            connection = await super().connect(req, traces, timeout)
            handler, transport = connection.protocol, connection.transport
            if handler is None or transport is None:
                raise _Interrupted
            bound = transport.get_protocol()
            if not isinstance(bound, _BoundedAnswers):
                bound = _BoundedAnswers(transport, handler)
                transport.set_protocol(bound)
            elif handler.should_close or _is_readable(transport.get_extra_info("socket")):
                connection.close()
                continue
            bound.expect(self._max_answer_bytes, self._max_answer_pieces)
            return connection


class _BoundedAnswers(asyncio.Protocol):
    """Passes what arrives to aiohttp's protocol, up to a limit for each answer.

    aiohttp reads interim answers (HTTP 1xx) without end, and the parts of a body however small they are.
    """

    def __init__(self, transport: asyncio.Transport, handler: ResponseHandler) -> None:
        self._transport = transport
        self._handler = handler
        self._left_bytes = self._left_pieces = 0

    def expect(self, max_bytes: int, max_pieces: int) -> None:
        """Allow one answer."""
        self._left_bytes, self._left_pieces = max_bytes, max_pieces

    def data_received(self, data: bytes) -> None:
        self._left_bytes -= len(data)
        self._left_pieces -= 1
        if self._left_bytes < 0 or self._left_pieces < 0:
            self._handler.set_exception(_AnswerTooLong())
            self._transport.abort()
        else:
            self._handler.data_received(data)

    def eof_received(self) -> None:
        self._handler.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._handler.connection_lost(exc)

    def pause_writing(self) -> None:
        self._handler.pause_writing()

    def resume_writing(self) -> None:
        self._handler.resume_writing()


class _Pinned(AbstractResolver):
    """Finds the same addresses for every host."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses."""
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Do nothing."""


def _allow(addresses: Sequence[str]) -> SocketFactoryType:
    """Return what makes sockets to these addresses alone: for a host that is an address no resolver is asked."""

    def make_socket(found: AddrInfoType) -> socket.socket:
        family, kind, protocol, _, address = found
        if address[0] not in addresses:
            raise PermissionError(f"{address[0]} was not checked")
        return socket.socket(family, kind, protocol)

    return make_socket


def _is_readable(connection: socket.socket) -> bool:
    """Return whether anything has arrived that the event loop has not noticed yet."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
