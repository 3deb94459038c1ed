"""The fields of a template."""

from typing import Any

from tests.fixtures.cases import once, with_each
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import BUTTON, create_template, image_body, summarize_refusal, template_body

MOBILE = {"mobileUrl": "https://shop.example"}
LONGEST_LINK = "https://shop.example/".ljust(500, "a")


@with_each(
    ("change", "errors"),
    [
        ({"senderKey": None}, {"senderKey": "MISSING_PARAMETER"}),
        ({"senderKey": "x"}, {"senderKey": "SENDER_NOT_FOUND"}),
        ({"templateCode": ""}, {"templateCode": "MISSING_PARAMETER"}),
        ({"templateCode": ".."}, {"templateCode": "INVALID_PARAMETER"}),
        ({"name": None}, {"name": "MISSING_PARAMETER"}),
        ({"content": ""}, {"content": "MISSING_PARAMETER"}),
        ({"content": "가" * 1300}, {}),
        ({"content": "가" * 1301}, {"content": "CONTENT_TOO_LONG"}),
        ({"buttons": [{**BUTTON, "mobileUrl": LONGEST_LINK}]}, {}),
        ({"buttons": [{**BUTTON, "mobileUrl": f"{LONGEST_LINK}a"}]}, {"buttons[0].mobileUrl": "INVALID_BUTTON"}),
        ({"content": "a\0"}, {"content": "UNSUPPORTED_CHARACTER"}),
        ({"content": "😀"}, {}),
        ({"category": None}, {"category": "MISSING_PARAMETER"}),
        ({"category": "123456"}, {"category": "CATEGORY_NOT_FOUND"}),
        ({"messageType": "special"}, {"messageType": "INVALID_PARAMETER"}),
        ({"messageType": "channelAddition"}, {}),
        ({"messageType": "extraInfo"}, {"moreInfo": "MISSING_PARAMETER"}),
        ({"messageType": "mixed", "moreInfo": ""}, {"moreInfo": "MISSING_PARAMETER"}),
        ({"messageType": "mixed", "moreInfo": "더 보기"}, {}),
        ({"messageType": "mixed", "moreInfo": "#{이름}님"}, {"moreInfo": "INVALID_PARAMETER"}),
        ({"emphasisAssistPhrase": "#{이름}님"}, {"emphasisAssistPhrase": "INVALID_PARAMETER"}),
        ({"emphasisType": "loud"}, {"emphasisType": "INVALID_PARAMETER"}),
        ({"emphasisType": "text"}, {"emphasisTitle": "MISSING_PARAMETER"}),
        ({"emphasisType": "text", "emphasisTitle": "제목", "emphasisAssistPhrase": "부제"}, {}),
        ({"emphasisType": "image"}, {"image": "MISSING_PARAMETER"}),
        ({"emphasisType": "image", "image": image_body()}, {}),
        ({"emphasisType": "itemList"}, {"itemList": "MISSING_PARAMETER"}),
        ({"emphasisType": "itemList", "image": image_body()}, {}),
        ({"image": image_body(500_001)}, {"image.body": "INVALID_IMAGE"}),
        ({"image": {}}, dict.fromkeys(["image.contentType", "image.fileName", "image.body"], "MISSING_PARAMETER")),
        ({"imageLink": "shop.example"}, {"imageLink": "INVALID_PARAMETER"}),
        ({"securityTemplate": "Y"}, {"securityTemplate": "INVALID_PARAMETER"}),
        ({"buttons": [MOBILE] * 5}, {}),
        ({"buttons": [MOBILE] * 6}, {"buttons": "INVALID_BUTTON"}),
        ({"buttons": [MOBILE, {}]}, {"buttons[1].mobileUrl": "INVALID_BUTTON"}),
        ({"buttons": [{**MOBILE, "orderNo": 10**30}]}, {"buttons[0].orderNo": "INVALID_BUTTON"}),
        ({"buttons": {}}, {"buttons": "INVALID_PARAMETER"}),
        (
            {"templateCode": "가" * 21, "name": ""},
            {"templateCode": "INVALID_PARAMETER", "name": "MISSING_PARAMETER"},
        ),
    ],
)
async def test_template_with_invalid_fields_is_refused(
    env: Environment, change: dict[str, Any], errors: dict[str, str]
) -> None:
    call, sender_key = await once(env, create_template)

    answer = await call("template/update", template_body(sender_key, **change))

    assert answer.result == next(iter(errors.values()), "SUCCESS"), answer.body
    assert summarize_refusal(answer).errors == errors


async def test_template_answer_has_all_given_fields_except_image_bytes(call: Caller, sender_key: str) -> None:
    given = {
        "messageType": "mixed",
        "emphasisType": "text",
        "emphasisTitle": "제목",
        "emphasisAssistPhrase": "부제",
        "moreInfo": "더 보기",
        "imageLink": "https://shop.example",
        "securityTemplate": True,
    }

    created = await call("template/create", template_body(sender_key, image=image_body(), **given))

    (listed,) = (await call("template/list")).items
    assert {name: created.item[name] for name in given} == given
    assert created.item["image"] == {"fileName": "photo.jpg"}
    assert listed == created.item


async def test_new_template_with_invalid_fields_and_parts_is_refused(call: Caller, sender_key: str) -> None:
    answer = await call("template/create", template_body(sender_key, name="", header="가" * 17))

    assert summarize_refusal(answer).errors.keys() == {"name", "header"}
    assert (await call("template/list")).items == []
