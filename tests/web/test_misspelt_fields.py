"""Sends and cancellations with a misspelt schedule or dry run: refused, and nothing is sent."""

import pytest

from pabal.web.endpoints.endpoint import Endpoint
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.full_bodies import FULL_BODIES
from tests.fixtures.virtual import Environment
from tests.fixtures.web import call_ok, list_messages, sms_body, summarize_refusal

SENDING = [each for each in ENDPOINTS if each.scope == "send"]
LONG = 300_000
"""Characters that make a body too long to be explained."""


@pytest.mark.parametrize("endpoint", SENDING, ids=lambda each: each.id)
async def test_what_sends_or_cancels_refuses_misspelt_fields_and_queries(
    env: Environment, endpoint: Endpoint
) -> None:
    call = await env.caller()
    body = FULL_BODIES[endpoint.path.removeprefix("/api/").removesuffix(".v1.0")]

    in_body = await call(endpoint.path, body | {"zzz": 1, "scheduledDate": "2026-12-24 18:00"})
    in_query = await call(endpoint.path, body, query={"dryRun": "true"})

    assert summarize_refusal(in_body) == ("INVALID_PARAMETER", {"scheduledDate": "INVALID_PARAMETER"})
    assert summarize_refusal(in_query) == ("INVALID_PARAMETER", {"dryRun": "INVALID_PARAMETER"})
    assert await list_messages(call) == []


@pytest.mark.parametrize("name", ["reserveTime", "schedule", "scheduled", "scheduledTime"])
async def test_misspelt_field_of_a_long_body_is_found(env: Environment, name: str) -> None:
    call = await env.caller()

    refused = await call("message/sendSMS", sms_body(note="x" * LONG, other=1) | {name: "2026-12-24 18:00"})

    assert summarize_refusal(refused) == ("INVALID_PARAMETER", {name: "INVALID_PARAMETER"})


@pytest.mark.settings(refuse_misspelt=False)
async def test_refusal_can_be_turned_off(env: Environment) -> None:
    call = await env.caller()

    answer = await call_ok(call, "message/sendSMS", sms_body(scheduledDate="2026-12-24 18:00"), query={"a": "1"})

    assert [each["field"] for each in answer.body["warnings"]] == ["scheduledDate"]


async def test_missing_field_is_named_with_the_unknown_one_that_resembles_it(env: Environment) -> None:
    call = await env.caller(language="en")
    body = sms_body(contents="안녕하세요")
    del body["content"]

    refused = await call("message/sendSMS", body)

    assert summarize_refusal(refused) == ("MISSING_PARAMETER", {"content": "MISSING_PARAMETER"})
    assert refused.body["errors"][0]["message"].endswith("Did you mean content by contents?")


async def test_missing_field_of_a_receiver_is_named_with_the_unknown_one(env: Environment) -> None:
    call = await env.caller(language="en")

    refused = await call("message/sendSMS", sms_body(receivers=[{"phone": "010-1234-5678"}]))

    assert summarize_refusal(refused)[1] == {"receivers[0].phoneNumber": "MISSING_PARAMETER"}
    assert refused.body["errors"][0]["message"].endswith(
        "Did you mean receivers[0].phoneNumber by receivers[0].phone?"
    )


@pytest.mark.parametrize(
    ("path", "method", "advice"),
    [
        ("/api/message/sendSms.v1.0", "POST", "Did you mean /api/message/sendSMS.v1.0?"),
        ("/api/message/sendSMS", "POST", "Did you mean /api/message/sendSMS.v1.0?"),
        ("/v1/sendSms", "POST", "Did you mean /api/message/sendSMS.v1.0?"),
        ("/sendsms.v1.0/", "POST", "Did you mean /api/message/sendSMS.v1.0?"),
        ("/v1/list", "POST", "This path does not exist."),
        ("/api/message/sendSMS.v1.0", "GET", "Use POST."),
        (f"/api/{'x' * 1000}", "GET", ""),
    ],
)
async def test_wrong_path_or_method_is_answered_with_the_right_one(
    env: Environment, path: str, method: str, advice: str
) -> None:
    refused = await (await env.caller(language="en"))(path, method=method)

    assert refused.body["resultMessage"].endswith(advice)
    assert refused.result == ("METHOD_NOT_ALLOWED" if method == "GET" and advice else "NOT_FOUND")
