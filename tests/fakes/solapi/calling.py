"""Calls to the fake Solapi as its documents show them."""

import hashlib
import hmac

from tests.fakes.solapi.server import FakeSolapi
from tests.fakes.solapi.state import iso

SALT = "jqsba2jxjnrjor"
SENDER = "0212345678"


def authorization(relay: FakeSolapi, at: int | None = None, salt: str = SALT, secret: str | None = None) -> str:
    """Return the header of a call that is made at this time."""
    date = iso(relay.clock() if at is None else at)
    data = f"{date}{salt}".encode()
    signature = hmac.new((secret or relay.api_secret).encode(), data, hashlib.sha256).hexdigest()
    return f"HMAC-SHA256 apiKey={relay.api_key}, date={date}, salt={salt}, signature={signature}"
