"""Files and groups: who gets an SMS and who an LMS, and what that costs at most, is shown before it is sent."""

from decimal import Decimal

import pytest

from pabal.console.campaigns.row_validation import FileValidation, create_validator
from pabal.console.send.campaign_body import message_from_draft
from pabal.console.send.draft import read_draft
from pabal.console.sheets import sheet
from pabal.console.sheets.sheet import SheetRow
from pabal.domain.sends.campaign import CampaignState
from pabal.service.upkeep import privacy
from pabal.store.campaigns import campaign_list
from tests.console.contacts.test_address_book import add, make_group
from tests.console.upload.test_group_campaign import begin
from tests.fixtures.console import Browser
from tests.fixtures.console_send import form
from tests.fixtures.console_upload import get_campaign, page_text, send_campaign, upload_file
from tests.fixtures.service import account_id_of, count_rows
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import list_phone_messages

LONG = "가" * 46
MIXED = f"phone,이름\n010-1111-2222,홍길동\n010-3333-4444,{LONG}\n010-5555-6666,김\n12345,{LONG}\n"
PRICES = {"sms": Decimal("9.5"), "lms": Decimal(27), "alimTalk": Decimal(6)}


@pytest.mark.settings(prices=PRICES)
async def test_campaign_shows_what_it_has_cost_and_is_expected_to_cost(env: Environment, browser: Browser) -> None:
    await browser.submit("/console/preferences", lms="1")
    address = await upload_file(browser, MIXED)
    await send_campaign(browser, address, name="봄")
    page = address.replace("/send/upload", "/requests")

    begun = page_text(await browser.get(page))
    await env.wait(60)
    ended = page_text(await browser.get(page))

    assert "예상 비용 46원 (단문(SMS) 2건 19원 · 장문(LMS) 1건 27원)" in begun
    assert " 비용 46원" in ended
    assert "예상 비용" not in ended


async def test_file_shows_who_gets_an_lms_and_sends_it_so(env: Environment, call: Caller, browser: Browser) -> None:
    await browser.submit("/console/preferences", lms="1")

    address = await upload_file(browser, MIXED)
    campaign = await get_campaign(env, address)
    shown = page_text(await browser.get(address))
    await send_campaign(browser, address, name="봄")
    await env.wait(20)

    assert (campaign.receivers, campaign.upgraded, campaign.invalid_rows) == (3, 1, 1)
    assert "SMS 2명 · LMS 1명" in shown
    assert "3명에게 발송" in shown
    assert (await get_campaign(env, address)).state is CampaignState.MADE
    kinds = [
        (one["kind"], one["content"])
        for number in ("010-1111-2222", "010-3333-4444", "010-5555-6666")
        for one in await list_phone_messages(call, number)
    ]
    assert kinds == [
        ("sms", "홍길동님, 안녕하세요"),
        ("lms", f"{LONG}님, 안녕하세요"),
        ("sms", "김님, 안녕하세요"),
    ]
    sent = await browser.get(address.replace("/send/upload", "/requests"))
    assert "SMS 2명 · LMS 1명" in page_text(sent)


async def test_invalid_row_with_a_long_text_has_its_own_reason_only(env: Environment, browser: Browser) -> None:
    await browser.submit("/console/preferences", lms="1")
    rows = f"phone,이름\n12345,{LONG}\n010-1111-2222,{'가' * 1001}\n010-1111-2222,{LONG}\n010-1111-2222,홍\n"
    address = await upload_file(browser, rows)
    campaign = await get_campaign(env, address)
    found = await env.store.read(campaign_list.list_invalid_rows, campaign.id, 0, 10)

    assert (campaign.receivers, campaign.upgraded) == (1, 1), "the first of a repeated number stays"
    assert [row.number for row in found] == [2, 3, 5]
    assert all("90" not in "".join(row.reason) for row in found), "an LMS may be longer than 90 bytes"


async def test_file_without_the_preference_has_long_rows_invalid(env: Environment, browser: Browser) -> None:
    address = await upload_file(browser, MIXED)
    campaign = await get_campaign(env, address)

    assert (campaign.receivers, campaign.upgraded, campaign.invalid_rows) == (2, 0, 2)
    assert "LMS" not in page_text(await browser.get(address))


async def test_receivers_of_lms_are_gathered_into_whole_blocks(env: Environment, browser: Browser) -> None:
    await browser.submit("/console/preferences", lms="1")
    message = message_from_draft(read_draft(form(content="#{a}")))
    validator = await create_validator(env.context, await account_id_of(env), message)
    rows = [SheetRow(number, (f"0102000{number:04}", LONG if number % 2 else "짧음")) for number in range(4000)]
    columns = sheet.find_columns(("phone", "a"), ["a"])
    validation = FileValidation(iter([rows]), validator, columns=columns, skips_duplicates=True, has_names=False)

    blocks = []
    while (found := validation.validate_next_rows()) is not None:
        assert found.block is not None
        blocks.append((found.block.number, found.block.receivers, found.block.is_upgraded))

    assert blocks == [
        (1, 500, False), (2, 500, False), (3, 1000, True),
        (4, 500, False), (5, 500, False), (6, 1000, True),
    ]  # fmt: skip


async def test_erasure_keeps_the_number_of_lms(env: Environment, browser: Browser) -> None:
    await browser.submit("/console/preferences", lms="1")
    address = await upload_file(browser, MIXED)

    await privacy.erase(env.context, await account_id_of(env), "01033334444")

    campaign = await get_campaign(env, address)
    assert (campaign.receivers, campaign.upgraded) == (2, 0)
    assert await count_rows(env, "campaign_blocks") == 1


@pytest.mark.settings(prices=PRICES)
async def test_cost_of_a_file_counts_each_kind_and_the_dearest_fallback(
    env: Environment, alimtalk_key: str, browser: Browser
) -> None:
    await browser.submit("/console/preferences", lms="1")
    group = await make_group(browser, "단골")
    await add(browser, "010-1111-2222", "홍길동", **{f"g{group}": "1"})
    resend = {"resend": "1", "resendPhoneNumber": "02-1234-5678"}
    alimtalk = {"kind": "alimtalk", "senderKey": alimtalk_key, "templateCode": "T1", **resend}

    texts = await upload_file(browser, MIXED)
    two = "phone\n010-1111-2222\n010-3333-4444\n"
    fixed = await upload_file(browser, two, **alimtalk, resendContent="짧은 글")
    varied = await begin(env, browser, group, **alimtalk, resendContent="#{이름}님")

    assert "예상 비용 46원 (단문(SMS) 2건 19원 · 장문(LMS) 1건 27원)" in page_text(await browser.get(texts))
    assert "12원 (1건 6원) · 모두 대체 문자로 나가면 최대 19원" in page_text(await browser.get(fixed))
    shown = page_text(await browser.get(varied.location))
    assert "최대 27원" in shown, "a name could make an LMS of it"
