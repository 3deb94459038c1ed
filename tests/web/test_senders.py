"""Sender profiles: categories, registration, list and deletion."""

import re
from typing import Any

import pytest

from tests.fixtures.cases import with_each
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    CATEGORY,
    PHONE,
    alimtalk_body,
    approve_template,
    call_ok,
    channel_body,
    describe_outcome,
    friendtalk_body,
    get_latest_token,
    get_message,
    list_messages,
    list_phone_messages,
    register_channel,
    sms_body,
    summarize_refusal,
)

ADMIN = "010-9999-0000"


async def test_channel_is_registered_approved_by_token_and_listed(env: Environment, call: Caller) -> None:
    created = await call("sender/create", channel_body(channelId="shop"))
    await env.wait(60)
    (waiting,) = (await call("sender/list")).items
    token = await get_latest_token(call)
    proved = await call("sender/auth", {"channelId": "shop", "token": token})
    (approved,) = (await call("sender/list")).items

    category = {"value": CATEGORY, "label": "건강,병원,종합병원", "refId": CATEGORY}
    assert created.item == {
        "channelId": "@shop",
        "category": category,
        "cellphone": ADMIN,
        "authStatus": {"value": "waiting", "label": "인증 대기"},
    }
    assert "senderKey" not in waiting
    assert set(proved.body) == {"time", "result", "resultMessage", "locale"}
    assert approved == {
        "id": waiting["id"],
        "label": "@shop",
        "channelId": "@shop",
        "category": category,
        "senderKey": approved["senderKey"],
        "cellphone": ADMIN,
        "authStatus": {"value": "approval", "label": "승인"},
        "enable": True,
        "created": "2026-11-15 12:00:00",
        "changed": "2026-11-15 12:01:00",
    }
    assert re.fullmatch(r"[0-9a-f]{40}", approved["senderKey"])


async def test_every_category_that_is_listed_may_be_chosen(call: Caller) -> None:
    answer = await call("sender/categories")
    chosen = [
        await call(
            "sender/create",
            channel_body(category=each["code"], channelId=f"@{index}", cellphone=f"010-9999-{index:04}"),
        )
        for index, each in enumerate(answer.items)
    ]

    first = answer.items[0]
    assert answer.body["totalCount"] == answer.body["resultCount"] == len(answer.items)
    assert [each.item["category"]["label"] for each in chosen] == [each["name"] for each in answer.items]
    assert first == {
        "id": CATEGORY,
        "label": "건강,병원,종합병원",
        "code": CATEGORY,
        "name": "건강,병원,종합병원",
    }
    assert all(re.fullmatch(r"[0-9]{11}", each["code"]) for each in answer.items)
    assert not {"pageSize", "pageCount", "currentPage"} & set(answer.body)


@with_each(
    ("change", "result", "field"),
    [
        ({"category": None}, "MISSING_PARAMETER", "category"),
        ({"category": "99999999999"}, "CATEGORY_NOT_FOUND", "category"),
        ({"category": 100010001}, "INVALID_PARAMETER", "category"),
        ({"channelId": ""}, "MISSING_PARAMETER", "channelId"),
        ({"channelId": "@"}, "INVALID_PARAMETER", "channelId"),
        ({"channelId": "a b"}, "INVALID_PARAMETER", "channelId"),
        ({"channelId": "a\0b"}, "UNSUPPORTED_CHARACTER", "channelId"),
        ({"cellphone": None}, "MISSING_PARAMETER", "cellphone"),
        ({"cellphone": "02-123-4567"}, "INVALID_PHONE_NUMBER", "cellphone"),
        ({"category": "x", "channelId": "@"}, "INVALID_PARAMETER", "channelId"),
    ],
)
async def test_invalid_registration_is_refused_and_sends_no_token(
    call: Caller, change: dict[str, Any], result: str, field: str
) -> None:
    answer = await call("sender/create", channel_body(**change))

    assert summarize_refusal(answer) == (result, {field: result})
    assert (await call("sender/list")).items == []
    assert await list_phone_messages(call, ADMIN) == []


async def test_approved_channel_cannot_be_registered_or_approved_again(call: Caller, sender_key: str) -> None:
    token = await get_latest_token(call)

    again = await call("sender/create", channel_body())
    proved = await call("sender/auth", {"channelId": "@shop", "token": token})

    (profile,) = (await call("sender/list")).items
    assert summarize_refusal(again) == ("DUPLICATE", {"channelId": "DUPLICATE"})
    assert summarize_refusal(proved) == ("INVALID_STATE", {"channelId": "INVALID_STATE"})
    assert profile["senderKey"] == sender_key


@pytest.mark.parametrize(
    ("query", "channels"),
    [
        ({}, ["@c", "@b", "@a"]),
        ({"channelId": "@b"}, ["@b"]),
        ({"channelId": "b"}, ["@b"]),
        ({"channelId": "@B"}, []),
        ({"authStatus": "waiting"}, ["@c", "@b"]),
        ({"authStatus": "approval"}, ["@a"]),
        ({"authStatus": "approval", "channelId": "@b"}, []),
        ({"senderKey": "x"}, []),
        ({"senderKey": "", "channelId": "", "page": ""}, ["@c", "@b", "@a"]),
        ({"page": 2, "pageSize": 2}, ["@a"]),
        ({"page": 3, "pageSize": 2}, []),
    ],
)
async def test_profiles_are_listed_newest_first_and_filtered_exactly(
    call: Caller, query: dict[str, Any], channels: list[str]
) -> None:
    await register_channel(call, channelId="@a")
    for name in "bc":
        await call_ok(call, "sender/create", channel_body(channelId=name))

    answer = await call("sender/list", query=query)

    assert [each["channelId"] for each in answer.items] == channels
    assert answer.body["resultCount"] == len(channels)
    assert answer.body["currentPage"] == (query.get("page") or 1)


async def test_profile_is_found_by_its_key(call: Caller) -> None:
    await register_channel(call, channelId="@a")
    sender_key = await register_channel(call, channelId="@b", cellphone="010-9999-1111")

    (found,) = (await call("sender/list", query={"senderKey": sender_key})).items

    assert found["channelId"] == "@b"


@with_each(
    ("query", "field"),
    [
        ({"authStatus": "approved"}, "authStatus"),
        ({"page": 0}, "page"),
        ({"page": "one"}, "page"),
        ({"page": 1_000_001}, "page"),
        ({"pageSize": 1001}, "pageSize"),
        ({"pageSize": -1}, "pageSize"),
        ({"channelId": "a b"}, "channelId"),
    ],
)
async def test_sender_list_with_invalid_parameters_is_refused(
    call: Caller, query: dict[str, Any], field: str
) -> None:
    answer = await call("sender/list", query=query)

    assert summarize_refusal(answer) == ("INVALID_PARAMETER", {field: "INVALID_PARAMETER"})


async def test_deleting_a_profile_cancels_its_waiting_messages_before_the_answer(
    env: Environment, call: Caller, sender_key: str
) -> None:
    await approve_template(call, sender_key)
    later = {"sendDate": "2026-11-15 12:10"}
    for n in range(45):
        await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key, f"010-5555-{n:04}", **later))
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(sender_key, **later))
    await call_ok(call, "message/sendSMS", sms_body("010-6666-6666", **later))

    answer = await call("sender/delete", {"senderKey": sender_key})
    cancelled = [describe_outcome(await get_message(call, f"010-5555-{n:04}")) for n in range(45)]
    await env.jump(1200)

    assert set(answer.body) == {"time", "result", "resultMessage", "locale"}
    assert cancelled == ["cancel"] * 45
    assert describe_outcome(await get_message(call)) == "cancel"
    assert await list_phone_messages(call) == []
    assert describe_outcome(await get_message(call, "010-6666-6666")) == "completed 1000"


async def test_postponed_messages_are_not_sent_after_their_profile_is_deleted(
    env: Environment, call: Caller, sender_key: str
) -> None:
    fallback = {"resend": True, "resendPhoneNumber": "02-1234-5678"}
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(sender_key, "010-0000-0005", **fallback))
    await env.wait(0.1)

    await call_ok(call, "sender/delete", {"senderKey": sender_key})
    await env.wait(60)

    ends = [describe_outcome(each) for each in await list_messages(call, "010-0000-0005")]
    assert ends == ["fail 3018"]
    assert await list_phone_messages(call, "010-0000-0005") == []


async def test_deleted_profile_leaves_lists_with_its_templates_but_keeps_history(
    env: Environment, call: Caller, sender_key: str
) -> None:
    await approve_template(call, sender_key)
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key))
    await env.wait(2)

    await call_ok(call, "sender/delete", {"senderKey": sender_key, "channelId": "@shop"})

    assert (await call("sender/list")).items == []
    assert (await call("template/list")).items == []
    assert (
        describe_outcome(await get_message(call, channelId="@shop", senderKey=sender_key, templateCode="T1"))
        == "completed 1000"
    )
    for operation, body in (
        ("message/sendAlimtalk", alimtalk_body(sender_key)),
        ("message/sendFriendtalk", friendtalk_body(sender_key)),
        ("sender/delete", {"senderKey": sender_key}),
        ("template/request", {"senderKey": sender_key, "templateCode": "T1"}),
        ("sender/auth", {"channelId": "@shop", "token": "123456"}),
    ):
        assert (await call(operation, body)).result == "SENDER_NOT_FOUND"


async def test_deleted_channel_is_registered_again_with_new_key_and_no_templates(
    env: Environment, call: Caller
) -> None:
    old_key = await register_channel(call)
    await approve_template(call, old_key)
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(old_key, sendDate="2026-11-15 12:10"))
    await call_ok(call, "sender/delete", {"senderKey": old_key})

    new_key = await register_channel(call)
    by_old = await call("message/sendFriendtalk", friendtalk_body(old_key))
    by_new = await call("message/sendFriendtalk", friendtalk_body(new_key, "010-6666-6666"))
    template = await call("message/sendAlimtalk", alimtalk_body(new_key))
    await env.jump(1200)

    assert new_key != old_key
    assert [by_old.result, by_new.result, template.result] == [
        "SENDER_NOT_FOUND",
        "SUCCESS",
        "TEMPLATE_NOT_FOUND",
    ]
    assert describe_outcome(await get_message(call, PHONE)) == "cancel"
    assert describe_outcome(await get_message(call, "010-6666-6666")) == "completed 1000"


async def test_profile_without_a_key_is_deleted_by_its_channel(call: Caller) -> None:
    await call_ok(call, "sender/create", channel_body())
    token = await get_latest_token(call)

    answer = await call("sender/delete", {"channelId": "shop"})
    proved = await call("sender/auth", {"channelId": "@shop", "token": token})

    assert answer.result == "SUCCESS"
    assert proved.result == "SENDER_NOT_FOUND"
    assert (await call("sender/list")).items == []


@pytest.mark.parametrize(
    ("body", "result", "field"),
    [
        ({}, "MISSING_PARAMETER", "senderKey"),
        ({"senderKey": "", "channelId": ""}, "MISSING_PARAMETER", "senderKey"),
        ({"senderKey": "x"}, "SENDER_NOT_FOUND", "senderKey"),
        ({"senderKey": 5}, "INVALID_PARAMETER", "senderKey"),
        ({"channelId": "@nobody"}, "SENDER_NOT_FOUND", "channelId"),
        ({"channelId": "a b"}, "INVALID_PARAMETER", "channelId"),
        ({"senderKey": "x", "channelId": "@shop"}, "SENDER_NOT_FOUND", "senderKey"),
        ({"senderKey": "KEY", "channelId": "@other"}, "SENDER_NOT_FOUND", "senderKey"),
    ],
)
async def test_unknown_profiles_cannot_be_deleted(
    call: Caller, sender_key: str, body: dict[str, Any], result: str, field: str
) -> None:
    named = {name: sender_key if value == "KEY" else value for name, value in body.items()}

    answer = await call("sender/delete", named)

    assert summarize_refusal(answer) == (result, {field: result})
    assert len((await call("sender/list")).items) == 1
