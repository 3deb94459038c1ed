"""Kept connections to one host, made only to addresses that were checked."""

import asyncio
import ssl
from collections.abc import Iterable, Sequence
from typing import Any

import httpcore

ADDRESS_TIMEOUT_S = 3.0
"""How long a connection to one address may take before the next one is tried."""
MAX_ADDRESSES = 8
"""How many addresses of a host are tried."""
MAX_RESPONSE_BYTES = 128 * 1024
"""How much of one answer is read: status, headers and body."""
MAX_READS = 500
"""In how many pieces it may arrive; each costs time."""
MAX_KEPT_CONNECTIONS = 16


class AnswerTooLarge(Exception):
    """The server sends more than MAX_RESPONSE_BYTES, or in more than MAX_READS pieces."""


class PinnedConnections:
    """Connections to one host at these addresses, whatever its name resolves to by now."""

    def __init__(self, addresses: Sequence[str], context: ssl.SSLContext, keepalive_s: float) -> None:
        self.addresses = frozenset(addresses)
        self.in_use = 0
        """Posts that are using it."""
        self.used_at = 0.0
        """When the last one ended, on the monotonic clock."""
        self.pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=None,  # the caller limits the posts in flight
            max_keepalive_connections=MAX_KEPT_CONNECTIONS,
            keepalive_expiry=keepalive_s,
            network_backend=_PinnedBackend(addresses[:MAX_ADDRESSES]),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self.pool.aclose()


class _PinnedBackend(httpcore.AsyncNetworkBackend):
    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address that answers; `host` is only a name here."""
        failure: Exception = httpcore.ConnectError("the host has no address")
        for address in self._addresses:
            try:
                stream = await self._backend.connect_tcp(address, port, ADDRESS_TIMEOUT_S)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _BoundedStream(stream)
        raise failure

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _BoundedStream(httpcore.AsyncNetworkStream):
    """A stream that reads a bounded number of bytes between two writes, that is of one answer."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._read_bytes = 0
        self._reads = 0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        found = await self._stream.read(max_bytes, timeout)
        self._reads += 1
        self._read_bytes += len(found)
        if self._read_bytes > MAX_RESPONSE_BYTES or self._reads > MAX_READS:
            raise AnswerTooLarge
        return found

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._read_bytes = self._reads = 0
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        try:
            return _BoundedStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))
        except BaseException:
            await self._stream.aclose()  # when a handshake is cancelled, httpcore leaves the socket open
            raise

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
