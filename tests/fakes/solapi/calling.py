"""Calls to the fake Solapi as its documents show them."""

import hashlib
import hmac
from typing import Any

import httpx

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


class SolapiCaller:
    """Calls the server without sockets; each call has a salt of its own."""

    def __init__(self, relay: FakeSolapi) -> None:
        self._relay = relay
        self._count = 0
        self._http = httpx.AsyncClient(transport=httpx.ASGITransport(relay), base_url="http://relay.invalid")

    async def call(self, method: str, path: str, body: Any = None, **query: Any) -> tuple[int, Any]:
        """Return status and body of an answer."""
        self._count += 1
        headers = {"Authorization": authorization(self._relay, salt=f"{SALT}{self._count}")}
        answer = await self._http.request(method, path, json=body, params=query, headers=headers)
        return answer.status_code, answer.json()

    async def send(self, *numbers: str, **fields: Any) -> Any:
        """Send a text to each number, and return the answer."""
        messages = [{"to": one, "from": SENDER, "text": "안녕하세요", **fields} for one in numbers]
        status, answer = await self.call(
            "POST", "/messages/v4/send-many/detail", {"messages": messages, "showMessageList": True}
        )
        assert status == 200
        return answer
