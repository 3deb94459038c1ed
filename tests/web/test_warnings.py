"""Warnings: requests that succeed, and what looks like a mistake in them."""

from typing import Any

import pytest

from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.full_bodies import FULL_BODIES
from tests.fixtures.virtual import ApiResponse, Caller, Environment
from tests.fixtures.web import (
    PHONE,
    RunScenario,
    call_ok,
    list_messages,
    set_clock,
    sms_body,
    summarize_refusal,
)

LONG = 300_000
"""Characters that make a body too long to be explained."""


def _warnings(answer: ApiResponse) -> list[tuple[str, str]]:
    return [(each["field"], each["code"]) for each in answer.body.get("warnings", [])]


async def test_unknown_fields_are_named_with_the_field_they_resemble(env: Environment) -> None:
    call = await env.caller(language="en")
    body = sms_body(senderNo="1", zzz=1)
    body["receivers"] = [{"phoneNumber": PHONE, "name": "x", "templatData": {}}]
    body["receivers"].append({"phoneNumber": "010-2345-6789", "name": "y"})

    answer = await call_ok(call, "message/sendSMS", body)

    assert {each["field"]: each["message"].partition("ignored.")[2] for each in answer.body["warnings"]} == {
        "senderNo": " Did you mean sender?",
        "zzz": "",
        "receivers[0].name": "",
        "receivers[0].templatData": " Did you mean templateData?",
    }
    assert len(await list_messages(call)) == 1


async def test_warnings_are_in_korean_by_default(env: Environment) -> None:
    answer = await call_ok(await env.caller(), "message/sendSMS", sms_body(recievers=[]))

    (warning,) = answer.body["warnings"]
    assert warning["message"] == "알 수 없는 항목이라 무시했습니다. 혹시 receivers인가요?"


@pytest.mark.parametrize(
    ("operation", "options"),
    [
        ("sender/list", {"query": {"channel": "@shop"}}),
        ("message/list", {"query": {"receivers": PHONE, "channel": "@shop"}}),
        ("message/list", {"body": {"receivers": PHONE, "channel": "@shop"}}),
        ("sender/categories", {"body": {"channel": "@shop"}}),
    ],
)
async def test_queries_are_warned_about_too(env: Environment, operation: str, options: Any) -> None:
    answer = await call_ok(await env.caller(), operation, **options)

    assert _warnings(answer) == [("channel", "UNKNOWN_FIELD")]


async def test_long_body_is_accepted_with_its_first_unknown_field(call: Caller) -> None:
    body = sms_body(PHONE, note="x" * LONG, other=1)

    answer = await call_ok(call, "message/sendSMS", body)

    assert _warnings(answer) == [("note", "UNKNOWN_FIELD")]
    assert len(await list_messages(call)) == 1
    wrong = await call("message/sendSMS", {**body, "content": 5})
    assert summarize_refusal(wrong) == ("INVALID_PARAMETER", {"content": "INVALID_PARAMETER"})


@pytest.mark.parametrize(
    ("name", "shown"),
    [(b"\\ud800", "�"), (b"a" * 5000, "a" * 64), ("이름".encode(), "이름"), (b"` - at `$x", "` - at `$x")],
)
async def test_odd_names_of_unknown_fields_are_shown_safely(env: Environment, name: bytes, shown: str) -> None:
    answer = await call_ok(await env.caller(), "sender/categories", b'{"%b": 1}' % name)

    assert _warnings(answer) == [(shown, "UNKNOWN_FIELD")]


async def test_answers_have_at_most_a_hundred_warnings(call: Caller) -> None:
    body = sms_body(*[PHONE] * 200, **{f"field{number}": 1 for number in range(60)})

    found = _warnings(await call_ok(call, "message/sendSMS", body))

    assert len(found) == 100
    assert [code for _, code in found].count("UNKNOWN_FIELD") == 60
    assert found[60] == ("receivers[1].phoneNumber", "DUPLICATE_RECEIVER")


@pytest.mark.parametrize("is_set", [False, True])
def test_strict_calls_refuse_unknown_fields(run_scenario: RunScenario, is_set: bool) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller(language="en")
        headers = {} if is_set else {"Strict": "true"}
        body = sms_body(scheduledDate="x", note="y")

        answer = await call("message/sendSMS", body, headers=headers)

        assert summarize_refusal(answer) == (
            "INVALID_PARAMETER",
            {"scheduledDate": "INVALID_PARAMETER", "note": "INVALID_PARAMETER"},
        )
        assert "Did you mean sendDate?" in answer.body["errors"][0]["message"]
        assert (await call("sender/list", query={"channel": "x"}, headers=headers)).result == "INVALID_PARAMETER"
        assert not await list_messages(call)
        await call_ok(call, "message/sendSMS", sms_body(), headers=headers)

    run_scenario(scenario, strict_fields=is_set)


async def test_strict_calls_of_every_endpoint_refuse_unknown_fields(call: Caller) -> None:
    for endpoint in ENDPOINTS:
        operation = endpoint.path.removeprefix("/api/").removesuffix(".v1.0")
        body = {**FULL_BODIES[operation], "unknownField": "x"}
        in_query = endpoint.input_source == "query"

        answer = await call(
            operation,
            None if in_query else body,
            query=body if in_query else None,
            headers={"Strict": "true"},
        )

        assert summarize_refusal(answer).errors.get("unknownField") == "INVALID_PARAMETER", operation


@pytest.mark.parametrize("value", ["yes", "1", "", "true ", "x" * 1000])
async def test_strict_is_true_or_false(env: Environment, value: str) -> None:
    answer = await (await env.caller())("sender/list", headers={"Strict": value})

    assert summarize_refusal(answer) == ("INVALID_PARAMETER", {"Strict": "INVALID_PARAMETER"})


async def test_repeated_receivers_are_named_and_sent_again(call: Caller) -> None:
    answer = await call_ok(call, "message/sendSMS", sms_body(PHONE, "010-2345-6789", "01012345678"))

    assert _warnings(answer) == [("receivers[2].phoneNumber", "DUPLICATE_RECEIVER")]
    assert "receivers[0]" in answer.body["warnings"][0]["message"]
    assert len(await list_messages(call)) == 2


async def test_text_that_looks_like_an_advertisement_is_warned_about(call: Caller) -> None:
    marked = {"content": "(광고) 세일", "optOutNumber": "080-123-4567"}

    plain = await call_ok(call, "message/sendLMS", sms_body(content="(광고) 세일"))
    flagged = await call_ok(call, "message/sendLMS", sms_body(**marked, adFlag=True))

    assert _warnings(plain) == [("content", "LOOKS_LIKE_ADVERTISING")]
    assert _warnings(flagged) == []


@pytest.mark.settings(night_ads="move")
async def test_advertisement_that_is_postponed_says_until_when(env: Environment, call: Caller) -> None:
    set_clock(env, "2026-11-15 22:00")
    body = sms_body(content="세일", adFlag=True, optOutNumber="080-123-4567")

    answer = await call_ok(call, "message/sendLMS", body)

    assert _warnings(answer) == [("sendDate", "POSTPONED_TO_MORNING")]
    assert "2026-11-16 08:00" in answer.body["warnings"][0]["message"]
