"""Cancelling waiting messages."""

from typing import Any

import pytest

from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    PHONE,
    call_ok,
    describe_outcome,
    get_message,
    list_phone_messages,
    sms_body,
    summarize_refusal,
)

LATER = "2026-11-15 12:10"
OTHER = "010-8765-4321"


async def test_cancelled_request_is_never_submitted(env: Environment, call: Caller) -> None:
    sent = await call_ok(call, "message/sendSMS", sms_body(PHONE, OTHER, sendDate=LATER))
    await env.wait(60)

    answer = await call("message/cancel", {"requestId": sent.request_id})
    cancelled = await get_message(call)
    await env.jump(1200)

    assert answer.item == {"requestedCount": 2, "canceledCount": 2}
    assert describe_outcome(cancelled) == "cancel"
    assert cancelled["completedDate"] == "2026-11-15 12:01:00"
    assert cancelled["scheduledDate"] == "2026-11-15 12:10:00"
    assert "resultCode" not in cancelled
    assert await get_message(call) == cancelled
    assert [await list_phone_messages(call), await list_phone_messages(call, OTHER)] == [[], []]


async def test_one_message_of_a_send_is_cancelled_and_the_others_go_out(env: Environment, call: Caller) -> None:
    sent = await call_ok(call, "message/sendSMS", sms_body(PHONE, OTHER, sendDate=LATER))
    message_id = (await get_message(call))["messageId"]

    answer = await call("message/cancel", {"requestId": sent.request_id, "messageId": message_id})
    await env.jump(1200)

    assert answer.item == {"requestedCount": 1, "canceledCount": 1}
    assert describe_outcome(await get_message(call)) == "cancel"
    assert describe_outcome(await get_message(call, OTHER)) == "completed 1000"


async def test_cancelling_again_cancels_nothing_more(env: Environment, call: Caller) -> None:
    sent = await call_ok(call, "message/sendSMS", sms_body(sendDate=LATER))
    await call_ok(call, "message/cancel", {"requestId": sent.request_id})
    before = await get_message(call)
    await env.wait(5)

    again = await call("message/cancel", {"requestId": sent.request_id, "messageId": None})

    assert again.item == {"requestedCount": 1, "canceledCount": 0}
    assert await get_message(call) == before


@pytest.mark.parametrize(
    ("number", "waited_s", "status"),
    [(PHONE, 2, "completed 1000"), ("010-0000-0005", 0.1, "sending"), ("010-0000-0006", 2, "sending")],
)
async def test_messages_that_no_longer_wait_are_not_cancelled(
    env: Environment, call: Caller, number: str, waited_s: float, status: str
) -> None:
    sent = await call_ok(call, "message/sendSMS", sms_body(number))
    await env.wait(waited_s)

    answer = await call("message/cancel", {"requestId": sent.request_id})

    assert answer.item == {"requestedCount": 1, "canceledCount": 0}
    assert describe_outcome(await get_message(call, number)) == status


@pytest.mark.parametrize(
    ("change", "result", "field"),
    [
        ({"requestId": None}, "MISSING_PARAMETER", "requestId"),
        ({"requestId": ""}, "MISSING_PARAMETER", "requestId"),
        ({"requestId": 5}, "INVALID_PARAMETER", "requestId"),
        ({"requestId": "x"}, "REQUEST_NOT_FOUND", "requestId"),
        ({"requestId": "f" * 26}, "REQUEST_NOT_FOUND", "requestId"),
        ({"messageId": ""}, "REQUEST_NOT_FOUND", "messageId"),
        ({"messageId": "x"}, "REQUEST_NOT_FOUND", "messageId"),
        ({"messageId": "f" * 32}, "REQUEST_NOT_FOUND", "messageId"),
    ],
)
async def test_unknown_requests_and_messages_cannot_be_cancelled(
    call: Caller, change: dict[str, Any], result: str, field: str
) -> None:
    sent = await call_ok(call, "message/sendSMS", sms_body(sendDate=LATER))

    answer = await call("message/cancel", {"requestId": sent.request_id, **change})

    assert summarize_refusal(answer) == (result, {field: result})
    assert describe_outcome(await get_message(call)) == "waiting"


async def test_message_of_another_send_is_not_cancelled(call: Caller) -> None:
    sent = await call_ok(call, "message/sendSMS", sms_body(sendDate=LATER))
    await call_ok(call, "message/sendSMS", sms_body(OTHER, sendDate=LATER))
    other = await get_message(call, OTHER)

    answer = await call("message/cancel", {"requestId": sent.request_id, "messageId": other["messageId"]})

    assert summarize_refusal(answer) == ("REQUEST_NOT_FOUND", {"messageId": "REQUEST_NOT_FOUND"})
    assert await get_message(call, OTHER) == other
