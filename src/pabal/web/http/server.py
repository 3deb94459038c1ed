"""Listens for connections, each of which has its own protocol."""

import asyncio
import contextlib
import functools
import socket
from collections.abc import AsyncIterator, Mapping

from pabal.web.http.connections import ConnectionTable
from pabal.web.http.exchange import HttpApp
from pabal.web.http.protocol import HttpProtocol

LISTEN_BACKLOG = 2048
"""Connections that the system queues before the server accepts them."""


@contextlib.asynccontextmanager
async def serving(
    apps: Mapping[socket.socket, HttpApp], table: ConnectionTable, stop_s: float
) -> AsyncIterator[None]:
    """Serve an app at each socket until the end of the block; then finish answers, for `stop_s` at most."""
    loop = asyncio.get_running_loop()
    servers = [
        await loop.create_server(functools.partial(HttpProtocol, app, table), sock=listener, backlog=LISTEN_BACKLOG)
        for listener, app in apps.items()
    ]
    try:
        yield
    finally:
        for server in servers:
            server.close()
        for listener in apps:
            listener.close()
        await table.stop(stop_s)
