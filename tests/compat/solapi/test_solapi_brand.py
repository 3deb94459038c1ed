"""Brand messages through Solapi's endpoints: every type, with pictures from here and from the relay behind."""

import base64
from typing import Any

import pytest

from pabal.carriers.solapi.brand import to_remote
from pabal.domain.sends.message import Attempt, Product
from pabal.store.engine.base import Tx
from pabal.store.messages import images, requests
from pabal.store.messages.requests import Request
from tests.fixtures.pictures import make_jpeg
from tests.fixtures.solapi_brand import BUBBLES, BUTTON, COUPON
from tests.fixtures.solapi_calls import SENDER, SETTINGS, solapi_caller
from tests.fixtures.virtual import Environment

pytestmark = pytest.mark.settings(**SETTINGS)


async def read_requests(env: Environment) -> list[Request]:
    def read(tx: Tx) -> list[Request]:
        ids = [bytes(row[0]) for row in tx.fetch_all("select id from requests order by id")]
        return [requests.get(tx, [each])[each] for each in ids]

    return await env.store.read(read)


def as_solapi_gets_it(request: Request) -> dict[str, Any]:
    """Return what our own carrier would send to Solapi for a request."""
    attempt = Attempt(bytes(16), 1, 1, Product.BRAND_MESSAGE, "01012345678", "@shop", None, request.content)
    attempt = attempt._replace(
        sender_key=request.sender_key, brand=request.brand, buttons=request.buttons, parameters=None
    )
    return dict(to_remote(attempt, None)["kakaoOptions"]["bms"])


@pytest.mark.parametrize("bubble", BUBBLES)
async def test_every_type_reaches_the_relay_as_it_was_given(env: Environment, sender_key: str, bubble: str) -> None:
    caller = await solapi_caller(env)
    text, parts = BUBBLES[bubble]
    bms = {"targeting": "M", "chatBubbleType": bubble, **parts}
    message = {"to": "01012345678", "text": text, "kakaoOptions": {"pfId": sender_key, "bms": bms}}
    answer = await caller.send(message)
    (request,) = await read_requests(env)
    await env.wait(5)
    rows = (await caller("GET", "messages/v4/list")).body["messageList"].values()

    assert answer.body["failedMessageList"] == []
    assert as_solapi_gets_it(request) == bms
    assert [(row["type"], row["statusCode"], row["text"]) for row in rows] == [("BMS_FREE", "4000", text or "")]


def brand(sender_key: str, to: str = "01012345678", bubble: str | None = "TEXT", **fields: Any) -> dict[str, Any]:
    """Return a brand message; `fields` are those of the message, or of `bms` where it has them."""
    of_message: dict[str, Any] = {
        name: fields.pop(name) for name in ("text", "customFields", "type") if name in fields
    }
    of_kakao: dict[str, Any] = {
        name: fields.pop(name) for name in ("templateId", "variables", "disableSms") if name in fields
    }
    bms = {"targeting": "I", "chatBubbleType": bubble, **fields}
    return {"to": to, **of_message, "kakaoOptions": {"pfId": sender_key, "bms": bms, **of_kakao}}


async def test_uploaded_picture_is_sent_but_not_in_lists(env: Environment, sender_key: str) -> None:
    caller = await solapi_caller(env)
    picture = base64.b64encode(make_jpeg(800, 400)).decode()
    file = (await caller("POST", "storage/v1/files", {"file": picture, "type": "BMS"})).body["fileId"]
    refused = await caller("POST", "storage/v1/files", {"file": picture, "type": "BMS_CAROUSEL_FEED_LIST"})
    item = {
        **BUBBLES["WIDE_ITEM_LIST"][1],
        "mainWideItem": {"title": "외투", "imageId": file, "linkMobile": "https://a.b"},
    }
    answer = await caller.send(
        brand(sender_key, bubble="IMAGE", imageId=file, imageLink="https://shop.example"),
        brand(sender_key, "01012345679", "WIDE_ITEM_LIST", **item, text=None),
        brand(sender_key, "01012345680", "IMAGE", imageId=file[:-1] + "-"),
    )
    (request,) = await read_requests(env)
    pictures = await env.store.read(images.get, request.id)

    assert [each.body for each in pictures] == [make_jpeg(800, 400)]
    assert request.image_link == "https://shop.example"
    assert refused.body["errorCode"] == "ValidationError"
    assert [each["statusCode"] for each in answer.body["failedMessageList"]] == ["1034", "1034"]


async def test_receivers_have_their_own_texts_in_one_request(env: Environment, sender_key: str) -> None:
    caller = await solapi_caller(env)
    texts = ["길동님, 새 상품", "#{이름}님 100% #{할인}", "순이님"]
    given = [brand(sender_key, f"0101234567{number}", text=text) for number, text in enumerate(texts)]
    given[2]["kakaoOptions"]["variables"] = {"#{이름}": "순이"}
    given[2]["text"] = "#{이름}님"
    await caller.send(*given)
    await env.wait(5)
    rows = (await caller("GET", "messages/v4/list")).body["messageList"].values()

    assert len(await read_requests(env)) == 1
    assert sorted(row["text"] for row in rows) == sorted(texts)


async def test_failed_message_is_replaced_by_its_text_unless_that_is_turned_off(
    env: Environment, sender_key: str
) -> None:
    caller = await solapi_caller(env)
    feed = BUBBLES["CAROUSEL_FEED"][1]
    nobody = "01000000004"
    await caller.send(
        brand(sender_key, nobody, "CAROUSEL_FEED", text="대신 갑니다", **feed),
        brand(sender_key, nobody, "CAROUSEL_FEED", text=None, **feed),
        brand(sender_key, nobody, text="본문", content="보이는 글"),
        brand(sender_key, nobody, text="끄면 없음", disableSms=True),
        allowDuplicates=True,
    )
    await env.wait(30)
    rows = (await caller("GET", "messages/v4/list")).body["messageList"].values()
    replaced = [row for row in rows if row["replacement"]]

    assert sorted(row["text"] for row in replaced) == ["(광고)대신 갑니다", "(광고)본문"]
    assert {row["from"] for row in replaced} == {SENDER}


async def test_template_of_the_relay_is_sent_with_its_values(env: Environment, sender_key: str) -> None:
    caller = await solapi_caller(env)
    values = {"#{이름}": "길동"}
    answer = await caller.send(
        brand(sender_key, bubble=None, templateId="KA01BT1", variables=values, text=None, type="BMS_TEXT"),
        brand(sender_key, "01012345679", templateId="KA01BT1", variables=values, text=None),
    )
    (request,) = await read_requests(env)

    assert [each["statusCode"] for each in answer.body["failedMessageList"]] == ["1011"]
    assert (request.template_code, request.variables) == ("KA01BT1", ("이름",))


async def test_link_that_opens_outside_is_kept(env: Environment, sender_key: str) -> None:
    caller = await solapi_caller(env)
    button = {"linkType": "WL", "name": "열기", "linkMobile": "https://shop.example", "targetOut": True}
    await caller.send(brand(sender_key, buttons=[button]))
    (request,) = await read_requests(env)

    assert as_solapi_gets_it(request)["buttons"] == [button]


CARDS = {"list": [{**BUBBLES["CAROUSEL_FEED"][1]["carousel"]["list"][0]}] * 2}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("no targeting", {"targeting": None}, "1010"),
    ("unknown targeting", {"targeting": "X"}, "1011"),
    ("no type", {"bubble": None}, "1010"),
    ("unknown type", {"bubble": "BIG"}, "1011"),
    ("no text", {"text": None}, "1010"),
    ("long text", {"text": "가" * 1301}, "1031"),
    ("no picture", {"bubble": "IMAGE"}, "1010"),
    ("field of another type", {"header": "제목"}, "1011"),
    ("unknown field", {"sound": "loud"}, "1011"),
    ("unknown field of a part", {"coupon": {**COUPON, "color": "red"}}, "1011"),
    ("wrong value", {"adult": "maybe"}, "1011"),
    ("consultation", {"buttons": [{"linkType": "BC", "name": "상담"}]}, "1044"),
    ("business form", {"buttons": [{"linkType": "BF", "name": "톡에서 응모하기"}]}, "1044"),
    (
        "link of a video's picture",
        {"bubble": "PREMIUM_VIDEO", "video": {"videoUrl": "https://tv.kakao.com/v/1", "imageLink": "https://a.b"}},
        "1011",
    ),
    (
        "card that opens outside",
        {
            "bubble": "CAROUSEL_FEED",
            "text": None,
            "carousel": {"list": [{**CARDS["list"][0], "buttons": [{**BUTTON, "targetOut": True}]}] * 2},
        },
        "1011",
    ),
]


@pytest.mark.parametrize(("fields", "code"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
async def test_what_has_no_place_here_is_refused(
    env: Environment, sender_key: str, fields: dict[str, Any], code: str
) -> None:
    caller = await solapi_caller(env)
    answer = await caller.send(brand(sender_key, **fields))

    assert [each["statusCode"] for each in answer.body["failedMessageList"]] == [code]


async def test_deeply_nested_parts_are_refused(env: Environment, sender_key: str) -> None:
    caller = await solapi_caller(env)
    for depth in (100, 400, 700):
        nested: dict[str, Any] = {}
        for _ in range(depth):
            nested = {"a": nested}
        answer = await caller.send(brand(sender_key, coupon=nested))

        assert answer.status in (200, 400), depth
