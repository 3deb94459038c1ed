"""Looking messages up: the history with every filter, and one send as a whole."""

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.virtual import Caller, Town
from tests.web.scenery import (
    PHONE,
    Play,
    accepted,
    alimtalk,
    approve_template,
    end,
    friendtalk,
    on_phone,
    open_channel,
    product,
    record,
    records,
    sms,
    to,
    told,
    world_at_noon,
)

FORM = {"content-type": "application/x-www-form-urlencoded"}


async def _a_varied_past(town: Town) -> tuple[Caller, dict[str, Any]]:
    """Send five messages to one number, a minute apart from 12:00; return the records by their texts."""
    call = await town.caller()
    shop = await open_channel(call)
    other = await open_channel(call, channelId="other", cellphone="010-9999-1111")
    await approve_template(call, shop, content="알림")
    await accepted(call, "message/sendSMS", sms(content="문자"))
    await town.wait(60)
    await accepted(call, "message/sendLMS", sms("010-1234-5678", "010-8888-8888", content="긴 문자"))
    await town.wait(60)
    await accepted(call, "message/sendAlimtalk", alimtalk(shop))
    await town.wait(60)
    await accepted(call, "message/sendFriendtalk", friendtalk(other, content="친구"))
    await town.wait(60)
    await accepted(call, "message/sendSMS", sms(content="나중", sendDate="2026-12-01 09:00"))
    await town.wait(60)
    return call, {each["content"]: each for each in await records(call)}


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
    play: Play, filters: dict[str, str], texts: list[str]
) -> None:
    async def scene(town: Town) -> None:
        call, _ = await _a_varied_past(town)

        found = await records(call, **filters)

        assert [each["content"] for each in found] == texts

    play(scene)


def test_one_message_is_found_by_the_ids_and_keys_of_its_own_record(play: Play) -> None:
    async def scene(town: Town) -> None:
        call, kept = await _a_varied_past(town)

        for each in kept.values():
            by_message = await record(call, messageId=each["messageId"])
            by_request = await record(call, requestId=each["requestId"])
            by_both = await record(call, messageId=each["messageId"], requestId=each["requestId"])

            assert each == by_message == by_request == by_both
        by_key = await record(call, senderKey=kept["알림"]["senderKey"])
        crossed = await records(call, messageId=kept["문자"]["messageId"], requestId=kept["알림"]["requestId"])
        assert by_key == kept["알림"]
        assert crossed == []

    play(scene)


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
    play: Play, body: dict[str, Any], result: str, field: str | None
) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()

        answer = await call("message/list", body)

        assert answer.result == result
        if field:
            assert next(iter(told(answer).errors)) == field

    play(scene)


def test_the_alias_receiver_finds_the_same(play: Play) -> None:
    async def scene(town: Town) -> None:
        call, kept = await _a_varied_past(town)

        found = await call("message/list", {"receiver": PHONE})
        both = await call("message/list", {"receivers": PHONE, "receiver": PHONE})

        assert found.body["totalCount"] == both.body["totalCount"] == len(kept)

    play(scene)


def test_parameters_may_come_in_the_body_the_query_or_a_form(play: Play) -> None:
    given = {"receivers": "010-1234-5678", "pageSize": 2, "page": 2, "messageProductType": "", "unknown": "1"}

    async def scene(town: Town) -> None:
        call, _ = await _a_varied_past(town)
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

    play(scene)


@pytest.mark.parametrize(
    ("body", "query", "headers"),
    [
        ({"receivers": PHONE}, b"receivers=010-1111-1111", {}),
        ({"receivers": PHONE, "page": 1}, b"page=2", {}),
        (None, b"receivers=010-1234-5678&receivers=010-1111-1111", {}),
        (b"receivers=010-1234-5678&receivers=010-1111-1111", b"", FORM),
        (b"receivers=010-1234-5678", b"receivers=010-1111-1111", FORM),
        (None, b"receivers=010-1234-5678&page=x", {}),
        (None, b"receivers=010-1234-5678&page=1e1", {}),
        (None, b"receivers=%FF", {}),
        (b"receivers=%FF", b"", FORM),
        ("receivers=가".encode(), b"", FORM),
    ],
)
def test_two_values_for_one_name_or_an_unreadable_one_is_refused(
    play: Play, body: Any, query: bytes, headers: dict[str, str]
) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        pairs = [part.split("=") for part in query.decode().split("&") if part]
        plain = {name: value for name, value in pairs if "%" not in value}
        repeated = len(plain) < len(pairs)

        path = f"/api/message/list.v1.0?{query.decode()}" if repeated else "message/list"
        answer = await _with_query(call, body, query, headers) if repeated else await call(
            path, body, query=plain, headers=headers
        )

        assert answer.result == "INVALID_PARAMETER"

    play(scene)
