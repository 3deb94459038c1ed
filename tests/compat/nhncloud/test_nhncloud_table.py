"""Every endpoint of NHN Cloud's tables: other accounts' ids, keys without the scope, what a call may cost."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import pytest

from pabal.compat.nhncloud.app import SERVICES
from pabal.compat.nhncloud.call import Endpoints
from pabal.compat.nhncloud.routes import TALK
from pabal.compat.relay_api import Route
from tests.fixtures.nhncloud_calls import SENDER, SETTINGS, TalkCaller, day, talk_caller
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import approve_template
from tests.hostile.cost import NOISE_S, measure

pytestmark = pytest.mark.settings(**SETTINGS)
FORBIDDEN = -1004
PHONE, NAME, SECRET = "01012345678", "name-of-a", "비밀본문"
COSTLY = 400


class Entry(NamedTuple):
    """An endpoint of a service."""

    service: Endpoints
    route: Route

    def path(self, **ids: str) -> str:
        """Return the path with ids in place of `*`, by the words before them."""
        parts: list[str] = []
        for part in self.route.pattern:
            before = parts[-1] if parts else ""
            parts.append(part if part != "*" else ids.get(before, "1" if before == ids.get("messages") else "x"))
        return "/".join(parts)

    @property
    def version(self) -> str:
        return f"{self.service.name}/v{max(self.service.versions)}"


def entries(*services: Endpoints) -> list[Entry]:
    found: list[Entry] = []
    for each in services:
        table: Any = each.table
        found += [Entry(each, one) for routes in table._routes.values() for one in routes]
    return found


def name_of(entry: Entry) -> str:
    return f"{entry.service.name} {entry.route.method} {'/'.join(entry.route.pattern)}"


def body_of(sender_key: str, path: str) -> dict[str, Any]:
    """Return a body with which a call is accepted, if the key is that of the account."""
    if path == "sender/sms":
        return {"body": "#{a}" * 22, "sendNo": SENDER, "senderGroupingKey": "group-of-a"}
    recipient = {"recipientNo": PHONE, "recipientGroupingKey": NAME, "targeting": "I"}
    text = {"templateParameter": {"name": SECRET}} if "raw" not in path and "free" not in path else {}
    return {
        "senderKey": sender_key,
        "templateCode": "T2",
        "senderGroupingKey": "group-of-a",
        "chatBubbleType": "TEXT",
        "content": SECRET,
        "recipientList": [{**recipient, "content": f"인증 {SECRET}님께", **text}],
    }


@pytest.mark.parametrize("entry", entries(*SERVICES.values()), ids=name_of)
async def test_key_needs_the_scope(env: Environment, entry: Entry) -> None:
    lacking = await talk_caller(env, scopes={"send": ("read",), "read": ("send",)}[entry.route.scope])

    assert await lacking.code(entry.route.method, entry.path(), service=entry.version) == FORBIDDEN


async def make_owner(env: Environment, call: Caller, sender_key: str) -> TalkCaller:
    """Return a caller of an account that has a template."""
    await approve_template(call, sender_key, templateCode="T2", content="인증 #{name}님께")
    return await talk_caller(env)


async def read_all(env: Environment, owner: TalkCaller) -> list[Any]:
    """Return the messages of an account."""
    found = []
    for each in TALK:
        answer = await owner.ok(
            "GET", "messages", query=day(env, "Request"), service=f"{each.name}/v{max(each.versions)}"
        )
        found.append(answer["messageSearchResultResponse"]["messages"])
    return found


@pytest.mark.parametrize("entry", entries(*TALK), ids=name_of)
async def test_no_endpoint_leads_from_one_account_to_another(
    env: Environment, call: Caller, sender_key: str, entry: Entry
) -> None:
    owner = await make_owner(env, call, sender_key)
    path = {"alimtalk": "messages", "friendtalk": "messages", "brand-message": "freestyle-messages"}[
        entry.service.name
    ]
    given = {**body_of(sender_key, path), "requestDate": f"{day(env, 'Request')['startRequestDate'][:10]} 14:00"}
    sent = await owner.ok("POST", path, given, service=entry.version)
    before = await read_all(env, owner)
    twin = await talk_caller(env, "other", "OTHER-APP-KEY")
    target = entry.path(messages=sent["message"]["requestId"], senders=sender_key, templates="T2")
    names = {"senderGroupingKey": "group-of-a", "recipientGroupingKey": NAME}
    periods = {**day(env, "Request"), **day(env, "Update")}
    queries = [periods, {**periods, **names}, {"requestId": sent["message"]["requestId"]}]
    body = body_of(sender_key, target) if entry.route.method == "POST" and target != "images" else None
    answers = [
        await twin(entry.route.method, target, body, service=entry.version, query=query if body is None else None)
        for query in queries
    ]

    assert any(before), "there is something to be found"
    if body is not None:
        assert all(each.body["header"]["resultCode"] for each in answers)
    assert not any(secret in str(each.body) for each in answers for secret in (SECRET, NAME, "T2") if body is None)
    assert await read_all(env, owner) == before


SHAPES: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "texts with names": ("sms/v3.0 sender/sms", lambda number: {"recipientGroupingKey": f"이{number}" * 15}),
    "texts to bad numbers": ("sms/v3.0 sender/sms", lambda number: {"recipientNo": "1"}),
    "texts abroad": ("sms/v3.0 sender/sms", lambda number: {"countryCode": "1"}),
    "finished texts": ("alimtalk/v2.3 raw-messages", lambda number: {"content": f"인증 {'가' * 500}{number}님께"}),
    "texts that do not fit": ("alimtalk/v2.3 raw-messages", lambda number: {"content": "인증 " * 300}),
    "many values": (
        "alimtalk/v2.3 messages",
        lambda number: {"templateParameter": {f"v{one}": "x" for one in range(50)}},
    ),
    "a text in place of each": (
        "alimtalk/v2.3 messages",
        lambda number: {
            "templateParameter": {"name": "길동"},
            "resendParameter": {
                "isResend": True,
                "resendSendNo": f"02{number:08}",
                "resendContent": f"글 {number}",
            },
        },
    ),
    "links of each": (
        "friendtalk/v2.4 messages",
        lambda number: {
            "content": "글",
            "buttons": [
                {"type": "WL", "name": "열기", "linkMo": f"https://a.example/{number}/{one}"} for one in range(5)
            ],
        },
    ),
    "a target of each": (
        "brand-message/v1.0 freestyle-messages",
        lambda number: {"targeting": "IMN"[number % 3], "unsubscribeNo": f"080{number:07}"},
    ),
    "unknown fields": ("alimtalk/v2.3 messages", lambda number: {f"f{number}": [[number] * 20]}),
}
"""Calls of many recipients that can hardly be sent together: where to, and what each recipient has."""


@pytest.mark.first_case
@pytest.mark.parametrize("shape", SHAPES)
async def test_call_costs_no_more_than_its_recipients_one_by_one(
    env: Environment, call: Caller, sender_key: str, shape: str
) -> None:
    owner = await make_owner(env, call, sender_key)
    target, make = SHAPES[shape]
    service, path = target.split(" ")
    shared = body_of(sender_key, path)

    def sending(count: int) -> Callable[[], Awaitable[Any]]:
        recipients = [{"recipientNo": f"010{number:08}", **make(number)} for number in range(count)]
        return lambda: owner("POST", path, {**shared, "recipientList": recipients}, service=service)

    one, half, whole = [await measure(sending(count), 3) for count in (1, COSTLY // 2, COSTLY)]

    assert whole.seconds <= 2 * COSTLY * one.seconds + NOISE_S
    assert whole.seconds <= 3 * half.seconds + 10 * NOISE_S, "it grows with the number of recipients, not faster"
