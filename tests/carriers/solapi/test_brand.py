"""Brand messages through Solapi: friend talk goes out as such, and Solapi's own client accepts every type."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from pabal.carriers.solapi.brand import NotAtSolapi
from pabal.carriers.solapi.calls import encode
from pabal.domain.brand.message import BrandAttachment, BrandMessage, BrandType, Targeting
from pabal.domain.content.button import Button
from pabal.domain.sends.message import Attempt, Product
from tests.carriers.relay.delivery_fixture import outcomes_for
from tests.fakes.solapi.channel import SENDER_KEY
from tests.fakes.solapi.judge import Judge, judging
from tests.fakes.solapi.server import FakeSolapi
from tests.fakes.solapi.server import serving as serving_solapi
from tests.fakes.solapi.state import StoredFile
from tests.fixtures.brand_bodies import brand_body
from tests.fixtures.relay_thread import relay_in_thread
from tests.fixtures.solapi import Solapi
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    BUTTON,
    PHONE,
    call_ok,
    friendtalk_body,
    get_message,
    image_body,
    summarize_refusal,
    world_starting_at,
)

FILE = "ST01FJ261116000000000PictureOfUs"
PICTURE = f"https://storage.example/1/{FILE}"
LINKS = {"linkMo": "https://shop.example/m", "linkPc": "https://shop.example/p"}
BUTTONS = [{"name": "보러 가기", "type": "WL", **LINKS}]
PRICE = {"title": "겨울 외투", "regularPrice": 30_000, "discountPrice": 27_000, "discountRate": 10}
COUPON = {"title": "10% 할인 쿠폰", "description": "새 회원만", **LINKS}
ITEM = {"title": "외투", "imageUrl": PICTURE, **LINKS}
FEED_CARD = {"header": "외투", "message": "오늘만", "imageUrl": PICTURE, "buttons": BUTTONS, "coupon": COUPON}
TYPES: dict[BrandType, tuple[str, dict[str, Any]]] = {
    BrandType.TEXT: ("새 상품", {"buttons": BUTTONS, "coupon": COUPON}),
    BrandType.IMAGE: ("새 상품", {"image": {"imageUrl": PICTURE, "imageLink": "https://shop.example"}}),
    BrandType.WIDE: ("새 상품", {"image": {"imageUrl": PICTURE}, "buttons": BUTTONS}),
    BrandType.WIDE_LIST: ("", {"header": "겨울", "item": {"list": [ITEM] * 4}, "buttons": BUTTONS}),
    BrandType.COMMERCE: ("", {"image": {"imageUrl": PICTURE}, "commerce": PRICE, "buttons": BUTTONS}),
    BrandType.CAROUSEL_FEED: ("", {"carousel": {"list": [FEED_CARD] * 2, "tail": LINKS}}),
    BrandType.CAROUSEL_COMMERCE: (
        "",
        {
            "carousel": {
                "head": {"header": "겨울", "content": "모음", "imageUrl": PICTURE, **LINKS},
                "list": [{"commerce": PRICE, "imageUrl": PICTURE, "buttons": BUTTONS}] * 2,
            }
        },
    ),
    BrandType.PREMIUM_VIDEO: (
        "새 영상",
        {"video": {"videoUrl": "https://tv.kakao.com/v/1", "thumbnailUrl": PICTURE}, "header": "영상"},
    ),
}


def brand_attempt(kind: BrandType | None, content: str, attachment: dict[str, Any], **fields: Any) -> Attempt:
    brand = BrandMessage(kind, Targeting.CONSENTED, msgspec.convert(attachment, BrandAttachment))
    one = Attempt(bytes(15) + b"1", 1, 1, Product.BRAND_MESSAGE, "01012345678", "@shop", None, content)
    return one._replace(sender_key=SENDER_KEY, brand=brand, **fields)


@pytest.fixture(scope="module")
def relay() -> Iterator[FakeSolapi]:
    """The server, with the channel and a picture."""
    with relay_in_thread(serving_solapi, seed=1) as relay:
        relay.add_channel("@shop", SENDER_KEY)
        yield relay


@pytest.fixture(scope="module")
def client(relay: FakeSolapi) -> Iterator[Judge]:
    with judging(relay) as judge:
        yield judge


@pytest.mark.parametrize("kind", TYPES)
def test_own_client_accepts_every_type_as_we_write_it(relay: FakeSolapi, client: Judge, kind: BrandType) -> None:
    file_type = "BMS_WIDE" if kind is BrandType.WIDE else "BMS"
    relay.files[FILE] = StoredFile(FILE, file_type, "picture.jpg", None, b"")
    message = msgspec.json.decode(encode(brand_attempt(kind, *TYPES[kind]), {}, {}).encoded)

    sent = client.call("send", [message])

    assert sent["failedMessageList"] == []
    assert (relay.messages[-1].type, relay.messages[-1].kakao) == ("BMS_FREE", message["kakaoOptions"])
    assert message["kakaoOptions"]["bms"]["targeting"] == "M"


def test_links_that_open_outside_and_messages_for_adults_say_so(client: Judge) -> None:
    button = Button("webLink", "열기", mobile_url="https://shop.example", target="out")
    attempt = brand_attempt(BrandType.TEXT, "새 상품", {}, buttons=(button,))
    attempt = attempt._replace(brand=BrandMessage(BrandType.TEXT, Targeting.CONSENTED, is_adult=True))
    message = msgspec.json.decode(encode(attempt, {}, {}).encoded)

    assert client.call("send", [message])["failedMessageList"] == []
    bms = message["kakaoOptions"]["bms"]
    assert (bms["buttons"][0]["targetOut"], bms["adult"]) == (True, True)


def test_text_of_a_template_is_filled_by_the_relay() -> None:
    attempt = brand_attempt(None, "", {}, template_code="KA01BT1", parameters={"이름": "길동"})
    message = msgspec.json.decode(encode(attempt, {}, {}).encoded)

    assert "type" not in message
    assert message["kakaoOptions"] == {
        "pfId": SENDER_KEY,
        "disableSms": True,
        "templateId": "KA01BT1",
        "variables": {"#{이름}": "길동"},
        "bms": {"targeting": "M"},
    }


@pytest.mark.parametrize(
    ("attachment", "fields"),
    [
        ({"image": {"imageUrl": "https://mud-kage.kakao.com/dn/1/img_l.jpg"}}, {}),
        ({"buttons": [{"name": "응모", "type": "BF", "bizFormKey": "form-1"}]}, {}),
        ({}, {"buttons": (Button("deliveryTracking", "배송 조회"),)}),
    ],
)
def test_what_solapi_does_not_have_is_not_sent(attachment: dict[str, Any], fields: dict[str, Any]) -> None:
    with pytest.raises(NotAtSolapi):
        encode(brand_attempt(BrandType.TEXT, "새 상품", attachment, **fields), {}, {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "bubble", "file_type"),
    [
        ("friendTalkText", "TEXT", None),
        ("friendTalkImage", "IMAGE", "BMS"),
        ("friendTalkWideImage", "WIDE", "BMS_WIDE"),
    ],
)
async def test_friend_talk_goes_out_as_brand_message(
    kind: str, bubble: str, file_type: str | None, env: Environment, call: Caller, fixture: Solapi
) -> None:
    image = {"image": image_body(), "messageType": kind} if file_type else {}
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, PHONE, buttons=[BUTTON], **image))
    await env.wait(10)

    assert await outcomes_for(call) == [f"{kind} completed 1000"]
    (sent,) = fixture.accepted
    bms = (sent.kakao or {})["bms"]
    assert (sent.type, bms["targeting"], bms["chatBubbleType"]) == ("BMS_FREE", "I", bubble)
    assert bms["buttons"] == [{"linkType": "WL", "name": "열기", "linkMobile": "https://shop.example/1"}]
    assert [file.type for file in fixture.relay.files.values()] == ([file_type] if file_type else [])


@pytest.mark.slow
@pytest.mark.parametrize(("number", "end"), [(PHONE, "completed 1000"), ("010-0000-0004", "fail 3102")])
async def test_brand_message_ends_as_the_relay_reports(
    number: str, end: str, env: Environment, call: Caller
) -> None:
    await call_ok(call, "message/sendBrandMessage", brand_body(SENDER_KEY, number))
    await env.wait(10)

    assert await outcomes_for(call, number) == [f"brandMessage {end}"]


@pytest.mark.settings(world=world_starting_at("2026-11-15 23:00"))
async def test_friend_talk_is_advertising_whatever_its_caller_says(call: Caller) -> None:
    at_night = await call("message/sendFriendtalk", friendtalk_body(SENDER_KEY, adFlag=False))
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, sendDate="2026-11-16 08:00"))

    assert summarize_refusal(at_night).errors == {"sendDate": "NIGHT_AD_RESTRICTED"}
    assert (await get_message(call))["deliveredAs"]["value"] == "brandMessage"
