"""The text message that follows a failed Alimtalk or friend talk."""

from typing import Any

import pytest

from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    FALLBACK,
    NO_USER,
    PHONE,
    alimtalk_body,
    call_ok,
    describe_outcome,
    friendtalk_body,
    get_message,
    list_messages,
    list_phone_messages,
    product_of,
    receivers_of,
)

NEVER_REPORTED = "010-0000-0006"


@pytest.mark.parametrize(
    ("fields", "kind", "subject", "content"),
    [
        ({}, "sms", None, "친구야"),
        ({"content": "가" * 45}, "sms", None, "가" * 45),
        ({"content": "가" * 46}, "lms", "@shop", "가" * 46),
        (
            {"buttons": [{"name": "열기", "mobileUrl": "https://a.example/#{id}"}, {"buttonType": "botKeyword"}]},
            "sms",
            None,
            "친구야\n열기: https://a.example/7",
        ),
        ({"resendContent": "문자로 #{name}님께"}, "sms", None, "문자로 길동님께"),
        ({"resendContent": ""}, "sms", None, "친구야"),
        ({"adFlag": True}, "sms", None, "(광고)친구야\n무료거부 0801234567"),
    ],
)
@pytest.mark.settings(opt_out_number="0801234567")
async def test_failed_friend_talk_falls_back_to_a_text(
    env: Environment,
    call: Caller,
    sender_key: str,
    fields: dict[str, Any],
    kind: str,
    subject: str | None,
    content: str,
) -> None:
    receivers = receivers_of(NO_USER, templateData={"name": "길동", "id": 7}, reference="주문-1")
    body = friendtalk_body(sender_key, **FALLBACK, **{"receivers": receivers, **fields})

    sent = await call_ok(call, "message/sendFriendtalk", body)
    await env.wait(3)

    fallback, origin = await list_messages(call, NO_USER)
    (arrived,) = await list_phone_messages(call, NO_USER)
    assert describe_outcome(origin) == "fail 3019"
    assert "originMessageId" not in origin
    assert (product_of(fallback), describe_outcome(fallback)) == (kind, "completed 1000")
    assert fallback["requestId"] == origin["requestId"] == sent.request_id
    assert fallback["originMessageId"] == origin["messageId"]
    assert fallback["requestDate"] == origin["requestDate"]
    assert fallback["scheduledDate"] == origin["scheduledDate"]
    assert (fallback.get("subject"), fallback["content"]) == (subject, content)
    assert (arrived["kind"], arrived["from"]) == (kind, "02-1234-5678")
    assert (arrived.get("subject"), arrived["content"]) == (subject, content)


@pytest.mark.parametrize(("number", "code"), [(NO_USER, "3019"), ("010-0000-0004", "3020")])
async def test_failed_alimtalk_falls_back_to_a_text_once(
    env: Environment, call: Caller, alimtalk_key: str, number: str, code: str
) -> None:
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(alimtalk_key, number, **FALLBACK))
    await env.wait(60)

    fallback, origin = await list_messages(call, number)
    assert [describe_outcome(origin), describe_outcome(fallback)] == [f"fail {code}", "completed 1000"]
    assert fallback["content"] == "배송이 시작되었습니다.\n열기: https://shop.example/1"
    assert "templateCode" not in fallback
    assert len(await list_phone_messages(call, number)) == 1


@pytest.mark.parametrize(
    ("number", "fields"),
    [
        (NO_USER, {}),
        (NO_USER, {"resend": False, "resendPhoneNumber": "02-1234-5678"}),
        (PHONE, FALLBACK),
    ],
)
async def test_fallback_is_sent_only_if_requested_and_the_message_failed(
    env: Environment, call: Caller, sender_key: str, number: str, fields: dict[str, Any]
) -> None:
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(sender_key, number, **fields))
    await env.wait(60)

    assert product_of(await get_message(call, number)) == "friendTalkText"


@pytest.mark.parametrize("fields", [{"content": "😀"}, {"resendContent": "가" * 1001}])
async def test_fallback_that_fits_no_text_message_is_recorded_as_failed(
    env: Environment, call: Caller, sender_key: str, fields: dict[str, Any]
) -> None:
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(sender_key, NO_USER, **FALLBACK, **fields))
    await env.wait(3)

    fallback, origin = await list_messages(call, NO_USER)
    assert describe_outcome(fallback) == "fail 9002"
    assert fallback["originMessageId"] == origin["messageId"]
    assert fallback["completedDate"]
    assert await list_phone_messages(call, NO_USER) == []


@pytest.mark.parametrize(
    "ends",
    [
        pytest.param(["fail 2000"], marks=pytest.mark.settings(fallback_within_minutes=60)),
        pytest.param(["sending", "fail 2000"], marks=pytest.mark.settings(fallback_within_minutes=62)),
    ],
)
@pytest.mark.settings(other_timeout_hours=1)
async def test_no_fallback_is_sent_long_after_the_scheduled_time(
    env: Environment, call: Caller, sender_key: str, ends: list[str]
) -> None:
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(sender_key, NEVER_REPORTED, **FALLBACK))
    await env.wait(1)
    env.world.move_clock(3600)
    await env.wait(30)

    assert [describe_outcome(each) for each in await list_messages(call, NEVER_REPORTED)] == ends
