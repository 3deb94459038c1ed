"""A call to another server, its answer, and what can go wrong: surely not sent, or perhaps."""

import os
import socket
import ssl
from collections.abc import Mapping
from enum import Enum, auto
from typing import NamedTuple, Protocol

MAX_CAUSES = 10
"""How far the causes of an exception are followed."""


class HttpRequest(NamedTuple):
    """A call to make."""

    method: str
    url: str
    """Quoted already: it is sent as it is."""
    headers: Mapping[str, str]
    body: bytes = b""


class HttpAnswer(NamedTuple):
    """An answer that has arrived whole."""

    status: int
    headers: Mapping[str, str]
    """Their names are found in any spelling."""
    body: bytes


class Failure(Enum):
    """What went wrong."""

    CONNECTION = auto()
    TLS = auto()
    ANSWER = auto()
    """What came is not HTTP."""
    LENGTH = auto()
    """The answer is longer than is read."""


NOT_TLS = "the server does not speak TLS"
"""Why a call to a server of plain HTTP fails."""
_NOT_TLS_REASONS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL")
"""How versions of OpenSSL say it."""


class CallFailed(Exception):
    """There is no answer. The text says why, without the URL, which may contain a key."""

    def __init__(self, failure: Failure, reason: str) -> None:
        super().__init__(reason)
        self.failure = failure


class NotConnected(CallFailed):
    """There was no connection: nothing was sent."""


class Unanswered(CallFailed):
    """The call may have been processed."""


class Transport(Protocol):
    """Makes calls; tests replace the network by it."""

    async def send(self, request: HttpRequest) -> HttpAnswer:
        """Make a call and return the answer, whatever its status.

        Raises NotConnected, Unanswered.
        """

    async def close(self) -> None:
        """Close the connections; calls that run fail."""


def describe(error: BaseException) -> tuple[Failure, str]:
    """Return what an error of a connection or its causes say."""
    found: BaseException | None = error
    for _ in range(MAX_CAUSES):
        if found is None:
            break
        if isinstance(found, ssl.SSLError):
            reason = getattr(found, "verify_message", "") or found.reason or type(found).__name__
            return Failure.TLS, NOT_TLS if reason in _NOT_TLS_REASONS else reason
        if isinstance(found, OSError) and found.errno:
            is_dns_error = isinstance(found, socket.gaierror)  # its codes are EAI_*, not errno
            return Failure.CONNECTION, str(found.strerror) if is_dns_error else os.strerror(found.errno)
        found = found.__cause__ or found.__context__
    return Failure.CONNECTION, "the connection was closed"
