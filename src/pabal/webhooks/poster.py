"""Who posts to callers' servers, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

ANSWER_BYTES = 1024
"""How much of an answer is kept."""


class PostError(StrEnum):
    """Why a post has no answer."""

    URL = "invalid_url"
    DNS = "dns"
    ADDRESS = "address_not_allowed"
    CONNECTION = "connection"
    TLS = "tls"
    TIMEOUT = "timeout"
    ANSWER = "invalid_answer"
    SECRET = "unreadable_secret"


@dataclass(frozen=True)
class PostResult:
    """What came back from a post."""

    status: int | None
    """HTTP status; None if there is no answer."""
    answer: bytes
    """The first ANSWER_BYTES of the body; empty if the endpoint is an exception of webhook_allow."""
    duration_ms: int
    error: PostError | None = None
    detail: str = ""
    """What the error was, in English, without addresses: "certificate has expired"."""

    @property
    def is_success(self) -> bool:
        """Whether the receiver has taken the post: any 2xx."""
        return self.status is not None and 200 <= self.status < 300


class PostFailed(Exception):
    """There is no answer."""

    def __init__(self, error: PostError, detail: str = "") -> None:
        super().__init__(detail)
        self.error = error
        self.detail = detail


class Poster(Protocol):
    """Posts to callers' servers; simulations replace it."""

    async def post(self, url: str, account: str, headers: Mapping[str, str], body: bytes) -> PostResult:
        """Post a JSON body for the account of this name; every failure is a result, too."""

    async def close(self) -> None:
        """Close all connections."""
