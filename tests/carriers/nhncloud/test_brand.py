"""Brand messages by NHN Cloud: what goes out, how it is grouped, and what becomes of it."""

import json
from decimal import Decimal
from typing import Any

import pytest

from pabal.carriers.nhncloud.results import RESULT_EVENT
from pabal.settings.relays import NhnCloudSettings
from tests.carriers.relay.delivery_fixture import MANY, outcomes_for, send_of
from tests.fixtures.brand_bodies import BRAND_BODIES, OWN_BUTTON, brand_body, sized_image
from tests.fixtures.nhncloud import SENDER_KEY, NhnCloud
from tests.fixtures.relay_delivery import RELAY
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    BUTTON,
    FALLBACK,
    NO_USER,
    PHONE,
    call_ok,
    describe_outcome,
    friendtalk_body,
    get_message,
    image_body,
    list_messages,
    product_of,
    receivers_of,
    summarize_refusal,
    world_starting_at,
)

pytestmark = pytest.mark.slow

SEND = "message/sendBrandMessage"
FRIEND_TALK = ("friendTalkText", "friendTalkImage", "friendTalkWideImage")
BUBBLES = dict(zip(FRIEND_TALK, ("TEXT", "IMAGE", "WIDE"), strict=True))
SIGNATURE = "a signature of some length"


TOO_HIGH = "가로 500픽셀 이상, 세로÷가로 0.5~1.333인 이미지를 쓰세요. 지금은 600×1,200픽셀입니다."


@pytest.mark.settings(friend_talk="brand")
async def test_friend_talk_with_a_picture_of_no_brand_message_is_refused(call: Caller) -> None:
    """A JPEG of up to 51,200 bytes is accepted everywhere, and only warned of."""
    body = friendtalk_body(SENDER_KEY)

    large = await call("message/sendFriendtalk", {**body, "image": sized_image(600, 1200, 60_000)})
    small = await call_ok(call, "message/sendFriendtalk", {**body, "image": sized_image(600, 1200)})
    fitting = await call_ok(call, "message/sendFriendtalk", {**body, "image": sized_image(600, 600, 60_000)})

    assert summarize_refusal(large) == ("INVALID_IMAGE", {"image.body": "INVALID_IMAGE"})
    assert TOO_HIGH in large.body["resultMessage"]
    (warning,) = small.body["warnings"]
    assert (warning["code"], warning["field"]) == ("UNSUITABLE_IMAGE", "image.body")
    assert TOO_HIGH in warning["message"]
    assert "warnings" not in fitting.body


@pytest.mark.settings(friend_talk="compatible")
async def test_compatible_friend_talk_may_have_a_picture_of_another_shape(call: Caller) -> None:
    body = friendtalk_body(SENDER_KEY, image=sized_image(600, 1200, 60_000))

    answer = await call_ok(call, "message/sendFriendtalk", body)

    assert "warnings" not in answer.body


@pytest.mark.settings(friend_talk="brand")
@pytest.mark.parametrize("kind", FRIEND_TALK)
async def test_friend_talk_goes_out_as_a_brand_message_to_friends(
    kind: str, env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    _, body = send_of(kind, SENDER_KEY)
    await call_ok(call, "message/sendFriendtalk", {**body, "adFlag": True, "buttons": [BUTTON]})
    await env.wait(10)

    (sent,) = fixture.accepted
    assert (sent.kind, sent.recipient.targeting) == ("BRAND_MESSAGE", "I")
    assert sent.call.chatBubbleType == BUBBLES[kind]
    assert (sent.content, sent.recipient.resendParameter.isResend) == ("친구야", False)
    assert sent.call.buttons == [{"name": "열기", "type": "WL", "linkMo": "https://shop.example/1"}]
    record = await get_message(call)
    assert (product_of(record), describe_outcome(record)) == (kind, "completed 1000")
    assert record["deliveredAs"] == {"value": "brandMessage", "label": "브랜드 메시지"}


@pytest.mark.settings(friend_talk="compatible")
async def test_friend_talk_in_compatible_mode_stays_friend_talk(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY))
    await call_ok(call, SEND, brand_body(SENDER_KEY, "010-2222-2222"))
    await env.wait(10)

    assert sorted(each.kind for each in fixture.accepted) == ["BRAND_MESSAGE", "FRIENDTALK"]
    assert "deliveredAs" not in await get_message(call)
    assert describe_outcome(await get_message(call, "010-2222-2222")) == "completed 1000"


@pytest.mark.settings(world=world_starting_at("2026-11-15 23:00"), friend_talk="brand")
async def test_friend_talk_as_a_brand_message_is_advertising_whatever_its_caller_says(call: Caller) -> None:
    at_night = await call("message/sendFriendtalk", friendtalk_body(SENDER_KEY, adFlag=False))
    await call_ok(
        call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, sendDate="2026-11-16 20:49", **FALLBACK)
    )

    assert summarize_refusal(at_night).errors == {"sendDate": "NIGHT_AD_RESTRICTED"}


async def test_brand_message_of_every_type_is_accepted_as_documented(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    fixture.relay.profiles[SENDER_KEY].may_reach_others = True
    fixture.relay.brand_templates[SENDER_KEY, "brand-1"] = "#{name}님"
    for name, body in BRAND_BODIES.items():
        await call_ok(call, SEND, {**body, "senderKey": SENDER_KEY, "sendDate": None})
        await env.wait(10)

        sent = fixture.accepted[-1]
        assert sent.recipient.targeting == body["targeting"], name
        assert sent.recipient.resendParameter.isResend is False
        if name == "text":
            assert (sent.call.unsubscribeNo, sent.call.unsubscribeAuthNo) == ("0801234567", "1234")
            assert sent.content == "길동님"
        if name == "template":
            assert sent.recipient.templateParameter == {"name": "길동"}

    assert len(fixture.accepted) == len(BRAND_BODIES)
    assert {describe_outcome(each) for each in await list_messages(call)} == {"completed 1000"}


async def test_equal_texts_share_a_call_and_personal_ones_go_alone(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    fixture.relay.brand_templates[SENDER_KEY, "B1"] = "#{name}님"
    named = [{"phoneNumber": each, "templateData": {"name": f"{place}"}} for place, each in enumerate(MANY)]

    await call_ok(call, SEND, brand_body(SENDER_KEY, *MANY))
    await env.wait(20)
    shared = fixture.calls("/brand-message/")
    await call_ok(call, SEND, brand_body(SENDER_KEY, content="#{name}님", receivers=named[:20]))
    await env.wait(20)
    personal = fixture.calls("/freestyle-messages")[1:]
    await call_ok(call, SEND, {"senderKey": SENDER_KEY, "templateCode": "B1", "receivers": named})
    await env.wait(20)

    assert shared == [1000]
    assert personal == [1] * 20
    assert fixture.calls("/basic-messages") == [1000]
    assert {each.content for each in fixture.accepted[1020:]} == {f"{place}님" for place in range(1000)}
    assert await outcomes_for(call, MANY[7]) == ["brandMessage completed 1000"] * 3


@pytest.mark.settings(friend_talk="brand")
async def test_failed_brand_message_becomes_our_text_and_none_of_the_relay(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    fixture.relay.profiles[SENDER_KEY].resends = True
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, NO_USER, **FALLBACK))
    await env.wait(30)

    assert await outcomes_for(call, NO_USER) == ["friendTalkText fail 3019", "sms completed 1000"]
    assert [each.resend_status for each in fixture.accepted] == ["RSC01", "RSC01"]
    text, _ = await list_messages(call, NO_USER)
    assert text["content"] == "(광고)친구야\n무료거부 0801234567"
    assert "deliveredAs" not in text


VIDEO = "https://video.example/public/1"
SPECIAL: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"adult": None, "pushAlarm": None}),
    ({"adult": False, "pushAlarm": True}, {"adult": None, "pushAlarm": None}),
    ({"adult": True, "pushAlarm": False}, {"adult": True, "pushAlarm": False}),
    (
        {"buttons": [{"buttonType": "channelAddition", "name": "채널 추가"}], "targeting": "I"},
        {"buttons": [{"name": "채널 추가", "type": "AC"}]},
    ),
    (
        {"messageType": "premiumVideo", "content": None, "attachment": {"video": {"videoUrl": VIDEO}}},
        {"video": {"videoUrl": VIDEO}},
    ),
    ({"templateCode": "B1", "content": None, "pushAlarm": False}, {"pushAlarm": False}),
]


async def test_alarm_age_channel_button_and_uploaded_video_reach_the_relay(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    fixture.relay.brand_templates[SENDER_KEY, "B1"] = "새 소식"
    for fields, expected in SPECIAL:
        await call_ok(call, SEND, brand_body(SENDER_KEY, **fields))
        await env.wait(5)
        sent = fixture.accepted[-1].call
        assert {name: getattr(sent, name) for name in expected} == expected

    assert len(fixture.accepted) == len(SPECIAL)


PRICES = {"brandMessage": Decimal(35), "brandMessageFriend": Decimal(25)}
FRIEND, OTHER = "010-2000-0001", "010-0000-0004"


@pytest.mark.parametrize("how", ["poll", "webhook", "lookup"])
@pytest.mark.settings(
    carrier_settings=NhnCloudSettings(name=RELAY, talk_app_key="a", talk_secret_key="b", prices=PRICES),
    webhook_signature=SIGNATURE,
)
async def test_brand_message_costs_what_it_costs_to_a_friend_or_to_another(
    how: str, env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    fixture.relay.profiles[SENDER_KEY].may_reach_others = True
    await env.wait(10)
    if how == "lookup":
        fixture.relay.inject_fault("lose answer", "/freestyle-messages")
    await call_ok(call, SEND, brand_body(SENDER_KEY, FRIEND, OTHER, targeting="M"))
    await env.wait(1)
    if how == "webhook":
        rows = [
            {
                "requestId": each.request_id,
                "recipientSeq": each.recipient_seq,
                "resultCode": "1000",
                "isAddedChannel": each.recipient_no == FRIEND.replace("-", ""),
            }
            for each in fixture.accepted
        ]
        event = {"hooksId": "1", "appKey": fixture.relay.talk_app_key, "event": RESULT_EVENT, "hooks": rows}
        headers = {"X-Toast-Webhook-Signature": SIGNATURE}
        await call(f"/hooks/{RELAY}", json.dumps(event).encode(), headers=headers, method="POST")
    await env.wait(200)

    ended = await env.store.read(lambda tx: tx.fetch_all("select cost, carrier_code from messages order by id"))
    assert [tuple(each) for each in ended] == [(2500, "1000"), (3500, "1000")]


async def test_attempt_that_a_look_up_has_ended_has_the_code_alone(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    await env.wait(10)
    fixture.relay.inject_fault("lose answer", "/freestyle-messages")
    await call_ok(call, SEND, brand_body(SENDER_KEY, "010-0000-0001"))
    await env.wait(200)

    ended = await env.store.read(lambda tx: tx.fetch_all("select verdict, code from attempts order by number"))
    assert describe_outcome(await get_message(call, "010-0000-0001")) == "fail 3003"
    assert [tuple(each) for each in ended][-1] == ("rejected", "3008")


NO_BRAND_MESSAGES: list[dict[str, Any]] = [
    {"buttons": [{**BUTTON}, {"buttonType": "channelAddition"}]},
    {"buttons": [{"buttonType": "deliveryTracking"}]},
    {"buttons": [{"buttonType": "counselingTalkConversion", "chatExtra": "x"}]},
    {"buttons": [{**BUTTON, "mobileUrl": "https://shop.example/" + "a" * 1000}]},
    {"content": "가\n" * 120},
    {"messageType": "FW", "image": image_body(), "buttons": [{**BUTTON, "name": "아홉 글자 이름입니다"}]},
]


@pytest.mark.settings(friend_talk="brand")
async def test_friend_talk_that_no_brand_message_can_be_is_declined_unsent(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    for fields in NO_BRAND_MESSAGES:
        await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, **fields))
    await env.wait(10)

    assert fixture.calls("freestyle-messages") == []
    outcomes = [describe_outcome(each) for each in await list_messages(call)]
    assert outcomes == ["fail 3018"] * len(NO_BRAND_MESSAGES)


@pytest.mark.settings(friend_talk="brand")
async def test_friend_talk_may_begin_with_the_channel_button(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    buttons = [{"buttonType": "channelAddition"}, {**BUTTON}]

    await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, buttons=buttons))
    await env.wait(10)

    sent = fixture.accepted[-1].call
    assert sent.buttons[0] == {"name": "채널 추가", "type": "AC"}
    assert [describe_outcome(each) for each in await list_messages(call)] == ["completed 1000"]


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"targeting": "M"}, "fail 3018"),  # -4029: not applied for
        ({"templateCode": "none", "content": None}, "fail 3018"),  # -3003
        ({"templateCode": "B1", "content": None}, "fail 3016"),  # -3324: a variable is missing
    ],
)
async def test_refused_call_ends_its_messages(
    fields: dict[str, Any], outcome: str, env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    fixture.relay.brand_templates[SENDER_KEY, "B1"] = "#{name}님"
    await call_ok(call, SEND, brand_body(SENDER_KEY, **fields))
    await env.wait(20)

    assert fixture.accepted == []
    assert describe_outcome(await get_message(call)) == outcome


@pytest.mark.settings(behavior={"measures_images": True}, friend_talk="brand")
@pytest.mark.parametrize(
    ("kind", "size", "outcome"),
    [
        ("image", (500, 250), "completed 1000"),
        ("image", (500, 666), "completed 1000"),
        ("image", (499, 300), "fail 3018"),
        ("image", (500, 700), "fail 3018"),
        ("wide", (500, 500), "completed 1000"),
        ("wide", (500, 501), "fail 3018"),
    ],
)
async def test_image_is_uploaded_once_as_the_type_that_its_message_needs(
    kind: str, size: tuple[int, int], outcome: str, env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    receivers = receivers_of(PHONE, "010-2222-2222")
    receivers[1]["content"] = "나만"
    message_type = "FW" if kind == "wide" else "FI"
    body = friendtalk_body(SENDER_KEY, messageType=message_type, image=sized_image(*size), receivers=receivers)
    await call_ok(call, "message/sendFriendtalk", {**body, "imageLink": "https://shop.example"})
    await env.wait(20)

    assert [describe_outcome(each) for each in await list_messages(call)] == [outcome]
    uploaded = [each.kind for each in fixture.relay.pictures.values()]
    if outcome.startswith("completed"):
        assert uploaded == ["WIDE_IMAGE" if kind == "wide" else "IMAGE"]
        assert {each.call.image["imageLink"] for each in fixture.accepted} == {"https://shop.example"}
    else:
        assert (uploaded, fixture.accepted) == ([], [])


@pytest.mark.parametrize(
    ("targeting", "outcome"), [("I", "fail 3018"), ("M", "completed 1000"), ("N", "completed 1000")]
)
async def test_targeting_reaches_the_relay(
    targeting: str, outcome: str, env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    fixture.relay.profiles[SENDER_KEY].may_reach_others = True
    body = brand_body(SENDER_KEY, "010-0000-0004", targeting=targeting, buttons=[OWN_BUTTON])
    await call_ok(call, SEND, body)
    await env.wait(20)

    assert describe_outcome(await get_message(call, "010-0000-0004")) == outcome


@pytest.mark.settings(behavior={"receipt_after_s": 600}, webhook_signature=SIGNATURE)
async def test_result_of_a_brand_message_arrives_by_webhook(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    await call_ok(call, SEND, brand_body(SENDER_KEY))
    await env.wait(5)
    (sent,) = fixture.accepted
    hook = {
        "kakaoMessageType": "BRAND_MESSAGE_NORMAL",
        "requestId": sent.request_id,
        "recipientSeq": sent.recipient_seq,
        "resultCode": "3019",
        "recipientGroupingKey": sent.recipient_grouping_key,
        "isAddedChannel": True,
    }
    event = {"event": "MESSAGE_RESULT_UPDATE", "appKey": fixture.relay.talk_app_key, "hooks": [hook]}
    before = describe_outcome(await get_message(call))

    headers = {"X-Toast-Webhook-Signature": SIGNATURE}
    await call("/hooks/relay", json.dumps(event).encode(), method="POST", headers=headers)
    await env.wait(1)

    assert before == "sending"
    assert describe_outcome(await get_message(call)) == "fail 3019"
