"""One exchange over HTTP: the request of a post, its answer, and what went wrong."""

import contextlib
import os
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import httpcore

from pabal import __version__
from pabal.webhooks.addresses import WebhookUrl
from pabal.webhooks.connections import AnswerTooLarge
from pabal.webhooks.poster import PostError, PostFailed

READ_BYTES = 64 * 1024
"""How much of an answer's body is read; of a longer one the connection is closed."""
MAX_CAUSES = 10
"""How far the causes of an exception are followed."""
USER_AGENT = f"Pabal/{__version__} (webhooks)"


@dataclass
class Received:
    """What has come of an answer so far."""

    status: int | None = None
    answer: bytes = b""


def build_request(url: WebhookUrl, headers: Mapping[str, str], body: bytes) -> httpcore.Request:
    """Return the request of a post."""
    return httpcore.Request(
        b"POST",
        httpcore.URL(scheme=b"https", host=url.host.encode(), port=url.port, target=url.target.encode()),
        headers=[
            (b"Host", url.host_header.encode()),
            (b"Content-Type", b"application/json"),
            (b"Content-Length", str(len(body)).encode()),
            (b"User-Agent", USER_AGENT.encode()),
            (b"Accept-Encoding", b"identity"),
            *((name.encode(), value.encode()) for name, value in headers.items()),
        ],
        content=body,
    )


async def read_answer(
    pool: httpcore.AsyncConnectionPool, request: httpcore.Request, received: Received, kept_bytes: int
) -> None:
    """Note the status, and so many bytes of the body; read on, so that the connection can be used again."""
    response = await pool.handle_async_request(request)
    try:
        received.status = response.status
        read_bytes = 0
        async for part in response.aiter_stream():
            received.answer += part[: kept_bytes - len(received.answer)]
            read_bytes += len(part)
            if read_bytes > READ_BYTES:
                break
    finally:
        await response.aclose()


@contextlib.contextmanager
def described_errors() -> Iterator[None]:
    """Turn the errors of the HTTP library into PostFailed."""
    try:
        yield
    except AnswerTooLarge:
        raise PostFailed(PostError.ANSWER, "the answer is too large") from None
    except httpcore.ConnectTimeout:
        raise PostFailed(PostError.CONNECTION, "the connection timed out") from None
    except httpcore.RemoteProtocolError:
        raise PostFailed(PostError.ANSWER, "the answer is not valid HTTP") from None
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise _describe(error) from None


def _describe(error: Exception) -> PostFailed:
    found: BaseException | None = error
    for _ in range(MAX_CAUSES):
        if found is None:
            break
        if isinstance(found, ssl.SSLError):
            return PostFailed(PostError.TLS, getattr(found, "verify_message", "") or found.reason or "TLS failed")
        if isinstance(found, OSError) and found.errno:
            return PostFailed(PostError.CONNECTION, os.strerror(found.errno))
        found = (
            found.exceptions[0] if isinstance(found, BaseExceptionGroup) else found.__cause__ or found.__context__
        )
    return PostFailed(PostError.CONNECTION, "the connection was closed")
