"""`purpose: "code"`: what it refuses, how long it lives, and that it is delivered by day and night."""

from typing import Any

import pytest

from pabal.store.messages import requests
from tests.fixtures.delivery import disconnected_carrier
from tests.fixtures.service import DEFAULT_CARRIER
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    FALLBACK,
    NO_USER,
    PHONE,
    RunScenario,
    alimtalk_body,
    approve_template,
    call_ok,
    describe_outcome,
    get_message,
    list_messages,
    list_phone_messages,
    receivers_of,
    set_clock,
    sms_body,
    summarize_refusal,
)
from tests.fixtures.webhook_calls import create, poster_of, verify

TEXT = "[파발] 인증번호 482913을 입력하세요."
CODE = {"purpose": "code"}
ELEVEN = receivers_of(*(f"010-2222-{index:04}" for index in range(11)))


def code_body(*numbers: str, **changes: Any) -> dict[str, Any]:
    return sms_body(*numbers, **{"content": TEXT, **CODE, **changes})


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({"purpose": "otp"}, {"purpose": "INVALID_PARAMETER"}),
        ({"purpose": ""}, {"purpose": "INVALID_PARAMETER"}),
        ({"purpose": True}, {"purpose": "INVALID_PARAMETER"}),
        ({"adFlag": True, "optOutNumber": "080-123-4567"}, {"adFlag": "INVALID_PARAMETER"}),
        ({"content": f"(광고){TEXT}"}, {"content": "INVALID_PARAMETER"}),
        ({"content": f"[광고]{TEXT}"}, {"content": "INVALID_PARAMETER"}),
        (
            {"content": "#{a} 1", "receivers": receivers_of(templateData={"a": "(광고)"})},
            {"content": "INVALID_PARAMETER"},
        ),
        ({"receivers": ELEVEN}, {"receivers": "TOO_MANY_RECEIVERS"}),
    ],
)
async def test_code_is_refused_if_it_advertises_or_has_many_receivers(
    call: Caller, fields: dict[str, Any], errors: dict[str, str]
) -> None:
    for kind in ("SMS", "LMS"):
        refused = await call(f"message/send{kind}", code_body(**fields))
        assert summarize_refusal(refused).errors == errors
    assert await list_messages(call) == []


async def test_alimtalk_code_is_refused_if_its_texts_advertise(call: Caller, sender_key: str) -> None:
    await approve_template(call, sender_key, content="#{a}입니다")
    cases: list[tuple[dict[str, Any], dict[str, str]]] = [
        ({"receivers": receivers_of(templateData={"a": "(광고)"})}, {"templateCode": "INVALID_PARAMETER"}),
        ({**FALLBACK, "resendContent": "(광고) #{a}"}, {"resendContent": "INVALID_PARAMETER"}),
        ({"receivers": ELEVEN}, {"receivers": "TOO_MANY_RECEIVERS"}),
    ]
    for fields, errors in cases:
        body = {"receivers": receivers_of(templateData={"a": "1"}), **fields, **CODE}
        refused = await call("message/sendAlimtalk", alimtalk_body(sender_key, **body))
        assert summarize_refusal(refused).errors == errors
    assert await list_messages(call) == []


@pytest.mark.parametrize("kind", ["SMS", "LMS", "Alimtalk"])
async def test_code_lives_five_minutes_unless_its_caller_says_otherwise(
    env: Environment, call: Caller, alimtalk_key: str, kind: str
) -> None:
    body = alimtalk_body(alimtalk_key) if kind == "Alimtalk" else code_body()
    cases: list[tuple[dict[str, Any], int | None]] = [
        ({}, 5),
        ({"expireMinutes": None}, 5),
        ({"expireMinutes": 2}, 2),
        ({"purpose": None}, None),
    ]
    for given, minutes in cases:
        sent = await call_ok(call, f"message/send{kind}", {**body, **CODE, **given})
        request_id = bytes.fromhex(sent.item["requestId"])
        stored = (await env.store.read(requests.get, [request_id]))[request_id]
        assert (stored.expire_minutes, stored.is_code) == (minutes, minutes is not None)


def test_code_that_no_carrier_takes_ends_after_five_minutes(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        await call_ok(call, "message/sendSMS", code_body())
        await env.wait(295)
        assert describe_outcome(await get_message(call)) == "waiting"
        await env.wait(30)
        assert describe_outcome(await get_message(call)) == "fail 9004"

    run_scenario(scenario, carriers={DEFAULT_CARRIER: disconnected_carrier()})


async def test_code_is_delivered_at_night_and_its_record_says_what_it_is(env: Environment, call: Caller) -> None:
    set_clock(env, "2026-11-15 23:00")
    await call_ok(call, "message/sendSMS", code_body())
    await call_ok(call, "message/sendSMS", sms_body("010-2222-2222"))
    await env.wait(3)

    record = await get_message(call)
    (arrived,) = await list_phone_messages(call)
    assert (arrived["content"], describe_outcome(record), record["purpose"]) == (TEXT, "completed 1000", "code")
    assert "purpose" not in await get_message(call, "010-2222-2222")


async def test_fallback_of_a_code_is_a_code_with_the_text_as_it_is(
    env: Environment, call: Caller, sender_key: str
) -> None:
    await approve_template(call, sender_key, content="인증번호 #{code}")
    receivers = receivers_of(NO_USER, templateData={"code": "482913"})
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key, receivers=receivers, **FALLBACK, **CODE))
    await env.wait(3)

    fallback, _ = await list_messages(call, NO_USER)
    (arrived,) = await list_phone_messages(call, NO_USER)
    assert (arrived["kind"], arrived["content"]) == ("sms", "인증번호 482913")
    assert (fallback["purpose"], describe_outcome(fallback)) == ("code", "completed 1000")


async def test_endpoint_without_purposes_warns_about_one(call: Caller) -> None:
    answer = await call_ok(call, "message/sendMMS", code_body())

    assert [each["field"] for each in answer.body["warnings"]] == ["purpose"]


@pytest.mark.parametrize("masks", [True, pytest.param(False, marks=pytest.mark.settings(mask_codes=False))])
async def test_digits_are_hidden_in_every_answer_once_the_code_has_ended(
    env: Environment, call: Caller, masks: bool
) -> None:
    made = await create(call)
    sent = await call_ok(call, "message/sendLMS", code_body(subject="1회", sendDate="2026-11-15 12:10"))
    (request, number) = ({"requestId": sent.item["requestId"]}, {"phoneNumber": PHONE})
    before = await get_message(call)
    await env.wait(700)

    ended = await get_message(call)
    exported = await call_ok(call, "privacy/export", number)
    shown = [
        ended,
        (await call_ok(call, "message/detail", query={"messageId": ended["messageId"]})).item,
        *(await call_ok(call, "message/request", query=request)).items,
        *(await call_ok(call, "message/results", {})).items,
        *exported.items,
        *exported.item["simulatedPhone"],
        *verify(made["secret"], poster_of(env).received[0])["data"]["items"],
    ]
    (arrived,) = await list_phone_messages(call)
    hidden = ("•회", "[파발] 인증번호 ••••••을 입력하세요.")
    assert (before["subject"], before["content"]) == ("1회", TEXT)
    assert {(each["subject"], each["content"]) for each in shown} == {hidden if masks else ("1회", TEXT)}
    assert arrived["content"] == TEXT
