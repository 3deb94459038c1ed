"""Posts over the kept connections of one host, which go only to addresses that were checked."""

import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pabal import __version__
from pabal.outbound.calls import CallFailed, Failure, HttpRequest
from pabal.webhooks.addresses import WebhookUrl
from pabal.webhooks.poster import PostError, PostFailed

MAX_ADDRESSES = 8
"""How many addresses of a host are tried."""
MAX_ANSWER_BYTES = 128 * 1024
"""How much of one answer is read: status, headers and body."""
MAX_ANSWER_PIECES = 500
"""In how many pieces it may arrive; each costs time."""
READ_BYTES = 64 * 1024
"""How much of an answer's body is read; of a longer one the connection is closed."""
USER_AGENT = f"Pabal/{__version__} (webhooks)"
_POST_ERRORS = {
    Failure.CONNECTION: PostError.CONNECTION,
    Failure.TLS: PostError.TLS,
    Failure.ANSWER: PostError.ANSWER,
    Failure.LENGTH: PostError.ANSWER,
}


@dataclass
class Received:
    """The part of an answer that has arrived."""

    status: int | None = None
    answer: bytes = b""


class PinnedConnections:
    """Connections to one host at these addresses, whatever its name resolves to by now."""

    def __init__(self, addresses: Sequence[str], context: ssl.SSLContext, keepalive_s: float) -> None:
        from pabal.outbound.connections import HttpConnections  # costs the start 0.3 s

        self.addresses = frozenset(addresses)
        self.in_use = 0
        """Posts that are using it."""
        self.used_at = 0.0
        """When the last one ended, on the monotonic clock."""
        self._connections = HttpConnections(
            context,
            keepalive_s=keepalive_s,
            max_answer_bytes=MAX_ANSWER_BYTES,
            max_answer_pieces=MAX_ANSWER_PIECES,
            addresses=addresses[:MAX_ADDRESSES],
        )

    async def post(self, request: HttpRequest, received: Received, kept_bytes: int) -> None:
        """Note the status, and so many bytes of the body; read on, so that the connection can be used again.

        Raises PostFailed.
        """
        try:
            async with self._connections.open(request) as response:
                received.status = response.status
                read_bytes = 0
                async for part in response.content.iter_any():
                    received.answer += part[: kept_bytes - len(received.answer)]
                    read_bytes += len(part)
                    if read_bytes > READ_BYTES:
                        break
        except CallFailed as failed:
            raise PostFailed(_POST_ERRORS[failed.failure], str(failed)) from None

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()


def build_request(url: WebhookUrl, headers: Mapping[str, str], body: bytes) -> HttpRequest:
    """Return the request of a post."""
    fixed = {"Content-Type": "application/json", "User-Agent": USER_AGENT, "Accept-Encoding": "identity"}
    return HttpRequest("POST", f"https://{url.host_header}{url.target}", {**fixed, **headers}, body)
