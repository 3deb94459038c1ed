"""Brand messages over the API: every type arrives, at the hours of advertising."""

import pytest

from tests.fixtures.brand_bodies import BRAND_BODIES, OWN_BUTTON, brand_body, list_item
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    FALLBACK,
    NO_USER,
    PHONE,
    SENDER,
    call_ok,
    describe_outcome,
    get_message,
    image_body,
    list_messages,
    list_phone_messages,
    product_of,
    receivers_of,
    set_clock,
    summarize_refusal,
)

NOT_A_FRIEND = "010-0000-0004"
SEND = "message/sendBrandMessage"


@pytest.mark.parametrize("name", BRAND_BODIES)
async def test_brand_message_of_every_type_arrives_with_what_is_attached(
    env: Environment, call: Caller, sender_key: str, name: str
) -> None:
    given = {key: value for key, value in BRAND_BODIES[name].items() if key != "sendDate"}

    await call_ok(call, SEND, {**given, "senderKey": sender_key})
    await env.wait(2)

    record = await get_message(call)
    assert product_of(record) == "brandMessage"
    assert record["messageProductType"]["label"] == "브랜드 메시지"
    assert describe_outcome(record) == "completed 1000"
    assert "deliveredAs" not in record
    (shown,) = await list_phone_messages(call)
    assert shown["kind"] == "brandMessage"
    assert shown.get("messageType") == given.get("messageType")
    assert shown["targeting"] == given["targeting"]
    assert shown.get("attachment") == given.get("attachment")


async def test_type_follows_the_image_and_targeting_is_friends_by_default(
    env: Environment, call: Caller, sender_key: str
) -> None:
    await call_ok(call, SEND, brand_body(sender_key))
    await env.wait(1)
    await call_ok(call, SEND, brand_body(sender_key, image=image_body()))
    await env.wait(1)

    image, text = await list_phone_messages(call)
    assert (text["messageType"], text["targeting"], text["image"]) == ("text", "I", False)
    assert (image["messageType"], image["targeting"], image["image"]) == ("image", "I", True)
    assert "(광고)" not in text["content"]


@pytest.mark.parametrize(
    ("targeting", "outcome"), [("I", "fail 3102"), ("M", "completed 1000"), ("N", "completed 1000")]
)
async def test_targeting_decides_whether_others_than_friends_are_reached(
    env: Environment, call: Caller, sender_key: str, targeting: str, outcome: str
) -> None:
    await call_ok(call, SEND, brand_body(sender_key, NOT_A_FRIEND, targeting=targeting))
    await env.wait(2)

    assert describe_outcome(await get_message(call, NOT_A_FRIEND)) == outcome


WEB = {"name": "열기", "mobileUrl": "https://a.example"}
ITEMS = {"header": "상품", "item": {"list": [list_item()] * 3}}


async def test_variables_are_filled_in_and_measured_for_each_receiver(
    env: Environment, call: Caller, sender_key: str
) -> None:
    button = {**WEB, "mobileUrl": "https://a.example/#{id}"}
    data = [{"name": "길동", "id": "1"}, {"name": "가" * 77, "id": "2"}, {"name": "가", "id": "a" * 1000}]
    numbers = ["010-1111-1111", "010-2222-2222", "010-3333-3333"]
    receivers = [{"phoneNumber": n, "templateData": d} for n, d in zip(numbers, data, strict=True)]
    wide = {"messageType": "wide", "image": image_body(), "content": "#{name}", "buttons": [button]}

    refused = await call(SEND, brand_body(sender_key, **wide, receivers=receivers))
    lines = await call(SEND, brand_body(sender_key, content="#{a}" * 50, receivers=[
        {"phoneNumber": PHONE, "templateData": {"a": "\n\n"}}
    ]))  # fmt: skip
    await call_ok(call, SEND, brand_body(sender_key, **wide, receivers=receivers[:1]))
    await env.wait(1)

    assert summarize_refusal(refused).errors == {
        "receivers[1].content": "CONTENT_TOO_LONG",
        "receivers[2].templateData": "INVALID_BUTTON",
    }
    assert summarize_refusal(lines).errors == {"receivers[0].content": "CONTENT_TOO_LONG"}
    (shown,) = await list_phone_messages(call, numbers[0])
    assert (shown["content"], shown["buttons"][0]["mobileUrl"]) == ("길동", "https://a.example/1")


async def test_template_of_the_relay_takes_the_values_of_every_receiver(
    env: Environment, call: Caller, sender_key: str
) -> None:
    body = {"senderKey": sender_key, "templateCode": "B1"}
    full = {"phoneNumber": PHONE, "templateData": {"name": "길동", "n@$.carousel.list[0]": 1}}
    less = {"phoneNumber": PHONE, "templateData": {"name": "길동"}}

    lacking = await call(SEND, {**body, "receivers": [full, less]})
    many = await call(SEND, {**body, "receivers": [{**full, "templateData": {str(n): "x" for n in range(101)}}]})
    long = [
        await call(SEND, {**body, "receivers": [{**full, "templateData": {"name": character * 1301}}]})
        for character in "가a"
    ]
    own = await call(SEND, {**body, "receivers": [{**full, "content": "가"}]})
    silent = await call(SEND, {**body, "receivers": [full], "resend": True, "resendPhoneNumber": SENDER})
    await call_ok(call, SEND, {**body, "receivers": [full]})
    await env.wait(2)

    assert summarize_refusal(lacking).errors == {"receivers[1].templateData": "MISSING_VARIABLE"}
    assert summarize_refusal(many).errors == {"receivers[0].templateData": "INVALID_PARAMETER"}
    assert [summarize_refusal(each).errors for each in long] == [
        {"receivers[0].templateData": "INVALID_PARAMETER"}
    ] * 2
    assert summarize_refusal(own).errors == {"receivers[0].content": "INVALID_PARAMETER"}
    assert summarize_refusal(silent).errors == {"resendContent": "MISSING_PARAMETER"}
    record = await get_message(call)
    assert (record["templateCode"], record["content"]) == ("B1", "")
    assert record["templateData"] == {"name": "길동", "n@$.carousel.list[0]": "1"}
    await call_ok(call, "privacy/erase", {"phoneNumber": PHONE})
    (erased,) = (await call("message/request", query={"requestId": record["requestId"]})).items
    assert "templateData" not in erased
    assert describe_outcome(record) == "completed 1000"


@pytest.mark.parametrize(
    ("result", "dates"),
    [
        pytest.param("NIGHT_AD_RESTRICTED", [], marks=pytest.mark.settings(night_ads="refuse")),
        pytest.param("SUCCESS", ["2026-11-16 08:00:00"], marks=pytest.mark.settings(night_ads="move")),
    ],
)
async def test_brand_message_at_night_is_refused_or_moved_to_the_morning(
    env: Environment, call: Caller, sender_key: str, result: str, dates: list[str]
) -> None:
    set_clock(env, "2026-11-15 23:00")

    answer = await call(SEND, brand_body(sender_key))

    assert answer.result == result
    assert [each["scheduledDate"] for each in await list_messages(call)] == dates


async def test_failed_brand_message_becomes_a_text_marked_as_an_advertisement(
    env: Environment, call: Caller, sender_key: str
) -> None:
    fallback = {**FALLBACK, "optOutNumber": "080-123-4567"}
    own = {**fallback, "resendContent": "문자로 보냅니다"}

    await call_ok(call, SEND, brand_body(sender_key, NO_USER, buttons=[OWN_BUTTON], **fallback))
    await env.wait(5)
    await call_ok(call, SEND, {**BRAND_BODIES["wideList"], "senderKey": sender_key, **own} | {
        "receivers": receivers_of(NO_USER)
    })  # fmt: skip
    await env.wait(5)

    records = await list_messages(call, NO_USER)
    assert sorted(map(describe_outcome, records)) == ["completed 1000"] * 2 + ["fail 3019"] * 2
    texts = [each["content"] for each in records if product_of(each) != "brandMessage"]
    opt_out = "\n무료거부 0801234567"
    assert texts == [
        f"(광고)문자로 보냅니다{opt_out}",
        f"(광고)새 상품이 나왔습니다\n열기: https://shop.example{opt_out}",
    ]


async def test_fallback_of_a_type_without_text_needs_its_own(call: Caller, sender_key: str) -> None:
    answer = await call(SEND, {**BRAND_BODIES["commerce"], "senderKey": sender_key, **FALLBACK})

    assert summarize_refusal(answer).errors == {"resendContent": "MISSING_PARAMETER"}


@pytest.mark.settings(duplicate_minutes=10)
async def test_same_brand_message_is_a_duplicate_and_another_attachment_is_none(
    call: Caller, sender_key: str
) -> None:
    template = {"senderKey": sender_key, "templateCode": "B1"}
    bodies = [
        {**BRAND_BODIES["wideList"], "senderKey": sender_key},
        {**BRAND_BODIES["wideList"], "senderKey": sender_key},
        {**BRAND_BODIES["wideList"], "senderKey": sender_key, "attachment": ITEMS},
        {**template, "receivers": receivers_of(templateData={"name": "가"})},
        {**template, "receivers": receivers_of(templateData={"name": "나"})},
        {**template, "templateCode": "B2", "receivers": receivers_of(templateData={"name": "나"})},
        {**template, "receivers": receivers_of(templateData={"name": "나"})},
    ]

    results = [(await call(SEND, body)).result for body in bodies]

    assert results == ["SUCCESS", "DUPLICATE", *["SUCCESS"] * 4, "DUPLICATE"]
