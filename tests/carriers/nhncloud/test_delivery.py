"""Delivery by NHN Cloud: sent messages and their outcomes."""

import pytest

from tests.carriers.relay.delivery_fixture import MANY, outcomes_for, send_of
from tests.fixtures.brand_bodies import sized_image
from tests.fixtures.nhncloud import SENDER_KEY, TEMPLATE, NhnCloud
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    BUTTON,
    PHONE,
    alimtalk_body,
    call_ok,
    describe_outcome,
    friendtalk_body,
    image_body,
    list_messages,
    sms_body,
)

pytestmark = pytest.mark.slow


async def test_thousand_receivers_of_one_template_go_in_one_call(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    await call_ok(call, "message/sendSMS", sms_body(*MANY))
    await env.wait(20)
    assert fixture.calls("/sender/sms") == [1000]
    receivers = [{"phoneNumber": each, "templateData": {"name": f"{place}호"}} for place, each in enumerate(MANY)]
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(SENDER_KEY, receivers=receivers))
    await env.wait(20)

    assert fixture.calls("/raw-messages") == [1000]
    assert {each.content for each in fixture.accepted[1000:]} == {
        f"배송이 시작되었습니다. {place}호님" for place in range(1000)
    }
    assert await outcomes_for(call, MANY[7]) == ["sms completed 1000", "alimTalk completed 1000"]


async def test_single_sends_of_one_template_share_calls(env: Environment, call: Caller, fixture: NhnCloud) -> None:
    fixture.set_reachable(False)
    await env.wait(10)
    for number in MANY[:30]:
        await call_ok(call, *send_of("alimTalk", SENDER_KEY, number))
    fixture.set_reachable(True)
    await env.wait(20)

    assert sum(fixture.calls("/raw-messages")) == 30
    assert len(fixture.calls("/raw-messages")) <= 3


async def test_friendtalk_has_image_link_buttons_and_ad_flag(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    buttons = [BUTTON, {"buttonType": "botKeyword", "name": "묻기"}]
    more = {"image": image_body(2000), "imageLink": "https://shop.example/sale", "buttons": buttons}
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, *MANY[:3], adFlag=True, **more))
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, MANY[3], **more))
    await env.wait(10)

    first, *_, last = sorted(fixture.accepted, key=lambda each: each.recipient_no)
    image = fixture.relay.pictures[first.recipient.imageUrl]
    assert (first.recipient.isAd, last.recipient.isAd) == (True, False)
    assert (len(image.body), image.is_wide, first.recipient.imageLink) == (2000, False, more["imageLink"])
    assert [(each.type, each.name, each.linkMo) for each in first.recipient.buttons] == [
        ("WL", "열기", "https://shop.example/1"),
        ("BK", "묻기", None),
    ]
    assert len(fixture.relay.pictures) == 2, "one upload per request"


async def test_emphasized_title_is_filled_in(env: Environment, fixture: NhnCloud) -> None:
    call = await fixture.add_channel(env, title="#{name}님께")
    fixture.relay.add_template(
        SENDER_KEY, "T2", TEMPLATE, templateEmphasizeType="TEXT", templateTitle="#{name}님께"
    )
    await call_ok(call, *send_of("alimTalk", SENDER_KEY, templateCode="T2"))
    await env.wait(10)

    assert [each.recipient.templateTitle for each in fixture.accepted] == ["길동님께"]
    (record,) = await list_messages(call)
    assert (describe_outcome(record), record["subject"]) == ("completed 1000", "길동님께")


async def test_messages_carry_their_own_of_several_shared_pictures(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    sizes = [(3000,), (4000,), (3000,), (4000, 3000, 4000), (3000,)]
    for number, each in zip(MANY, sizes, strict=False):
        await call_ok(call, "message/sendMMS", sms_body(number, images=[image_body(size) for size in each]))
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, MANY[9], image=image_body(3000)))
    await env.wait(20)

    *texts, talk = sorted(fixture.accepted, key=lambda each: each.recipient_no)
    files = {each.number: each.body for each in fixture.relay.attachments.values()}
    sent = [[files[one] for one in each.call.attachFileIdList] for each in texts]
    assert [[len(body) for body in each] for each in sent] == [list(each) for each in sizes]
    bodies = {len(body): body for each in sent for body in each}
    assert len(set(files.values())) == 2
    assert fixture.relay.pictures[talk.recipient.imageUrl].body == bodies[3000]
    kept = await env.store.read(lambda tx: tx.fetch_all("select length(body) from images where length(body) > 0"))
    assert sorted(kept) == [(3000,), (4000,)]


@pytest.mark.settings(friend_talk="compatible")
@pytest.mark.parametrize(
    "kind", ["counselingTalkConversion", "botConversion", "channelAddition", "deliveryTracking"]
)
async def test_friend_talk_with_a_button_that_the_relay_lacks_is_declined(
    kind: str, env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    button = {"buttonType": kind, "name": "누름", "chatExtra": "a", "chatEvent": "b"}
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, PHONE, buttons=[button]))
    await env.wait(10)

    assert await outcomes_for(call) == ["friendTalkText fail 3018"]
    assert not any(each.method == "POST" for each in fixture.relay.calls)


@pytest.mark.settings(friend_talk="compatible")
async def test_label_of_advertising_friend_talk_is_shown_once(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    """The relay puts it in front itself."""
    for content in ("새 소식", "(광고)새 소식", "(광고) 새 소식"):
        await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, content=content, adFlag=True))
    await env.wait(10)

    assert [each.content for each in fixture.accepted] == ["(광고)새 소식"] * 3
    assert {each["content"] for each in await list_messages(call, PHONE)} == {"(광고)새 소식", "(광고) 새 소식"}


async def test_picture_with_too_many_pixels_is_not_uploaded(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    for width in (1000, 1001):
        await call_ok(call, "message/sendMMS", sms_body(f"010-2000-{width}", image=sized_image(width, 10)))
    await env.wait(10)

    assert await outcomes_for(call, "010-2000-1000") == ["mms completed 1000"]
    assert await outcomes_for(call, "010-2000-1001") == ["mms fail 3018"]
    assert len(fixture.relay.attachments) == 1
    assert fixture.anomalies == ["the pixels of images exceed what the relay takes"]
