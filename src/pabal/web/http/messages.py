"""What the HTTP server and the apps behind it hand to each other: requests, responses, and ASGI's types."""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, NamedTuple, Protocol

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

HeaderLines = Sequence[tuple[bytes, bytes]]


class ClientDisconnected(Exception):
    """The caller disconnected before the request was complete."""


class ReceivedRequest(Protocol):
    """A request, whose body may still be on its way."""

    method: str
    path: str
    query: bytes
    header_lines: HeaderLines
    """The headers in their order, with names in lower case."""
    headers: dict[bytes, bytes]
    """The same by name; of one that is there several times, the last."""
    peer: str | None
    """The address that the connection comes from."""
    is_received: bool
    """Whether the whole body has arrived."""

    async def read(self) -> bytes:
        """Return what has arrived of the body since the last call; wait if that is nothing but not the end.

        Raises ClientDisconnected.
        """


class HttpResponse(NamedTuple):
    """A whole response; the connection adds the headers of its own."""

    status: int
    headers: HeaderLines
    body: bytes


class DirectApp(Protocol):
    """An app that answers with whole responses, without ASGI's messages."""

    def serves(self, path: str) -> bool:
        """Tell whether the app answers requests for a path."""

    async def respond(self, request: ReceivedRequest) -> HttpResponse:
        """Return the answer to a request.

        Raises ClientDisconnected.
        """


class HttpApp(NamedTuple):
    """What is served at a port."""

    asgi: AsgiApp
    """Serves what `direct` does not."""
    direct: DirectApp | None = None
