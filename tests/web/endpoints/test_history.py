"""The history: every filter, and one request with its messages."""

from typing import Any

import pytest

from tests.fixtures.cases import once, with_each
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    PHONE,
    call_ok,
    describe_outcome,
    friendtalk_body,
    get_message,
    list_messages,
    list_phone_messages,
    product_of,
    receivers_of,
    send_varied_messages,
    sms_body,
    summarize_refusal,
)


@with_each(
    ("filters", "texts"),
    [
        ({}, ["나중", "친구", "알림", "긴 문자", "문자"]),
        ({"messageProductType": "sms"}, ["나중", "문자"]),
        ({"messageProductType": "alimTalk"}, ["알림"]),
        ({"messageProductType": "friendTalkText"}, ["친구"]),
        ({"messageProductType": "email"}, []),
        ({"sendingStatus": "waiting"}, ["나중"]),
        ({"sendingStatus": "completed"}, ["친구", "알림", "긴 문자", "문자"]),
        ({"sendingStatus": "fail"}, []),
        ({"channelId": "@shop"}, ["알림"]),
        ({"channelId": "other"}, ["친구"]),
        ({"channelId": "@nobody"}, []),
        ({"senderKey": "no-such-key"}, []),
        ({"templateCode": "T1"}, ["알림"]),
        ({"templateCode": "T2"}, []),
        ({"yyyyMM": "202611"}, ["친구", "알림", "긴 문자", "문자"]),
        ({"yyyyMM": "202612"}, ["나중"]),
        ({"requestDate": "2026-11-15 12:01"}, ["긴 문자"]),
        ({"requestDate": "2026-11-15"}, ["나중", "친구", "알림", "긴 문자", "문자"]),
        ({"requestDate": "2026-11-15 12:01~2026-11-15 12:02"}, ["알림", "긴 문자"]),
        ({"requestDate": "2026-11-15 12:03~"}, ["나중", "친구"]),
        ({"requestDate": "~2026-11-15 12:01"}, ["긴 문자", "문자"]),
        ({"requestDate": "0001-01-01~9999-12-31"}, ["나중", "친구", "알림", "긴 문자", "문자"]),
        ({"scheduledDate": "2026-12-01"}, ["나중"]),
        ({"scheduledDate": "2026-12-01 09:00~"}, ["나중"]),
        ({"scheduledDate": "~2026-11-15 12:00"}, ["문자"]),
        ({"completeDate": "2026-11-15 12:02"}, ["알림"]),
        ({"completedDate": "2026-11-15 12:02"}, ["알림"]),
        ({"completeDate": "20261115", "completedDate": "20261115"}, ["친구", "알림", "긴 문자", "문자"]),
        ({"completeDate": "2026-12-01~"}, []),
        ({"messageProductType": "sms", "sendingStatus": "completed"}, ["문자"]),
        ({"messageProductType": "sms", "yyyyMM": "202612", "requestDate": "2026-11-15"}, ["나중"]),
        ({"requestId": "no-such-id"}, []),
        ({"messageId": "no-such-id"}, []),
        ({"requestId": "0" * 26}, []),
        ({"messageId": "0" * 32}, []),
    ],
)
async def test_filters_are_exact_and_combine_and_the_newest_comes_first(
    env: Environment, filters: dict[str, str], texts: list[str]
) -> None:
    call, _ = await once(env, send_varied_messages)

    found = await list_messages(call, **filters)

    assert [each["content"] for each in found] == texts


async def test_one_message_is_found_by_the_ids_and_keys_of_its_own_record(env: Environment) -> None:
    call, by_content = await send_varied_messages(env)

    for each in by_content.values():
        by_message = await get_message(call, messageId=each["messageId"])
        by_request = await get_message(call, requestId=each["requestId"])
        by_both = await get_message(call, messageId=each["messageId"], requestId=each["requestId"])

        assert each == by_message == by_request == by_both
    by_key = await get_message(call, senderKey=by_content["알림"]["senderKey"])
    crossed = await list_messages(
        call, messageId=by_content["문자"]["messageId"], requestId=by_content["알림"]["requestId"]
    )
    assert by_key == by_content["알림"]
    assert crossed == []


@with_each(
    ("body", "result", "field"),
    [
        ({}, "MISSING_PARAMETER", "receivers"),
        ({"receivers": ""}, "MISSING_PARAMETER", "receivers"),
        ({"receivers": None}, "MISSING_PARAMETER", "receivers"),
        ({"receivers": "119"}, "INVALID_PHONE_NUMBER", "receivers"),
        ({"receivers": [PHONE]}, "INVALID_PARAMETER", "receivers"),
        ({"receiver": "119"}, "INVALID_PHONE_NUMBER", "receiver"),
        ({"receivers": PHONE, "receiver": "010-1111-1111"}, "INVALID_PARAMETER", "receivers"),
        ({"receivers": PHONE, "page": 0}, "INVALID_PARAMETER", "page"),
        ({"receivers": PHONE, "page": 1_000_001}, "INVALID_PARAMETER", "page"),
        ({"receivers": PHONE, "page": 10**30}, "INVALID_PARAMETER", "page"),
        ({"receivers": PHONE, "page": "1"}, "INVALID_PARAMETER", "page"),
        ({"receivers": PHONE, "page": True}, "INVALID_PARAMETER", "page"),
        ({"receivers": PHONE, "pageSize": 0}, "INVALID_PARAMETER", "pageSize"),
        ({"receivers": PHONE, "pageSize": 1001}, "INVALID_PARAMETER", "pageSize"),
        ({"receivers": PHONE, "messageProductType": "fax"}, "INVALID_PARAMETER", "messageProductType"),
        ({"receivers": PHONE, "messageProductType": "SMS"}, "INVALID_PARAMETER", "messageProductType"),
        ({"receivers": PHONE, "sendingStatus": "done"}, "INVALID_PARAMETER", "sendingStatus"),
        ({"receivers": PHONE, "yyyyMM": "2026-11"}, "INVALID_DATE", "yyyyMM"),
        ({"receivers": PHONE, "requestDate": "어제"}, "INVALID_DATE", "requestDate"),
        ({"receivers": PHONE, "scheduledDate": "2026-02-30"}, "INVALID_DATE", "scheduledDate"),
        ({"receivers": PHONE, "completeDate": "2026-11-15 25:00"}, "INVALID_DATE", "completeDate"),
        ({"receivers": PHONE, "completedDate": "x"}, "INVALID_DATE", "completedDate"),
        ({"receivers": PHONE, "completeDate": "20261115", "completedDate": "20261116"}, "INVALID_PARAMETER", None),
        ({"page": 0, "receivers": "119"}, "INVALID_PARAMETER", "page"),
    ],
)
async def test_search_with_invalid_parameters_is_refused(
    call: Caller, body: dict[str, Any], result: str, field: str | None
) -> None:
    answer = await call("message/list", body)

    assert answer.result == result
    if field:
        assert next(iter(summarize_refusal(answer).errors)) == field


@pytest.mark.parametrize(
    ("language", "kind", "status", "outcome"),
    [("ko", "단문(SMS)", "완료", "전달됨"), ("en", "SMS", "Completed", "Delivered")],
)
async def test_labels_follow_the_language_and_values_do_not(
    env: Environment, language: str, kind: str, status: str, outcome: str
) -> None:
    call = await env.caller(language=language)
    sent = await call_ok(call, "message/sendSMS", sms_body())
    await env.wait(2)

    found = await get_message(call)
    request = await call("message/request", query={"requestId": sent.request_id})

    assert found["messageProductType"] == {"value": "sms", "label": kind}
    assert found["sendingStatus"] == {"value": "completed", "label": status}
    assert found["resultCode"] == {"value": "1000", "label": outcome}
    assert request.item["messageProductType"] == {"value": "sms", "label": kind}


async def test_reference_comes_back_in_the_record(call: Caller) -> None:
    receivers = [
        *receivers_of(PHONE, reference="가" * 64),
        *receivers_of(PHONE, reference=""),
        *receivers_of(PHONE),
    ]

    sent = await call_ok(call, "message/sendSMS", sms_body(receivers=receivers))

    found = (await call("message/request", query={"requestId": sent.request_id})).items
    assert [each.get("reference") for each in found] == [None, None, "가" * 64]


async def test_request_is_returned_with_its_counts_and_messages(
    env: Environment, call: Caller, sender_key: str
) -> None:
    numbers = ["010-1111-1111", "010-0000-0003", "010-0000-0006"]
    body = friendtalk_body(sender_key, *numbers, resend=True, resendPhoneNumber="02-1234-5678")

    sent = await call_ok(call, "message/sendFriendtalk", body)
    await env.wait(3)
    answer = await call("message/request", query={"requestId": sent.request_id, "pageSize": 3})

    assert answer.item == {
        "requestId": sent.request_id,
        "messageProductType": {"value": "friendTalkText", "label": "친구톡 텍스트"},
        "requestDate": "2026-11-15 12:00:00",
        "scheduledDate": "2026-11-15 12:00:00",
        "totalCount": 4,
        "counts": {"waiting": 0, "sending": 1, "completed": 2, "fail": 1, "cancel": 0},
    }
    assert [(product_of(each), describe_outcome(each)) for each in answer.items] == [
        ("sms", "completed 1000"),
        ("friendTalkText", "sending"),
        ("friendTalkText", "fail 3019"),
    ]
    assert [answer.body[name] for name in ("totalCount", "resultCount", "pageCount")] == [4, 3, 2]


@with_each(
    ("query", "result"),
    [
        ({}, "MISSING_PARAMETER"),
        ({"requestId": ""}, "MISSING_PARAMETER"),
        ({"requestId": "x"}, "REQUEST_NOT_FOUND"),
        ({"requestId": "0" * 26}, "REQUEST_NOT_FOUND"),
        ({"requestId": "가" * 26}, "REQUEST_NOT_FOUND"),
        ({"requestId": "a\0"}, "UNSUPPORTED_CHARACTER"),
        ({"requestId": "0" * 26, "page": "0"}, "INVALID_PARAMETER"),
        ({"requestId": "0" * 26, "pageSize": "1001"}, "INVALID_PARAMETER"),
        ({"requestId": "0" * 26, "page": "1" * 13}, "INVALID_PARAMETER"),
    ],
)
async def test_unknown_request_is_not_found(call: Caller, query: dict[str, str], result: str) -> None:
    answer = await call("message/request", query=query)

    assert answer.result == result


async def test_messages_are_found_only_by_their_receiver(env: Environment, call: Caller) -> None:
    await call_ok(call, "message/sendSMS", sms_body("010-1234-5678", "010-1234-5679", "011-234-5678"))
    await env.wait(1)

    assert (await get_message(call, "011-234-5678"))["receiver"] == "011-234-5678"
    assert len(await list_messages(call, "010-1234-5679")) == 1
    assert len(await list_phone_messages(call, "011-234-5678")) == 1
