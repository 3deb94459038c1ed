"""Alimtalk through Solapi: sent by the variables of its template where these give the recorded message."""

from typing import Any

import pytest

from tests.carriers.relay.delivery_fixture import outcomes_for
from tests.fakes.nhncloud import channel
from tests.fixtures.relay import template_body
from tests.fixtures.solapi import SENDER_KEY, Solapi
from tests.fixtures.virtual import Environment
from tests.fixtures.web import PHONE, alimtalk_body, call_ok, channel_body, receivers_of

pytestmark = pytest.mark.slow

ORDER = "https://shop.example/#{상품}"
RECEIPT = {
    "category": "999999",
    "content": "#{이름}님, 결제되었습니다.",
    "emphasisType": "itemList",
    "header": "#{이름}님 영수증",
    "itemHighlight": {"title": "#{금액}원", "description": "결제 완료"},
    "itemList": {
        "items": [{"title": "상품", "description": "#{상품}"}, {"title": "배송", "description": "내일"}],
        "summary": {"title": "합계", "description": "#{금액}원"},
    },
    "quickReplies": [{"buttonType": "webLink", "name": "조회", "mobileUrl": ORDER, "orderNo": 1}],
    "buttons": [
        {"buttonType": "webLink", "name": "주문", "mobileUrl": ORDER, "target": "out"},
        {"buttonType": "counselingTalkConversion", "name": "상담", "chatExtra": "영수증"},
    ],
}
SHOWN = {
    "header": "길동님 영수증",
    "highlight": {"title": "12,000원", "description": "결제 완료"},
    "item": {
        "list": [{"title": "상품", "description": "사과"}, {"title": "배송", "description": "내일"}],
        "summary": {"title": "합계", "description": "12,000원"},
    },
    "quickReplies": [{"linkType": "WL", "name": "조회", "linkMo": "https://shop.example/사과"}],
    "buttons": [
        {"buttonType": "WL", "buttonName": "주문", "linkMo": "https://shop.example/사과", "targetOut": True},
        {"buttonType": "BC", "buttonName": "상담", "chatExtra": "영수증"},
    ],
}


async def test_item_list_is_registered_and_shown_with_the_values_of_each_receiver(
    env: Environment, fixture: Solapi
) -> None:
    relay = fixture.relay
    relay.channels.clear()
    call = await env.caller()
    await env.wait(40)
    channel_of_shop = channel_body(category=channel.CATEGORY)
    await call_ok(call, "sender/create", channel_of_shop)
    await call_ok(call, "sender/auth", {"channelId": channel_of_shop["channelId"], "token": relay.last_token})
    (key,) = relay.channels
    await call_ok(call, "template/create", template_body(key, **RECEIPT, templateCode="receipt"))
    await call_ok(call, "template/request", {"senderKey": key, "templateCode": "receipt"})
    await env.wait(40)
    values = {"이름": "길동", "금액": "12,000", "상품": "사과"}
    receivers = receivers_of(PHONE, templateData=values)
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(key, templateCode="receipt", receivers=receivers))
    await env.wait(10)

    (message,) = fixture.accepted
    assert await outcomes_for(call) == ["alimTalk completed 1000"]
    assert (message.text, message.shown) == ("길동님, 결제되었습니다.", SHOWN)
    assert (message.kakao or {})["variables"] == {f"#{{{name}}}": value for name, value in values.items()}


@pytest.mark.parametrize(
    ("ours", "theirs", "values", "by_variables"),
    [
        ("#{name}님", "#{name}님", {"name": "길동"}, True),
        ("글", "글", {}, True),
        ("#{name}님", "#{이름}님", {"name": "길동"}, False),
        ("#{name}님", "#{name}님", {"name": "#{name}"}, False),
        ("#{a.b}님", "#{a.b}님", {"a.b": "길동"}, False),
    ],
)
async def test_own_text_is_sent_where_variables_would_not_give_it(
    env: Environment, fixture: Solapi, ours: str, theirs: str, values: dict[str, str], by_variables: bool
) -> None:
    call = await _caller(env, fixture, ours, theirs)
    await call_ok(
        call,
        "message/sendAlimtalk",
        alimtalk_body(SENDER_KEY, receivers=receivers_of(PHONE, templateData=values)),
    )
    await env.wait(10)

    (message,) = fixture.accepted
    assert await outcomes_for(call) == ["alimTalk completed 1000"]
    assert message.text == next(iter(values.values()), "글") + ("님" if values else "")
    assert ("variables" in (message.kakao or {})) is by_variables


async def test_template_that_was_changed_at_the_relay_sends_no_other_text(
    env: Environment, fixture: Solapi
) -> None:
    call = await _caller(env, fixture, "#{name}님, 환영합니다.", "#{name}님, 안녕히 가세요.")
    body = alimtalk_body(SENDER_KEY, receivers=receivers_of(PHONE, templateData={"name": "길동"}))
    await call_ok(call, "message/sendAlimtalk", body)
    await env.wait(10)

    assert fixture.accepted == []
    assert await outcomes_for(call) == ["alimTalk fail 3016"]


async def _caller(env: Environment, fixture: Solapi, ours: str, theirs: str) -> Any:
    """Return a caller whose account has a template, and give the relay its own text of it."""
    (template,) = fixture.relay.templates.values()
    template.fields["content"] = theirs
    call = await env.caller()
    await env.store.write(
        channel.add_to_store, "acme", env.world.now(), None, SENDER_KEY, (channel.TEMPLATE_CODE, ours)
    )
    return call
