"""Campaigns in a browser: a file with invalid rows is uploaded, sent and followed."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from pabal.console.sheets.sheet_limits import MAX_FILE_BYTES
from tests.fixtures.browser import BrowserEnvironment, Way, check_page, csv_file, go_to_file, in_both_ways, write

pytestmark = pytest.mark.slow

GOOD = "".join(f"010-4000-{number:04},고객{number}\n" for number in range(1, 1500)) + "010-0000-0001,없는 번호\n"
BAD = "010-4000-0001,다시\n12345,누구\n010-4000-9999,\n010-4000-9998,😀\n"


def write_message(page: Page) -> None:
    """Write a message on the send page and continue to its file."""
    write(page, "#{이름}님, 봄 행사에 오세요")
    go_to_file(page)


@in_both_ways
def test_campaign_file_with_invalid_rows_is_uploaded_sent_and_followed(env: BrowserEnvironment, way: Way) -> None:
    with env.signed_in(way=way) as page:
        write_message(page)
        check_page(page, "upload-draft")
        rows = csv_file(f"휴대폰번호,이름\n{GOOD}{BAD}", "받는 분.csv")
        page.locator("input[type=file]").set_input_files(rows)
        page.locator("#upload-it").click()
        expect(page.locator(".faults tbody tr")).to_have_count(4)
        expect(page.locator(".faults mark").first).to_be_visible()
        counts = [int(each) for each in page.locator(".reasons b").all_inner_texts()]
        assert counts[0] == 4 == sum(counts[1:])
        page.locator(".reasons a").nth(1).click()
        expect(page.locator(".reasons a").nth(1)).to_have_attribute("aria-current", "true")
        expect(page.locator(".faults tbody tr")).to_have_count(counts[1])
        check_page(page, "upload-checked")
        with page.expect_download() as download:
            page.locator("a[href$='/bad.csv']").first.click()
        assert len(download.value.path().read_text(encoding="utf-8").splitlines()) == 5
        page.locator("[name=name]").fill("봄 행사")
        page.locator("#send-it").click()
        page.wait_for_url(re.compile("/console/requests/[0-9a-f]{26}"))
        page.evaluate("document.body.dataset.same = 'yes'")
        check_page(page, "campaign")
        expect(page.locator(".state.completed")).to_be_visible()
        expect(page.locator(".counts")).to_contain_text("1,499")
        expect(page.locator("#watch")).not_to_have_attribute("hx-get", re.compile("."))
        expect(page.locator("form[action$='/cancel']")).to_have_count(0)
        expect(page.locator("#next a[href*='resend=']")).to_be_visible()
        expect(page.locator("body[data-same=yes]")).to_have_count(1)  # it was not loaded again
        check_page(page, "campaign-ended")
        page.goto("/console/requests")
        expect(page.locator("tbody tr").first).to_contain_text("봄 행사")
        check_page(page, "requests")


@pytest.mark.torture
def test_file_that_is_too_large_is_told_before_it_is_uploaded(env: BrowserEnvironment, tmp_path: Path) -> None:
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with env.signed_in() as page:
        write_message(page)
        page.locator("input[type=file]").set_input_files(large)
        page.locator("#upload-it").click()
        expect(page.locator("form[data-upload] .going [role=alert]")).to_contain_text("너무 큽니다")
