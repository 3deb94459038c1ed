"""Opt-outs by the API: added, listed and removed, and advertising that does not reach them."""

from typing import Any

import pytest

from tests.fixtures.brand_bodies import brand_body
from tests.fixtures.cases import with_each
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    PHONE,
    SENDER,
    call_ok,
    describe_outcome,
    friendtalk_body,
    get_message,
    list_messages,
    list_phone_messages,
    receivers_of,
    sms_body,
)

OTHER = "010-8765-4321"
NUMBER = {"optOutNumber": "080-123-4567"}
AD = {"adFlag": True, **NUMBER}


async def list_opt_outs(call: Caller, **query: Any) -> list[tuple[str, str | None]]:
    """Return number and sender number of each opt-out, as listed."""
    answer = await call("optOut/list", query=query)
    return [(each["phoneNumber"], each.get("senderNumber")) for each in answer.items]


async def outcomes_in_order(call: Caller) -> list[str]:
    """Return the outcomes of the messages to PHONE, those that were delivered first."""
    return sorted(describe_outcome(each) for each in await list_messages(call))


async def test_opt_outs_are_added_once_listed_and_removed(call: Caller) -> None:
    first = await call_ok(call, "optOut/add", {"phoneNumber": "01012345678", "reason": " 전화로 요청 "})
    again = await call_ok(call, "optOut/add", {"phoneNumbers": [PHONE, OTHER, OTHER], "reason": "파일"})
    of_number = await call_ok(call, "optOut/add", {"phoneNumber": PHONE, "senderNumber": SENDER})
    listed = await call("optOut/list", query={"phoneNumber": PHONE})
    removed = await call_ok(call, "optOut/remove", {"phoneNumbers": [PHONE, "010-1111-1111"]})

    assert first.item == {"requestedCount": 1, "addedCount": 1}
    assert again.item == {"requestedCount": 3, "addedCount": 1}
    assert of_number.item["addedCount"] == 1
    assert listed.body["totalCount"] == 2
    assert listed.items[1] == {
        "id": listed.items[1]["id"],
        "label": PHONE,
        "phoneNumber": PHONE,
        "reason": "전화로 요청",
        "source": {"value": "api", "label": "API"},
        "created": "2026-11-15 12:00:00",
    }
    assert removed.item == {"requestedCount": 2, "removedCount": 1}
    assert await list_opt_outs(call) == [(PHONE, SENDER), (OTHER, None)]
    assert await list_opt_outs(call, senderNumber=SENDER) == [(PHONE, SENDER)]


@with_each(
    ("body", "expected"),
    [
        ({}, "MISSING_PARAMETER phoneNumber"),
        ({"phoneNumbers": []}, "MISSING_PARAMETER phoneNumber"),
        ({"phoneNumber": PHONE, "phoneNumbers": [PHONE]}, "INVALID_PARAMETER phoneNumber"),
        ({"phoneNumber": "02-1234-5678"}, "INVALID_PHONE_NUMBER phoneNumber"),
        ({"phoneNumbers": [PHONE, "x", "", OTHER]}, "INVALID_PHONE_NUMBER phoneNumbers[1], phoneNumbers[2]"),
        ({"phoneNumbers": [PHONE] * 1001}, "INVALID_PARAMETER phoneNumbers"),
        ({"phoneNumber": PHONE, "senderNumber": "1"}, "INVALID_PHONE_NUMBER senderNumber"),
    ],
)
async def test_invalid_opt_outs_are_refused_and_change_nothing(
    call: Caller, body: dict[str, Any], expected: str
) -> None:
    refused = await call("optOut/add", body)

    fields = ", ".join(each["field"] for each in refused.body["errors"])
    assert f"{refused.result} {fields}" == expected
    assert await list_opt_outs(call) == []


async def test_advertisement_is_accepted_with_a_warning_and_recorded_as_failed(
    env: Environment, call: Caller
) -> None:
    await call_ok(call, "optOut/add", {"phoneNumber": PHONE})
    body = sms_body(**AD) | {"receivers": receivers_of(OTHER, PHONE)}

    sent = await call_ok(call, "message/sendSMS", body, headers={"Idempotency-Key": "k"})
    repeated = await call_ok(call, "message/sendSMS", body, headers={"Idempotency-Key": "k"})
    await env.wait(3)

    (warning,) = sent.body["warnings"]
    assert (warning["field"], warning["code"]) == ("receivers[1].phoneNumber", "OPTED_OUT")
    assert "warnings" not in repeated.body
    record = await get_message(call)
    assert describe_outcome(record) == "fail 9003"
    assert record["completedDate"] == record["requestDate"]
    assert describe_outcome(await get_message(call, OTHER)) == "completed 1000"
    assert await list_phone_messages(call) == []


async def test_dry_run_names_receivers_who_opted_out(call: Caller) -> None:
    await call_ok(call, "optOut/add", {"phoneNumber": PHONE})
    body = sms_body(**AD) | {"receivers": receivers_of(OTHER, PHONE)}

    tried = await call_ok(call, "message/sendSMS", body, headers={"Dry-Run": "true"})

    found = [[each["code"] for each in receiver["warnings"]] for receiver in tried.item["receivers"]]
    assert found == [[], ["OPTED_OUT"]]
    assert await list_messages(call) == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "completed 1000"),
        ({"content": "광고 아닙니다 (광고)"}, "completed 1000"),
        (AD, "fail 9003"),
        ({"content": "(광고) 봄 할인"}, "fail 9003"),
        ({"content": "[광고] 봄 할인"}, "fail 9003"),
    ],
)
async def test_only_advertising_texts_are_affected(
    env: Environment, call: Caller, fields: dict[str, Any], expected: str
) -> None:
    await call_ok(call, "optOut/add", {"phoneNumber": PHONE})

    await call_ok(call, "message/sendSMS", sms_body(**fields))
    await env.wait(3)

    assert describe_outcome(await get_message(call)) == expected


async def test_opt_out_of_one_sender_number_holds_for_its_texts_only(
    env: Environment, call: Caller, sender_key: str
) -> None:
    await call_ok(call, "optOut/add", {"phoneNumber": PHONE, "senderNumber": SENDER})

    await call_ok(call, "message/sendSMS", sms_body(**AD))
    await call_ok(call, "message/sendSMS", sms_body(sender="02-9999-9999", **AD))
    await call_ok(call, "message/sendBrandMessage", brand_body(sender_key))
    await env.wait(3)

    found = await outcomes_in_order(call)
    assert found == ["completed 1000", "completed 1000", "fail 9003"]


async def test_brand_messages_and_advertising_friend_talk_make_no_fallback(
    env: Environment, call: Caller, sender_key: str
) -> None:
    await call_ok(call, "optOut/add", {"phoneNumber": PHONE})
    fallback = {"resend": True, "resendPhoneNumber": SENDER, "resendContent": "대신"}

    await call_ok(call, "message/sendBrandMessage", brand_body(sender_key))
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(sender_key, adFlag=True, **fallback))
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(sender_key))
    await env.wait(3)

    found = await outcomes_in_order(call)
    assert found == ["completed 1000", "fail 9003", "fail 9003"]


async def test_erased_number_stays_opted_out_and_can_be_removed(env: Environment, call: Caller) -> None:
    await call_ok(call, "optOut/add", {"phoneNumber": PHONE, "reason": "비밀"})

    exported = await call_ok(call, "privacy/export", {"phoneNumber": PHONE})
    await call_ok(call, "privacy/erase", {"phoneNumber": PHONE})
    listed = await list_opt_outs(call)
    after = await call_ok(call, "privacy/export", {"phoneNumber": PHONE})
    await call_ok(call, "message/sendSMS", sms_body(**AD))
    removed = await call_ok(call, "optOut/remove", {"phoneNumber": PHONE})
    await call_ok(call, "message/sendSMS", sms_body(**AD))
    await env.wait(3)

    assert [each["reason"] for each in exported.item["optOuts"]] == ["비밀"]
    assert listed == []
    assert [each["phoneNumber"] for each in after.item["optOuts"]] == [PHONE]
    assert "reason" not in after.item["optOuts"][0]
    assert removed.item["removedCount"] == 1
    assert await outcomes_in_order(call) == ["completed 1000", "fail 9003"]


async def test_opt_outs_of_one_account_are_nothing_to_another(env: Environment) -> None:
    ours, theirs = await env.caller("ours"), await env.caller("theirs")
    await call_ok(theirs, "optOut/add", {"phoneNumber": PHONE})

    await call_ok(ours, "message/sendSMS", sms_body(**AD))
    removed = await call_ok(ours, "optOut/remove", {"phoneNumber": PHONE})
    await env.wait(3)

    assert describe_outcome(await get_message(ours)) == "completed 1000"
    assert removed.item["removedCount"] == 0
    assert await list_opt_outs(theirs) == [(PHONE, None)]
