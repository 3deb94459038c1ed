"""Verifies and reads deliveries to webhooks, as the Standard Webhooks specification says."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping, Sequence

import msgspec

from pabal.client.errors import InvalidPostError
from pabal.domain.base.dates import SECOND
from pabal.models.webhook_posts import KnownPost, OtherPost
from pabal.world import RealWorld

TOLERANCE_S = 300
"""How far the time of a post may be from that of this machine."""
SECRET_PREFIX = "whsec_"
_VERSION = "v1,"
_MAX_TIME_DIGITS = 12
_WORLD = RealWorld()


def read_post(
    secrets: str | Sequence[str],
    headers: Mapping[str, str],
    body: bytes,
    *,
    tolerance_s: float = TOLERANCE_S,
    now_s: float | None = None,
) -> KnownPost | OtherPost:
    """Return a delivery to a webhook, of the type of its event; `body` must be the bytes as they arrived.

    `secrets` is the secret of the webhook, or several while it is replaced. The same event may be delivered again:
    remember the `eventId` of every item that you have handled.

    Raises InvalidPostError for a post that is not signed with any of the secrets, is too old or cannot be read;
    ValueError for a secret that is none.
    """
    found = {name.lower(): value for name, value in headers.items()}
    webhook_id, timestamp = found.get("webhook-id", ""), found.get("webhook-timestamp", "")
    _check_time(timestamp, tolerance_s, _WORLD.now() / SECOND if now_s is None else now_s)
    signed = f"{webhook_id}.{timestamp}.".encode("utf-8", "surrogatepass") + body
    keys = [decode_secret(each) for each in ([secrets] if isinstance(secrets, str) else secrets)]
    expected = [hmac.new(key, signed, hashlib.sha256).digest() for key in keys]
    given = [_decode_signature(each) for each in found.get("webhook-signature", "").split(" ")]
    if not any(hmac.compare_digest(one, other) for one in expected for other in given):
        raise InvalidPostError("the signature is of none of the secrets")
    return _parse(body)


def _check_time(timestamp: str, tolerance_s: float, now_s: float) -> None:
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _MAX_TIME_DIGITS):
        raise InvalidPostError("the header webhook-timestamp is missing or no number")
    if abs(now_s - int(timestamp)) > tolerance_s:
        raise InvalidPostError("the post is too old, or from the future: check the clock")


def decode_secret(secret: str) -> bytes:
    """Return the key of a secret.

    Raises ValueError, also for an empty one: anybody could sign with the key of a missing setting.
    """
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    if not key:
        raise ValueError("the secret of the webhook is empty")
    return key


def _decode_signature(signature: str) -> bytes:
    try:
        return base64.b64decode(signature.removeprefix(_VERSION), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _parse(body: bytes) -> KnownPost | OtherPost:
    try:
        post: KnownPost = msgspec.json.decode(body, type=KnownPost)
        return post
    except msgspec.DecodeError:
        pass  # an event of a newer service
    try:
        return msgspec.json.decode(body, type=OtherPost)
    except msgspec.DecodeError as error:
        raise InvalidPostError(f"the post cannot be read: {error}") from None
