"""Friend talk over the API: its types, own texts of receivers, and buttons."""

from typing import Any

import pytest

from tests.fixtures.cases import with_each
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    LINK,
    PHONE,
    call_ok,
    friendtalk_body,
    get_message,
    image_body,
    list_phone_messages,
    product_of,
    receivers_of,
    summarize_refusal,
)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "friendTalkText"),
        ({"image": image_body()}, "friendTalkImage"),
        ({"messageType": "friendTalkText"}, "friendTalkText"),
        ({"messageType": "FT"}, "friendTalkText"),
        ({"messageType": "friendTalkImage", "image": image_body()}, "friendTalkImage"),
        ({"messageType": "FI", "image": image_body()}, "friendTalkImage"),
        ({"messageType": "friendTalkWideImage", "image": image_body()}, "friendTalkWideImage"),
        ({"messageType": "FW", "image": image_body()}, "friendTalkWideImage"),
        ({"messageType": None, "image": None}, "friendTalkText"),
    ],
)
async def test_friend_talk_type_is_the_given_one_or_follows_the_image(
    call: Caller, sender_key: str, fields: dict[str, Any], expected: str
) -> None:
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(sender_key, **fields))

    assert product_of(await get_message(call)) == expected


@with_each(
    ("fields", "errors"),
    [
        ({"messageType": "FI"}, {"image": "MISSING_PARAMETER"}),
        ({"messageType": "friendTalkWideImage", "image": None}, {"image": "MISSING_PARAMETER"}),
        ({"messageType": "sms"}, {"messageType": "INVALID_PARAMETER"}),
        ({"messageType": "ft"}, {"messageType": "INVALID_PARAMETER"}),
        ({"content": None}, {"content": "MISSING_PARAMETER"}),
        ({"content": ""}, {"content": "MISSING_PARAMETER"}),
        ({"content": "가" * 76, "messageType": "FW", "image": image_body()}, {}),
        ({"content": "가" * 77, "messageType": "FW", "image": image_body()}, {"content": "CONTENT_TOO_LONG"}),
        ({"content": "웃는 얼굴 😀"}, {}),
        ({"imageLink": "ftp://shop.example"}, {"imageLink": "INVALID_PARAMETER"}),
        ({"adFlag": "Y"}, {"adFlag": "INVALID_PARAMETER"}),
        ({"resend": True}, {"resendPhoneNumber": "MISSING_PARAMETER"}),
        ({"resend": True, "resendPhoneNumber": ""}, {"resendPhoneNumber": "MISSING_PARAMETER"}),
        ({"resend": True, "resendPhoneNumber": "119"}, {"resendPhoneNumber": "INVALID_PHONE_NUMBER"}),
        ({"resend": False, "resendPhoneNumber": None}, {}),
        ({"senderKey": None}, {"senderKey": "MISSING_PARAMETER"}),
    ],
)
async def test_friend_talk_text_is_limited_by_its_type(
    call: Caller, sender_key: str, fields: dict[str, Any], errors: dict[str, str]
) -> None:
    answer = await call("message/sendFriendtalk", friendtalk_body(sender_key, **fields))

    assert answer.result == next(iter(errors.values()), "SUCCESS")
    assert summarize_refusal(answer).errors == errors


async def test_receiver_of_a_friend_talk_may_have_its_own_text(
    env: Environment, call: Caller, sender_key: str
) -> None:
    shared, own = receivers_of("010-1111-1111", "010-2222-2222", templateData={"name": "길동"})
    own["content"] = "#{name}님만 보세요"

    await call_ok(call, "message/sendFriendtalk", friendtalk_body(sender_key, receivers=[shared, own]))
    await env.wait(1)

    assert [item["content"] for item in await list_phone_messages(call, "010-1111-1111")] == ["친구야"]
    assert [item["content"] for item in await list_phone_messages(call, "010-2222-2222")] == ["길동님만 보세요"]


async def test_without_a_shared_text_every_receiver_of_a_friend_talk_needs_its_own(
    call: Caller, sender_key: str
) -> None:
    own, none = receivers_of("010-1111-1111", "010-2222-2222")
    own["content"] = "나만"

    some = await call("message/sendFriendtalk", friendtalk_body(sender_key, content=None, receivers=[own, none]))
    every = await call("message/sendFriendtalk", friendtalk_body(sender_key, content=None, receivers=[own]))

    assert summarize_refusal(some) == ("MISSING_PARAMETER", {"content": "MISSING_PARAMETER"})
    assert every.result == "SUCCESS"


@with_each(
    ("button", "field"),
    [
        (LINK, None),
        ({"buttonType": "webLink", **LINK, "target": "out", "orderNo": 3}, None),
        ({"buttonType": "appLink", "androidUrl": "shop://1", "iosUrl": "shop://1"}, None),
        ({"buttonType": "botConversion", "chatExtra": "x", "chatEvent": "y"}, None),
        ({"buttonType": "telephone"}, "buttonType"),
        ({"buttonType": 7}, "buttonType"),
        ({"name": "가" * 15, **LINK}, "name"),
        ({"buttonType": "webLink"}, "mobileUrl"),
        ({**LINK, "pcUrl": "ftp://shop.example"}, "pcUrl"),
        ({**LINK, "androidUrl": "javascript:alert(1)"}, "androidUrl"),
        ({"buttonType": "appLink", **LINK}, "androidUrl"),
        ({"buttonType": "botConversion", "chatEvent": "x"}, "chatExtra"),
        ({**LINK, "orderNo": "1"}, "orderNo"),
        ({**LINK, "orderNo": 10**30}, "orderNo"),
        ({**LINK, "name": "a\0b"}, "name"),
        ("webLink", ""),
        (None, ""),
    ],
)
async def test_wrong_button_is_refused_with_the_name_of_its_field(
    call: Caller, sender_key: str, button: Any, field: str | None
) -> None:
    answer = await call("message/sendFriendtalk", friendtalk_body(sender_key, buttons=[LINK, button]))

    if field is None:
        assert answer.result == "SUCCESS", answer.body
    else:
        place = f"buttons[1].{field}" if field else "buttons[1]"
        assert summarize_refusal(answer) == ("INVALID_BUTTON", {place: "INVALID_BUTTON"})


@pytest.mark.parametrize(
    ("fields", "count", "result"),
    [
        ({}, 5, "SUCCESS"),
        ({}, 6, "INVALID_BUTTON"),
        ({"messageType": "FW", "image": image_body()}, 2, "SUCCESS"),
        ({"messageType": "FW", "image": image_body()}, 3, "INVALID_BUTTON"),
    ],
)
async def test_friend_talk_has_five_buttons_and_a_wide_image_two(
    call: Caller, sender_key: str, fields: dict[str, Any], count: int, result: str
) -> None:
    answer = await call("message/sendFriendtalk", friendtalk_body(sender_key, buttons=[LINK] * count, **fields))

    assert answer.result == result


async def test_buttons_arrive_in_their_order_with_their_names_and_personal_links(
    env: Environment, call: Caller, sender_key: str
) -> None:
    buttons = [
        {"name": "둘째", "mobileUrl": "https://shop.example/#{id}", "orderNo": 2},
        {"buttonType": "channelAddition", "orderNo": 1},
    ]
    body = friendtalk_body(sender_key, buttons=buttons, receivers=receivers_of(PHONE, templateData={"id": 7}))

    await call_ok(call, "message/sendFriendtalk", body)
    await env.wait(1)

    (arrived,) = await list_phone_messages(call)
    assert arrived["buttons"] == [
        {"buttonType": "channelAddition", "name": "채널 추가", "orderNo": 1},
        {"buttonType": "webLink", "name": "둘째", "mobileUrl": "https://shop.example/7", "orderNo": 2},
    ]


async def test_link_made_invalid_by_a_value_is_reported_for_that_receiver(call: Caller, sender_key: str) -> None:
    good, bad = receivers_of(PHONE, PHONE)
    good["templateData"], bad["templateData"] = {"link": "https://shop.example"}, {"link": "javascript:x"}
    body = friendtalk_body(sender_key, buttons=[{"mobileUrl": "#{link}"}], receivers=[good, bad])

    answer = await call("message/sendFriendtalk", body)

    assert summarize_refusal(answer) == ("INVALID_BUTTON", {"receivers[1].templateData": "INVALID_BUTTON"})
