"""What an account's preferences do on the send page: LMS by itself, fallbacks by default; and what a send costs."""

import re
from decimal import Decimal

import pytest

from pabal.console.send.summary import estimate_cost
from pabal.domain.sends.message import Product
from tests.fixtures.console import Browser
from tests.fixtures.console_send import errors, form, preview, review, send, talk
from tests.fixtures.console_upload import get_campaign, page_text, upload_file
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, register_channel

LONG = "가" * 46
UPGRADED = "LMS로 발송합니다"


async def test_text_too_long_for_sms_is_sent_as_lms_where_owners_want_it(call: Caller, browser: Browser) -> None:
    refused = await review(browser, form(content=LONG))
    await browser.submit("/console/preferences", lms="1")

    typing = await preview(browser, form(content=LONG))
    shown = await review(browser, form(content=LONG))
    sent = await send(browser, form(content=LONG))
    short = await preview(browser, form(content="짧은 글"))
    much_too_long = await review(browser, form(content="가" * 1001))

    assert (refused.status, "content" in errors(refused)) == (400, True)
    assert UPGRADED in page_text(typing)
    assert "offer-lms" not in typing.text
    assert UPGRADED in page_text(shown)
    assert "장문(LMS)" in page_text(shown)
    assert 'name="kind" value="sms"' in shown.text, "what is typed stays an SMS: it may become shorter"
    found = await call_ok(call, "message/request", query={"requestId": sent})
    assert found.item["messageProductType"]["value"] == "lms"
    assert UPGRADED not in page_text(short)
    assert (much_too_long.status, "content" in errors(much_too_long)) == (400, True)


async def test_one_long_value_makes_all_of_a_send_lms(browser: Browser) -> None:
    await browser.submit("/console/preferences", lms="1")
    lines = f"010-1111-2222, 가\n010-3333-4444, {LONG}"
    shown = await review(browser, form(content="#{이름}님", receivers=lines))
    assert UPGRADED in page_text(shown)
    assert "2명에게 발송" in page_text(shown)


async def test_campaign_with_a_long_text_becomes_lms_before_its_file(env: Environment, browser: Browser) -> None:
    await browser.submit("/console/preferences", lms="1")
    address = await upload_file(browser, content=f"#{{이름}}님 {LONG}")
    short = await upload_file(browser)

    assert (await get_campaign(env, address)).kind == "lms"
    assert "장문(LMS)" in page_text(await browser.get(address))
    assert (await get_campaign(env, short)).kind == "sms"


async def test_new_alimtalk_begins_with_the_fallback_that_owners_want(alimtalk_key: str, browser: Browser) -> None:
    checked = re.compile(r'name="resend" value="1" checked')
    before = await browser.get("/console/send?kind=alimtalk")
    await browser.submit("/console/preferences", fallback="1", fallback_number="02-1234-5678")

    new = await browser.get("/console/send?kind=alimtalk")
    switched = await browser.submit("/console/send/form", **form(to="alimtalk"))
    off = talk("alimtalk", alimtalk_key, resendPhoneNumber="02-1234-5678", to="alimtalk")
    turned_off = await browser.submit("/console/send/form", **off)
    await browser.submit("/console/send/discard")
    other = await browser.get("/console/send?kind=friendtalk")

    assert not checked.search(before.text)
    assert checked.search(new.text)
    assert 'value="02-1234-5678"' in new.text
    assert checked.search(switched.text)
    assert not checked.search(turned_off.text), "what was turned off stays off"
    assert not checked.search(other.text)


async def test_new_alimtalk_begins_with_a_profile_that_has_a_template(
    call: Caller, alimtalk_key: str, browser: Browser
) -> None:
    other = await register_channel(call, channelId="@newer", cellphone="010-9999-1111")
    talk_page = await browser.get("/console/send?kind=friendtalk")
    alimtalk_page = await browser.get("/console/send?kind=alimtalk")
    assert f'value="{other}" selected' in talk_page.text, "the newest channel is the first"
    assert f'value="{alimtalk_key}" selected' in alimtalk_page.text


@pytest.mark.settings(prices={"sms": Decimal("9.5"), "alimTalk": Decimal(6)})
async def test_cost_is_shown_before_sending_where_there_are_prices(env: Environment, browser: Browser) -> None:
    shown = await review(browser, form(receivers="010-1111-2222\n010-3333-4444\n010-5555-6666"))
    lms = await review(browser, form("lms"))
    address = await upload_file(browser)
    assert "예상 비용 28.5원 (1건 9.5원)" in page_text(shown)
    assert "예상 비용" not in page_text(lms), "it has no price"
    assert "예상 비용 19원 (1건 9.5원)" in page_text(await browser.get(address))
    policy = env.context.policy
    most = estimate_cost(policy, {Product.ALIMTALK: 1000}, Product.SMS)
    assert most == ("6,000", "6", "9,500", ()), "every message could fail, and its fallback be sent instead"
    assert estimate_cost(policy, {Product.ALIMTALK: 10}, Product.LMS) == ("60", "6", "", ())
