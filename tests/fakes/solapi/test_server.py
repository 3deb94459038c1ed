"""Rules of the fake Solapi that its own client does not show: signatures, lag, reviews, faults and webhooks."""

from collections.abc import Callable, Coroutine
from typing import Any

import httpx
import pytest

from tests.fakes.nhncloud.calling import ManualClock
from tests.fakes.solapi.calling import SENDER, SolapiCaller, authorization
from tests.fakes.solapi.server import FakeSolapi
from tests.fixtures.virtual import run_in_virtual_time

MINUTE_MS = 60_000
LIST = "/messages/v4/list"

Scenario = Callable[[FakeSolapi, SolapiCaller, ManualClock], Coroutine[Any, Any, None]]


def run(scenario: Scenario) -> None:
    clock = ManualClock()
    relay = FakeSolapi(clock, seed=1)
    relay.numbers.add(SENDER)
    run_in_virtual_time(scenario(relay, SolapiCaller(relay), clock))


@pytest.mark.parametrize(
    ("minutes", "salt", "secret", "code"),
    [
        (0, "x" * 12, None, None),
        (14, "x" * 64, None, None),
        (15, "x" * 12, None, "RequestTimeTooSkewed"),
        (-15, "x" * 12, None, "RequestTimeTooSkewed"),
        (0, "x" * 11, None, "SignatureDoesNotMatch"),
        (0, "x" * 65, None, "SignatureDoesNotMatch"),
        (0, "x" * 12, "wrong", "SignatureDoesNotMatch"),
    ],
)
def test_signature_is_checked(minutes: int, salt: str, secret: str | None, code: str | None) -> None:
    async def scenario(relay: FakeSolapi, caller: SolapiCaller, clock: ManualClock) -> None:
        header = authorization(relay, clock() + minutes * MINUTE_MS, salt, secret)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(relay), base_url="http://it") as http:
            first = await http.get(LIST, headers={"Authorization": header})
            again = await http.get(LIST, headers={"Authorization": header})

        assert first.status_code == (200 if code is None else 403)
        assert first.json().get("errorCode") == code
        assert again.json()["errorCode"] == (code or "DuplicatedSignature")

    run(scenario)


def test_message_moves_to_the_end_of_the_updates() -> None:
    async def scenario(relay: FakeSolapi, caller: SolapiCaller, clock: ManualClock) -> None:
        relay.behavior.shows_progress = False
        await caller.send("01000000007")
        clock.advance_s(1)
        await caller.send("01020000001")
        clock.advance_s(20)
        _, created = await caller.call("GET", LIST, dateType="CREATED")
        _, updated = await caller.call("GET", LIST, dateType="UPDATED")

        assert [row["to"] for row in created["messageList"].values()] == ["01000000007", "01020000001"]
        assert [row["to"] for row in updated["messageList"].values()] == ["01020000001", "01000000007"]
        assert {row["statusCode"] for row in updated["messageList"].values()} == {"4000"}

    run(scenario)


def test_lists_may_lag() -> None:
    async def scenario(relay: FakeSolapi, caller: SolapiCaller, clock: ManualClock) -> None:
        relay.behavior.lists_lag_s = 5
        await caller.send("01020000001")
        _, early = await caller.call("GET", LIST, to="01020000001")
        clock.advance_s(5)
        _, late = await caller.call("GET", LIST, to="01020000001")

        assert (len(early["messageList"]), len(late["messageList"])) == (0, 1)

    run(scenario)


def test_template_is_reviewed_after_its_inspection_is_requested() -> None:
    async def scenario(relay: FakeSolapi, caller: SolapiCaller, clock: ManualClock) -> None:
        channel = relay.add_channel().channel_id
        body = {"name": "환영", "content": "환영합니다.", "categoryCode": "999999", "channelId": channel}
        _, template = await caller.call("POST", "/kakao/v2/templates", body)
        path = f"/kakao/v2/templates/{template['templateId']}"
        clock.advance_s(60)
        _, waiting = await caller.call("GET", path)
        _, asked = await caller.call("PUT", f"{path}/inspection")
        clock.advance_s(1)
        _, decided = await caller.call("GET", path)

        assert [one["status"] for one in (template, waiting, asked, decided)] == [
            "PENDING",
            "PENDING",
            "INSPECTING",
            "APPROVED",
        ]

    run(scenario)


def test_webhook_is_called_five_times_until_it_is_accepted() -> None:
    async def scenario(relay: FakeSolapi, caller: SolapiCaller, clock: ManualClock) -> None:
        calls: list[httpx.Request] = []

        def refuse(request: httpx.Request) -> httpx.Response:
            calls.append(request)
            return httpx.Response(204)

        relay.webhooks.set("http://us.invalid/hooks/relay", "a secret")
        await caller.send("01020000001", customFields={"pabal": "one"})
        async with httpx.AsyncClient(transport=httpx.MockTransport(refuse)) as client:
            for _ in range(10):
                clock.advance_s(1)
                await relay.webhooks.post_due(client)

        assert len(calls) == 5
        assert calls[0].headers["X-Solapi-Event-Name"] == "SINGLE-REPORT"
        assert calls[0].headers["X-Solapi-Secret"] == "66b9e5aef98ced908e577140bccee56bcf4d29b9"
        assert relay.webhooks.posts[0].body[0]["customFields"] == {"pabal": "one"}

    run(scenario)


def test_faults_break_calls_before_or_after_they_are_accepted() -> None:
    async def scenario(relay: FakeSolapi, caller: SolapiCaller, clock: ManualClock) -> None:
        for kind, status, accepted in (
            ("system error", 500, 0),
            ("system error accepted", 500, 1),
            ("throttle", 429, 1),
        ):
            relay.inject_fault(kind, "send-many")
            body = {"messages": [{"to": "01020000001", "from": SENDER, "text": "안녕"}]}
            found, _ = await caller.call("POST", "/messages/v4/send-many/detail", body)
            assert (found, len(relay.messages)) == (status, accepted)

    run(scenario)
