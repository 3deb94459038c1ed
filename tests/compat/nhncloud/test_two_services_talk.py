"""Our own carrier for NHN Cloud delivers messages through the endpoints of a second service, each once."""

from collections import Counter
from pathlib import Path

import pytest

from pabal.domain.sends.message import Product
from tests.carriers.relay.delivery_fixture import MANY, NAMED, outcomes_for, send_of
from tests.fakes.nhncloud.channel import SENDER_KEY
from tests.fixtures.brand_bodies import BRAND_BODIES, brand_body, sized_image
from tests.fixtures.relay_delivery import OPT_OUT
from tests.fixtures.two_services import TwoServices
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    BUTTON,
    FALLBACK,
    NO_USER,
    alimtalk_body,
    call_ok,
    friendtalk_body,
    image_body,
    list_messages,
    receivers_of,
    sms_body,
)

pytestmark = pytest.mark.slow
KINDS = ["sms", "alimTalk", "friendTalkText", "brandMessage"]


@pytest.fixture
def services(tmp_path: Path) -> TwoServices:
    return TwoServices(tmp_path)


async def received_by(env: Environment, number: str) -> list[tuple[str, str]]:
    """Return kind and text of what a second service has of a receiver, oldest first."""
    call = await env.caller()
    rows = reversed(await list_messages(call, number))
    return [(row["messageProductType"]["value"], row["content"]) for row in rows]


async def count_by_receiver(env: Environment) -> Counter[int]:
    rows = await env.store.read(lambda tx: tx.fetch_all("select receiver from messages"))
    return Counter(row[0] for row in rows)


async def test_texts_of_every_kind_are_delivered_as_they_are(services: TwoServices) -> None:
    async with services.running() as (first, second):
        call = await first.caller()
        literal = {"content": "#{a} #", "receivers": receivers_of(MANY[1], templateData={"a": "#{b} 그대로"})}
        code = {"content": "인증번호 123456", "purpose": "code"}
        sent = [
            ("SMS", sms_body(MANY[0])),
            ("SMS", sms_body(**literal)),
            ("LMS", sms_body(MANY[2], subject="제목", content="긴 글" * 100)),
            ("MMS", sms_body(MANY[3], image=image_body(40_000))),
            ("SMS", sms_body(MANY[4], adFlag=True, optOutNumber=OPT_OUT)),
            ("LMS", sms_body(MANY[5], adFlag=True, optOutNumber=OPT_OUT)),
            ("SMS", sms_body(MANY[6], **code)),
        ]
        for kind, body in sent:
            await call_ok(call, f"message/send{kind}", body)
        await first.wait(60)
        rows = await second.store.read(
            lambda tx: tx.fetch_all("select product, is_ad, is_code, count(*) from requests group by 1, 2, 3")
        )

        for number, (kind, _) in zip(MANY, sent, strict=False):
            assert await outcomes_for(call, number) == [f"{kind.lower()} completed 1000"]
        assert await received_by(second, MANY[1]) == [("sms", "#{b} 그대로 #")]
        assert {tuple(map(int, row)) for row in rows} == {
            *((Product.SMS.number, 0, 0, 2), (Product.LMS.number, 0, 0, 1), (Product.MMS.number, 0, 0, 1)),
            *((Product.SMS.number, 1, 0, 1), (Product.LMS.number, 1, 0, 1), (Product.SMS.number, 0, 1, 1)),
        }
    assert services.wire.differences == []


async def test_alimtalk_is_delivered_to_the_receipt(services: TwoServices) -> None:
    async with services.running(title="#{name}님께") as (first, second):
        call = await first.caller()
        for number, code in ((MANY[0], "T1"), (MANY[1], "T2")):
            await call_ok(call, *send_of("alimTalk", SENDER_KEY, number, templateCode=code))
        codes = alimtalk_body(SENDER_KEY, receivers=receivers_of(MANY[2], templateData={"name": "인증번호 12"}))
        await call_ok(call, "message/sendAlimtalk", {**codes, "purpose": "code"})
        await call_ok(call, *send_of("alimTalk", SENDER_KEY, NO_USER, **FALLBACK))
        await first.wait(60)

        for number in MANY[:3]:
            assert await outcomes_for(call, number) == ["alimTalk completed 1000"]
        assert await outcomes_for(call, NO_USER) == ["alimTalk fail 3019", "sms completed 1000"]
        assert await received_by(second, MANY[1]) == [("alimTalk", "배송이 시작되었습니다. 길동님")]
        assert [kind for kind, _ in await received_by(second, NO_USER)] == ["alimTalk", "sms"]
        assert any("auth/raw-messages" in each for each in services.wire.calls)
    assert services.wire.differences == []


async def test_friend_talk_is_delivered_with_pictures(services: TwoServices) -> None:
    async with services.running() as (first, second):
        call = await first.caller()
        more = {"image": image_body(2000), "imageLink": "https://shop.example/sale", "buttons": [BUTTON]}
        await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, *MANY[:2], adFlag=True, **more))
        await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, MANY[2]))
        wide = {"image": image_body(), "messageType": "friendTalkWideImage"}
        await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, MANY[3], **wide))
        failing = friendtalk_body(SENDER_KEY, NO_USER, adFlag=True, **FALLBACK)
        await call_ok(call, "message/sendFriendtalk", failing)
        await first.wait(60)

        kinds = ["friendTalkImage", "friendTalkImage", "friendTalkText", "friendTalkWideImage"]
        for number, kind in zip(MANY, kinds, strict=False):
            assert await outcomes_for(call, number) == [f"{kind} completed 1000"]
            assert [each for each, _ in await received_by(second, number)] == [kind]
        outcomes = await outcomes_for(call, NO_USER)
        assert outcomes[0] == "friendTalkText fail 3019"
        assert outcomes[1].endswith("completed 1000")
    assert services.wire.differences == []


async def test_brand_messages_of_every_type_are_delivered(services: TwoServices) -> None:
    async with services.running() as (first, second):
        call = await first.caller()
        for number, body in zip(MANY, BRAND_BODIES.values(), strict=False):
            receivers = [{**each, "phoneNumber": number} for each in body["receivers"][:1]]
            picture = {"image": sized_image(800, 400)} if "image" in body else {}
            given = {**body, **picture, "senderKey": SENDER_KEY, "receivers": receivers}
            await call_ok(call, "message/sendBrandMessage", given)
        plain = brand_body(SENDER_KEY, MANY[98], targeting="M", optOutNumber="080-123-4567", pushAlarm=False)
        template = {"senderKey": SENDER_KEY, "templateCode": "B1", "receivers": receivers_of(MANY[99], **NAMED)}
        for body in (plain, template, brand_body(SENDER_KEY, NO_USER, **FALLBACK)):
            await call_ok(call, "message/sendBrandMessage", body)
        await first.wait(1000)

        for number in (*MANY[: len(BRAND_BODIES)], *MANY[98:100]):
            assert await outcomes_for(call, number) == ["brandMessage completed 1000"], number
            assert [kind for kind, _ in await received_by(second, number)] == ["brandMessage"]
        outcomes = await outcomes_for(call, NO_USER)
        assert outcomes[0] == "brandMessage fail 3019"
        assert outcomes[1].endswith("completed 1000")
    assert services.wire.differences == []


async def send_all(call: Caller, kind: str, size: int) -> None:
    """Send messages of a kind to forty receivers, so many each."""
    for place in range(0, 40, size):
        await call_ok(call, *send_of(kind, SENDER_KEY, *MANY[place : place + size]))


async def check_each_arrived_once(call: Caller, second: Environment, kind: str) -> None:
    for number in MANY[:40]:
        assert await outcomes_for(call, number) == [f"{kind} completed 1000"]
    found = await count_by_receiver(second)
    assert (len(found), set(found.values())) == (40, {1})


@pytest.mark.first_case
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [4, 1])
async def test_lost_calls_and_answers_lose_and_double_nothing(services: TwoServices, kind: str, size: int) -> None:
    async with services.running() as (first, second):
        call = await first.caller()
        services.wire.lost_answers, services.wire.lost_calls = 3, 2
        await send_all(call, kind, size)
        await first.wait(600)

        await check_each_arrived_once(call, second, kind)
        assert services.wire.lost_calls == 0
        assert services.wire.lost_answers < 3


@pytest.mark.first_case
@pytest.mark.parametrize("who", ["first", "second"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [4, 1])
async def test_a_kill_in_between_loses_and_doubles_nothing(
    services: TwoServices, kind: str, who: str, size: int
) -> None:
    async with services.running() as (first, second):
        call = await first.caller()
        await send_all(call, kind, size)
        await first.wait(0.08)  # calls are on their way
        if who == "first":
            await first.crash()
            services.live.append(await services.start_first())
            call = await services.live[-1].caller()
        else:
            services.wire.second = None
            await second.crash()
            await first.wait(30)
            second = await services.start_second()
        await first.wait(900)

        await check_each_arrived_once(call, second, kind)
