"""One message with its timeline: what happened, at which carrier, with which code of its own."""

from typing import Any

import pytest

from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    PHONE,
    alimtalk_body,
    approve_template,
    call_ok,
    get_message,
    list_messages,
    sms_body,
    summarize_refusal,
)

REJECTED, PHONE_OFF, NO_USER, BUSY, SILENT = (f"010-0000-000{digit}" for digit in (1, 2, 3, 5, 6))


async def get_detail(call: Caller, message_id: str) -> dict[str, Any]:
    """Return the record of a message with its timeline."""
    answer = await call_ok(call, "message/detail", query={"messageId": message_id})
    found: dict[str, Any] = answer.body["item"]
    return found


async def send_and_get(env: Environment, number: str, wait_s: float = 5, **changes: Any) -> dict[str, Any]:
    """Send an SMS, wait, and return what happened to it."""
    call = await env.caller()
    await call_ok(call, "message/sendSMS", sms_body(number, **changes))
    await env.wait(wait_s)
    return await get_detail(call, (await get_message(call, number))["messageId"])


def words_of(detail: dict[str, Any]) -> list[str]:
    """Return the events of a timeline, each in a few words."""
    return [
        " ".join(str(event[name]) for name in ("event", "attempt", "verdict", "carrierCode") if name in event)
        for event in detail["events"]
    ]


async def test_detail_is_the_record_with_carrier_code_key_and_events(env: Environment, call: Caller) -> None:
    await call_ok(call, "message/sendSMS", sms_body(content="문자"))
    await env.wait(5)
    record = await get_message(call)

    detail = await get_detail(call, record["messageId"])

    assert record.items() <= detail.items()
    assert (detail["carrier"], detail["carrierCode"]) == ("simulator", "SIM-1000")
    assert detail["submittedDate"] == "2026-11-15 12:00:00"
    assert detail["key"]["value"].isdigit()
    assert "cost" not in detail
    assert words_of(detail) == ["accepted", "submitted", "verdict accepted", "receipt SIM-1000", "ended"]
    assert [event.get("date") for event in detail["events"]][:3] == ["2026-11-15 12:00:00"] * 2 + [None]
    assert detail["events"][-1]["resultCode"] == record["resultCode"]
    assert detail["events"][-1]["sendingStatus"] == record["sendingStatus"]


@pytest.mark.parametrize(
    ("number", "changes", "events"),
    [
        (REJECTED, {}, ["accepted", "submitted", "verdict 1 rejected SIM-3003", "ended"]),
        (PHONE_OFF, {}, ["accepted", "submitted", "verdict accepted", "receipt SIM-2003", "ended"]),
        (SILENT, {}, ["accepted", "submitted", "verdict accepted"]),
        (PHONE, {"sendDate": "2026-11-15 12:10"}, ["accepted", "scheduled"]),
        (
            BUSY,
            {},
            [
                "accepted",
                "verdict 1 busy SIM-BUSY",
                "verdict 2 busy SIM-BUSY",
                "submitted",
                "verdict accepted",
                "receipt SIM-1000",
                "ended",
            ],
        ),
    ],
)
async def test_timeline_names_verdicts_and_receipts_with_the_carriers_code(
    env: Environment, number: str, changes: dict[str, Any], events: list[str]
) -> None:
    detail = await send_and_get(env, number, 60, **changes)

    assert words_of(detail) == events


@pytest.mark.settings(sms_timeout_hours=1)
async def test_timed_out_message_was_accepted_and_has_no_receipt(env: Environment) -> None:
    detail = await send_and_get(env, SILENT, 3700)

    assert words_of(detail) == ["accepted", "submitted", "verdict accepted", "ended"]
    assert (detail["carrier"], detail.get("carrierCode")) == ("simulator", None)
    assert detail["resultCode"]["value"] == "2000"


async def test_cancelled_message_was_never_submitted(call: Caller) -> None:
    sent = await call_ok(call, "message/sendSMS", sms_body(sendDate="2026-11-15 12:10"))
    await call_ok(call, "message/cancel", {"requestId": sent.request_id})

    detail = await get_detail(call, (await get_message(call))["messageId"])

    assert words_of(detail) == ["accepted", "ended", "scheduled"]
    assert not {"carrier", "carrierCode", "submittedDate"} & detail.keys()


async def test_failed_message_and_its_fallback_name_each_other(
    env: Environment, call: Caller, sender_key: str
) -> None:
    await approve_template(call, sender_key)
    resend = {"resend": True, "resendPhoneNumber": "02-1234-5678"}
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key, NO_USER, **resend))
    await env.wait(10)
    fallback, failed = await list_messages(call, NO_USER)

    of_failed = await get_detail(call, failed["messageId"])
    of_fallback = await get_detail(call, fallback["messageId"])

    delivered = ["submitted", "verdict accepted"]
    assert words_of(of_failed) == ["accepted", *delivered, "receipt SIM-3019", "fallback", "ended"]
    assert words_of(of_fallback) == ["accepted", "fallback", *delivered, "receipt SIM-1000", "ended"]
    assert of_failed["events"][-2]["messageId"] == fallback["messageId"]
    assert of_fallback["events"][1]["messageId"] == failed["messageId"]


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ({}, "MISSING_PARAMETER"),
        ({"messageId": ""}, "MISSING_PARAMETER"),
        ({"messageId": "no-such-id"}, "MESSAGE_NOT_FOUND"),
        ({"messageId": "0" * 32}, "MESSAGE_NOT_FOUND"),
    ],
)
async def test_detail_of_no_message_is_refused(call: Caller, query: dict[str, str], result: str) -> None:
    answer = await call("message/detail", query=query)

    assert summarize_refusal(answer) == (result, {"messageId": result})
    assert answer.status == (404 if result == "MESSAGE_NOT_FOUND" else 400)
