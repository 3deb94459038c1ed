"""Every endpoint of Solapi's table: other accounts' ids, keys without the scope, any body, what a call may cost."""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pabal.compat.relay_api import Route
from pabal.compat.solapi.app import ROUTES
from tests.fixtures.pictures import JPEG
from tests.fixtures.solapi_brand import FILE
from tests.fixtures.solapi_calls import SENDER, SETTINGS, SolapiCaller, solapi_caller
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import approve_template
from tests.hostile.cost import NOISE_S, measure
from tests.hostile.mutate import mutations

pytestmark = pytest.mark.settings(**SETTINGS)
ROUNDS = 150
COSTLY = 400
MESSAGE: dict[str, Any] = {"to": "01012345678", "from": SENDER, "text": "안녕하세요"}
KAKAO = {"pfId": "x", "templateId": "T1", "variables": {"#{name}": 1}, "disableSms": False, "buttons": [{"a": 1}]}
OTHERS: list[dict[str, Any]] = [
    {**MESSAGE, "to": ["01012345679"], "subject": "제목", "country": "82", "customFields": {"a": "b"}},
    {**MESSAGE, "kakaoOptions": KAKAO, "type": "ATA"},
]
WHEN = "2026-11-16T10:00:00+09:00"
BODIES: dict[str, Any] = {
    "POST messages/v4/send": {"message": MESSAGE},
    "POST messages/v4/send-many/detail": {"messages": [MESSAGE, *OTHERS], "scheduledDate": WHEN},
    "POST messages/v4/send-many": {"messages": [MESSAGE]},
    "POST messages/v4/groups": {"allowDuplicates": True},
    "PUT messages/v4/groups/*/messages": {"messages": [MESSAGE]},
    "POST messages/v4/groups/*/send": {},
    "POST messages/v4/groups/*/schedule": {"scheduledDate": WHEN},
    "POST storage/v1/files": {"file": base64.b64encode(JPEG).decode(), "type": "MMS", "name": "a.jpg"},
}
"""The body of each endpoint that reads one."""


def name_of(route: Route) -> str:
    return f"{route.method} {'/'.join(route.pattern)}"


WITH_IDS = [each for each in ROUTES if "*" in each.pattern]


def path_of(route: Route, id: str) -> str:
    return "/".join(id if part == "*" else part for part in route.pattern)


def test_every_endpoint_that_reads_a_body_has_one_here() -> None:
    assert set(BODIES) == {name_of(each) for each in ROUTES if each.method in ("POST", "PUT")}


async def make_things(env: Environment, call: Caller, sender_key: str) -> tuple[SolapiCaller, dict[str, str]]:
    """Return a caller of the first account, and the ids of what it has, by the word in the path before them."""
    await approve_template(call, sender_key, templateCode="THEIRS")
    caller = await solapi_caller(env)
    group = (await caller("POST", "messages/v4/groups", {})).body["groupId"]
    await caller("PUT", f"messages/v4/groups/{group}/messages", {"messages": [MESSAGE]})
    sent = await caller.send({"to": "01012345678"}, scheduledDate=WHEN)
    ids = {"open": group, "groups": sent.body["groupInfo"]["groupId"]}
    return caller, {**ids, "channels": sender_key, "templates": "THEIRS"}


@pytest.mark.parametrize("route", WITH_IDS, ids=name_of)
async def test_ids_of_another_account_are_unknown(
    env: Environment, call: Caller, sender_key: str, route: Route
) -> None:
    owner, ids = await make_things(env, call, sender_key)
    other = await solapi_caller(env, "other", "OTHER-KEY-0001")
    word = route.pattern[route.pattern.index("*") - 1]
    before = await read_all(owner, ids)
    for id in (ids[word], ids["open"] if word == "groups" else ids[word]):
        answer = await other(route.method, path_of(route, id), BODIES.get(name_of(route)))
        assert (answer.status, answer.body["errorCode"]) == (404, "ResourceNotFound")
        unknown = await other(route.method, path_of(route, id[:-1] + "0"), BODIES.get(name_of(route)))
        assert unknown.body == answer.body

    assert await read_all(owner, ids) == before


async def read_all(caller: SolapiCaller, ids: dict[str, str]) -> list[Any]:
    """Return everything that an account sees of what it has."""
    paths = [
        *(f"messages/v4/groups/{ids[each]}" for each in ("open", "groups")),
        f"messages/v4/groups/{ids['groups']}/messages",
        f"kakao/v2/channels/{ids['channels']}",
        f"kakao/v2/templates/{ids['templates']}",
    ]
    answers = [await caller("GET", path) for path in paths]
    assert {each.status for each in answers} == {200}
    return [each.body for each in answers]


@pytest.mark.parametrize(
    "path", ["messages/v4/list", "messages/v4/groups", "kakao/v2/channels", "kakao/v2/templates"]
)
async def test_lists_have_nothing_of_another_account(
    env: Environment, call: Caller, sender_key: str, path: str
) -> None:
    owner, _ = await make_things(env, call, sender_key)
    other = await solapi_caller(env, "other", "OTHER-KEY-0001")
    answers = [(await each("GET", path)).body for each in (owner, other)]
    sizes = [[len(value) for name, value in each.items() if name.endswith("List")] for each in answers]

    assert sizes[0] > [0]
    assert sizes[1] == [0]


@pytest.mark.parametrize("route", ROUTES, ids=name_of)
async def test_key_needs_the_scope_and_a_right_signature(env: Environment, route: Route) -> None:
    lacking = await solapi_caller(
        env, api_key="LACKING-KEY", scopes={"send": ("read",), "read": ("send",)}[route.scope]
    )
    path, body = path_of(route, "G4V0"), BODIES.get(name_of(route))
    refused = await lacking(route.method, path, body)
    forged = await lacking(route.method, path, body, header=lacking.sign(secret="x" * 32))

    assert (refused.status, refused.body["errorCode"]) == (403, "Forbidden")
    assert (forged.status, forged.body["errorCode"]) == (403, "SignatureDoesNotMatch")


@pytest.mark.parametrize("name", BODIES)
async def test_any_body_of_every_endpoint_gets_an_answer(env: Environment, name: str) -> None:
    caller = await solapi_caller(env)
    method, path = name.split(" ")
    group = (await caller("POST", "messages/v4/groups", {})).body["groupId"]
    corpus = [json.dumps(BODIES[name], ensure_ascii=escaped).encode() for escaped in (True, False)]
    deep = b'{"messages":' + b"[" * 2000 + b"]" * 2000 + b"}"
    for body in (deep, b"[1]", b"null", b"1e999", *mutations(corpus, 3, ROUNDS)):
        answer = await caller(method, path.replace("*", group), body)
        assert answer.status in (200, 400, 404, 413), (body, answer)
        assert answer.status == 200 or set(answer.body) == {"errorCode", "errorMessage"}


def costly(**fields: Callable[[int], Any]) -> list[dict[str, Any]]:
    """Return many messages, with fields that differ in each."""
    made = [{name: make(number) for name, make in fields.items()} for number in range(COSTLY)]
    return [{"to": f"010{number:08}", "text": "가나다", **each} for number, each in enumerate(made)]


SHAPES = {
    "a subject each": costly(subject=lambda number: f"제목 {number}"),
    "a sender each": costly(**{"from": lambda number: f"02{number:08}"}),
    "a picture each": costly(imageId=lambda number: f"ST01FJ{number:022}"),
    "a profile each": costly(kakaoOptions=lambda number: {"pfId": f"p{number}"}),
    "a template each": costly(kakaoOptions=lambda number: {"pfId": "p", "templateId": f"t{number}"}),
    "many variables": costly(
        kakaoOptions=lambda number: {
            "pfId": "p",
            "templateId": "t",
            "variables": {f"#{{v{one}}}": str(number) for one in range(50)},
        }
    ),
    "many buttons": costly(kakaoOptions=lambda number: {"pfId": "p", "buttons": [{"a": number}] * 20}),
    "a brand message each": costly(
        kakaoOptions=lambda number: {
            "pfId": "p",
            "bms": {"targeting": "I", "chatBubbleType": "TEXT", "coupon": {"title": f"{number + 1}원 할인 쿠폰"}},
        }
    ),
    "many cards": costly(
        kakaoOptions=lambda number: {
            "pfId": "p",
            "bms": {
                "targeting": "I",
                "chatBubbleType": "CAROUSEL_FEED",
                "carousel": {"list": [{"header": "x", "imageId": FILE, "buttons": [{"linkType": "WL"}] * 20}] * 20},
            },
        }
    ),
    "many own fields": costly(customFields=lambda number: {f"n{one}": "v" * 100 for one in range(20)}),
    "characters that cannot be sent": costly(text=lambda number: "😀" * 40),
    "unknown fields": costly(surprise=lambda number: [[number] * 20]),
}
"""Calls of many messages that can hardly be sent together."""


@pytest.mark.first_case
@pytest.mark.parametrize("shape", SHAPES)
async def test_call_costs_no_more_than_its_messages_one_by_one(env: Environment, shape: str) -> None:
    caller = await solapi_caller(env)

    def sending(*messages: dict[str, Any]) -> Callable[[], Awaitable[Any]]:
        return lambda: caller.send(*messages)

    one = await measure(sending({"to": "01012345678", "subject": "제목"}), 9)
    half, whole = [await measure(sending(*SHAPES[shape][:count]), 3) for count in (COSTLY // 2, COSTLY)]

    assert whole.seconds <= 2 * COSTLY * one.seconds + NOISE_S
    assert whole.seconds <= 3 * half.seconds + 10 * NOISE_S, "it grows with the number of messages, not faster"


async def test_small_call_need_not_wait_for_a_large_one(env: Environment) -> None:
    caller = await solapi_caller(env)
    answered: list[str] = []

    async def ask(name: str, asked: Awaitable[Any]) -> None:
        await asked
        answered.append(name)

    large = asyncio.create_task(ask("large", caller.send(*SHAPES["a subject each"])))
    await asyncio.sleep(0)
    small = asyncio.create_task(ask("small", caller("GET", "cash/v1/balance")))
    await asyncio.gather(large, small)

    assert answered == ["small", "large"]
