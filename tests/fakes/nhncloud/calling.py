"""Calls to the fake NHN Cloud as its documentation shows them."""

from typing import Any

import httpx

from tests.fakes.nhncloud.answers import Json
from tests.fakes.nhncloud.server import FakeNhnCloud
from tests.fakes.relay_server import RelayTransport

NOON = 1_794_711_600_000
"""2026-11-15T12:00:00+09:00."""
JPEG = b"\xff\xd8\xff\xe0" + bytes(100)


class Caller:
    """Calls the APIs as the guides describe."""

    def __init__(self, relay: FakeNhnCloud, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.relay = relay
        self._http = httpx.AsyncClient(
            transport=transport or RelayTransport(relay), base_url="http://relay.invalid", timeout=5
        )

    async def sms(self, method: str, path: str, body: Any = None, **more: Any) -> Json:
        """Call the SMS API."""
        base = f"/sms/v3.0/appKeys/{self.relay.sms_app_key}/"
        return await self._ask(method, base + path, self.relay.sms_secret_key, body, **more)

    async def alimtalk(self, method: str, path: str, body: Any = None, **more: Any) -> Json:
        """Call the Alimtalk API, which includes profiles and templates."""
        base = f"/alimtalk/v2.3/appkeys/{self.relay.talk_app_key}/"
        return await self._ask(method, base + path, self.relay.talk_secret_key, body, **more)

    async def _ask(
        self, method: str, path: str, secret: str, body: Any, headers: dict[str, str] | None = None, **more: Any
    ) -> Json:
        all_headers = {"X-Secret-Key": secret, **(headers or {})}
        answer = await self._http.request(method, path, json=body, headers=all_headers, **more)
        return dict(answer.json())


def result_code(answer: Json) -> int:
    """Return the result code of a response."""
    header = answer["header"]
    assert header["isSuccessful"] is (header["resultCode"] == 0)
    return int(header["resultCode"])


def sms_body(*numbers: str, **changes: Any) -> Json:
    """Return the body of a call that sends an SMS."""
    recipients = [{"recipientNo": each, "recipientGroupingKey": f"key-{each}"} for each in numbers]
    return {
        "body": "안녕하세요",
        "sendNo": "15880000",
        "senderGroupingKey": "group",
        "recipientList": recipients,
        **changes,
    }
