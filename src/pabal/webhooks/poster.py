"""What a post to a webhook is: its secret and signature, what came of it, and what makes posts."""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pabal.domain.base.dates import DAY, SECOND, Instant
from pabal.world import World, random_bytes

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


SECRET_PREFIX = "whsec_"
SECRET_BYTES = 32
"""Length of a new secret; the specification allows 24 to 64."""
ROTATION_OVERLAP = DAY
"""How long the previous secret signs along after a rotation, in milliseconds."""


def new_secret(world: World) -> bytes:
    """Return a new random secret."""
    return random_bytes(world, SECRET_BYTES)


def format_secret(secret: bytes) -> str:
    """Return a secret as its owner gets it: `whsec_` and Base64."""
    return SECRET_PREFIX + base64.b64encode(secret).decode()


def sign(secrets: Sequence[bytes], webhook_id: str, now: Instant, body: bytes) -> dict[str, str]:
    """Return the headers that identify and sign one try of a post, with one signature for each secret.

    Raises ValueError for an id with a full stop, which separates what is signed.
    """
    if not webhook_id or "." in webhook_id or not webhook_id.isascii() or not webhook_id.isprintable():
        raise ValueError("not an id of a post")
    timestamp = str(now // SECOND)
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{_signature(secret, signed)}" for secret in secrets),
    }


def _signature(secret: bytes, signed: bytes) -> str:
    return base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
