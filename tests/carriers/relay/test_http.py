"""The HTTP client of relays: what it calls surely not processed, and how many calls it makes at once."""

import asyncio

import pytest

from pabal.carriers.relay.http import HttpClient, NotProcessed
from pabal.outbound.calls import HttpAnswer, HttpRequest


class HeldCalls:
    """A transport whose calls end when a test says so."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.may_answer = asyncio.Event()

    async def send(self, request: HttpRequest) -> HttpAnswer:
        self.urls.append(request.url)
        await self.may_answer.wait()
        return HttpAnswer(200, {"Date": "Wed, 18 Nov 2026 04:00:00 GMT"}, b"ok")

    async def close(self) -> None:
        self.may_answer.set()


async def test_calls_beyond_the_limit_wait_and_are_surely_not_processed_in_vain() -> None:
    calls = HeldCalls()
    client = HttpClient("http://relay/", transport=calls, max_connections=2)
    held = [asyncio.create_task(client.send("GET", f"/{each}", timeout_s=10)) for each in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(NotProcessed, match="too many calls at the same time"):
        await client.send("GET", "/late", timeout_s=5)
    waiting = asyncio.create_task(client.send("GET", "/third", timeout_s=10, query={"at": "1 2"}))
    await asyncio.sleep(0)
    calls.may_answer.set()
    assert [answer.body for answer in await asyncio.gather(*held, waiting)] == [b"ok"] * 3
    assert calls.urls == ["http://relay/0", "http://relay/1", "http://relay/third?at=1%202"]


async def test_closed_client_makes_no_call() -> None:
    calls = HeldCalls()
    client = HttpClient("http://relay", transport=calls)
    await client.close()
    with pytest.raises(NotProcessed, match="the service is stopping"):
        await client.send("GET", "/", timeout_s=1)
    assert calls.urls == []
