"""Looking messages up: the history with every filter, and one send as a whole."""

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.fixtures.engines import sqlite_only
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    PHONE,
    RunScenario,
    alimtalk_body,
    approve_template,
    call_ok,
    call_raw,
    describe_outcome,
    friendtalk_body,
    get_message,
    list_messages,
    list_phone_messages,
    product_of,
    receivers_of,
    register_channel,
    sms_body,
    summarize_refusal,
    world_at_noon,
)

FORM = {"content-type": "application/x-www-form-urlencoded"}


async def _a_varied_past(env: Environment) -> tuple[Caller, dict[str, Any]]:
    """Send five messages to one number, a minute apart from 12:00; return the records by their texts."""
    call = await env.caller()
    shop = await register_channel(call)
    other = await register_channel(call, channelId="other", cellphone="010-9999-1111")
    await approve_template(call, shop, content="알림")
    await call_ok(call, "message/sendSMS", sms_body(content="문자"))
    await env.wait(60)
    await call_ok(call, "message/sendLMS", sms_body("010-1234-5678", "010-8888-8888", content="긴 문자"))
    await env.wait(60)
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(shop))
    await env.wait(60)
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(other, content="친구"))
    await env.wait(60)
    await call_ok(call, "message/sendSMS", sms_body(content="나중", sendDate="2026-12-01 09:00"))
    await env.wait(60)
    return call, {each["content"]: each for each in await list_messages(call)}


@pytest.mark.parametrize(
    ("filters", "texts"),
    [
        ({}, ["나중", "친구", "알림", "긴 문자", "문자"]),
        ({"messageProductType": "sms"}, ["나중", "문자"]),
        ({"messageProductType": "alimTalk"}, ["알림"]),
        ({"messageProductType": "friendTalkText"}, ["친구"]),
        ({"messageProductType": "email"}, []),
        ({"messageProductType": "push"}, []),
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
        ({"yyyyMM": "202610"}, []),
        ({"requestDate": "2026-11-15 12:01"}, ["긴 문자"]),
        ({"requestDate": "2026-11-15"}, ["나중", "친구", "알림", "긴 문자", "문자"]),
        ({"requestDate": "20261114"}, []),
        ({"requestDate": "2026-11-15 12:01~2026-11-15 12:02"}, ["알림", "긴 문자"]),
        ({"requestDate": "2026-11-15 12:03~"}, ["나중", "친구"]),
        ({"requestDate": "~2026-11-15 12:01"}, ["긴 문자", "문자"]),
        ({"requestDate": " 2026-11-15 12:03 ~ 20261116 "}, ["나중", "친구"]),
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
def test_filters_are_exact_and_combine_and_the_newest_comes_first(
    run_scenario: RunScenario, filters: dict[str, str], texts: list[str]
) -> None:
    async def scenario(env: Environment) -> None:
        call, _ = await _a_varied_past(env)

        found = await list_messages(call, **filters)

        assert [each["content"] for each in found] == texts

    run_scenario(scenario)


def test_one_message_is_found_by_the_ids_and_keys_of_its_own_record(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call, kept = await _a_varied_past(env)

        for each in kept.values():
            by_message = await get_message(call, messageId=each["messageId"])
            by_request = await get_message(call, requestId=each["requestId"])
            by_both = await get_message(call, messageId=each["messageId"], requestId=each["requestId"])

            assert each == by_message == by_request == by_both
        by_key = await get_message(call, senderKey=kept["알림"]["senderKey"])
        crossed = await list_messages(
            call, messageId=kept["문자"]["messageId"], requestId=kept["알림"]["requestId"]
        )
        assert by_key == kept["알림"]
        assert crossed == []

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("body", "result", "field"),
    [
        ({}, "MISSING_PARAMETER", "receivers"),
        ({"receivers": ""}, "MISSING_PARAMETER", "receivers"),
        ({"receivers": None}, "MISSING_PARAMETER", "receivers"),
        ({"receivers": "119"}, "INVALID_PHONE_NUMBER", "receivers"),
        ({"receivers": "02-123-4567"}, "INVALID_PHONE_NUMBER", "receivers"),
        ({"receivers": [PHONE]}, "INVALID_PARAMETER", "receivers"),
        ({"receiver": "119"}, "INVALID_PHONE_NUMBER", "receiver"),
        ({"receivers": PHONE, "receiver": "010-1111-1111"}, "INVALID_PARAMETER", "receivers"),
        ({"receivers": PHONE, "page": 0}, "INVALID_PARAMETER", "page"),
        ({"receivers": PHONE, "page": -1}, "INVALID_PARAMETER", "page"),
        ({"receivers": PHONE, "page": 1_000_001}, "INVALID_PARAMETER", "page"),
        ({"receivers": PHONE, "page": 10**30}, "INVALID_PARAMETER", "page"),
        ({"receivers": PHONE, "page": "1"}, "INVALID_PARAMETER", "page"),
        ({"receivers": PHONE, "page": 1.5}, "INVALID_PARAMETER", "page"),
        ({"receivers": PHONE, "page": True}, "INVALID_PARAMETER", "page"),
        ({"receivers": PHONE, "pageSize": 0}, "INVALID_PARAMETER", "pageSize"),
        ({"receivers": PHONE, "pageSize": 1001}, "INVALID_PARAMETER", "pageSize"),
        ({"receivers": PHONE, "messageProductType": "fax"}, "INVALID_PARAMETER", "messageProductType"),
        ({"receivers": PHONE, "messageProductType": "SMS"}, "INVALID_PARAMETER", "messageProductType"),
        ({"receivers": PHONE, "sendingStatus": "done"}, "INVALID_PARAMETER", "sendingStatus"),
        ({"receivers": PHONE, "yyyyMM": "2026-11"}, "INVALID_DATE", "yyyyMM"),
        ({"receivers": PHONE, "yyyyMM": "202613"}, "INVALID_DATE", "yyyyMM"),
        ({"receivers": PHONE, "yyyyMM": "20261"}, "INVALID_DATE", "yyyyMM"),
        ({"receivers": PHONE, "requestDate": "어제"}, "INVALID_DATE", "requestDate"),
        ({"receivers": PHONE, "requestDate": "~"}, "INVALID_DATE", "requestDate"),
        ({"receivers": PHONE, "requestDate": "2026-11-16~2026-11-15"}, "INVALID_DATE", "requestDate"),
        ({"receivers": PHONE, "scheduledDate": "2026-02-30"}, "INVALID_DATE", "scheduledDate"),
        ({"receivers": PHONE, "completeDate": "2026-11-15 25:00"}, "INVALID_DATE", "completeDate"),
        ({"receivers": PHONE, "completedDate": "x"}, "INVALID_DATE", "completedDate"),
        ({"receivers": PHONE, "completeDate": "20261115", "completedDate": "20261116"}, "INVALID_PARAMETER", None),
        ({"page": 0, "receivers": "119"}, "INVALID_PARAMETER", "page"),
    ],
)
def test_a_search_that_cannot_be_understood_is_refused(
    run_scenario: RunScenario, body: dict[str, Any], result: str, field: str | None
) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()

        answer = await call("message/list", body)

        assert answer.result == result
        if field:
            assert next(iter(summarize_refusal(answer).errors)) == field

    run_scenario(scenario)


def test_the_alias_receiver_finds_the_same(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call, kept = await _a_varied_past(env)

        found = await call("message/list", {"receiver": PHONE})
        both = await call("message/list", {"receivers": PHONE, "receiver": PHONE})

        assert found.body["totalCount"] == both.body["totalCount"] == len(kept)

    run_scenario(scenario)


def test_parameters_may_come_in_the_body_the_query_or_a_form(run_scenario: RunScenario) -> None:
    given = {"receivers": "010-1234-5678", "pageSize": 2, "page": 2, "messageProductType": "", "unknown": "1"}

    async def scenario(env: Environment) -> None:
        call, _ = await _a_varied_past(env)
        in_body = {name: value for name, value in given.items() if value != ""}

        answers = [
            await call("message/list", in_body),
            await call("message/list", query=given),
            await call("message/list", urlencode(given).encode(), headers=FORM),
            await call("message/list", {"receivers": PHONE}, query={"pageSize": 2, "page": 2}),
            await call("message/list", {**in_body}, query=given),
            await call("message/list", urlencode(given).encode(), headers=FORM, query=given),
        ]

        for answer in answers:
            assert [each["content"] for each in answer.items] == ["알림", "긴 문자"]

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("content_type", "body", "query"),
    [
        ("application/json", b'{"receivers": "010-1234-5678"}', b"receivers=010-1111-1111"),
        ("application/json", b'{"receivers": "010-1234-5678", "page": 1}', b"page=2"),
        ("application/json", b"", b"receivers=010-1234-5678&receivers=010-1111-1111"),
        (FORM["content-type"], b"receivers=010-1234-5678&receivers=010-1111-1111", b""),
        (FORM["content-type"], b"receivers=010-1234-5678", b"receivers=010-1111-1111"),
        ("application/json", b"", b"receivers=010-1234-5678&page=x"),
        ("application/json", b"", b"receivers=010-1234-5678&page=1e1"),
        ("application/json", b"", b"receivers=%FF"),
        ("application/json", b"", b"receivers=010-1234-5678" + b"&a=1" * 100),
        (FORM["content-type"], b"receivers=%FF", b""),
        (FORM["content-type"], "receivers=가".encode(), b""),
    ],
)
def test_two_values_for_one_name_or_an_unreadable_one_is_refused(
    run_scenario: RunScenario, content_type: str, body: bytes, query: bytes
) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        headers = [("apiKey", str(call.key)), ("Content-Type", content_type)]

        answer, _ = await call_raw(env, "/api/message/list.v1.0", headers=headers, chunks=[body], query=query)

        assert answer.result == "INVALID_PARAMETER"

    run_scenario(scenario)


def test_the_same_value_twice_is_one_value(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        headers = [("apiKey", str(call.key))]

        answer, _ = await call_raw(
            env,
            "/api/message/list.v1.0",
            headers=headers,
            chunks=[b'{"receivers": "010-1234-5678", "page": 1}'],
            query=b"receivers=010-1234-5678&page=1&page=1",
        )

        assert answer.result == "SUCCESS"

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("paging", "expected"),
    [
        ({}, {"resultCount": 10, "pageSize": 10, "pageCount": 3, "currentPage": 1}),
        ({"page": None, "pageSize": None}, {"resultCount": 10, "pageSize": 10, "pageCount": 3, "currentPage": 1}),
        ({"page": 3}, {"resultCount": 5, "pageSize": 10, "pageCount": 3, "currentPage": 3}),
        ({"page": 4}, {"resultCount": 0, "pageSize": 10, "pageCount": 3, "currentPage": 4}),
        (
            {"page": 1_000_000, "pageSize": 1000},
            {"resultCount": 0, "pageSize": 1000, "pageCount": 1, "currentPage": 1_000_000},
        ),
        ({"pageSize": 25}, {"resultCount": 25, "pageSize": 25, "pageCount": 1, "currentPage": 1}),
        ({"pageSize": 1, "page": 25}, {"resultCount": 1, "pageSize": 1, "pageCount": 25, "currentPage": 25}),
    ],
)
def test_the_history_is_paged(run_scenario: RunScenario, paging: dict[str, Any], expected: dict[str, int]) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        await call_ok(call, "message/sendSMS", sms_body(*[PHONE] * 25))

        answer = await call("message/list", {"receivers": PHONE, **paging})

        assert len(answer.items) == expected["resultCount"]
        assert {name: answer.body[name] for name in expected} == expected
        assert answer.body["totalCount"] == 25

    run_scenario(scenario)


def test_pages_hold_every_message_once(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        await call_ok(call, "message/sendSMS", sms_body(*[PHONE] * 25))
        every = [each["id"] for each in await list_messages(call)]

        pages = [await call("message/list", {"receivers": PHONE, "page": page}) for page in (1, 2, 3)]

        assert [each["id"] for page in pages for each in page.items] == every
        assert every == sorted(set(every), reverse=True)

    run_scenario(scenario)


def test_an_empty_history_has_no_pages(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()

        answer = await call("message/list", {"receivers": PHONE})

        assert answer.items == []
        assert [answer.body[name] for name in ("totalCount", "resultCount", "pageCount", "currentPage")] == [
            0,
            0,
            0,
            1,
        ]

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("language", "kind", "status", "outcome"),
    [("ko", "단문 문자", "완료", "전달됨"), ("en", "SMS", "Completed", "Delivered")],
)
def test_labels_follow_the_language_and_values_do_not(
    run_scenario: RunScenario, language: str, kind: str, status: str, outcome: str
) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller(language=language)
        sent = await call_ok(call, "message/sendSMS", sms_body())
        await env.wait(2)

        found = await get_message(call)
        request = await call("message/request", query={"requestId": sent.request_id})

        assert found["messageProductType"] == {"value": "sms", "label": kind}
        assert found["sendingStatus"] == {"value": "completed", "label": status}
        assert found["resultCode"] == {"value": "1000", "label": outcome}
        assert request.item["messageProductType"] == {"value": "sms", "label": kind}

    run_scenario(scenario)


def test_a_reference_comes_back_in_the_record(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        receivers = [
            *receivers_of(PHONE, reference="가" * 64),
            *receivers_of(PHONE, reference=""),
            *receivers_of(PHONE),
        ]

        sent = await call_ok(call, "message/sendSMS", sms_body(receivers=receivers))

        found = (await call("message/request", query={"requestId": sent.request_id})).items
        assert [each.get("reference") for each in found] == [None, None, "가" * 64]

    run_scenario(scenario)


def test_one_send_is_looked_up_with_its_counts_and_messages(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sender_key = await register_channel(call)
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

    run_scenario(scenario)


@pytest.mark.parametrize(
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
def test_a_send_that_is_not_there_cannot_be_looked_up(
    run_scenario: RunScenario, query: dict[str, str], result: str
) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()

        answer = await call("message/request", query=query)

        assert answer.result == result

    run_scenario(scenario)


@sqlite_only
def test_after_the_retention_numbers_and_texts_are_gone_and_counts_stay(run_scenario: RunScenario) -> None:
    world = world_at_noon()

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        body = sms_body(
            subject="비밀",
            content="#{a}",
            receivers=receivers_of(PHONE, templateData={"a": "비밀"}, reference="비밀"),
        )
        sent = await call_ok(call, "message/sendLMS", body)
        await env.wait(2)

        world.move_clock(180 * 86_400)
        await env.wait(60)
        gone = await list_messages(call)
        answer = await call("message/request", query={"requestId": sent.request_id})

        (blank,) = answer.items
        assert gone == []
        assert answer.item["counts"]["completed"] == answer.item["totalCount"] == 1
        assert describe_outcome(blank) == "completed 1000"
        assert (blank["receiver"], blank["content"]) == ("", "")
        assert "비밀" not in str(answer.body)

    run_scenario(scenario, world=world)


def test_what_a_number_received_is_found_by_that_number_alone(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()

        await call_ok(call, "message/sendSMS", sms_body("010-1234-5678", "010-1234-5679", "011-234-5678"))
        await env.wait(1)

        assert (await get_message(call, "011-234-5678"))["receiver"] == "011-234-5678"
        assert len(await list_messages(call, "010-1234-5679")) == 1
        assert len(await list_phone_messages(call, "011-234-5678")) == 1

    run_scenario(scenario)
