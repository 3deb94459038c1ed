"""Fields of the wrong type and forbidden characters, in every endpoint."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import inspect

from pabal.web.endpoint import Endpoint
from pabal.web.endpoints import ENDPOINTS
from tests.fixtures.virtual import Environment
from tests.fixtures.web import (
    PHONE,
    RunScenario,
    alimtalk_body,
    approve_template,
    channel_body,
    friendtalk_body,
    image_body,
    list_messages,
    register_channel,
    sms_body,
    summarize_refusal,
    template_body,
)

each_endpoint = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=[endpoint.path for endpoint in ENDPOINTS])


_BUTTON = {
    "buttonType": "webLink",
    "name": "열기",
    "mobileUrl": "https://shop.example",
    "pcUrl": "https://shop.example",
    "androidUrl": "shop://1",
    "iosUrl": "shop://1",
    "chatExtra": "x",
    "chatEvent": "y",
    "target": "out",
    "orderNo": 1,
}


_RECEIVER = {"phoneNumber": PHONE, "templateData": {"name": "길동"}, "reference": "1"}


_LATER = {"sendDate": "2026-11-15 12:10"}


_FALLBACK = {"resend": True, "resendPhoneNumber": "02-1234-5678", "resendContent": "#{name}"}


_PAGING = {"page": 1, "pageSize": 10}


FULL_BODIES: dict[str, dict[str, Any]] = {
    "sender/categories": {},
    "sender/create": channel_body(),
    "sender/delete": {"senderKey": "KEY", "channelId": "@shop"},
    "sender/auth": {"channelId": "@shop", "token": "123456"},
    "sender/list": {"channelId": "@shop", "senderKey": "KEY", "authStatus": "approval", **_PAGING},
    "message/sendSMS": sms_body(receivers=[_RECEIVER], **_LATER),
    "message/sendLMS": sms_body(subject="#{name}", receivers=[_RECEIVER], **_LATER),
    "message/sendMMS": sms_body(subject="#{name}", image=image_body(), receivers=[_RECEIVER], **_LATER),
    "message/sendAlimtalk": alimtalk_body("KEY", receivers=[_RECEIVER], **_LATER, **_FALLBACK),
    "message/sendFriendtalk": friendtalk_body(
        "KEY",
        receivers=[{**_RECEIVER, "content": "#{name}"}],
        adFlag=False,
        messageType="FI",
        image=image_body(),
        imageLink="https://shop.example",
        buttons=[_BUTTON],
        **_LATER,
        **_FALLBACK,
    ),
    "message/list": {
        "requestId": "0" * 26,
        "messageId": "0" * 32,
        "messageProductType": "sms",
        "sendingStatus": "waiting",
        "receivers": PHONE,
        "receiver": PHONE,
        "channelId": "@shop",
        "senderKey": "KEY",
        "templateCode": "T1",
        "yyyyMM": "202611",
        "requestDate": "2026-11-15",
        "scheduledDate": "2026-11-15",
        "completeDate": "2026-11-15",
        "completedDate": "2026-11-15",
        **_PAGING,
    },
    "message/cancel": {"requestId": "0" * 26, "messageId": "0" * 32},
    "message/request": {"requestId": "0" * 26, **_PAGING},
    "template/categories": {},
    "template/create": template_body(
        "KEY",
        messageType="mixed",
        emphasisType="text",
        emphasisTitle="제목",
        emphasisAssistPhrase="부제",
        moreInfo="더",
        image=image_body(),
        imageLink="https://shop.example",
        securityTemplate=True,
        buttons=[_BUTTON],
    ),
    "template/delete": {"senderKey": "KEY", "templateCode": "T1"},
    "template/request": {"senderKey": "KEY", "templateCode": "T1"},
    "template/list": {"senderKey": "KEY", "templateCode": "T1", "status": "approved", **_PAGING},
    "simulator/phone": {"phoneNumber": PHONE, **_PAGING},
}
FULL_BODIES["template/update"] = FULL_BODIES["template/create"]


def _field_paths(shape: inspect.Type, place: str = "") -> Iterator[str]:
    """Yield the path of every field of a body type."""
    if isinstance(shape, inspect.Metadata):
        yield from _field_paths(shape.type, place)
    elif isinstance(shape, inspect.UnionType):
        yield from _field_paths(next(each for each in shape.types if not isinstance(each, inspect.NoneType)), place)
    elif isinstance(shape, inspect.ListType):
        yield from _field_paths(shape.item_type, f"{place}[0]")
    elif isinstance(shape, inspect.StructType):
        for field in shape.fields:
            yield from _field_paths(field.type, f"{place}.{field.encode_name}".lstrip("."))
    else:
        yield place


def _value_paths(given: Any, place: str = "") -> Iterator[str]:
    """Yield the path of every value of a body."""
    for name, value in given.items():
        path = f"{place}{name}"
        if isinstance(value, list):
            value, path = value[0], f"{path}[0]"
        if isinstance(value, dict) and name != "templateData":
            yield from _value_paths(value, f"{path}.")
        else:
            yield path


def _replace_value(given: Any, path: str, by: Any) -> Any:
    """Return a copy of a body with one value replaced."""
    name, _, rest = path.partition(".")
    plain = name.removesuffix("[0]")
    if plain != name:
        return {**given, plain: [_replace_value(given[plain][0], rest, by)]}
    if rest:
        return {**given, name: _replace_value(given[name], rest, by)}
    value = given[name]
    return {**given, name: by(value) if callable(by) else by}


@each_endpoint
def test_full_bodies_of_these_tests_have_every_field(endpoint: Endpoint) -> None:
    operation = endpoint.path.removeprefix("/api/").removesuffix(".v1.0")

    assert set(_value_paths(FULL_BODIES[operation])) == set(_field_paths(inspect.type_info(endpoint.body)))


STRINGS = [
    (operation, path)
    for operation, given in FULL_BODIES.items()
    for path in _value_paths(given)
    if not path.endswith(("page", "pageSize", "orderNo", "adFlag", "resend", "securityTemplate"))
]


def _corrupt(value: Any, by: str) -> Any:
    return {"name": f"a{by}"} if isinstance(value, dict) else f"{value}{by}"


@pytest.mark.parametrize("operation", FULL_BODIES)
def test_nul_and_lone_surrogates_are_refused_in_every_string(run_scenario: RunScenario, operation: str) -> None:
    endpoint = next(each for each in ENDPOINTS if each.path == f"/api/{operation}.v1.0")
    paths = [path for each, path in STRINGS if each == operation]
    spoilers = ["\0"] if endpoint.input_source == "query" else ["\0", "\ud800", "\udfff"]

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sender_key = await register_channel(call)
        await approve_template(call, sender_key)
        given = {name: sender_key if value == "KEY" else value for name, value in FULL_BODIES[operation].items()}

        for path in paths:
            for by in spoilers:
                bad = _replace_value(given, path, lambda value, by=by: _corrupt(value, by))

                answer = await (
                    call(operation, query=bad) if endpoint.input_source == "query" else call(operation, bad)
                )

                errors = summarize_refusal(answer).errors
                assert errors.get(path) in ("UNSUPPORTED_CHARACTER", "INVALID_BUTTON"), (path, by, answer.body)
                json.dumps(answer.body, ensure_ascii=False).encode()
        assert await list_messages(call) == []

    run_scenario(scenario)


WRONG: list[Any] = [[], {}, 5, True, 1.5, -(10**30), "x" * 10_000]


@pytest.mark.parametrize("operation", FULL_BODIES)
def test_value_of_the_wrong_type_never_causes_an_internal_error(run_scenario: RunScenario, operation: str) -> None:
    endpoint = next(each for each in ENDPOINTS if each.path == f"/api/{operation}.v1.0")

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        for path in _value_paths(FULL_BODIES[operation]):
            for wrong in WRONG:
                bad = _replace_value(FULL_BODIES[operation], path, wrong)

                answer = await (
                    call(operation, query=bad) if endpoint.input_source == "query" else call(operation, bad)
                )

                assert answer.status < 500, (path, wrong)

    run_scenario(scenario)
