"""What staff do every day, in a browser: send to a group, change a schedule, resend the failed, save a text."""

import re

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.fixtures.browser import BrowserEnvironment, check_page, open_send_page, schedule
from tests.fixtures.web import SENDER

pytestmark = pytest.mark.slow

in_both_ways = pytest.mark.parametrize(("language", "screen"), [("ko", "desktop"), ("en", "phone")])
NOBODY = "010-0000-0001"


def file(rows: str) -> FilePayload:
    return FilePayload(name="contacts.csv", mimeType="text/csv", buffer=rows.encode("cp949"))


def confirm(page: Page) -> None:
    """Review the message and send it."""
    page.locator("#review").click()
    expect(page.locator("#last-look")).to_be_visible()
    page.locator("#send-it").click()
    page.wait_for_url("**/console/send/done/*")


@pytest.mark.torture
@in_both_ways
def test_contacts_are_imported_and_sent_to_as_a_group(env: BrowserEnvironment, language: str, screen: str) -> None:
    prefix = {"ko": "2100", "en": "2200"}[language]
    group = f"단골{prefix}"
    with env.signed_in(language=language, screen=screen) as page:
        page.goto("/console/contacts/file")
        rows = f"고객,연락처,비고\n홍길동,010-{prefix}-0001,a\n김철수,010-{prefix}-0002,b\n"
        page.locator("[name=file]").set_input_files(file(rows))
        expect(page.locator("#columns select")).to_have_count(3)
        page.locator("[name=column0]").select_option("name")
        page.locator("[name=column2]").select_option("")
        check_page(page, f"contacts-import-{screen}")
        page.locator("[name=new_group]").fill(group)
        page.locator("form.card button.main").click()
        expect(page.locator("#result")).to_be_visible()

        page.goto("/console/contacts?q=홍길")
        expect(page.locator(".list tbody tr").filter(has_text=group)).to_have_count(1)
        check_page(page, f"contacts-{screen}")
        page.goto("/console/contacts/groups")
        check_page(page, f"contact-groups-{screen}")
        page.locator("tr").filter(has_text=group).locator("a[href*='/console/send?group=']").click()
        page.locator("[name=sender]").fill(SENDER)
        page.locator("[name=content]").fill("#{이름}님께")
        page.locator("#review").click()
        page.wait_for_url("**/console/send/upload/*")
        expect(page.locator("#first-message")).to_contain_text("홍길동님께")
        check_page(page, f"group-campaign-{screen}")
        page.locator("#send-it").click()
        page.wait_for_url("**/console/requests/*")
        expect(page.locator(".counts").first).to_contain_text("2")


@pytest.mark.torture
@in_both_ways
def test_schedule_is_changed_and_failed_receivers_get_it_again(
    env: BrowserEnvironment, language: str, screen: str
) -> None:
    with env.signed_in(language=language, screen=screen) as page:
        open_send_page(page)
        page.locator("[name=sender]").fill(SENDER)
        page.locator("[name=content]").fill("바뀌기 전")
        page.locator("[name=receivers]").fill(NOBODY)
        schedule(page, "2099-01-01T10:00")
        page.locator("[name=later][value='']").check()
        confirm(page)
        page.locator(".actions a").first.click()
        page.locator("a[href*='?resend=']").click()
        expect(page.locator("[name=receivers]")).to_have_value(NOBODY)
        page.locator("#to-lms").click()
        expect(page.locator("#to-lms")).to_have_attribute("aria-current", "true")
        expect(page.locator("[name=receivers]")).to_have_value(NOBODY)
        page.locator("#save-text > summary").click()
        page.locator("[name=text_name]").fill(f"다시 보낼 말 {language}")
        page.locator("button[formaction='/console/send/save']").click()
        expect(page.locator(".notice[role=status]").first).to_be_visible()
        page.goto("/console/texts")
        check_page(page, f"texts-{screen}")
        row = page.locator("tr").filter(has_text=f"다시 보낼 말 {language}")
        row.locator("a.button").click()
        expect(page).to_have_url(re.compile(r"\?text="))
        expect(page.locator("[name=content]")).to_have_value("바뀌기 전")
