"""Signs posts as the Standard Webhooks specification says: v1, HMAC-SHA256."""

import base64
import hashlib
import hmac
from collections.abc import Sequence

from pabal.domain.base.dates import DAY, SECOND, Instant
from pabal.world import World

SECRET_PREFIX = "whsec_"
SECRET_BYTES = 32
"""Length of a new secret; the specification allows 24 to 64."""
ROTATION_OVERLAP = DAY
"""How long the previous secret signs along after a rotation, in milliseconds."""


def new_secret(world: World) -> bytes:
    """Return a new random secret."""
    return world.random_bits(8 * SECRET_BYTES).to_bytes(SECRET_BYTES, "big")


def format_secret(secret: bytes) -> str:
    """Return a secret as its owner gets it: `whsec_` and Base64."""
    return SECRET_PREFIX + base64.b64encode(secret).decode()


def valid_secrets(
    secret: bytes, previous: bytes | None, previous_until: Instant | None, now: Instant
) -> tuple[bytes, ...]:
    """Return the secrets that sign now: the current one, and the previous one until its time is over."""
    if previous is None or previous_until is None or now >= previous_until:
        return (secret,)
    return (secret, previous)


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
