"""The simulator: numbers with fixed outcomes, and the messages of simulated phones."""

from typing import Any

import pytest

from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    PHONE,
    alimtalk_body,
    approve_template,
    call_ok,
    describe_outcome,
    friendtalk_body,
    get_message,
    list_phone_messages,
    read_metrics,
    register_channel,
    sms_body,
    summarize_refusal,
)

NOT_ASSIGNED, OFF, NO_USER, NO_FRIEND, BUSY, SILENT, LATE, TWO_MINDED = (
    f"010-0000-000{digit}" for digit in range(1, 9)
)


async def _send(call: Caller, kind: str, number: str) -> None:
    if kind in ("SMS", "LMS", "MMS"):
        await call_ok(call, f"message/send{kind}", sms_body(number))
        return
    sender_key = await register_channel(call)
    if kind == "Alimtalk":
        await approve_template(call, sender_key)
        await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key, number))
    else:
        await call_ok(call, "message/sendFriendtalk", friendtalk_body(sender_key, number))


@pytest.mark.parametrize(
    ("number", "kind", "expected", "arrives"),
    [
        (NOT_ASSIGNED, "SMS", "fail 3003", False),
        (NOT_ASSIGNED, "Alimtalk", "fail 3003", False),
        (OFF, "LMS", "fail 2003", False),
        (OFF, "Friendtalk", "fail 2003", False),
        (NO_USER, "SMS", "completed 1000", True),
        (NO_USER, "Alimtalk", "fail 3019", False),
        (NO_USER, "Friendtalk", "fail 3019", False),
        (NO_FRIEND, "MMS", "completed 1000", True),
        (NO_FRIEND, "Alimtalk", "fail 3020", False),
        (NO_FRIEND, "Friendtalk", "fail 3102", False),
        (BUSY, "SMS", "completed 1000", True),
        (BUSY, "Alimtalk", "completed 1000", True),
        (SILENT, "SMS", "sending", False),
        (LATE, "SMS", "completed 1000", True),
        (LATE, "Friendtalk", "completed 1000", True),
        (TWO_MINDED, "SMS", "completed 1000", True),
        (PHONE, "SMS", "completed 1000", True),
    ],
)
async def test_every_simulator_number_has_its_outcome(
    env: Environment, call: Caller, number: str, kind: str, expected: str, arrives: bool
) -> None:
    await _send(call, kind, number)
    await env.wait(20)

    assert describe_outcome(await get_message(call, number)) == expected
    assert len(await list_phone_messages(call, number)) == int(arrives)


async def test_usual_receipt_comes_within_a_second_and_the_late_one_after_ten(
    env: Environment, call: Caller
) -> None:
    await call_ok(call, "message/sendSMS", sms_body(PHONE, LATE))

    await env.wait(1)
    soon = [describe_outcome(await get_message(call, number)) for number in (PHONE, LATE)]
    held = await list_phone_messages(call, LATE)
    await env.wait(8.9)
    still = describe_outcome(await get_message(call, LATE))
    await env.wait(0.5)

    late = await get_message(call, LATE)
    assert soon == ["completed 1000", "sending"]
    assert held == []
    assert still == "sending"
    assert describe_outcome(late) == "completed 1000"
    assert late["completedDate"] == "2026-11-15 12:00:10"


async def test_busy_carrier_is_retried_twice_with_backoff(env: Environment, call: Caller) -> None:
    seen = []

    async def look() -> None:
        counted = await read_metrics(call)
        busy = counted.get('pabal_carrier_verdicts_total{carrier="simulator",verdict="busy"}', 0)
        seen.append((describe_outcome(await get_message(call, BUSY)), busy))

    await call_ok(call, "message/sendSMS", sms_body(BUSY))
    for pause_s in (0.1, 1.2, 2.4, 10):
        await env.wait(pause_s)
        await look()

    assert seen == [("sending", 1), ("sending", 2), ("completed 1000", 2), ("completed 1000", 2)]
    assert len(await list_phone_messages(call, BUSY)) == 1


async def test_second_receipt_with_the_opposite_result_changes_nothing(env: Environment, call: Caller) -> None:
    await call_ok(call, "message/sendSMS", sms_body(TWO_MINDED))

    await env.wait(1)
    first = await get_message(call, TWO_MINDED)
    await env.wait(600)

    counted = await read_metrics(call)
    assert describe_outcome(first) == "completed 1000"
    assert await get_message(call, TWO_MINDED) == first
    assert counted['pabal_receipts_total{carrier="simulator"}'] == 2
    assert counted['pabal_messages_ended_total{code="1000",product="sms"}'] == 1


async def test_phone_lists_its_messages_newest_first_in_pages(env: Environment, call: Caller) -> None:
    for text in ("하나", "둘", "셋"):
        await call_ok(call, "message/sendSMS", sms_body(content=text))
        await env.wait(2)

    whole = await call("simulator/phone", query={"phoneNumber": PHONE})
    page = await call("simulator/phone", query={"phoneNumber": "01012345678", "page": 2, "pageSize": 2})
    beyond = await call("simulator/phone", query={"phoneNumber": PHONE, "page": 3, "pageSize": 2})

    assert [each["content"] for each in whole.items] == ["셋", "둘", "하나"]
    assert whole.items[0]["time"] == "2026-11-15 12:00:04"
    assert [each["content"] for each in page.items] == ["하나"]
    assert [page.body[name] for name in ("totalCount", "pageCount", "currentPage")] == [3, 2, 2]
    assert beyond.items == []


@pytest.mark.parametrize(
    ("query", "result", "field"),
    [
        ({}, "MISSING_PARAMETER", "phoneNumber"),
        ({"phoneNumber": "119"}, "INVALID_PHONE_NUMBER", "phoneNumber"),
        ({"phoneNumber": "02-123-4567"}, "INVALID_PHONE_NUMBER", "phoneNumber"),
        ({"phoneNumber": PHONE, "page": 0}, "INVALID_PARAMETER", "page"),
        ({"phoneNumber": PHONE, "pageSize": 1001}, "INVALID_PARAMETER", "pageSize"),
    ],
)
async def test_phone_needs_a_mobile_number(call: Caller, query: dict[str, Any], result: str, field: str) -> None:
    answer = await call("simulator/phone", query=query)

    assert summarize_refusal(answer) == (result, {field: result})
