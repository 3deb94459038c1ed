"""Whatever is sent, the answer is the envelope: paths, methods, bodies, characters, sizes, languages and times."""

import json
import re
from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from msgspec import inspect

from pabal.web.endpoints import ENDPOINTS, Endpoint
from tests.fixtures.virtual import Environment
from tests.fixtures.web import (
    PHONE,
    RunScenario,
    alimtalk_body,
    approve_template,
    call_ok,
    call_raw,
    channel_body,
    friendtalk_body,
    image_body,
    list_messages,
    register_channel,
    sms_body,
    summarize_refusal,
    template_body,
)

SEND_SMS = "/api/message/sendSMS.v1.0"
ENVELOPE = {"time", "result", "resultMessage", "locale"}
each_endpoint = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=[endpoint.path for endpoint in ENDPOINTS])


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/nowhere",
        "/api",
        "/api/",
        "/api/message",
        "/api/message/sendSMS",
        "/api/message/sendSMS.v1.1",
        "/api/message/sendSMS.v1.0/",
        "/api//message/sendSMS.v1.0",
        "/API/message/sendSMS.v1.0",
        "/api/message/sendsms.v1.0",
        "/api/../healthz",
        "/docs/assets",
        "/가",
        "/healthz/",
        "/docs/",
    ],
)
def test_an_unknown_path_is_not_found(run_scenario: RunScenario, path: str) -> None:
    async def scenario(env: Environment) -> None:
        for method in ("GET", "POST", "BREW"):
            answer, _ = await call_raw(env, path, method=method)

            assert (answer.result, answer.status) == ("NOT_FOUND", 404)
            assert set(answer.body) == ENVELOPE
            assert answer.headers["content-type"] == "application/json;charset=UTF-8"

    run_scenario(scenario)


@each_endpoint
def test_a_method_that_an_endpoint_does_not_take_is_refused_with_the_one_it_takes(
    run_scenario: RunScenario, endpoint: Endpoint
) -> None:
    others = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW"} - {endpoint.method}

    async def scenario(env: Environment) -> None:
        for method in sorted(others):
            answer, read = await call_raw(env, endpoint.path, method=method)

            assert (answer.result, answer.status) == ("METHOD_NOT_ALLOWED", 405)
            assert answer.headers["allow"] == endpoint.method
            assert read == 0

    run_scenario(scenario)


@pytest.mark.parametrize("page", ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/docs/start.js"])
def test_pages_are_only_read(run_scenario: RunScenario, page: str) -> None:
    async def scenario(env: Environment) -> None:
        answer, _ = await call_raw(env, page, method="POST")

        assert (answer.result, answer.status) == ("METHOD_NOT_ALLOWED", 405)
        assert "GET" in answer.headers["allow"]

    run_scenario(scenario)


def _nested(depth: int) -> bytes:
    return b'{"receivers": ' + b"[" * depth + b"]" * depth + b"}"


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"}",
        b"[]",
        b"[{}]",
        b'"content"',
        b"1",
        b"null",
        b"true",
        b" ",
        b"{} {}",
        b"{'content': 'x'}",
        b'{"content": "x",}',
        b'{"content": NaN}',
        b'{"content": "x", "extra": NaN}',
        b'{"extra": Infinity}',
        b'{"extra": -Infinity}',
        b'{"extra": 01}',
        b'{"content": "\x00"}',
        b'{"content": "a\nb"}',
        b'{"content": "\xff"}',
        b'{"content": "\xed\xa0\x80"}',
        b'{"content": "\\x"}',
        b'{"extra": ' + b"9" * 5000 + b"}",
        '{"content": "안녕"}'.encode("euc-kr"),
        '{"content": "x"}'.encode("utf-16"),
        b"\xef\xbb\xbf{}",
        b"content=x",
        b"<xml/>",
        b"\x00" * 100,
        _nested(100_000),
        b'{"extra": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}",
    ],
)
def test_a_body_that_is_not_a_json_object_is_refused(run_scenario: RunScenario, body: bytes) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()

        answers = [await call(operation, body) for operation in ("message/sendSMS", "message/list")]

        assert [answer.result for answer in answers] == ["INVALID_JSON"] * 2
        assert [answer.status for answer in answers] == [400, 400]

    run_scenario(scenario)


def test_an_empty_body_is_an_empty_object(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()

        empty = await call("message/sendSMS", b"", headers={"content-type": "text/plain"})
        braces = await call("message/sendSMS", b" {} ")

        assert summarize_refusal(empty) == summarize_refusal(braces)
        assert list(summarize_refusal(empty).errors) == ["content", "sender", "receivers"]

    run_scenario(scenario)


@pytest.mark.parametrize(
    "body",
    [b'{"page": 1, "page": 2, "receivers": "010-1234-5678"}', _nested(200), b'{"receivers": {"a": {"b": []}}}'],
)
def test_strange_but_readable_bodies_are_answered(run_scenario: RunScenario, body: bytes) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()

        listed, sent = await call("message/list", body), await call("message/sendSMS", body)

        assert listed.result in ("SUCCESS", "INVALID_PARAMETER")
        assert sent.result == "MISSING_PARAMETER"

    run_scenario(scenario)


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
FULL: dict[str, dict[str, Any]] = {
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
FULL["template/update"] = FULL["template/create"]


def _fields(shape: inspect.Type, place: str = "") -> Iterator[str]:
    """Yield the path of every field of a body's shape."""
    if isinstance(shape, inspect.Metadata):
        yield from _fields(shape.type, place)
    elif isinstance(shape, inspect.UnionType):
        yield from _fields(next(each for each in shape.types if not isinstance(each, inspect.NoneType)), place)
    elif isinstance(shape, inspect.ListType):
        yield from _fields(shape.item_type, f"{place}[0]")
    elif isinstance(shape, inspect.StructType):
        for field in shape.fields:
            yield from _fields(field.type, f"{place}.{field.encode_name}".lstrip("."))
    else:
        yield place


def _leaves(given: Any, place: str = "") -> Iterator[str]:
    """Yield the path of every value of a body."""
    for name, value in given.items():
        path = f"{place}{name}"
        if isinstance(value, list):
            value, path = value[0], f"{path}[0]"
        if isinstance(value, dict) and name != "templateData":
            yield from _leaves(value, f"{path}.")
        else:
            yield path


def _replaced(given: Any, path: str, by: Any) -> Any:
    """Return a copy of a body with one value replaced."""
    name, _, rest = path.partition(".")
    plain = name.removesuffix("[0]")
    if plain != name:
        return {**given, plain: [_replaced(given[plain][0], rest, by)]}
    if rest:
        return {**given, name: _replaced(given[name], rest, by)}
    value = given[name]
    return {**given, name: by(value) if callable(by) else by}


@each_endpoint
def test_the_full_bodies_of_these_tests_hold_every_field(endpoint: Endpoint) -> None:
    operation = endpoint.path.removeprefix("/api/").removesuffix(".v1.0")

    assert set(_leaves(FULL[operation])) == set(_fields(inspect.type_info(endpoint.body)))


STRINGS = [
    (operation, path)
    for operation, given in FULL.items()
    for path in _leaves(given)
    if not path.endswith(("page", "pageSize", "orderNo", "adFlag", "resend", "securityTemplate"))
]


def _spoilt(value: Any, by: str) -> Any:
    return {"name": f"a{by}"} if isinstance(value, dict) else f"{value}{by}"


@pytest.mark.parametrize("operation", FULL)
def test_nul_and_lone_surrogates_are_refused_in_every_string_by_its_name(
    run_scenario: RunScenario, operation: str
) -> None:
    endpoint = next(each for each in ENDPOINTS if each.path == f"/api/{operation}.v1.0")
    paths = [path for each, path in STRINGS if each == operation]
    spoilers = ["\0"] if endpoint.input_source == "query" else ["\0", "\ud800", "\udfff"]

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sender_key = await register_channel(call)
        await approve_template(call, sender_key)
        given = {name: sender_key if value == "KEY" else value for name, value in FULL[operation].items()}

        for path in paths:
            for by in spoilers:
                bad = _replaced(given, path, lambda value, by=by: _spoilt(value, by))

                answer = await (
                    call(operation, query=bad) if endpoint.input_source == "query" else call(operation, bad)
                )

                errors = summarize_refusal(answer).errors
                assert errors.get(path) in ("UNSUPPORTED_CHARACTER", "INVALID_BUTTON"), (path, by, answer.body)
                json.dumps(answer.body, ensure_ascii=False).encode()
        assert await list_messages(call) == []

    run_scenario(scenario)


WRONG: list[Any] = [[], {}, 5, True, 1.5, -(10**30), "x" * 10_000]


@pytest.mark.parametrize("operation", FULL)
def test_a_value_of_the_wrong_type_is_never_a_fault_of_ours(run_scenario: RunScenario, operation: str) -> None:
    endpoint = next(each for each in ENDPOINTS if each.path == f"/api/{operation}.v1.0")

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        for path in _leaves(FULL[operation]):
            for wrong in WRONG:
                bad = _replaced(FULL[operation], path, wrong)

                answer = await (
                    call(operation, query=bad) if endpoint.input_source == "query" else call(operation, bad)
                )

                assert answer.status < 500, (path, wrong)

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("content_type", "is_read"),
    [
        ("application/json", True),
        ("application/json;charset=UTF-8", True),
        ("application/json; charset=utf-8", True),
        ('application/json; charset="UTF-8"', True),
        ("APPLICATION/JSON", True),
        ("application/json;", True),
        ("application/json; charset=utf-8; profile=x", True),
        ("application/json; profile=x; charset=utf-8", True),
        ("", True),
        ("application/json; charset=euc-kr", False),
        ("application/json; profile=x; charset=euc-kr", False),
        ("application/json; charset=", False),
        ("application/json, application/json", False),
        ("application/jsonp", False),
        ("application/x-www-form-urlencoded", False),
        ("multipart/form-data; boundary=x", False),
        ("text/plain", False),
        ("text/json", False),
        ("json", False),
        ("caf\u00e9", False),
    ],
)
def test_a_body_is_json_in_utf_8(run_scenario: RunScenario, content_type: str, is_read: bool) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()

        answer = await call("message/sendSMS", sms_body(), headers={"content-type": content_type})

        assert answer.result == ("SUCCESS" if is_read else "UNSUPPORTED_MEDIA_TYPE")

    run_scenario(scenario)


def test_without_a_content_type_a_body_is_json(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()

        answer, _ = await call_raw(
            env, SEND_SMS, headers=[("apiKey", str(call.key))], chunks=[json.dumps(sms_body()).encode()]
        )

        assert answer.result == "SUCCESS"

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("types", "result"),
    [
        (["application/json", "application/json"], "SUCCESS"),
        (["application/json", "text/plain"], "UNSUPPORTED_MEDIA_TYPE"),
        (["text/plain", "application/json"], "SUCCESS"),
    ],
)
def test_of_two_content_types_the_last_counts(run_scenario: RunScenario, types: list[str], result: str) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        headers = [("apiKey", str(call.key)), *(("Content-Type", each) for each in types)]

        answer, _ = await call_raw(env, SEND_SMS, headers=headers, chunks=[json.dumps(sms_body()).encode()])

        assert answer.result == result

    run_scenario(scenario)


@pytest.mark.parametrize("operation", ["message/list", "message/sendSMS", "sender/categories"])
def test_a_form_is_read_where_the_history_is_searched_alone(run_scenario: RunScenario, operation: str) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        headers = {"content-type": "application/x-www-form-urlencoded; charset=UTF-8"}

        answer = await call(operation, b"receivers=010-1234-5678", headers=headers)

        assert answer.result == ("SUCCESS" if operation == "message/list" else "UNSUPPORTED_MEDIA_TYPE")

    run_scenario(scenario)


def test_a_body_that_says_it_is_too_large_is_refused_unread(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        headers = [("Content-Length", "1025")]

        answer, read = await call_raw(env, SEND_SMS, headers=headers, chunks=[b" " * 1025])

        assert (answer.result, answer.status) == ("PAYLOAD_TOO_LARGE", 413)
        assert read == 0
        assert "1,024" in answer.body["resultMessage"]

    run_scenario(scenario, max_body_bytes=1024)


def test_a_body_that_grows_too_large_is_refused_before_it_is_read_whole(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        answer, read = await call_raw(env, SEND_SMS, chunks=[b" " * 100] * 1000)

        assert answer.result == "PAYLOAD_TOO_LARGE"
        assert read == 11

    run_scenario(scenario, max_body_bytes=1024)


@pytest.mark.parametrize("has_length", [True, False])
def test_a_body_of_just_the_limit_is_read_however_it_comes(run_scenario: RunScenario, has_length: bool) -> None:
    body = json.dumps(sms_body()).encode().ljust(1024)

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        headers = [("apiKey", str(call.key)), *([("Content-Length", "1024")] if has_length else [])]

        whole, _ = await call_raw(env, SEND_SMS, headers=headers, chunks=[body])
        pieces, _ = await call_raw(
            env, SEND_SMS, headers=headers, chunks=[body[:10], b"", body[10:1000], body[1000:]]
        )
        over, _ = await call_raw(env, SEND_SMS, headers=headers, chunks=[body[:1000], body[1000:] + b" "])

        assert [whole.result, pieces.result, over.result] == ["SUCCESS", "SUCCESS", "PAYLOAD_TOO_LARGE"]

    run_scenario(scenario, max_body_bytes=1024)


def test_without_a_key_a_body_of_known_length_is_not_read(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        answer, read = await call_raw(env, SEND_SMS, headers=[("Content-Length", "5")], chunks=[b"x" * 5])

        assert (answer.result, read) == ("UNAUTHORIZED", 0)

    run_scenario(scenario)


def test_a_caller_that_hangs_up_gets_no_answer_and_nothing_is_sent(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        events: list[dict[str, Any]] = [
            {"type": "http.request", "body": json.dumps(sms_body()).encode()[:50], "more_body": True},
            {"type": "http.disconnect"},
        ]
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return events.pop(0)

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": SEND_SMS,
            "query_string": b"",
            "headers": [(b"apikey", str(call.key).encode()), (b"content-length", b"500")],
            "client": ("127.0.0.1", 1),
        }
        await env.service(scope, receive, send)

        assert sent == []
        assert await list_messages(call) == []

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("accept_language", "locale"),
    [
        (None, "ko"),
        ("", "ko"),
        ("ko", "ko"),
        ("en", "en"),
        ("EN", "en"),
        ("en-US", "en"),
        ("en-US,en;q=0.9,ko;q=0.8", "en"),
        ("ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7", "ko"),
        ("ko;q=0.5,en;q=0.6", "en"),
        ("en;q=0.5,ko;q=0.5", "en"),
        ("en;q=0", "ko"),
        ("ko;q=0,en;q=0.1", "en"),
        ("fr,de;q=0.9", "ko"),
        ("fr,en;q=0.1", "en"),
        ("*", "ko"),
        ("en;q=x", "ko"),
        ("en;q=nan", "ko"),
        ("english", "ko"),
        (";;;,,,q=", "ko"),
        ("caf\u00e9", "ko"),
        ("fr," * 1000 + "en", "ko"),
    ],
)
def test_the_language_is_the_one_preferred_of_the_two_we_speak(
    run_scenario: RunScenario, accept_language: str | None, locale: str
) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller(language=accept_language)

        answers = [await call(path) for path in ("sender/list", "/api/nothing", "/healthz", "/nowhere")]

        message = {"ko": "[가-힣]", "en": "^[A-Za-z ,.;]+$"}[locale]
        assert [answer.body["locale"] for answer in answers] == [locale] * 4
        assert all(re.search(message, answer.body["resultMessage"]) for answer in answers)

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("zone", "time", "date"),
    [
        ("Asia/Seoul", "2026-11-15T12:00:01.250+09:00", "2026-11-15 12:00:01"),
        ("UTC", "2026-11-15T03:00:01.250+00:00", "2026-11-15 03:00:01"),
        ("America/New_York", "2026-11-14T22:00:01.250-05:00", "2026-11-14 22:00:01"),
    ],
)
def test_times_are_those_of_the_services_zone(run_scenario: RunScenario, zone: str, time: str, date: str) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        await env.wait(1.25)

        sent = await call_ok(call, "message/sendSMS", sms_body())
        refused = await call("message/sendSMS", {})
        page = await call("/healthz")

        assert sent.body["time"] == refused.body["time"] == page.body["time"] == time
        assert (await list_messages(call))[0]["requestDate"] == date

    run_scenario(scenario, zone=ZoneInfo(zone))


def test_every_answer_of_the_interface_has_an_id_of_its_own(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()

        ids = {(await call("sender/list")).headers["x-request-id"] for _ in range(20)}

        assert len(ids) == 20

    run_scenario(scenario)


@each_endpoint
def test_a_query_that_cannot_be_read_is_never_a_fault_of_ours(
    run_scenario: RunScenario, endpoint: Endpoint
) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        headers = [("apiKey", str(call.key))]

        for query in (b"a=%FF", b"a=1&a=2", b"\xff", b"&=&", b"%", b"a" * 10_000, b"a=1&" * 200):
            answer, _ = await call_raw(env, endpoint.path, method=endpoint.method, headers=headers, query=query)

            assert answer.status < 500

    run_scenario(scenario)
