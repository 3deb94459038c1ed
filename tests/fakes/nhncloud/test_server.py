"""The fake NHN Cloud: injected faults, webhooks and its page."""

import asyncio
import os
import signal
import ssl
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec
import pytest

from pabal.settings.carrier_tables import read_carriers
from tests.fakes.nhncloud.answers import Reply, Request
from tests.fakes.nhncloud.calling import Caller, alimtalk_body, result_code, sms_body
from tests.fakes.nhncloud.server import FakeNhnCloud, FakeNhnCloudServer, serving
from tests.fakes.nhncloud.wire import listening
from tests.fixtures.virtual import VirtualWorld, run_in_virtual_time

PHONE = "01012345678"
SEND = "sender/sms"
NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Reading the system's authorities takes longer than a test, and no test here uses TLS."""


@asynccontextmanager
async def served(**options: Any) -> AsyncIterator[tuple[FakeNhnCloudServer, Caller]]:
    async with serving(**options) as relay, httpx.AsyncHTTPTransport(verify=NO_AUTHORITIES) as wire:
        yield relay, Caller(relay, Rerouted(wire, relay.address))


class Rerouted(httpx.AsyncBaseTransport):
    """Sends the calls of a Caller to the port of a server."""

    def __init__(self, wire: httpx.AsyncBaseTransport, address: str) -> None:
        self._wire = wire
        self._address = httpx.URL(address)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_with(host=self._address.host, port=self._address.port)
        return await self._wire.handle_async_request(request)


@pytest.mark.parametrize(
    ("kind", "outcome", "accepted"),
    [
        ("lose request", httpx.RemoteProtocolError, 0),
        ("lose answer", httpx.RemoteProtocolError, 1),
        ("refuse", httpx.ConnectError, 0),
        ("twice", ValueError, 1),
        ("garbage", ValueError, 1),
        ("html 502", ValueError, 0),
        ("html 502 accepted", ValueError, 1),
        ("throttle", 4291000, 0),
        ("gateway 503", 5030001, 0),
        ("gateway 504", 5040001, 1),
        ("gateway 403", 4031007, 0),
        ("system error", -9999, 0),
        ("system error accepted", -9999, 1),
        ("slow", 0, 1),
        ("slow to accept", 0, 1),
    ],
)
@pytest.mark.parametrize("has_sockets", [False, True])
def test_faults_can_be_injected(
    kind: str, outcome: int | type[Exception], accepted: int, has_sockets: bool
) -> None:
    async def main() -> None:
        async with served() as (relay, caller):
            caller = caller if has_sockets else Caller(relay)
            relay.inject_fault(kind, on="POST", seconds=0.01)
            expected = httpx.TransportError if kind == "refuse" and has_sockets else outcome
            if isinstance(expected, int):
                assert result_code(await caller.sms("POST", SEND, sms_body(PHONE))) == expected
            else:
                with pytest.raises(expected):
                    await caller.sms("POST", SEND, sms_body(PHONE))
            assert len(relay.messages) == accepted
            assert result_code(await caller.sms("POST", SEND, sms_body(PHONE))) == 0

    asyncio.run(main())


def test_server_can_go_away_and_come_back() -> None:
    async def main() -> None:
        async with served() as (relay, caller):
            await caller.sms("POST", SEND, sms_body(PHONE))
            await relay.stop_listening()
            with pytest.raises(httpx.TransportError):
                await caller.sms("POST", SEND, sms_body(PHONE))
            with pytest.raises(httpx.ConnectError):
                await caller.sms("POST", SEND, sms_body(PHONE))
            await relay.resume_listening()
            assert result_code(await caller.sms("POST", SEND, sms_body(PHONE))) == 0
            assert len(relay.messages) == 2

    asyncio.run(main())


@pytest.mark.parametrize(("kind", "accepted_at_once"), [("slow", 1), ("slow to accept", 0)])
def test_call_continues_after_the_caller_times_out(kind: str, accepted_at_once: int) -> None:
    async def main() -> None:
        world = VirtualWorld()
        relay = FakeNhnCloud(world.now)
        caller = Caller(relay)
        relay.inject_fault(kind, on=SEND, seconds=60)
        with pytest.raises(httpx.ReadTimeout):
            await caller.sms("POST", SEND, sms_body(PHONE))
        assert world.monotonic() == 5
        assert len(relay.messages) == accepted_at_once
        await asyncio.sleep(60)
        assert len(relay.messages) == 1

    run_in_virtual_time(main())


def test_too_many_calls_per_second_are_throttled() -> None:
    async def main() -> None:
        relay = FakeNhnCloud(VirtualWorld().now, max_calls_per_second=2)
        caller = Caller(relay)
        for _ in range(2):
            await caller.sms("GET", "sendNos")
        assert result_code(await caller.sms("GET", "sendNos")) == 4291000
        await asyncio.sleep(1)
        await caller.sms("GET", "sendNos")
        assert [each.status for each in relay.calls] == [200, 200, 429, 200]

    run_in_virtual_time(main())


def test_lists_can_lag_and_results_can_repeat_in_any_order() -> None:
    async def main() -> None:
        behavior: dict[str, Any] = {"result_copies": 2, "shuffles_results": True}
        relay = FakeNhnCloud(VirtualWorld().now, seed=2, lists_lag_s=10, results_lag_s=20, **behavior)
        caller = Caller(relay)
        day = {"startCreateDate": "2026-11-15 00:00:00", "endCreateDate": "2026-11-15 23:59:59"}
        await caller.sms("POST", SEND, sms_body(*[f"0101234{each:04}" for each in range(10)]))
        assert (await caller.sms("GET", SEND, params=day))["body"]["totalCount"] == 0
        await asyncio.sleep(10)
        assert (await caller.sms("GET", SEND, params=day))["body"]["totalCount"] == 10
        span = {"startUpdateDate": "2026-11-15 12:00:00", "endUpdateDate": "2026-11-15 12:00:59", "pageSize": "100"}
        assert (await caller.sms("GET", "message-results", params=span))["body"]["totalCount"] == 0
        await asyncio.sleep(10.3)
        rows = (await caller.sms("GET", "message-results", params=span))["body"]["data"]
        order = [each["recipientSeq"] for each in rows]
        assert sorted(order) == sorted([*range(1, 11), *range(1, 11)])
        assert order[:10] != list(range(1, 11))

    run_in_virtual_time(main())


class WebhookReceiver(httpx.AsyncBaseTransport):
    """Receives webhooks: answers the first with 502, the rest with 200."""

    def __init__(self) -> None:
        self.received: list[tuple[float, httpx.Request]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.received.append((asyncio.get_running_loop().time(), request))
        return httpx.Response(502 if len(self.received) == 1 else 200)


def test_webhooks_are_posted_until_they_are_accepted() -> None:
    async def main() -> None:
        relay, receiver = FakeNhnCloud(VirtualWorld().now, review_after_s=None), WebhookReceiver()
        caller = Caller(relay)
        relay.webhooks.transport = receiver
        relay.webhooks.set("http://pabal.invalid/hook", "a signature")
        posting = asyncio.create_task(relay.webhooks.run())
        await caller.sms("POST", SEND, sms_body(PHONE))
        await caller.alimtalk("POST", "raw-messages", alimtalk_body(relay, PHONE))
        await asyncio.sleep(5)
        relay.console.reject(next(iter(relay.profiles)), "hello", "다시 써 주세요")
        await asyncio.sleep(1)
        posting.cancel()

        bodies = [msgspec.json.decode(request.content) for _, request in receiver.received]
        assert [
            (round(at, 1), body["event"], body["productName"])
            for (at, _), body in zip(receiver.received, bodies, strict=True)
        ] == [
            (0.3, "MESSAGE_RESULT_UPDATE", "SMS"),
            (0.3, "MESSAGE_RESULT_UPDATE", "KakaoTalk Bizmessage"),
            (1.3, "MESSAGE_RESULT_UPDATE", "SMS"),
            (5.0, "TEMPLATE_STATUS_UPDATE", "KakaoTalk Bizmessage"),
        ]
        assert relay.webhooks.posts[0].statuses == [502, 200]
        assert {request.headers["X-Toast-Webhook-Signature"] for _, request in receiver.received} == {"a signature"}
        for body in bodies[:3]:
            [hook] = body["hooks"]
            assert (hook["resultCode"], hook["recipientGroupingKey"]) == ("1000", f"key-{PHONE}")
        assert bodies[3]["hooks"][0]["comments"][0]["content"] == "다시 써 주세요"

    run_in_virtual_time(main())


def test_listening_server_posts_webhooks() -> None:
    async def main() -> None:
        has_received = asyncio.Event()

        async def receive(request: Request) -> Reply:
            has_received.set()
            return Reply(200, "text/plain", b"")

        async with listening(receive) as receiver, served(receipt_after_s=0.01) as (relay, caller):
            relay.webhooks.set(f"http://127.0.0.1:{receiver.port}/hook", "a signature")
            await caller.sms("POST", SEND, sms_body(PHONE))
            async with asyncio.timeout(10):
                await has_received.wait()

    asyncio.run(main())


def test_page_escapes_everything_and_its_buttons_work() -> None:
    async def main() -> None:
        relay = FakeNhnCloud(VirtualWorld().now, review_after_s=None)
        caller = Caller(relay)
        key = relay.add_profile("@<b>등대").sender_key
        body = {"templateCode": "t1", "templateName": "<script>", "templateContent": "글"}
        await caller.alimtalk("POST", f"senders/{key}/templates", body)
        await caller.sms("POST", SEND, sms_body(PHONE, body="<img src=x>"))
        await caller.alimtalk(
            "POST", "senders", {"plusFriendId": "@new", "phoneNo": PHONE, "categoryCode": "00100010001"}
        )
        async with httpx.AsyncClient(transport=relay.transport(), base_url="http://relay.invalid") as person:
            page = (await person.get("/")).text
            for unsafe in ("<script", "<img", "<b>"):
                assert unsafe not in page
            for shown in ("&lt;img src=x&gt;", str(relay.last_token), key):
                assert shown in page
            form = {"do": "approve", "sender": key, "code": "t1"}
            assert (await person.post("/console", data=form)).status_code == 302
            assert relay.templates[key, "t1"].current.status == "TSC03"
            assert (await person.post("/console", data={**form, "do": "remove template"})).status_code == 302
            assert relay.templates == {}
            assert (await person.post("/console", data=form)).status_code == 404

    run_in_virtual_time(main())


@pytest.mark.slow
def test_command_prints_settings_and_listens() -> None:
    command = [sys.executable, "-m", "tests.fakes.nhncloud", "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=environment) as process:
        assert process.stdout
        lines: list[str] = []
        while not (lines and lines[-1].startswith("talk_address")):
            lines.append(process.stdout.readline())
            assert lines[-1], lines
        table = tomllib.loads("".join(lines[lines.index("[carriers.relay]\n") :]))["carriers"]
        relay: Any = read_carriers(table, {})["relay"]
        answer = httpx.get(f"{relay.sms_address}/")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0

    assert "NHN Cloud" in answer.text
