"""Management pages in a browser: profiles, numbers, operators' pages and the overview."""

import re

import httpx
import pytest
from playwright.sync_api import expect

from pabal.domain.people.user import Role
from tests.browser.test_console import in_each_language_and_screen, send
from tests.fixtures.browser import BrowserEnvironment, check_page
from tests.fixtures.web import PHONE, sms_body

pytestmark = pytest.mark.slow

NO_SUCH = "010-0000-0001"


@pytest.mark.torture
@in_each_language_and_screen
def test_profile_is_registered_with_token_from_simulated_phone(
    env: BrowserEnvironment, language: str, screen: str
) -> None:
    channel = f"@{language}-{screen}-channel"
    number = f"010-6666-{['ko', 'en'].index(language)}{['desktop', 'phone'].index(screen)}11"
    with env.signed_in(language=language, screen=screen) as page:
        page.goto("/console/profiles")
        check_page(page, f"profiles-none-{language}-{screen}")
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
        check_page(page, f"profile-new-{language}-{screen}")
        page.locator("[name=cellphone]").fill(number)
        page.locator("button.main").click()

        expect(page.locator("[role=timer]")).to_have_text(re.compile("^29:"))
        check_page(page, f"profile-token-{language}-{screen}")
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
        check_page(page, f"profiles-{language}-{screen}")
        page.get_by_role("link", name=re.compile(f": {channel}$")).click()
        check_page(page, f"profile-delete-{language}-{screen}")
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


@pytest.mark.torture
@in_each_language_and_screen
def test_created_key_works_in_a_real_request(env: BrowserEnvironment, language: str, screen: str) -> None:
    with env.signed_in(Role.OPERATOR, language=language, screen=screen) as page:
        page.goto("/console/operate")
        check_page(page, f"operate-{language}-{screen}")
        page.goto("/console/operate/accounts")
        check_page(page, f"operate-accounts-{language}-{screen}")
        page.get_by_role("link", name="first", exact=True).last.click()
        page.locator("details.new", has=page.locator("form[action$='/keys']")).locator("summary").click()
        page.locator("form[action$='/keys'] [name=name]").fill("매장")
        page.locator("form[action$='/keys'] [name=rate]").fill("no")
        page.locator("form[action$='/keys'] button.main").click()
        expect(page.locator("#wrong-rate")).to_be_visible()
        check_page(page, f"operate-account-{language}-{screen}")
        page.locator("form[action$='/keys'] [name=rate]").fill("10")
        page.locator("form[action$='/keys'] button.main").click()
        key = page.locator(".secret").inner_text()
        check_page(page, f"operate-key-{language}-{screen}")

        with httpx.Client(base_url=env.live.base_url, headers={"apiKey": key}) as client:
            sent = client.post("/api/message/sendSMS.v1.0", json=sms_body(PHONE)).json()
        assert sent["result"] == "SUCCESS"

        page.locator(".card a.button").click()
        expect(page.get_by_text(key)).to_have_count(0)
        made = page.locator("tr", has_text="매장")
        made.locator("details.ask", has=page.locator("button.danger")).locator("summary").click()
        made.locator("details[open] button.danger").click()
        expect(made.locator("button.danger")).to_have_count(0)  # else the form is still on its way
        expect(page.locator("tbody .state.fail").first).to_be_visible()
        page.goto("/console/operate/settings")
        check_page(page, f"operate-settings-{language}-{screen}")
        page.goto("/console/audit")
        check_page(page, f"operate-audit-{language}-{screen}")


@pytest.mark.torture
@in_each_language_and_screen
def test_numbers_are_registered_and_overview_shows_sent_messages(
    env: BrowserEnvironment, language: str, screen: str
) -> None:
    send(env, PHONE, "010-2222-3333", NO_SUCH)
    with env.signed_in(language=language, screen=screen) as page:
        page.goto("/console/numbers")
        page.locator("[name=number]").fill("02-123-4567")
        page.locator("button.main").click()
        expect(page.get_by_text("02-123-4567")).to_be_visible()
        check_page(page, f"numbers-{language}-{screen}")
        page.get_by_role("link", name=re.compile("02-123-4567")).click()
        check_page(page, f"number-remove-{language}-{screen}")
        page.locator("button.danger").click()
        expect(page).to_have_url(re.compile("/console/numbers$"))
        page.goto("/console")
        assert int(page.locator(".today [data-kind=completed]").inner_text().replace(",", "")) >= 2
        expect(page.locator(".chart").first).to_be_visible()
        page.locator("details summary").first.click()
        check_page(page, f"overview-{language}-{screen}")


@pytest.mark.torture
@in_each_language_and_screen
def test_number_is_erased_after_a_confirmation(env: BrowserEnvironment, language: str, screen: str) -> None:
    number = f"010-6868-{['ko', 'en'].index(language)}{['desktop', 'phone'].index(screen)}22"
    send(env, number)
    with env.signed_in(language=language, screen=screen) as page:
        page.goto("/console/privacy")
        check_page(page, f"privacy-{language}-{screen}")
        page.locator("[name=number]").first.fill(number)
        page.locator("button.main").click()
        expect(page.locator(".facts dd").first).to_have_text("1")
        with page.expect_download() as download:
            page.locator("form[action='/console/privacy/export'] button").click()
        assert number in download.value.path().read_text(encoding="utf-8")
        expect(page.locator("button.danger")).to_be_hidden()
        page.locator(".ask summary").click()
        check_page(page, f"privacy-found-{language}-{screen}")
        page.locator("button.danger").click()
        expect(page.get_by_role("status")).to_be_visible()
        check_page(page, f"privacy-erased-{language}-{screen}")
