"""Every rule of brand messages refuses by the name of its field."""

from typing import Any

from tests.fixtures.brand_bodies import (
    PICTURE,
    brand_body,
    card_of_commerce,
    card_of_feed,
    list_item,
    sized_image,
    typed_body,
)
from tests.fixtures.cases import with_each
from tests.fixtures.virtual import Caller
from tests.fixtures.web import image_body, list_messages, summarize_refusal

SEND = "message/sendBrandMessage"


WEB = {"name": "열기", "mobileUrl": "https://a.example"}
LONG_LINK = "https://a.example/" + "a" * 1000
DELIVERY = {"name": "가", "type": "MD"}
ADD = {"buttonType": "channelAddition"}
ITEMS = {"header": "상품", "item": {"list": [list_item()] * 3}}
PRICE = {"title": "외투", "regularPrice": 1000}
REFUSALS: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"messageType": "FT"}, {"messageType": "INVALID_PARAMETER"}),
    ({"targeting": "A"}, {"targeting": "INVALID_PARAMETER"}),
    ({"content": None}, {"content": "MISSING_PARAMETER"}),
    ({"content": "가" * 1301}, {"content": "CONTENT_TOO_LONG"}),
    ({"content": "가\n" * 100}, {"content": "CONTENT_TOO_LONG"}),
    ({"messageType": "wide"}, {"image": "MISSING_PARAMETER"}),
    ({"messageType": "wide", "image": image_body(), "content": "가" * 77}, {"content": "CONTENT_TOO_LONG"}),
    ({"messageType": "wide", "image": image_body(), "content": "\n가" * 6}, {"content": "CONTENT_TOO_LONG"}),
    ({"messageType": "text", "image": image_body()}, {"image": "INVALID_PARAMETER"}),
    ({"image": sized_image(499, 499)}, {"image.body": "INVALID_IMAGE"}),
    ({"image": sized_image(1000, 499)}, {"image.body": "INVALID_IMAGE"}),
    ({"image": sized_image(600, 800)}, {"image.body": "INVALID_IMAGE"}),
    ({"messageType": "wide", "image": sized_image(600, 601)}, {"image.body": "INVALID_IMAGE"}),
    ({"imageLink": "https://a.example"}, {"imageLink": "INVALID_PARAMETER"}),
    ({"messageType": "wideList", "attachment": ITEMS}, {"content": "INVALID_PARAMETER"}),
    ({"optOutNumber": "02-1234-5678"}, {"optOutNumber": "INVALID_PHONE_NUMBER"}),
    ({"optOutAuthNumber": "1"}, {"optOutAuthNumber": "INVALID_PARAMETER"}),
    ({"optOutNumber": "0801234567", "optOutAuthNumber": "1" * 11}, {"optOutAuthNumber": "INVALID_PARAMETER"}),
    ({"resend": True}, {"resendPhoneNumber": "MISSING_PARAMETER"}),
    ({"attachment": {"header": "제목"}}, {"attachment.header": "INVALID_PARAMETER"}),
    ({"attachment": {"carousel": {}}}, {"attachment.carousel": "INVALID_PARAMETER"}),
    ({"attachment": []}, {"attachment": "INVALID_PARAMETER"}),
    ({"attachment": {"coupon": {}}}, {
        "attachment.coupon.title": "MISSING_PARAMETER",
        "attachment.coupon.description": "MISSING_PARAMETER",
        "attachment.coupon.linkMo": "MISSING_PARAMETER",
    }),
    ({"attachment": {"coupon": {"title": "쿠폰", "description": "가" * 13, "linkMo": "https://a.example"}}}, {
        "attachment.coupon.title": "INVALID_PARAMETER",
        "attachment.coupon.description": "CONTENT_TOO_LONG",
    }),
    ({"buttons": [WEB] * 6}, {"buttons": "INVALID_BUTTON"}),
    ({"buttons": [{**WEB, "name": "가" * 15}]}, {"buttons[0].name": "INVALID_BUTTON"}),
    ({"buttons": [{**WEB, "mobileUrl": LONG_LINK}]}, {"buttons[0].mobileUrl": "INVALID_BUTTON"}),
    ({"buttons": [{"buttonType": "deliveryTracking"}]}, {"buttons[0].buttonType": "INVALID_BUTTON"}),
    ({"buttons": [WEB, ADD]}, {"buttons[1]": "INVALID_BUTTON"}),
    ({"adult": "yes"}, {"adult": "INVALID_PARAMETER"}),
    ({"pushAlarm": 1}, {"pushAlarm": "INVALID_PARAMETER"}),
    ({"templateCode": "B1", "content": None, "adult": True}, {"adult": "INVALID_PARAMETER"}),
    ({"buttons": [{**ADD, "name": "추가"}], "targeting": "N"}, {"buttons[0].name": "INVALID_BUTTON"}),
    ({"buttons": [WEB], "attachment": {"buttons": [DELIVERY]}}, {"buttons": "INVALID_PARAMETER"}),
    ({"attachment": {"buttons": [{"name": "가", "type": "XX"}]}}, {"attachment.buttons[0].type": "INVALID_BUTTON"}),
    ({"attachment": {"buttons": [{**DELIVERY, "type": "WL"}]}}, {"attachment.buttons[0].linkMo": "INVALID_BUTTON"}),
    (
        {"attachment": {"buttons": [{"name": "가", "type": "AL", "schemeIos": "a://b"}]}},
        {"attachment.buttons[0].schemeAndroid": "INVALID_BUTTON"},
    ),
    (
        {"attachment": {"buttons": [{"name": "신청", "type": "BF", "bizFormKey": "k"}]}},
        {"attachment.buttons[0].name": "INVALID_BUTTON"},
    ),
    ({"templateCode": "T", "messageType": "text"}, {
        "content": "INVALID_PARAMETER",
        "messageType": "INVALID_PARAMETER",
    }),
    ({"templateCode": "가" * 101, "content": None}, {"templateCode": "INVALID_PARAMETER"}),
]  # fmt: skip


@with_each(("fields", "errors"), REFUSALS)
async def test_text_that_breaks_a_rule_is_refused_by_the_name_of_its_field(
    call: Caller, sender_key: str, fields: dict[str, Any], errors: dict[str, str]
) -> None:
    answer = await call(SEND, brand_body(sender_key, **fields))

    assert summarize_refusal(answer).errors == errors
    assert await list_messages(call) == []


def _cards(*cards: Any, **more: Any) -> dict[str, Any]:
    return {"carousel": {"list": list(cards), **more}}


ADDITION = {"name": "채널 추가", "type": "AC"}
TYPED_REFUSALS: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    ("wideList", {}, {"attachment.header": "MISSING_PARAMETER", "attachment.item.list": "MISSING_PARAMETER"}),
    ("wideList", {**ITEMS, "header": "가" * 21}, {"attachment.header": "CONTENT_TOO_LONG"}),
    ("wideList", {**ITEMS, "header": "가\n나"}, {"attachment.header": "CONTENT_TOO_LONG"}),
    ("wideList", {**ITEMS, "header": "#{name}"}, {"attachment.header": "INVALID_PARAMETER"}),
    ("wideList", {**ITEMS, "item": {"list": [list_item()] * 2}}, {"attachment.item.list": "INVALID_PARAMETER"}),
    (
        "wideList",
        {**ITEMS, "item": {"list": [list_item(title="가" * 26), list_item(title=None), list_item(linkMo="a")]}},
        {
            "attachment.item.list[0].title": "CONTENT_TOO_LONG",
            "attachment.item.list[1].title": "MISSING_PARAMETER",
            "attachment.item.list[2].linkMo": "INVALID_PARAMETER",
        },
    ),
    ("commerce", {}, {
        "image": "MISSING_PARAMETER",
        "attachment.commerce": "MISSING_PARAMETER",
        "buttons": "MISSING_PARAMETER",
    }),
    (
        "commerce",
        {"image": {"imageUrl": PICTURE}, "buttons": [ADDITION], "commerce": {**PRICE, "discountPrice": 900}},
        {"attachment.commerce.discountPrice": "INVALID_PARAMETER"},
    ),
    (
        "commerce",
        {"image": {"imageUrl": "a"}, "buttons": [ADDITION], "commerce": {"title": "가" * 31, "regularPrice": -1}},
        {
            "attachment.image.imageUrl": "INVALID_PARAMETER",
            "attachment.commerce.title": "CONTENT_TOO_LONG",
            "attachment.commerce.regularPrice": "INVALID_PARAMETER",
        },
    ),
    ("premiumVideo", {}, {"attachment.video.videoUrl": "MISSING_PARAMETER"}),
    (
        "premiumVideo",
        {"video": {"videoUrl": "http://video.example/1"}},
        {"attachment.video.videoUrl": "INVALID_PARAMETER"},
    ),
    ("carouselFeed", {}, {"attachment.carousel.list": "MISSING_PARAMETER"}),
    ("carouselFeed", _cards(card_of_feed()), {"attachment.carousel.list": "INVALID_PARAMETER"}),
    ("carouselFeed", _cards(*[card_of_feed()] * 7), {"attachment.carousel.list": "INVALID_PARAMETER"}),
    (
        "carouselFeed",
        _cards(card_of_feed(header=None, message="가" * 181), card_of_feed(buttons=[], commerce=PRICE), head={}),
        {
            "attachment.carousel.head": "INVALID_PARAMETER",
            "attachment.carousel.list[0].header": "MISSING_PARAMETER",
            "attachment.carousel.list[0].message": "CONTENT_TOO_LONG",
            "attachment.carousel.list[1].buttons": "MISSING_PARAMETER",
            "attachment.carousel.list[1].commerce": "INVALID_PARAMETER",
        },
    ),
    (
        "carouselCommerce",
        _cards(card_of_commerce(buttons=[ADDITION]), card_of_commerce(buttons=[ADDITION])),
        {"attachment.carousel.list": "INVALID_BUTTON"},
    ),
    (
        "carouselCommerce",
        _cards(card_of_commerce(header="가"), card_of_commerce(commerce=None), tail={}),
        {
            "attachment.carousel.list[0].header": "INVALID_PARAMETER",
            "attachment.carousel.list[1].commerce": "MISSING_PARAMETER",
            "attachment.carousel.tail.linkMo": "MISSING_PARAMETER",
        },
    ),
]  # fmt: skip


@with_each(("kind", "attachment", "errors"), TYPED_REFUSALS)
async def test_attachment_that_breaks_a_rule_is_refused_by_the_name_of_its_field(
    call: Caller, sender_key: str, kind: str, attachment: dict[str, Any], errors: dict[str, str]
) -> None:
    answer = await call(SEND, typed_body(kind, attachment or None, senderKey=sender_key))

    assert summarize_refusal(answer).errors == errors
    assert await list_messages(call) == []
