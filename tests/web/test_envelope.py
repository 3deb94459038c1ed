"""The envelope of every answer: paths, methods, languages, times and request ids."""

import json
import re
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pabal.web.endpoints.endpoint import Endpoint
from pabal.web.endpoints.table import ENDPOINTS
from pabal.web.http.asgi import REQUEST_ID
from tests.fixtures.cases import with_each
from tests.fixtures.direct import call_service
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import RunScenario, call_ok, call_raw, list_messages, sms_body

SEND_SMS = "/api/message/sendSMS.v1.0"


ENVELOPE = {"time", "result", "resultMessage", "locale"}


@with_each(
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
async def test_unknown_path_is_not_found(env: Environment, path: str) -> None:
    for method in ("GET", "POST", "BREW"):
        answer, _ = await call_raw(env, path, method=method)

        assert (answer.result, answer.status) == ("NOT_FOUND", 404)
        assert set(answer.body) == ENVELOPE
        assert answer.headers["content-type"] == "application/json;charset=UTF-8"


@with_each("endpoint", ENDPOINTS)
async def test_wrong_method_is_refused_with_the_allowed_one(env: Environment, endpoint: Endpoint) -> None:
    others = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW"} - {endpoint.method}
    for method in sorted(others):
        answer, read = await call_raw(env, endpoint.path, method=method)

        assert (answer.result, answer.status) == ("METHOD_NOT_ALLOWED", 405)
        assert answer.headers["allow"] == endpoint.method
        assert read == 0


@with_each("page", ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/docs/start.js"])
async def test_pages_accept_only_get(env: Environment, page: str) -> None:
    answer, _ = await call_raw(env, page, method="POST")

    assert (answer.result, answer.status) == ("METHOD_NOT_ALLOWED", 405)
    assert "GET" in answer.headers["allow"]


async def test_disconnected_caller_gets_no_answer_and_nothing_is_sent(env: Environment, call: Caller) -> None:
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
        "extensions": {REQUEST_ID: "1"},
        "headers": [(b"apikey", str(call.key).encode()), (b"content-length", b"500")],
        "client": ("127.0.0.1", 1),
    }
    await call_service(env.service, scope, receive, send)

    assert sent == []
    assert await list_messages(call) == []


@with_each(
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
async def test_language_is_the_preferred_one_of_korean_and_english(
    env: Environment, accept_language: str | None, locale: str
) -> None:
    call = await env.caller(language=accept_language)

    answers = [await call(path) for path in ("sender/list", "/api/nothing", "/healthz", "/nowhere")]

    message = {"ko": "[가-힣]", "en": "^[A-Za-z ,.;]+$"}[locale]
    assert [answer.body["locale"] for answer in answers] == [locale] * 4
    assert all(re.search(message, answer.body["resultMessage"]) for answer in answers)


@pytest.mark.parametrize(
    ("zone", "time", "date"),
    [
        ("Asia/Seoul", "2026-11-15T12:00:01.250+09:00", "2026-11-15 12:00:01"),
        ("UTC", "2026-11-15T03:00:01.250+00:00", "2026-11-15 03:00:01"),
        ("America/New_York", "2026-11-14T22:00:01.250-05:00", "2026-11-14 22:00:01"),
    ],
)
def test_times_are_in_the_services_zone(run_scenario: RunScenario, zone: str, time: str, date: str) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        await env.wait(1.25)

        sent = await call_ok(call, "message/sendSMS", sms_body())
        refused = await call("message/sendSMS", {})
        page = await call("/healthz")

        assert sent.body["time"] == refused.body["time"] == page.body["time"] == time
        assert (await list_messages(call))[0]["requestDate"] == date

    run_scenario(scenario, zone=ZoneInfo(zone))


async def test_every_answer_has_a_unique_request_id(call: Caller) -> None:
    paths = ["sender/list"] * 10 + ["message/sendSMS", "/api/nothing", "/v1/nothing", "/healthz", "/openapi.json"]
    ids = {(await call(each)).headers["x-request-id"] for each in paths}

    assert len(ids) == len(paths)


@with_each("endpoint", ENDPOINTS)
async def test_unreadable_query_never_causes_an_internal_error(
    env: Environment, call: Caller, endpoint: Endpoint
) -> None:
    headers = [("apiKey", str(call.key))]

    for query in (b"a=%FF", b"a=1&a=2", b"\xff", b"&=&", b"%", b"a" * 10_000, b"a=1&" * 200):
        answer, _ = await call_raw(env, endpoint.path, method=endpoint.method, headers=headers, query=query)

        assert answer.status < 500
