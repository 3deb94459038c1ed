"""Templates, from creation through review to deletion."""

import re
from typing import Any

import pytest

from pabal.domain.kakao.template import ReviewDecision
from pabal.service.relay import templates
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    TEMPLATE_CATEGORY,
    alimtalk_body,
    approve_template,
    call_ok,
    image_body,
    list_phone_messages,
    register_channel,
    summarize_refusal,
    template_body,
)


def _template_key(sender_key: str, code: str = "T1") -> dict[str, str]:
    return {"senderKey": sender_key, "templateCode": code}


async def _read_status(call: Caller, code: str = "T1") -> str:
    (found,) = (await call("template/list", query={"templateCode": code})).items
    return str(found["status"]["value"])


async def test_template_is_registered_approved_and_sent(env: Environment, call: Caller, sender_key: str) -> None:
    button = {"buttonType": "webLink", "name": "보기", "mobileUrl": "https://shop.example/#{order}"}
    body = template_body(sender_key, content="#{name}님, #{item} 발송. #{name}", buttons=[button])

    created = await call("template/create", body)
    too_early = await call("message/sendAlimtalk", alimtalk_body(sender_key))
    await env.wait(60)
    requested = await call("template/request", _template_key(sender_key))
    data = {"name": "길동", "item": "책", "order": 1}
    sent = await call(
        "message/sendAlimtalk",
        alimtalk_body(sender_key, receivers=[{"phoneNumber": "010-1234-5678", "templateData": data}]),
    )
    await env.wait(1)

    (arrived,) = await list_phone_messages(call)
    assert created.item == {
        "id": created.item["id"],
        "label": "배송 안내",
        "senderKey": sender_key,
        "channelId": "@shop",
        "templateCode": "T1",
        "name": "배송 안내",
        "content": "#{name}님, #{item} 발송. #{name}",
        "category": TEMPLATE_CATEGORY,
        "messageType": "basic",
        "emphasisType": "none",
        "securityTemplate": False,
        "buttons": [button],
        "variables": ["name", "item", "order"],
        "status": {"value": "registered", "label": "등록"},
        "enable": True,
        "created": "2026-11-15 12:00:00",
        "changed": "2026-11-15 12:00:00",
    }
    assert too_early.result == "TEMPLATE_NOT_APPROVED"
    assert requested.item["status"] == {"value": "approved", "label": "승인"}
    assert requested.item["changed"] == "2026-11-15 12:01:00"
    assert sent.result == "SUCCESS"
    assert arrived["content"] == "길동님, 책 발송. 길동"


async def test_categories_of_templates_have_groups(call: Caller) -> None:
    answer = await call("template/categories")

    groups = {each["groupName"] for each in answer.items}
    assert answer.body["totalCount"] == answer.body["resultCount"] == len(answer.items)
    assert answer.items[0] == {
        "id": "001001",
        "label": "회원가입",
        "code": "001001",
        "name": "회원가입",
        "groupName": "회원",
    }
    assert {"회원", "구매", "예약", "배송", "기타"} <= groups
    assert all(re.fullmatch(r"[0-9]{6}", each["code"]) for each in answer.items)


async def test_simulator_rejects_a_template_name_that_asks_for_it(call: Caller, sender_key: str) -> None:
    await call_ok(call, "template/create", template_body(sender_key, name="반려될 안내"))

    rejected = await call("template/request", _template_key(sender_key))
    sent = await call("message/sendAlimtalk", alimtalk_body(sender_key))
    again = await call("template/request", _template_key(sender_key))
    edited = await call("template/update", template_body(sender_key, name="고친 안내"))
    approved = await call("template/request", _template_key(sender_key))

    assert rejected.item["status"]["value"] == "rejected"
    assert rejected.item["comment"]
    assert sent.result == "TEMPLATE_NOT_APPROVED"
    assert again.result == "INVALID_STATE"
    assert edited.item["status"]["value"] == "registered"
    assert "comment" not in edited.item
    assert approved.item["status"]["value"] == "approved"
    assert "comment" not in approved.item


@pytest.mark.parametrize(
    ("review", "status", "sent"),
    [
        (ReviewDecision(True), "approved", "SUCCESS"),
        (ReviewDecision(False, "광고성 문구"), "rejected", "TEMPLATE_NOT_APPROVED"),
    ],
)
async def test_template_under_review_waits_for_the_operator(
    env: Environment, call: Caller, sender_key: str, review: ReviewDecision, status: str, sent: str
) -> None:
    created = await call_ok(call, "template/create", template_body(sender_key, name="보류된 안내"))

    held = await call("template/request", _template_key(sender_key))
    refused = [
        (await call("template/update", template_body(sender_key))).result,
        (await call("template/delete", _template_key(sender_key))).result,
        (await call("template/request", _template_key(sender_key))).result,
    ]
    too_early = await call("message/sendAlimtalk", alimtalk_body(sender_key))
    await env.store.write(templates.decide_review, int(created.item["id"]), review, env.world.now())

    (decided,) = (await call("template/list")).items
    assert held.item["status"]["value"] == "inspecting"
    assert refused == ["INVALID_STATE"] * 3
    assert too_early.result == "TEMPLATE_NOT_APPROVED"
    assert decided["status"]["value"] == status
    assert decided.get("comment") == review.comment
    assert (await call("message/sendAlimtalk", alimtalk_body(sender_key))).result == sent


async def test_edited_template_stays_in_use_until_the_edit_is_approved(
    env: Environment, call: Caller, sender_key: str
) -> None:
    await approve_template(call, sender_key, content="옛글")
    texts = []

    async def send() -> None:
        await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key))
        await env.wait(1)
        texts.append((await list_phone_messages(call))[0]["content"])

    edited = await call("template/update", template_body(sender_key, content="새글", name="보류된 새글"))
    await send()
    await call_ok(call, "template/request", _template_key(sender_key))
    await send()
    await env.store.write(
        templates.decide_review, int(edited.item["id"]), ReviewDecision(False, "아니요"), env.world.now()
    )
    await send()
    await call_ok(call, "template/update", template_body(sender_key, content="새글"))
    await call_ok(call, "template/request", _template_key(sender_key))
    await send()

    assert edited.item["content"] == "새글"
    assert edited.item["status"]["value"] == "registered"
    assert texts == ["옛글", "옛글", "옛글", "새글"]


@pytest.mark.parametrize(
    ("name", "is_requested", "result"),
    [
        ("안내", False, "SUCCESS"),
        ("반려", True, "SUCCESS"),
        ("보류", True, "INVALID_STATE"),
        ("안내", True, "INVALID_STATE"),
    ],
)
async def test_only_a_registered_or_rejected_template_is_deleted(
    call: Caller, sender_key: str, name: str, is_requested: bool, result: str
) -> None:
    body = template_body(sender_key, name=name, image=image_body())
    await call_ok(call, "template/create", body)
    if is_requested:
        await call_ok(call, "template/request", _template_key(sender_key))

    answer = await call("template/delete", _template_key(sender_key))

    assert answer.result == result
    assert len((await call("template/list")).items) == (0 if result == "SUCCESS" else 1)
    if result == "SUCCESS":
        assert set(answer.body) == {"time", "result", "resultMessage", "locale"}
        assert (await call("template/create", body)).result == "SUCCESS"


async def test_template_code_is_taken_once_for_a_profile(call: Caller, sender_key: str) -> None:
    other_key = await register_channel(call, channelId="@other", cellphone="010-9999-1111")
    await call_ok(call, "template/create", template_body(sender_key))

    again = await call("template/create", template_body(sender_key))
    elsewhere = await call("template/create", template_body(other_key))

    assert summarize_refusal(again) == ("DUPLICATE", {"templateCode": "DUPLICATE"})
    assert elsewhere.result == "SUCCESS"


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        ({}, ["T3", "T2", "T1"]),
        ({"templateCode": "T2"}, ["T2"]),
        ({"templateCode": "t2"}, []),
        ({"status": "approved"}, ["T1"]),
        ({"status": "registered"}, ["T3", "T2"]),
        ({"status": "inspecting"}, []),
        ({"senderKey": "KEY"}, ["T2", "T1"]),
        ({"senderKey": "KEY", "status": "approved", "templateCode": "T1"}, ["T1"]),
        ({"senderKey": "x"}, []),
        ({"page": 2, "pageSize": 1}, ["T2"]),
        ({"page": 9}, []),
    ],
)
async def test_templates_are_listed_newest_first_and_filtered_exactly(
    call: Caller, sender_key: str, query: dict[str, Any], codes: list[str]
) -> None:
    other_key = await register_channel(call, channelId="@other", cellphone="010-9999-1111")
    await approve_template(call, sender_key)
    await call_ok(call, "template/create", template_body(sender_key, templateCode="T2"))
    await call_ok(call, "template/create", template_body(other_key, templateCode="T3"))
    named = {name: sender_key if value == "KEY" else value for name, value in query.items()}

    answer = await call("template/list", query=named)

    assert [each["templateCode"] for each in answer.items] == codes


@pytest.mark.parametrize(
    ("query", "field"),
    [({"status": "approval"}, "status"), ({"page": 0}, "page"), ({"pageSize": 1001}, "pageSize")],
)
async def test_template_list_with_invalid_parameters_is_refused(
    call: Caller, query: dict[str, Any], field: str
) -> None:
    answer = await call("template/list", query=query)

    assert summarize_refusal(answer) == ("INVALID_PARAMETER", {field: "INVALID_PARAMETER"})


@pytest.mark.parametrize("operation", ["template/update", "template/delete", "template/request"])
@pytest.mark.parametrize(
    ("change", "result", "field"),
    [
        ({"senderKey": "x"}, "SENDER_NOT_FOUND", "senderKey"),
        ({"templateCode": "T9"}, "TEMPLATE_NOT_FOUND", "templateCode"),
        ({"senderKey": "x", "templateCode": "T9"}, "SENDER_NOT_FOUND", "senderKey"),
        ({"senderKey": ""}, "MISSING_PARAMETER", "senderKey"),
        ({"templateCode": None}, "MISSING_PARAMETER", "templateCode"),
        ({"templateCode": "a\0"}, "UNSUPPORTED_CHARACTER", "templateCode"),
    ],
)
async def test_unknown_template_is_not_found(
    call: Caller, sender_key: str, operation: str, change: dict[str, Any], result: str, field: str
) -> None:
    await call_ok(call, "template/create", template_body(sender_key))

    answer = await call(operation, template_body(sender_key, **change))

    assert summarize_refusal(answer) == (result, {field: result})
    assert await _read_status(call) == "registered"


@pytest.mark.parametrize(("language", "label"), [("ko", "등록"), ("en", "Registered")])
async def test_label_of_a_status_follows_the_language(env: Environment, language: str, label: str) -> None:
    call = await env.caller(language=language)
    sender_key = await register_channel(call)

    created = await call("template/create", template_body(sender_key))

    assert created.item["status"] == {"value": "registered", "label": label}
    assert created.item["label"] == "배송 안내"
