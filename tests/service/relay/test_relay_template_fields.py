"""Fields of templates that are submitted to a relay and read back."""

from typing import Any

import pytest

from tests.fakes.nhncloud.templates import THUMBNAIL
from tests.fixtures.relay import (
    SYNC_ROUND_S,
    RelayEnvironment,
    get_template,
    request_review,
    send_alimtalk,
    template_body,
    template_status,
)
from tests.fixtures.web import (
    alimtalk_body,
    call_ok,
    describe_outcome,
    get_message,
    image_body,
    receivers_of,
    summarize_refusal,
)

OLD = "배송이 시작되었습니다."


def link(name: str, **changes: Any) -> dict[str, Any]:
    return {"ordering": 1, "type": "WL", "name": name, "linkMo": "https://example.com", **changes}


WHOLE = {
    "messageType": "mixed",
    "emphasisType": "text",
    "emphasisTitle": "제목",
    "emphasisAssistPhrase": "보조",
    "moreInfo": "덧붙임",
    "securityTemplate": True,
    "buttons": [
        {"buttonType": "channelAddition", "name": "채널 추가"},
        {"buttonType": "appLink", "name": "앱", "androidUrl": "app://a", "iosUrl": "app://i", "orderNo": 2},
        {"buttonType": "counselingTalkConversion", "name": "상담", "chatExtra": "주문", "orderNo": 3},
    ],
}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"quickReplies": [link("예약", type="BF", bizFormId=3)]}, "otherButton"),
        ({"buttons": [link("예약", type="BF", bizFormId=3)]}, "otherButton"),
        ({"templateEmphasizeType": "HOLOGRAM"}, "unreadable"),
    ],
)
async def test_template_with_unsupported_parts_is_listed_with_the_reason(
    stage: RelayEnvironment, fields: dict[str, Any], reason: str
) -> None:
    call, key = await stage.open()
    stage.relay.add_template(key, "T1", OLD, **fields)

    await stage.wait(SYNC_ROUND_S)

    found = await get_template(call)
    assert (found["enable"], found["disabledReason"]["value"]) == (False, reason)
    assert (await send_alimtalk(call, key)).result == "TEMPLATE_NOT_APPROVED"


ITEM_LIST = {
    "emphasisType": "itemList",
    "header": "#{이름}님 영수증",
    "itemHighlight": {"title": "#{금액}원", "description": "결제 완료"},
    "itemList": {
        "items": [{"title": "상품", "description": "#{상품}"}, {"title": "배송", "description": "내일"}],
        "summary": {"title": "합계", "description": "#{금액}원"},
    },
}
LINKS = {"mobileUrl": "https://example.com/#{금액}", "pcUrl": "https://example.com/pc"}
REPLIES = [
    {"buttonType": "webLink", "name": "조회", "mobileUrl": "https://example.com/#{상품}"},
    {"buttonType": "botKeyword", "name": "문의"},
]
CALL = {"buttonType": "phoneCall", "name": "고객센터 연결", "telNumber": "1588-0000"}
PARTS = {**ITEM_LIST, "representLink": LINKS, "quickReplies": REPLIES, "buttons": [CALL]}


async def test_parts_are_submitted_read_back_and_sent_with_variables(stage: RelayEnvironment) -> None:
    call, key = await stage.open()
    await call_ok(call, "template/create", template_body(key, **PARTS))
    await request_review(call, key)
    stage.relay.console.approve(key, "T1")
    await stage.wait(SYNC_ROUND_S)
    found = await get_template(call)
    receivers = receivers_of(templateData={"이름": "길동", "금액": "12,000", "상품": "사과"})

    sent = await call("message/sendAlimtalk", alimtalk_body(key, receivers=receivers))
    await stage.wait(5)

    assert await template_status(call) == "approved"
    assert {name: found[name] for name in ITEM_LIST} == ITEM_LIST
    assert found["representLink"] == LINKS
    assert found["quickReplies"] == REPLIES
    assert found["buttons"] == [CALL]
    assert found["variables"] == ["이름", "금액", "상품"]
    assert sent.result == "SUCCESS", sent.body
    (message,) = stage.relay.messages
    assert message.recipient.templateHeader == "길동님 영수증"
    assert message.recipient.templateItem.lines[0].description == "사과"
    assert message.recipient.templateItem.summary.description == "12,000원"
    assert message.recipient.templateItemHighlight.title == "12,000원"
    assert message.recipient.templateRepresentLink.linkMo == "https://example.com/12,000"
    assert message.recipient.quickReplies[0].linkMo == "https://example.com/사과"
    assert message.recipient.buttons[0].telNumber == "1588-0000"
    assert describe_outcome(await get_message(call)) == "completed 1000"


async def test_empty_parts_count_as_missing(stage: RelayEnvironment) -> None:
    call, key = await stage.open()
    nothing = {"linkMo": None, "linkPc": "", "schemeIos": None, "schemeAndroid": None}
    items = {"list": [], "summary": {"title": None, "description": ""}}
    stage.relay.add_template(key, "T1", OLD, templateRepresentLink=nothing, templateItem=items)

    await stage.wait(SYNC_ROUND_S)

    assert (await send_alimtalk(call, key)).result == "SUCCESS"


async def test_image_is_submitted_with_the_template(stage: RelayEnvironment) -> None:
    call, key = await stage.open()
    body = template_body(key, emphasisType="image", image=image_body(fileName="그림"))
    await call_ok(call, "template/create", body)

    await request_review(call, key)

    fields = stage.template().current.fields
    assert fields["templateImageName"] == "그림.jpg"
    assert fields["templateImageUrl"] in stage.relay.pictures
    stage.relay.console.approve(key, "T1")
    await stage.wait(SYNC_ROUND_S)
    assert (await get_template(call))["image"]["fileName"] == "그림"


async def test_every_field_is_submitted_and_unsupported_ones_stay_stored(stage: RelayEnvironment) -> None:
    call, key = await stage.open()
    await stage.approve_template(call, key, **WHOLE)

    fields = stage.template().current.fields
    kept = {name: fields[name] for name in ("templateMessageType", "templateEmphasizeType", "securityFlag")}
    assert kept == {"templateMessageType": "MI", "templateEmphasizeType": "TEXT", "securityFlag": True}
    assert (fields["templateTitle"], fields["templateSubtitle"], fields["templateExtra"]) == (
        "제목",
        "보조",
        "덧붙임",
    )
    found = await get_template(call)
    assert {name: found[name] for name in WHOLE} == WHOLE
    assert found["status"]["value"] == "approved"


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"imageLink": "https://example.com"}, "INVALID_PARAMETER", "imageLink"),
        ({"buttons": [{"buttonType": "channelAddition"}]}, "INVALID_BUTTON", "buttons"),
        ({"messageType": "channelAddition"}, "INVALID_BUTTON", "buttons"),
        ({"emphasisType": "text", "emphasisTitle": "제목"}, "INVALID_PARAMETER", "templateCode"),
        ({"name": "taken"}, "DUPLICATE", "templateCode"),
        (
            {"emphasisType": "image", "image": image_body(contentType="image/vnd.wap.sis")},
            "INVALID_IMAGE",
            "image",
        ),
    ],
)
async def test_template_refused_by_the_relay_stays_registered_with_the_reason(
    stage: RelayEnvironment, changes: dict[str, Any], code: str, field: str
) -> None:
    call, key = await stage.open()
    stage.relay.add_template(key, "other", OLD, templateName="taken")
    await call_ok(call, "template/create", template_body(key, **changes))

    answer = await call("template/request", {"senderKey": key, "templateCode": "T1"})

    assert summarize_refusal(answer) == (code, {field: code})
    assert await template_status(call) == "registered"
    assert list(stage.relay.templates) == [(key, "other")]


def thumbnail(**changes: Any) -> dict[str, Any]:
    """Return the body of an item list whose highlight has an image to upload."""
    return {
        **ITEM_LIST,
        "itemHighlight": {"title": "#{금액}원", "description": "완료", "image": image_body(**changes)},
    }


async def test_thumbnail_of_a_highlight_is_uploaded_and_sent(stage: RelayEnvironment) -> None:
    """Alimtalk ko/alimtalk-api-guide.md, "템플릿 아이템 하이라이트 이미지 등록"."""
    call, key = await stage.open()
    await call_ok(call, "template/create", template_body(key, **thumbnail()))
    await request_review(call, key)
    stage.relay.console.approve(key, "T1")
    await stage.wait(SYNC_ROUND_S)
    values = {"이름": "길동", "금액": "12,000", "상품": "사과"}
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(key, receivers=receivers_of(templateData=values)))
    await stage.wait(5)

    (picture,) = stage.relay.pictures.values()
    (message,) = stage.relay.messages
    assert (picture.kind, picture.name) == (THUMBNAIL, "photo.jpg")
    assert (await get_template(call))["itemHighlight"]["imageUrl"] == picture.address
    assert message.recipient.templateItemHighlight.imageUrl == picture.address
    assert describe_outcome(await get_message(call)) == "completed 1000"


async def test_thumbnail_may_be_as_large_as_other_images_of_templates(stage: RelayEnvironment) -> None:
    call, key = await stage.open()

    await call_ok(call, "template/create", template_body(key, **thumbnail(size_bytes=500_000)))
    larger = await call("template/create", template_body(key, templateCode="T2", **thumbnail(size_bytes=500_001)))

    assert [len(each.body) for each in stage.relay.pictures.values()] == [500_000]
    assert summarize_refusal(larger).errors == {"itemHighlight.image.body": "INVALID_IMAGE"}


async def test_template_is_not_stored_if_its_thumbnail_cannot_be_uploaded(stage: RelayEnvironment) -> None:
    call, key = await stage.open()
    stage.relay.inject_fault("refuse", "template-image")

    away = await call("template/create", template_body(key, **thumbnail()))
    stage.relay.faults.faults.clear()
    other = await call("template/create", template_body(key, **thumbnail(contentType="image/vnd.wap.sis")))

    assert away.result == "SERVICE_UNAVAILABLE"
    assert summarize_refusal(other).errors == {"itemHighlight.image.contentType": "INVALID_IMAGE"}
    assert (await call_ok(call, "template/list")).items == []
