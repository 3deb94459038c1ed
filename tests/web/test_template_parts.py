"""What an Alimtalk has beside its text: header, item list, representative link, quick replies, call button."""

from typing import Any

import pytest

from tests.fixtures.cases import once, with_each
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    alimtalk_body,
    approve_template,
    call_ok,
    create_template,
    image_body,
    list_phone_messages,
    receivers_of,
    register_channel,
    summarize_refusal,
    template_body,
)

LINK = "https://shop.example/"
ITEM = {"title": "상품", "description": "#{상품}"}
ITEM_LIST: dict[str, Any] = {
    "emphasisType": "itemList",
    "header": "#{이름}님",
    "itemHighlight": {"title": "#{상품}", "description": "결제 완료"},
    "itemList": {"items": [ITEM, ITEM], "summary": {"title": "합계", "description": "#{금액}원"}},
}
REPLY = {"buttonType": "webLink", "name": "조회", "mobileUrl": f"{LINK}#{{상품}}"}
CALL = {"buttonType": "phoneCall", "telNumber": "02-123-4567"}
PARTS: dict[str, Any] = {
    **ITEM_LIST,
    "representLink": {"mobileUrl": f"{LINK}#{{상품}}", "androidUrl": "shop://1"},
    "quickReplies": [REPLY],
    "buttons": [CALL],
}
VALUES = {"이름": "길동", "상품": "사과", "금액": "12,000"}


def highlight(**changes: Any) -> dict[str, Any]:
    return {**ITEM_LIST, "itemHighlight": {"title": "제목", "description": "설명", **changes}}


def item(**changes: Any) -> dict[str, Any]:
    return {**ITEM_LIST, "itemList": {"items": [ITEM, {**ITEM, **changes}]}}


def summary(**changes: Any) -> dict[str, Any]:
    total = {"title": "합계", "description": "1,000원", **changes}
    return {**ITEM_LIST, "itemList": {"items": [ITEM, ITEM], "summary": total}}


async def test_parts_are_filled_in_for_each_receiver(env: Environment, call: Caller, sender_key: str) -> None:
    created = await approve_template(call, sender_key, **PARTS)
    receivers = [
        *receivers_of("010-1111-1111", templateData=VALUES),
        *receivers_of("010-2222-2222", templateData={**VALUES, "상품": "배"}),
    ]

    await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key, receivers=receivers))
    await env.wait(3)

    (first,), (second,) = [await list_phone_messages(call, number) for number in ("010-1111-1111", "010-2222-2222")]
    assert created["variables"] == ["이름", "상품", "금액"]
    assert first["header"] == "길동님"
    assert first["itemHighlight"] == {"title": "사과", "description": "결제 완료"}
    assert second["itemList"] == {
        "items": [{"title": "상품", "description": "배"}] * 2,
        "summary": {"title": "합계", "description": "12,000원"},
    }
    assert first["representLink"] == {"mobileUrl": f"{LINK}사과", "androidUrl": "shop://1"}
    assert second["quickReplies"] == [{**REPLY, "mobileUrl": f"{LINK}배"}]
    assert first["buttons"] == [{**CALL, "name": "전화 연결"}]


async def test_message_of_a_simple_template_has_no_parts(env: Environment, call: Caller, sender_key: str) -> None:
    created = await approve_template(call, sender_key)
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key))
    await env.wait(3)

    (message,) = await list_phone_messages(call)
    assert not {"header", "itemHighlight", "itemList", "representLink", "quickReplies"} & {*message, *created}


@with_each(
    ("change", "errors"),
    [
        (ITEM_LIST, {}),
        ({"header": "제목"}, {"header": "INVALID_PARAMETER"}),
        (
            {**ITEM_LIST, "emphasisType": "none", "header": None, "itemHighlight": None},
            {"itemList": "INVALID_PARAMETER"},
        ),
        ({**ITEM_LIST, "securityTemplate": True}, {"securityTemplate": "INVALID_PARAMETER"}),
        (highlight(title="가" * 22, imageUrl=f"{LINK}a.jpg"), {"itemHighlight.title": "INVALID_PARAMETER"}),
        (highlight(title="가" * 22, image=image_body()), {"itemHighlight.title": "INVALID_PARAMETER"}),
        (highlight(imageUrl=LINK, image=image_body()), {"itemHighlight.imageUrl": "INVALID_PARAMETER"}),
        (highlight(image=image_body(body="%")), {"itemHighlight.image.body": "INVALID_IMAGE"}),
        (highlight(image=image_body(fileName="")), {"itemHighlight.image.fileName": "MISSING_PARAMETER"}),
        (highlight(image=image_body()), {}),
        (highlight(imageUrl="a.jpg"), {"itemHighlight.imageUrl": "INVALID_PARAMETER"}),
        (highlight(title=""), {"itemHighlight.title": "MISSING_PARAMETER"}),
        (highlight(title=7), {"itemHighlight.title": "INVALID_PARAMETER"}),
        ({**ITEM_LIST, "itemList": {"items": [ITEM]}}, {"itemList.items": "INVALID_PARAMETER"}),
        ({**ITEM_LIST, "itemList": {"items": [ITEM] * 11}}, {"itemList.items": "INVALID_PARAMETER"}),
        ({**ITEM_LIST, "itemList": {"items": [ITEM] * 10}}, {}),
        ({**ITEM_LIST, "itemList": {}}, {"itemList.items": "MISSING_PARAMETER"}),
        ({**ITEM_LIST, "itemList": []}, {"itemList": "INVALID_PARAMETER"}),
        (item(title="일곱글자제목이"), {"itemList.items[1].title": "INVALID_PARAMETER"}),
        (item(title="#{a}"), {"itemList.items[1].title": "INVALID_PARAMETER"}),
        (item(description="가" * 24), {"itemList.items[1].description": "INVALID_PARAMETER"}),
        (item(description=None), {"itemList.items[1].description": "MISSING_PARAMETER"}),
        (summary(description="₩1,000.50 KRW"), {}),
        (summary(description="1,000원입니다"), {"itemList.summary.description": "INVALID_PARAMETER"}),
        ({"representLink": {}}, {"representLink.mobileUrl": "MISSING_PARAMETER"}),
        ({"representLink": {"pcUrl": "javascript:x"}}, {"representLink.pcUrl": "INVALID_PARAMETER"}),
        ({"representLink": {"iosUrl": "shop://1"}}, {}),
        ({"quickReplies": [REPLY] * 5}, {}),
        ({"quickReplies": [REPLY] * 6}, {"quickReplies": "INVALID_BUTTON"}),
        (
            {"quickReplies": [REPLY, {"buttonType": "messageDelivery"}]},
            {"quickReplies[1].buttonType": "INVALID_BUTTON"},
        ),
        ({"quickReplies": [{"name": "a"}]}, {"quickReplies[0].mobileUrl": "INVALID_BUTTON"}),
        ({"quickReplies": [{**REPLY, "name": "#{a}"}]}, {"quickReplies[0].name": "INVALID_BUTTON"}),
        ({"quickReplies": ["a"]}, {"quickReplies[0]": "INVALID_BUTTON"}),
        ({"quickReplies": [REPLY], "buttons": [CALL] * 2}, {}),
        ({"quickReplies": [REPLY], "buttons": [CALL] * 3}, {"buttons": "INVALID_BUTTON"}),
        ({"buttons": [{**CALL, "name": "상담원 연결"}]}, {}),
        ({"buttons": [{**CALL, "name": "전화"}]}, {"buttons[0].name": "INVALID_BUTTON"}),
        ({"buttons": [{"buttonType": "phoneCall"}]}, {"buttons[0].telNumber": "INVALID_BUTTON"}),
        ({"buttons": [{**CALL, "telNumber": "#{a}"}]}, {"buttons[0].telNumber": "INVALID_BUTTON"}),
    ],
)
async def test_template_with_invalid_parts_is_refused(
    env: Environment, change: dict[str, Any], errors: dict[str, str]
) -> None:
    call, sender_key = await once(env, create_template)

    answer = await call("template/update", template_body(sender_key, **change))

    assert answer.result == next(iter(errors.values()), "SUCCESS"), answer.body
    assert summarize_refusal(answer).errors == errors


@pytest.mark.parametrize(
    ("values", "field", "code"),
    [
        ({"이름": "가" * 16}, "content", "CONTENT_TOO_LONG"),
        ({"상품": "가" * 24}, "content", "CONTENT_TOO_LONG"),
        ({"금액": "많은 "}, "templateData", "INVALID_PARAMETER"),
        ({"금액": None}, "templateData", "MISSING_VARIABLE"),
    ],
)
async def test_values_that_do_not_suit_a_part_are_refused(
    call: Caller, sender_key: str, values: dict[str, Any], field: str, code: str
) -> None:
    await approve_template(call, sender_key, **PARTS)
    receivers = [*receivers_of(templateData=VALUES), *receivers_of(templateData={**VALUES, **values})]

    answer = await call("message/sendAlimtalk", alimtalk_body(sender_key, receivers=receivers))

    assert summarize_refusal(answer) == (code, {f"receivers[1].{field}": code})


async def test_call_button_is_for_templates_only(call: Caller) -> None:
    body = {
        "senderKey": await register_channel(call),
        "content": "a",
        "receivers": receivers_of(),
        "buttons": [CALL],
    }

    answer = await call("message/sendFriendtalk", body)

    assert summarize_refusal(answer).errors == {"buttons[0].buttonType": "INVALID_BUTTON"}
