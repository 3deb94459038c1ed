"""Sender profiles in a browser: their categories depend on each other, and a countdown runs for the token."""

import re

import pytest
from playwright.sync_api import expect

from tests.fixtures.browser import BrowserEnvironment, Way, check_page, in_both_ways

pytestmark = pytest.mark.slow


@pytest.mark.torture
@in_both_ways
def test_profile_is_registered_with_token_from_simulated_phone(env: BrowserEnvironment, way: Way) -> None:
    channel, number = f"@{way.word}-channel", f"010-6666-{way.digits}11"
    with env.signed_in(way=way) as page:
        page.goto("/console/profiles")
        check_page(page, "profiles-none")
        page.locator("a.main").click()
        page.locator("[name=channelId]").fill(channel)
        expect(page.locator("[name=minor]")).to_be_disabled()
        page.locator("[name=major]").select_option("건강")
        expect(page.locator("[name=minor]")).to_be_enabled()
        page.locator("[name=minor]").select_option("병원")
        page.locator("[name=category]").select_option("00100010001")
        page.locator("[name=cellphone]").fill("119")
        page.locator("button.main").click()
        expect(page.locator("#wrong-cellphone")).to_be_visible()
        expect(page.locator("[name=category]")).to_have_value("00100010001")
        check_page(page, "profile-new")
        page.locator("[name=cellphone]").fill(number)
        page.locator("button.main").click()

        expect(page.locator("[role=timer]")).to_have_text(re.compile("^29:"))
        check_page(page, "profile-token")
        page.locator("[name=token]").fill("000000")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_be_visible()
        page.locator("form[action='/console/profiles/resend'] button").click()
        expect(page.get_by_role("status").first).to_be_visible()
        with page.expect_popup() as popup:
            page.locator("form[action='/console/profiles/resend'] a").click()
        token = re.search(r"[0-9]{6}", popup.value.locator(".bubble.token .text").first.inner_text())
        popup.value.close()
        assert token
        page.locator("[name=token]").fill(token[0])
        page.keyboard.press("Enter")

        expect(page.get_by_role("status")).to_contain_text(channel)
        check_page(page, "profiles")
        page.get_by_role("link", name=re.compile(f": {channel}$")).click()
        check_page(page, "profile-delete")
        page.locator("button.danger").click()
        expect(page).to_have_url(re.compile("/console/profiles$"))
        expect(page.get_by_text(channel)).to_have_count(0)


def test_token_countdown_runs_and_announces_expiry(env: BrowserEnvironment) -> None:
    with env.signed_in() as page:
        page.clock.install()
        page.goto("/console/profiles/new?major=건강&minor=병원&category=00100010001")
        page.locator("[name=channelId]").fill("@countdown")
        page.locator("[name=cellphone]").fill("010-6666-9999")
        page.locator("button.main").click()
        expect(page.locator("[role=timer]")).to_be_visible()
        page.clock.run_for(29 * 60_000 + 5_000)
        expect(page.locator("#countdown-news")).to_be_visible()
        page.clock.run_for(60_000)
        expect(page.locator("[role=timer]")).to_have_text("0:00")
        expect(page.locator("#countdown-news")).to_contain_text("시간이 지났습니다")
