"""Campaigns are sent once, as confirmed, to every valid row of their file."""

from pathlib import Path

import pytest

from pabal.domain.base.codes import Code
from pabal.domain.base.dates import HOUR
from pabal.domain.people.user import Role
from pabal.domain.sends.campaign import CampaignState
from pabal.service.sending.campaigns import campaigns as service
from pabal.store.campaigns import campaigns
from pabal.store.engine.base import StoreUnavailable
from pabal.store.messages import requests
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.console_send import IMAGE, form, talk
from tests.fixtures.console_upload import UPLOAD, get_campaign, send_campaign, shown_version, upload_file
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import NOON, Caller, Environment, VirtualWorld, build_environment, open_store
from tests.fixtures.web import (
    FailingStore,
    approve_template,
    call_ok,
    list_phone_messages,
    set_clock,
    template_body,
)


@pytest.mark.settings(simulator_messages=5000)
async def test_campaign_is_sent_once_to_every_valid_receiver(env: Environment, browser: Browser) -> None:
    rows = "".join(f"010-2000-{number:04},n{number}\n" for number in range(2500))
    address = await upload_file(browser, f"phone,이름\n{rows}")

    first = await send_campaign(browser, address, name="봄 행사")
    second = await send_campaign(browser, address, name="again")
    await env.wait(60)

    assert (first.status, second.status) == (303, 303)
    assert first.location == second.location == address.replace(UPLOAD, "/console/requests")
    assert await count_rows(env, "messages") == 2500
    assert await count_rows(env, "requests") == 3
    campaign = await get_campaign(env, address)
    assert (campaign.name, campaign.requested, campaign.state) == ("봄 행사", 2500, CampaignState.MADE)
    done = [(each.action, each.target) for each in await env.store.read(latest_entries, None, 10)]
    assert done.count(("campaign.send", campaign.id.hex())) == 1
    phone = await browser.get("/console/phone?number=010-2000-1234")
    assert "n1234님, 안녕하세요" in phone.text


async def test_file_replaced_after_confirmation_is_not_sent(env: Environment, browser: Browser) -> None:
    colleague = await signed_in_browser(env, Role.SENDER)
    address = await upload_file(browser, "phone,이름\n010-1111-2222,홍\n")
    seen = await shown_version(browser, address)
    await colleague.upload(f"{address}/file", "phone,이름\n010-9999-8888,김\n".encode())

    late = await browser.submit(f"{address}/send", name="x", seen=seen)
    nothing = await browser.submit(f"{address}/send", name="x")
    await env.wait(20)

    assert (late.status, nothing.status) == (409, 409)
    assert "다른 파일이 올라왔습니다" in late.text
    assert await count_rows(env, "messages") == 0
    again = await browser.submit(f"{address}/send", name="x", seen=await shown_version(browser, address))
    assert again.status == 303


async def test_every_request_of_a_campaign_has_its_lifetime_from_its_own_time(
    env: Environment, browser: Browser
) -> None:
    address = await upload_file(browser, expireMinutes="7")
    await send_campaign(browser, address, later="1", sendDate="2026-11-15T13:00")
    await env.wait(20)

    _, found = await env.store.read(requests.list_by_account, 1, b"\xff" * 13, b"", 10)
    assert [(each.expire_minutes, each.scheduled_at) for each in found.values()] == [(7, NOON + HOUR)]


async def test_campaign_can_be_scheduled_and_invalid_time_is_shown_at_its_field(
    env: Environment, browser: Browser
) -> None:
    address = await upload_file(browser)

    past = await send_campaign(browser, address, later="1", sendDate="2020-01-01T10:00")
    none = await send_campaign(browser, address, later="1", sendDate="")
    unclear = await send_campaign(browser, address, sendDate="2026-11-15T13:00")
    assert (past.status, none.status, unclear.status) == (400, 400, 400)
    assert 'id="wrong-sendDate"' in past.text
    assert (await get_campaign(env, address)).state is CampaignState.CHECKED
    await send_campaign(browser, address, later="1", sendDate="2026-11-15T13:00")
    await env.wait(60)

    assert (await get_campaign(env, address)).scheduled_at == NOON + HOUR
    assert await count_rows(env, "jobs") == 2
    await env.jump(HOUR / 1000)
    assert await count_rows(env, "jobs") == 0


async def test_discarded_campaign_is_not_sent(env: Environment, browser: Browser) -> None:
    address = await upload_file(browser)
    await browser.submit(f"{address.replace('send/upload', 'requests')}/cancel")
    late = await send_campaign(browser, address, name="x")
    await env.wait(20)

    assert late.location == address.replace(UPLOAD, "/console/requests")
    assert await count_rows(env, "messages") == 0
    assert await count_rows(env, "campaign_blocks") == 0


async def test_unavailable_store_leaves_nothing_half_sent(tmp_path: Path) -> None:
    world = VirtualWorld()
    store = FailingStore(open_store(tmp_path, world))
    env = await build_environment(tmp_path, world=world, store=store)
    browser = await signed_in_browser(env)
    address = await upload_file(browser)
    store.write_error = StoreUnavailable()
    away = await send_campaign(browser, address, name="x")
    store.write_error = None
    await env.wait(20)

    assert away.status == 503
    assert (await get_campaign(env, address)).state is CampaignState.CHECKED
    assert await count_rows(env, "messages") == 0
    await env.service.stop()


async def test_halted_campaign_shows_its_reason(env: Environment, browser: Browser) -> None:
    address = await upload_file(browser)
    campaign = await get_campaign(env, address)
    await send_campaign(browser, address, name="x", later="1", sendDate="2026-11-15T13:00")
    told = [Code.PRODUCT_NOT_AVAILABLE.text.ko, Code.PRODUCT_NOT_AVAILABLE.text.en]
    await env.store.write(campaigns.halt, campaign.id, told, env.world.now())
    page = await browser.get(address.replace("send/upload", "requests"))
    assert told[0] in page.text
    assert told[1] not in page.text
    assert "/now" not in page.text, "that cannot be done before it goes on"
    await browser.submit(f"{address.replace('send/upload', 'requests')}/go-on")
    await service.advance_all(env.context)
    assert (await get_campaign(env, address)).state is CampaignState.MADE


@pytest.mark.parametrize("kind", ["sms", "lms", "mms", "alimtalk", "friendtalk"])
async def test_every_kind_of_message_can_be_sent_to_a_file(
    env: Environment, call: Caller, sender_key: str, kind: str
) -> None:
    await approve_template(call, sender_key, content="#{이름}님의 주문이 왔습니다")
    browser = await signed_in_browser(env, Role.SENDER)
    link = {"buttons[0].buttonType": "webLink", "buttons[0].name": "보기"}
    fields = {**talk(kind, sender_key), "content": "#{이름}님", **(IMAGE if kind == "mms" else {})}
    if kind == "friendtalk":
        fields |= {**link, "buttons[0].mobileUrl": "https://shop.example/#{코드}", "adFlag": "1"}
    file = "휴대폰번호,이름,코드\n010-1111-2222,홍길동,a1\n010-3333-4444,,b2\n"
    address = await upload_file(browser, file, **fields)

    sent = await send_campaign(browser, address, name="x")
    await env.wait(10)

    assert sent.status == 303, sent.text
    (message,) = await list_phone_messages(call, "010-1111-2222")
    assert "홍길동님" in message["content"]
    assert message["image"] is (kind == "mms")
    if kind == "friendtalk":
        assert message["content"].startswith("(광고)")
        assert message["buttons"][0]["mobileUrl"] == "https://shop.example/a1"
    assert await list_phone_messages(call, "010-3333-4444") == [], "it has no name"


async def test_campaign_of_advertising_texts_has_the_marks(
    env: Environment, call: Caller, browser: Browser
) -> None:
    file = f"휴대폰번호,이름\n010-1111-2222,홍길동\n010-3333-4444,{'가' * 40}\n"
    fields = form(content="#{이름}님", adFlag="1", optOutNumber="080-123-4567", receivers="", adSender="봄")
    address = await upload_file(browser, file, **fields)
    page = await browser.get(address)

    await send_campaign(browser, address, name="x")
    await env.wait(10)

    (message,) = await list_phone_messages(call, "010-1111-2222")
    assert message["content"] == "(광고)[봄] 홍길동님\n무료거부 0801234567"
    assert await list_phone_messages(call, "010-3333-4444") == [], "it is too long with its marks"
    assert "(광고)[봄] #{이름}님\n무료거부" in page.text


async def test_campaign_with_a_text_that_begins_like_an_advertisement_waits(env: Environment) -> None:
    set_clock(env, "2026-11-15 23:00")
    browser = await signed_in_browser(env)
    rows = [f"010-1111-{number:04},봄" for number in range(1001)]
    file = "\n".join(["휴대폰번호,이름", *rows, "010-3333-4444,(광고)", ""])
    address = await upload_file(browser, file, **form(content="#{이름}", receivers=""))

    refused = await send_campaign(browser, address, name="x")

    assert refused.status == 422
    assert "08:00까지 보낼 수 없습니다" in refused.text


async def test_template_changed_since_validation_halts_the_campaign(
    env: Environment, call: Caller, sender_key: str
) -> None:
    await approve_template(call, sender_key, content="#{이름}님의 주문이 왔습니다")
    browser = await signed_in_browser(env)
    address = await upload_file(browser, "phone,이름\n010-1111-2222,홍\n", **talk("alimtalk", sender_key))
    await call_ok(call, "template/update", template_body(sender_key, content="다른 말 #{이름} #{금액}"))
    await call_ok(call, "template/request", {"senderKey": sender_key, "templateCode": "T1"})

    await send_campaign(browser, address, name="x")
    await env.wait(10)

    campaign = await get_campaign(env, address)
    assert (campaign.state, campaign.reason[0][:2]) == (CampaignState.HALTED, "지금")
    assert await list_phone_messages(call, "010-1111-2222") == []


async def test_night_advertisement_is_refused_at_the_time_field(
    env: Environment, alimtalk_key: str, browser: Browser
) -> None:
    fields = {**talk("friendtalk", alimtalk_key), "adFlag": "1"}
    address = await upload_file(browser, "phone\n010-1111-2222\n", **fields)

    night = await send_campaign(browser, address, later="1", sendDate="2026-11-15T22:00")

    assert night.status >= 400
    assert 'id="wrong-sendDate"' in night.text
    assert (await get_campaign(env, address)).state is CampaignState.CHECKED
