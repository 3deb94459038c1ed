"""What NHN Cloud's endpoints of friend talk and brand messages send, with pictures, and what they refuse."""

import json
from typing import Any

import pytest

from tests.fixtures.nhncloud_calls import (
    NOT_A_USER,
    SENDER,
    SETTINGS,
    TalkCaller,
    day,
    results_of,
    rows_of,
    talk_caller,
)
from tests.fixtures.pictures import JPEG, make_jpeg
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import list_messages

pytestmark = pytest.mark.settings(**SETTINGS, opt_out_number="0801234567")
FRIENDTALK, BRAND = "friendtalk/v2.4", "brand-message/v1.0"
BUTTON = {"name": "보기", "type": "WL", "linkMo": "https://a.example/x"}
FREESTYLE = {"chatBubbleType": "TEXT", "content": "새 상품 #{x}", "buttons": [BUTTON]}
RESEND = {"isResend": True, "resendSendNo": SENDER, "resendContent": "(광고) 새 상품"}


async def upload(caller: TalkCaller, service: str, body: bytes = JPEG, **fields: str) -> Any:
    parts = "".join(
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    )
    head = (
        '--b\r\nContent-Disposition: form-data; name="image"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\n'
    )
    form = (parts + head).encode() + body + b"\r\n--b--\r\n"
    return await caller("POST", "images", form, service=service)


async def test_friend_talk_is_sent_to_each_with_its_own_message(
    env: Environment, call: Caller, sender_key: str
) -> None:
    caller = await talk_caller(env)
    normal = (await upload(caller, FRIENDTALK)).body
    wide = (await upload(caller, FRIENDTALK, wide="true")).body
    recipients: list[dict[str, Any]] = [
        {
            "recipientNo": "01010000001",
            "content": "하나 #{x}",
            "buttons": [{**BUTTON, "ordering": 1}],
            "isAd": False,
        },
        {"recipientNo": "01010000002", "content": "둘", "imageUrl": normal["image"]["imageUrl"]},
        {"recipientNo": "01010000003", "content": "셋", "imageUrl": wide["image"]["imageUrl"]},
        {"recipientNo": "01010000004", "content": "넷", "imageUrl": "https://elsewhere.example/a.jpg"},
        {"recipientNo": "01010000005", "content": ""},
        {"recipientNo": "01010000006", "content": "여섯", "coupon": {"title": "쿠폰"}},
        {
            "recipientNo": "01010000007",
            "content": "일곱",
            "buttons": [{"ordering": 1, "type": "BF", "name": "예약"}],
        },
        {"recipientNo": NOT_A_USER, "content": "여덟", "resendParameter": RESEND, "recipientGroupingKey": "8"},
    ]
    body = {"senderKey": sender_key, "recipientList": recipients}
    sent = await caller.ok("POST", "messages", body, service=FRIENDTALK)
    await env.wait(60)
    request_id = sent["message"]["requestId"]
    listed = await caller.ok("GET", "messages", service=FRIENDTALK, query={"requestId": request_id})
    results = await caller.ok("GET", "message-results", service=FRIENDTALK, query=day(env, "Update"))
    paths = [f"messages/{request_id}/{seq}" for seq in (1, 3)]
    singles = [(await caller.ok("GET", each, service=FRIENDTALK))["message"] for each in paths]

    assert [(each["wide"], each["isAd"]) for each in singles] == [(False, False), (True, True)]
    assert [each["buttons"] for each in singles] == [[{**BUTTON, "ordering": 1}], []]
    assert results_of(sent) == [
        *((1, 0), (2, 0), (3, 0), (4, -8002), (5, -2001), (6, -3002), (7, -2018), (8, 0)),
    ]
    assert [(row["recipientSeq"], row["content"]) for row in rows_of(listed)] == [
        (1, "하나 #{x}"),
        (2, "(광고)둘"),
        (3, "(광고)셋"),
        (8, "(광고)여덟"),
    ]
    kinds = [(await list_messages(call, f"0101000000{number}"))[0] for number in (1, 2, 3)]
    assert [row["messageProductType"]["value"] for row in kinds] == [
        *("friendTalkText", "friendTalkImage", "friendTalkWideImage")
    ]
    assert sorted((row["recipientSeq"], row["resultCode"], row["resendStatus"]) for row in rows_of(results)) == [
        *((1, "1000", "RSC01"), (2, "1000", "RSC01"), (3, "1000", "RSC01"), (8, "3019", "RSC04")),
    ]


async def test_brand_messages_are_sent_in_free_form(env: Environment, call: Caller, sender_key: str) -> None:
    caller = await talk_caller(env)
    picture = (await upload(caller, BRAND, make_jpeg(800, 400), imageType="IMAGE")).body["image"]["imageUrl"]
    recipients = [
        {"recipientNo": "01010000001", "targeting": "I", "recipientGroupingKey": "a"},
        {
            "recipientNo": "01010000002",
            "targeting": "M",
            "unsubscribeNo": "080-999-9999",
            "unsubscribeAuthNo": "12",
        },
        {"recipientNo": "01010000003", "targeting": "X"},
        {"recipientNo": "01010000004", "imageParameters": [{"imageUrl": "x"}]},
        {"recipientNo": NOT_A_USER, "resendParameter": RESEND},
    ]
    body = {"senderKey": sender_key, **FREESTYLE, "recipientList": recipients, "senderGroupingKey": "g"}
    sent = await caller.ok("POST", "freestyle-messages", body, service=BRAND)
    image = {"imageUrl": picture, "imageLink": "https://a.example"}
    coupon = {"title": "10% 할인 쿠폰", "description": "모든 상품", "linkMo": "https://a.example/c"}
    more = {"image": image, "coupon": coupon, "pushAlarm": False, "recipientList": [{"recipientNo": "01010000009"}]}
    pictured = await caller.ok(
        "POST", "freestyle-messages", {**body, "chatBubbleType": "IMAGE", **more}, service=BRAND
    )
    await env.wait(60)
    query = {"requestId": sent["message"]["requestId"]}
    listed = await caller.ok("GET", "messages", service=BRAND, query=query)
    results = await caller.ok("GET", "message-results", service=BRAND, query=day(env, "Update"))
    path = f"messages/{pictured['message']['requestId']}/1"
    single = (await caller.ok("GET", path, service=BRAND))["message"]

    assert (single["chatBubbleType"], single["content"], single["pushAlarm"]) == ("IMAGE", "새 상품 #{x}", False)
    assert (single["buttons"], single["coupon"], single["adult"]) == ([BUTTON], coupon, False)
    assert single["image"] == {"imageUrl": None, "imageLink": "https://a.example"}
    assert (single["targeting"], single["isAddedChannel"], single["resendStatusCode"]) == ("I", True, "RSC01")
    assert "templateTitle" not in single
    assert results_of(sent) == [(1, 0), (2, 0), (3, -3298), (4, -3344), (5, 0)]
    assert [(row["recipientSeq"], row["targeting"], row["isAddedChannel"]) for row in rows_of(listed)] == [
        *((1, "I", True), (2, "M", False), (5, "I", True)),
    ]
    assert {row["senderGroupingKey"] for row in rows_of(listed)} == {"g"}
    assert results["messageSearchResultResponse"]["totalCount"] == 4
    assert (await list_messages(call, "01010000001"))[0]["content"] == "새 상품 #{x}"


async def test_brand_messages_are_sent_by_template(env: Environment, call: Caller, sender_key: str) -> None:
    caller = await talk_caller(env)
    recipients = [
        {"recipientNo": "01010000001", "targeting": "I", "templateParameter": {"name": "길동"}},
        {"recipientNo": "01010000002", "targeting": "I", "templateParameter": {}},
        {"recipientNo": "01010000003", "templateParameter": {"name": "철수"}},
    ]
    body = {"senderKey": sender_key, "templateCode": "B1", "recipientList": recipients}
    sent = await caller.ok("POST", "basic-messages", body, service=BRAND)
    path = f"messages/{sent['message']['requestId']}/1"
    single = (await caller.ok("GET", path, service=BRAND))["message"]

    assert (single["templateCode"], json.loads(single["templateParameter"])) == ("B1", {"name": "길동"})
    assert results_of(sent) == [(1, 0), (2, -3004), (3, -3298)]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"chatBubbleType": "CARD"}, -4000),
        ({"content": None}, -2001),
        ({"content": "가" * 1301}, -2019),
        ({"buttons": [{"type": "WL", "name": "보기"}]}, -2018),
        ({"buttons": "x"}, 4),
        ({"coupon": {"title": 1}}, -4000),
        ({"resellerCode": "r"}, -3002),
        ({"statsId": "s"}, -3002),
        ({"messageOption": {"price": 1}}, -3002),
        ({"senderKey": "x" * 40}, -2017),
        ({"senderKey": ""}, -2001),
        ({"requestDate": "tomorrow"}, -2027),
        ({"requestDate": "2020-01-01 00:00"}, -2025),
        ({"requestDate": "2099-01-01 00:00"}, -2026),
        ({"recipientList": []}, -2004),
        ({"recipientList": None}, -2002),
        ({"recipientList": [{"recipientNo": "1"}]}, -1031),
        ({"image": {"imageUrl": "https://pabal.invalid/images/n/x.jpg"}, "chatBubbleType": "IMAGE"}, -8002),
        ({"video": {"videoUrl": "https://pabal.invalid/images/n/x.jpg"}}, -8002),
        ({"senderGroupingKey": "x" * 101}, -2000),
    ],
)
async def test_wrong_brand_message_sends_nothing(
    env: Environment, call: Caller, sender_key: str, changes: dict[str, Any], code: int
) -> None:
    caller = await talk_caller(env)
    body = {"senderKey": sender_key, **FREESTYLE, "recipientList": [{"recipientNo": "01010000001"}], **changes}

    assert await caller.code("POST", "freestyle-messages", body, service=BRAND) == code
    assert await list_messages(call, "01010000001") == []


@pytest.mark.parametrize(
    ("service", "body", "code"),
    [
        (BRAND, b"", -9993),
        (BRAND, b"--\r\n", -9993),
        (BRAND, b"--b\r\nnothing", -9993),
        (BRAND, b'--b\r\nContent-Disposition: form-data; name="imageType"\r\n\r\nCARD\r\n--b--\r\n', -8011),
        (BRAND, b'--b\r\nContent-Disposition: form-data; name="imageType"\r\n\r\nIMAGE\r\n--b--\r\n', -9993),
    ],
)
async def test_form_without_a_picture_is_refused(env: Environment, service: str, body: bytes, code: int) -> None:
    assert await (await talk_caller(env)).code("POST", "images", body, service=service) == code


async def test_broken_picture_is_refused(env: Environment) -> None:
    answer = await upload(await talk_caller(env), FRIENDTALK, b"no picture")

    assert answer.body["header"]["resultCode"] == -8001


async def test_picture_of_another_account_is_not_found(env: Environment, call: Caller, sender_key: str) -> None:
    other = await talk_caller(env, "other", "OTHER-APP-KEY")
    address = (await upload(other, FRIENDTALK)).body["image"]["imageUrl"]
    recipient = {"recipientNo": "01010000001", "content": "둘", "imageUrl": address}
    body = {"senderKey": sender_key, "recipientList": [recipient]}
    answer = await (await talk_caller(env))("POST", "messages", body, service=FRIENDTALK)

    assert results_of(answer.body) == [(1, -8002)]
