"""Files of campaigns: rows are validated by the rules of the API, and errors are shown by row."""

import re

import pytest

from pabal.console.sheets.sheet_limits import MAX_FILE_BYTES
from pabal.domain.sends.campaign import CampaignState
from pabal.store.campaigns import campaign_list, campaigns
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.console_upload import LIST, UPLOAD, create_campaign, get_campaign, page_text, upload_file
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Environment


async def test_file_is_validated_and_errors_are_shown_by_row(env: Environment, browser: Browser) -> None:
    address = await upload_file(browser)

    campaign = await get_campaign(env, address)
    assert (campaign.state, campaign.file_name) == (CampaignState.CHECKED, "list.csv")
    assert (campaign.receivers, campaign.invalid_rows, campaign.duplicates) == (2, 4, 1)
    assert campaign.unused_columns == ("메모",)
    faults = await env.store.read(campaign_list.list_invalid_rows, campaign.id, 0, 100)
    assert [(each.number, each.reason[1]) for each in faults] == [
        (4, "The same number is in row 2."),
        (5, "It is not a Korean mobile number."),
        (6, "Without a value: 이름."),
        (7, "The text contains characters that cannot be sent. Characters: 😀 (U+1F600)"),
    ]
    page = await browser.get(address)
    assert "2행과 같은 번호입니다." in page.text
    assert "2명에게 발송" in page.text
    assert "메모" in page.text


async def test_invalid_rows_can_be_downloaded_corrected_and_uploaded_again(
    env: Environment, browser: Browser
) -> None:
    address = await upload_file(browser, LIST.replace("누구", "=cmd()"))

    file = await browser.get(f"{address}/bad.csv")

    assert file.headers["content-type"] == "text/csv; charset=utf-8"
    lines = file.text.splitlines()
    assert lines[0] == "\ufeff행,휴대폰번호,이름,메모,사유"
    assert lines[2].startswith("5,12345,'=cmd(),d,")
    mended = file.text.replace("12345", "010-9999-0000")
    again = await browser.upload(f"{address}/file", mended.encode())
    assert again.status == 303
    assert (await get_campaign(env, address)).receivers == 2


async def test_duplicates_can_be_included(env: Environment) -> None:
    address = await upload_file(await signed_in_browser(env), once="")
    campaign = await get_campaign(env, address)
    assert (campaign.receivers, campaign.duplicates, campaign.invalid_rows) == (3, 1, 3)


async def test_rows_with_formula_errors_are_invalid(env: Environment) -> None:
    file = "phone,이름,메모\n010-1111-2222,#N/A,a\n#REF!,홍,b\n010-3333-4444,김,#N/A\n"
    address = await upload_file(await signed_in_browser(env), file)

    campaign = await get_campaign(env, address)
    faults = await env.store.read(campaign_list.list_invalid_rows, campaign.id, 0, 100)
    assert campaign.receivers == 1, "what nothing asks for is no matter"
    assert [(each.number, each.reason[1]) for each in faults] == [
        (2, "A formula shows the error #N/A."),
        (3, "A formula shows the error #REF!."),
    ]


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("", "The file is empty"),
        ("휴대폰번호\n010-1111-2222\n", "There is no column for: 이름"),
        ("010-1111-2222,홍\n", "must name the columns"),
        (b"\xd0\xcf\x11\xe0", "old Excel format"),
        (b"PK\x03\x04", "cannot be read"),
    ],
    ids=["empty", "no column", "no names", "xls", "broken"],
)
async def test_unusable_file_is_refused_and_can_be_replaced(
    env: Environment, browser: Browser, file: bytes | str, said: str
) -> None:
    await browser.submit("/console/language", language="en", next="/console/history")
    address = await upload_file(browser, file)

    page = await browser.get(address)

    assert said in page_text(page)
    assert (await get_campaign(env, address)).state is CampaignState.DRAFT
    await browser.upload(f"{address}/file", LIST.encode())
    assert (await get_campaign(env, address)).state is CampaignState.CHECKED


async def test_oversized_file_is_refused_before_reading(env: Environment, browser: Browser) -> None:
    address = await create_campaign(browser)
    assert (await browser.upload(f"{address}/file", b"x" * (MAX_FILE_BYTES + 1))).status == 413
    assert (await get_campaign(env, address)).state is CampaignState.DRAFT


async def test_invalid_message_creates_no_campaign(env: Environment, browser: Browser) -> None:
    for fields in ({"content": ""}, {"content": "가" * 46}, {"sender": "123"}, {"kind": "alimtalk"}):
        given = {"kind": "sms", "sender": "02-1234-5678", "content": "안녕", **fields}
        assert (await browser.submit(UPLOAD, **given)).status in (400, 404), fields
    assert await count_rows(env, "campaigns") == 0


async def test_second_file_is_refused_while_another_is_being_validated(env: Environment, browser: Browser) -> None:
    address = await create_campaign(browser)
    campaign = await get_campaign(env, address)
    now = env.world.now()
    assert await env.store.write(campaigns.begin_reading, campaign.id, "a", True, now, now)

    second = await browser.upload(f"{address}/file", LIST.encode())
    seen = await browser.get(f"{address}/progress?seen=0")
    await env.wait(61)
    stale = await browser.get(address)
    shown = re.search(r'progress\?seen=([0-9]+-)"', stale.text)
    assert shown
    still = await browser.get(f"{address}/progress?seen={shown[1]}")
    before = await browser.get(f"{address}/progress?seen={shown[1][:-1]}")
    assert (still.headers.get("hx-refresh"), before.headers.get("hx-refresh")) == (None, "true")
    third = await browser.upload(f"{address}/file", LIST.encode())

    assert (second.status, third.status) == (409, 303)
    assert "<progress" in seen.text
    assert "중단되었습니다" in stale.text
    assert not await env.store.write(
        campaigns.add_findings, campaign.id, campaigns.FileFindings(None, (), 0), now, env.world.now()
    ), "whoever was given up adds nothing any more"


async def test_progress_reloads_the_page_at_the_end(env: Environment, browser: Browser) -> None:
    address = await upload_file(browser)
    campaign = await get_campaign(env, address)

    before = await browser.get(f"{address}/progress?seen=0")
    after = await browser.get(f"{address}/progress?seen={campaign.changed_at}")

    assert (before.status, before.headers.get("hx-refresh")) == (204, "true")
    assert (after.status, after.headers.get("hx-refresh")) == (204, None)


async def test_template_file_has_the_columns_of_the_message(browser: Browser) -> None:
    address = await create_campaign(browser, kind="lms", subject="#{제목}", content="#{이름} #{금액}")
    file = await browser.get(f"{address}/template.csv")
    assert file.text == "\ufeff휴대폰번호,이름,금액,제목\r\n"


async def test_last_look_shows_sender_and_first_message(browser: Browser) -> None:
    file = "휴대폰번호,이름\n010-1111-2222,홍길동\n010-3333-4444,김\n"
    address = await upload_file(browser, file, kind="lms", subject="#{이름}님께")

    page = page_text(await browser.get(address))

    assert "첫 수신자(010-1111-2222)가 받을 메시지" in page
    assert "홍길동님, 안녕하세요" in page
    assert "홍길동님께" in page
    assert page.count("02-1234-5678") >= 2
