"""Campaigns in a browser: a file with invalid rows is uploaded, sent and followed; another is cancelled."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from pabal.console.sheets.sheet_limits import MAX_FILE_BYTES
from pabal.domain.people.user import Role
from tests.fixtures.browser import BrowserEnvironment, check_page, go_to_file, open_send_page
from tests.fixtures.web import sms_body

pytestmark = pytest.mark.slow

in_each_way = pytest.mark.parametrize(
    ("language", "screen"), [("ko", "desktop"), ("en", "desktop"), ("ko", "phone"), ("en", "phone")]
)
BAD = "010-4000-0001,다시\n12345,누구\n010-4000-9999,\n010-4000-9998,😀\n"


def written(folder: Path, rows: int, bad: str = BAD) -> Path:
    """Write a receiver file with some invalid rows."""
    lines = "".join(f"010-4000-{number:04},고객{number}\n" for number in range(1, rows + 1))
    path = folder / "받는 분.csv"
    path.write_text(f"휴대폰번호,이름\n{lines}{bad}", encoding="utf-8")
    return path


def write_message(page: Page) -> None:
    """Write a message on the send page and continue to its file."""
    open_send_page(page)
    page.locator("[name=sender]").fill("02-1234-5678")
    page.locator("[name=content]").fill("#{이름}님, 봄 행사에 오세요")
    go_to_file(page)


def upload(page: Page, path: Path) -> None:
    """Upload a file and wait until it is checked."""
    page.locator("input[type=file]").set_input_files(path)
    page.locator("#upload-it").click()
    expect(page.locator("#found")).to_be_visible()


@in_each_way
def test_campaign_file_with_invalid_rows_is_uploaded_sent_and_followed(
    env: BrowserEnvironment, tmp_path: Path, language: str, screen: str
) -> None:
    with env.signed_in(language=language, screen=screen) as page:
        write_message(page)
        check_page(page, f"upload-draft-{language}-{screen}")
        upload(page, written(tmp_path, 1500))
        expect(page.locator(".faults tbody tr")).to_have_count(4)
        expect(page.locator(".faults mark").first).to_be_visible()
        counts = [int(each) for each in page.locator(".reasons b").all_inner_texts()]
        assert counts[0] == 4 == sum(counts[1:])
        page.locator(".reasons a").nth(1).click()
        expect(page.locator(".reasons a").nth(1)).to_have_attribute("aria-current", "true")
        expect(page.locator(".faults tbody tr")).to_have_count(counts[1])
        check_page(page, f"upload-checked-{language}-{screen}")
        with page.expect_download() as download:
            page.locator("a[href$='/bad.csv']").first.click()
        assert len(download.value.path().read_text(encoding="utf-8").splitlines()) == 5
        page.locator("[name=name]").fill("봄 행사")
        page.locator("#send-it").click()
        page.wait_for_url(re.compile("/console/requests/[0-9a-f]{26}"))
        check_page(page, f"campaign-{language}-{screen}")
        expect(page.locator(".state.completed")).to_be_visible()
        expect(page.locator(".counts")).to_contain_text("1,500")
        expect(page.locator("#watch")).not_to_have_attribute("hx-get", re.compile("."))
        expect(page.locator("form[action$='/cancel']")).to_have_count(0)
        check_page(page, f"campaign-ended-{language}-{screen}")
        page.goto("/console/requests")
        expect(page.locator("tbody tr").first).to_contain_text("봄 행사")
        check_page(page, f"requests-{language}-{screen}")
        page.goto("/console/texts")
        expect(
            page.locator("td.excerpt", has_text="#{이름}님").first
        ).to_be_visible()  # the text, not only the name


@pytest.mark.torture
def test_scheduled_campaign_is_cancelled_after_confirmation(env: BrowserEnvironment, tmp_path: Path) -> None:
    with env.signed_in() as page:
        write_message(page)
        upload(page, written(tmp_path, 30, ""))
        page.locator("[name=later][value='1']").check()
        page.locator("[name=sendDate]").fill(tomorrow(page))
        page.locator("#send-it").click()
        page.wait_for_url(re.compile("/console/requests/[0-9a-f]{26}"))
        page.locator("details.ask summary").last.click()
        check_page(page, "campaign-ask")
        page.locator("form[action$='/cancel'] button.danger").click()
        expect(page.locator(".state.cancel")).to_be_visible()
        expect(page.locator(".counts")).to_contain_text("취소 30")
        expect(page.locator("form[action$='/cancel']")).to_have_count(0)


@pytest.mark.torture
def test_unusable_campaign_file_is_reported_and_can_be_replaced(env: BrowserEnvironment, tmp_path: Path) -> None:
    with env.signed_in() as page:
        write_message(page)
        wrong = tmp_path / "wrong.csv"
        wrong.write_text("휴대폰번호\n010-1111-2222\n", encoding="utf-8")
        page.locator("input[type=file]").set_input_files(wrong)
        expect(page.locator("#columns [data-needed]")).to_contain_text("이름")
        expect(page.locator("#upload-it")).to_be_disabled()
        check_page(page, "upload-refused")
        large = tmp_path / "large.csv"
        with large.open("wb") as file:
            file.truncate(MAX_FILE_BYTES + 1)
        page.locator("input[type=file]").set_input_files(large)
        page.locator("#upload-it").click()
        expect(page.locator("form[data-upload] .going [role=alert]")).to_contain_text("너무 큽니다")
        upload(page, written(tmp_path, 3, ""))


@pytest.mark.torture
def test_viewer_sees_progress_without_action_buttons(env: BrowserEnvironment) -> None:
    env.call("message/sendSMS", sms_body("010-2000-0199"))
    with env.signed_in(Role.VIEWER) as page:
        page.goto("/console/requests")
        page.locator("tbody a").first.click()
        expect(page.locator("#progress")).to_be_visible()
        expect(page.locator("details.ask")).to_have_count(0)


def tomorrow(page: Page) -> str:
    """Return tomorrow noon in the format of the field."""
    return str(page.evaluate("new Date(Date.now() + 86400000).toISOString().slice(0, 10) + 'T12:00'"))
