"""Profiles and templates at Solapi, through the provider and from the API to the first Alimtalk."""

from collections.abc import Awaitable
from typing import Any

import pytest

from pabal.carriers.provider import ProviderOutcomeUnknown, ProviderUnavailable
from pabal.carriers.solapi.client import SolapiClient
from pabal.carriers.solapi.provider import SolapiProvider
from pabal.domain.base.codes import Code, Refused
from pabal.domain.content.button import Button
from pabal.domain.content.image import Image
from pabal.domain.kakao.profile import Registration, Suspension
from pabal.domain.kakao.template import ReviewDecision, TemplateContent, TemplateStatus
from pabal.domain.kakao.template_parts import ItemEntry, ItemHighlight, TemplateParts, represent_link
from tests.carriers.conformance import virtual_clock
from tests.carriers.relay.delivery_fixture import outcomes_for
from tests.fakes.relay_server import RelayTransport
from tests.fakes.solapi.server import FakeSolapi
from tests.fixtures.relay import template_body
from tests.fixtures.solapi import Solapi
from tests.fixtures.virtual import Environment, VirtualWorld
from tests.fixtures.web import PHONE, alimtalk_body, call_ok, channel_body, receivers_of

CATEGORY = "00100010001"
SHOP = Registration("@shop", CATEGORY, "01012345678")
WELCOME = TemplateContent("환영", "#{이름}님, 환영합니다.", "999999")
CHANGED = WELCOME._replace(content="#{이름}님, 어서 오세요.")
JPEG = Image("image/jpeg", "picture.jpg", b"\xff\xd8\xff\xe0" + bytes(100))


@pytest.fixture
def relay() -> FakeSolapi:
    """A server in which no review is decided by itself."""
    return FakeSolapi(virtual_clock, seed=1, review_after_s=None)


@pytest.fixture
def known(relay: FakeSolapi) -> str:
    """The key of a channel that the server has."""
    return relay.add_channel("@known").channel_id


@pytest.fixture
def provider(relay: FakeSolapi, known: str) -> SolapiProvider:
    transport = RelayTransport(relay)
    keys = (relay.api_key, relay.api_secret)
    return SolapiProvider(SolapiClient("http://127.0.0.1", *keys, VirtualWorld(), transport=transport), 5.0)


async def refusal(call: Awaitable[Any]) -> Refused:
    with pytest.raises(Refused) as refused:
        await call
    return refused.value


async def test_channel_is_registered_by_its_token(relay: FakeSolapi, provider: SolapiProvider, known: str) -> None:
    await provider.register_profile(1, SHOP, None)
    assert (await refusal(provider.verify_token(SHOP, "none"))).code is Code.TOKEN_INVALID
    assert await provider.find_profile("@shop") is None
    key = await provider.verify_token(SHOP, relay.last_token)

    assert relay.channels[key].category == CATEGORY
    found = await provider.find_profile("@shop")
    assert found is not None
    assert (found.sender_key, await provider.get_profile(key)) == (key, found)
    assert {each.channel_id for each in await provider.list_profiles()} == {"@known", "@shop"}
    assert (await refusal(provider.register_profile(1, SHOP, None))).code is Code.DUPLICATE
    for _ in range(2):
        await provider.delete_profile(key)
    assert await provider.get_profile(key) is None


async def test_lists_are_read_page_by_page(relay: FakeSolapi, provider: SolapiProvider, known: str) -> None:
    relay.behavior.max_limit = 2
    for number in range(5):
        relay.add_channel(f"@shop{number}")
        relay.add_template(known, f"[T{number}] 글", "글")

    assert len(await provider.list_profiles()) == 6
    assert {each.code for each in await provider.list_templates(known)} == {f"T{each}" for each in range(5)}


async def test_template_is_submitted_once_and_reviewed(
    relay: FakeSolapi, provider: SolapiProvider, known: str
) -> None:
    for _ in range(2):
        assert await provider.submit_template(known, "welcome", WELCOME, None) is None
    (row,) = relay.templates.values()
    assert (row.fields["name"], row.status) == ("[welcome] 환영", "INSPECTING")
    other = await refusal(provider.submit_template(known, "welcome", CHANGED, None))
    assert other.code is Code.INVALID_STATE
    relay.decide("[welcome] 환영", is_approved=True)

    assert await provider.submit_template(known, "welcome", WELCOME, None) == ReviewDecision(True)
    found = await provider.get_template(known, "welcome")
    assert found is not None
    assert (found.code, found.content, found.status) == ("welcome", WELCOME, TemplateStatus.APPROVED)
    assert await provider.get_template_change(known, "welcome") is None


async def test_change_of_an_approved_template_is_a_new_version(
    relay: FakeSolapi, provider: SolapiProvider, known: str
) -> None:
    await provider.submit_template(known, "welcome", WELCOME, None)
    relay.decide("[welcome] 환영", is_approved=True)
    await provider.submit_template(known, "welcome", CHANGED, None)
    (listed,) = await provider.list_templates(known)
    change = await provider.get_template_change(known, "welcome")
    assert change is not None
    assert (listed.content, change.content, change.status) == (WELCOME, CHANGED, TemplateStatus.INSPECTING)
    relay.decide("[welcome/2] 환영", is_approved=True)

    (listed,) = await provider.list_templates(known)
    assert (listed.content, listed.status) == (CHANGED, TemplateStatus.APPROVED)
    assert await provider.get_template_change(known, "welcome") is None


async def test_rejected_template_says_why_and_is_submitted_again(
    relay: FakeSolapi, provider: SolapiProvider, known: str
) -> None:
    await provider.submit_template(known, "welcome", WELCOME, None)
    relay.decide("[welcome] 환영", is_approved=False, comment="광고입니다")
    rejected = await provider.get_template(known, "welcome")
    assert rejected is not None
    assert (rejected.status, rejected.comment) == (TemplateStatus.REJECTED, "광고입니다")
    await provider.submit_template(known, "welcome", CHANGED, None)

    found = await provider.get_template(known, "welcome")
    assert found is not None
    assert (found.content, found.status) == (CHANGED, TemplateStatus.INSPECTING)
    await provider.delete_template(known, "welcome")
    assert [row.status for row in relay.templates.values()] == ["INSPECTING"]


async def test_template_whose_review_was_not_requested_is_changed_and_submitted(
    relay: FakeSolapi, provider: SolapiProvider, known: str
) -> None:
    relay.inject_fault("system error", "/inspection")
    with pytest.raises(ProviderOutcomeUnknown):
        await provider.submit_template(known, "welcome", WELCOME, None)
    waiting = await provider.get_template(known, "welcome")
    assert waiting is not None
    assert waiting.status is TemplateStatus.REGISTERED
    await provider.submit_template(known, "welcome", CHANGED, None)

    (row,) = relay.templates.values()
    assert (row.status, row.fields["content"]) == ("INSPECTING", CHANGED.content)


@pytest.mark.parametrize("subtitle_field", ["emphasizeSubtitle", "emphasizeSubTitle"])
async def test_all_parts_of_a_template_come_back(
    relay: FakeSolapi, provider: SolapiProvider, known: str, subtitle_field: str
) -> None:
    relay.behavior.subtitle_field = subtitle_field
    whole = WELCOME._replace(
        message_type="extraInfo",
        more_info="더 알아보기",
        emphasis_type="text",
        emphasis_title="환영합니다",
        emphasis_assist_phrase="새 회원",
        is_security_template=True,
        buttons=(
            Button("webLink", "열기", mobile_url="https://shop.example", target="out"),
            Button("counselingTalkConversion", "상담", chat_extra="주문"),
            Button("appLink", "앱", android_url="shop://a", ios_url="shop://i"),
            Button("deliveryTracking", "배송 조회"),
        ),
    )
    await provider.submit_template(known, "whole", whole, None)
    await provider.submit_template(
        known, "picture", WELCOME._replace(emphasis_type="image", image_name="picture.jpg"), JPEG
    )
    found = await provider.get_template(known, "whole")

    assert found is not None
    assert found.content == whole
    (row,) = (each for each in relay.templates.values() if each.fields["name"] == "[whole] 환영")
    assert row.fields["buttons"][0]["targetOut"] is True
    (file,) = relay.files.values()
    assert (file.type, file.body) == ("ATA", JPEG.body)


async def test_templates_of_the_console_have_their_id_as_code_and_may_be_unusable(
    relay: FakeSolapi, provider: SolapiProvider, known: str
) -> None:
    plain = relay.add_template(known, "콘솔에서 만든 글", "안녕하세요")
    relay.add_template(known, "목록형", "안녕", emphasizeType="ITEM_LIST", header="영수증")
    relay.add_template(known, "바로연결", "안녕", quickReplies=[{"name": "예", "linkType": "BK"}])
    relay.add_template(known, "새 바로연결", "안녕", quickReplies=[{"name": "예", "linkType": "XX"}])
    relay.add_template(known, "새 유형", "안녕", emphasizeType="XX")

    found = {each.content.name: each for each in await provider.list_templates(known)}
    assert found["콘솔에서 만든 글"].code == plain.template_id
    assert {name: each.suspension for name, each in found.items()} == {
        "콘솔에서 만든 글": None,
        "목록형": None,
        "바로연결": None,
        "새 바로연결": Suspension.OTHER_BUTTON,
        "새 유형": Suspension.UNREADABLE,
    }
    assert found["목록형"].content.parts == TemplateParts(header="영수증")
    assert found["바로연결"].content.parts == TemplateParts(quick_replies=(Button("botKeyword", "예"),))
    one = await provider.get_template(known, plain.template_id)
    assert one == found["콘솔에서 만든 글"]


async def test_item_list_with_a_thumbnail_comes_back(
    relay: FakeSolapi, provider: SolapiProvider, known: str
) -> None:
    thumbnail = await provider.upload_thumbnail(JPEG)
    parts = TemplateParts(
        "#{이름}님 영수증",
        ItemHighlight("#{금액}원", "결제 완료", thumbnail),
        (ItemEntry("상품", "#{상품}"), ItemEntry("배송", "내일")),
        ItemEntry("합계", "#{금액}원"),
        None,
        (Button("webLink", "조회", mobile_url="https://shop.example/#{상품}"), Button("botKeyword", "문의")),
    )
    receipt = WELCOME._replace(emphasis_type="itemList", parts=parts)
    await provider.submit_template(known, "receipt", receipt, JPEG)
    found = await provider.get_template(known, "receipt")

    assert found is not None
    assert provider.is_same_content(receipt, found.content)
    assert not provider.is_same_content(receipt, receipt._replace(parts=parts._replace(summary=None)))
    (row,) = relay.templates.values()
    assert {row.fields["highlight"]["imageId"], row.fields["imageId"]} == set(relay.files)
    assert found.content.parts.items == parts.items
    elsewhere = parts._replace(highlight=ItemHighlight("#{금액}원", "결제 완료", "https://elsewhere.example/a.jpg"))
    assert provider.is_same_content(receipt._replace(parts=elsewhere), found.content)


async def test_newer_one_of_two_templates_with_one_name_counts(
    relay: FakeSolapi, provider: SolapiProvider, known: str
) -> None:
    newer, older = (relay.add_template(known, "[welcome] 환영", text) for text in ("새 글", "옛 글"))
    older.created_at -= 1000

    (listed,) = await provider.list_templates(known)
    found = await provider.get_template(known, "welcome")
    assert found is not None
    assert {listed.content.content, found.content.content} == {newer.fields["content"]}


@pytest.mark.parametrize("field", ["imageLink", "representLink", "itemHighlight.imageUrl", "buttons"])
async def test_template_with_parts_that_it_cannot_have_is_refused(
    field: str, relay: FakeSolapi, provider: SolapiProvider, known: str
) -> None:
    contents = {
        "imageLink": WELCOME._replace(image_link="https://a"),
        "representLink": WELCOME._replace(
            parts=TemplateParts(link=represent_link({"mobile_url": "https://a.example"}))
        ),
        "itemHighlight.imageUrl": WELCOME._replace(
            parts=TemplateParts(highlight=ItemHighlight("금액", "완료", "https://elsewhere.example/a.jpg"))
        ),
        "buttons": WELCOME._replace(buttons=(Button("phoneCall", "전화"),)),
    }
    content = contents[field]
    refused = await refusal(provider.submit_template(known, "welcome", content, None))

    assert (refused.code, refused.problems[0].field) == (Code.INVALID_PARAMETER, field)
    assert relay.templates == {}
    if field in ("representLink", "buttons"):
        assert not provider.is_same_content(content, WELCOME)


async def test_failures_of_the_relay_are_told_apart(relay: FakeSolapi, provider: SolapiProvider) -> None:
    for fault, expected in (
        ("refuse", ProviderUnavailable),
        ("throttle", ProviderUnavailable),
        ("lose answer", ProviderOutcomeUnknown),
        ("unavailable", ProviderOutcomeUnknown),
        ("garbage", ProviderOutcomeUnknown),
    ):
        relay.inject_fault(fault, "GET")
        assert type(await refusal(provider.list_profiles())) is expected
    relay.api_key = "another"
    closed = await refusal(provider.list_profiles())
    assert isinstance(closed, ProviderUnavailable)
    assert closed.reason == "Solapi says InvalidAPIKey"


async def test_categories_are_those_of_the_relay(provider: SolapiProvider) -> None:
    found = await provider.list_categories()

    assert CATEGORY in {each.code for each in found.profiles}
    assert "999999" in {each.code for each in found.templates}


@pytest.mark.slow
async def test_first_alimtalk_from_registration_to_delivery(env: Environment, fixture: Solapi) -> None:
    relay = fixture.relay
    relay.channels.clear()
    call = await env.caller()
    await env.wait(40)
    body = channel_body(category=CATEGORY)
    await call_ok(call, "sender/create", body)
    await call_ok(call, "sender/auth", {"channelId": body["channelId"], "token": relay.last_token})
    (key,) = relay.channels
    content = template_body(key, category="999999", content="#{name}님, 환영합니다.")
    await call_ok(call, "template/create", content)
    code = {"senderKey": key, "templateCode": content["templateCode"]}
    await call_ok(call, "template/request", code)
    await env.wait(40)
    receivers = receivers_of(PHONE, templateData={"name": "길동"})
    await call_ok(
        call,
        "message/sendAlimtalk",
        alimtalk_body(key, templateCode=content["templateCode"], receivers=receivers),
    )
    await env.wait(10)

    assert await outcomes_for(call) == ["alimTalk completed 1000"]
    assert [each.text for each in fixture.accepted] == ["길동님, 환영합니다."]
