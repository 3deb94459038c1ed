"""Drafts of the send page: kept on the server as one types, offered again, deleted when they are sent."""

import re

import pytest

from pabal.domain.people.user import Role
from pabal.service.sending import drafts
from pabal.service.upkeep.housekeeping import run_round
from pabal.store.accounts import accounts
from tests.console.contacts.test_address_book import make_group
from tests.fixtures.console import Browser, PageResponse, make_user, sign_in, signed_in_browser
from tests.fixtures.console_send import IMAGE, form, hidden_fields, preview, review, send, talk
from tests.fixtures.console_upload import create_campaign, send_campaign, upload_file
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Environment
from tests.fixtures.web import PHONE

SEND = "/console/send"
TEXT = "봄맞이 안내 말씀"
DAY_S = 24 * 3600


def typed_text(shown: PageResponse) -> str:
    """Return what stands in the field of the text."""
    found = re.search(r'name="content"[^>]*>\n(.*?)</textarea>', shown.text, re.DOTALL)
    return found[1] if found else ""


async def shown_text(browser: Browser) -> str:
    return typed_text(await browser.get(SEND))


async def test_typed_text_is_offered_again_to_its_author_only(env: Environment, browser: Browser) -> None:
    before = await browser.get(SEND)
    await preview(browser, form("lms", content=TEXT, subject="제목", receivers="010-1111-2222, 값", later="1"))

    again = await browser.get(SEND)
    elsewhere = await sign_in(env, "owner-of-acme")
    other = await signed_in_browser(env, Role.SENDER)

    assert 'id="draft-loaded"' not in before.text
    assert typed_text(again) == TEXT
    assert all(each in again.text for each in ('value="제목"', "010-1111-2222, 값", 'id="draft-loaded"'))
    assert 'id="to-lms" aria-current="true"' in again.text
    assert re.search(r'name="later" value="1" checked', again.text)
    assert await shown_text(elsewhere) == TEXT, "a new session has it too"
    assert await shown_text(other) == ""


async def test_draft_survives_refusal_upload_and_language_switch(browser: Browser) -> None:
    for path in ("check", "form", "upload"):
        await browser.submit(f"{SEND}/{path}", **form(content=f"{TEXT} {path}", receivers="119"))

        assert await shown_text(browser) == f"{TEXT} {path}"
    await browser.submit("/console/language", language="en", next=SEND)
    switched = await browser.get(SEND)
    assert (switched.status, typed_text(switched)) == (200, f"{TEXT} upload")
    assert "This is what you were writing at 2026-11-15 12:00:00." in switched.text


async def test_draft_is_deleted_when_it_is_sent_or_discarded_or_emptied(env: Environment, browser: Browser) -> None:
    await send(browser, form(content=TEXT))
    after_send = await count_rows(env, "drafts")

    await preview(browser, form(content=TEXT))
    discarded = await browser.submit(f"{SEND}/discard", **form(content=TEXT))
    after_discard = await count_rows(env, "drafts")

    await preview(browser, form(content=TEXT))
    await preview(browser, form(content=" ", receivers=""))
    after_emptying = await count_rows(env, "drafts")

    address = await upload_file(browser, "phone\n010-1111-2222\n", content=TEXT)
    before_campaign = await shown_text(browser)
    await send_campaign(browser, address, name="x")

    assert (after_send, after_discard, after_emptying) == (0, 0, 0)
    assert discarded.location == SEND
    assert before_campaign == TEXT, "whoever goes back finds it"
    assert await count_rows(env, "drafts") == 0


async def test_picture_stays_in_the_draft_although_previews_leave_it_out(browser: Browser) -> None:
    await preview(browser, form("mms", content=TEXT, **IMAGE))
    await preview(browser, form("mms", content=f"{TEXT}!", **{**IMAGE, "image_body": ""}))

    again = await browser.get(SEND)

    assert typed_text(again) == f"{TEXT}!"
    assert f'name="image_body" value="{IMAGE["image_body"]}"' in again.text


async def test_buttons_and_choices_are_kept(sender_key: str, browser: Browser) -> None:
    button = {"buttonType": "webLink", "name": "열기", "mobileUrl": "https://a.kr"}
    fields = {f"buttons[0].{name}": value for name, value in button.items()}
    await preview(browser, talk("friendtalk", sender_key, content=TEXT, adFlag="1", **fields))

    again = await browser.get(SEND)

    assert 'value="https://a.kr"' in again.text
    assert re.search(r'name="adFlag" value="1" checked', again.text)


async def test_drafts_are_bounded_in_size_and_number(env: Environment, browser: Browser) -> None:
    await preview(browser, form(content=TEXT))
    huge = await preview(browser, form(content="a" * drafts.MAX_DRAFT_BYTES))
    after_huge = await count_rows(env, "drafts")
    for number in range(drafts.MAX_DRAFTS_PER_USER + 5):
        await preview(browser, form(content=TEXT, draft=f"send.copy.{number:x}"))
        await env.wait(1)

    assert "너무 커서 임시 저장하지 못합니다" in huge.text
    assert after_huge == 0, "what is kept is never older than what the page shows"
    assert await count_rows(env, "drafts") == drafts.MAX_DRAFTS_PER_USER


async def test_operator_has_a_draft_for_each_account(env: Environment) -> None:
    for name in ("acme", "other"):
        await env.store.write(accounts.ensure_account, name, 0)
    operator = await sign_in(env, await make_user(env, Role.OPERATOR))
    await preview(operator, form(content=TEXT))

    await operator.submit("/console/accounts", account="2")
    at_other = await shown_text(operator)
    await operator.submit("/console/accounts", account="1")

    assert (at_other, await shown_text(operator)) == ("", TEXT)


@pytest.mark.settings(draft_days=3)
async def test_old_drafts_are_deleted(env: Environment, browser: Browser) -> None:
    await preview(browser, form(content=TEXT))
    env.world.move_clock(2 * DAY_S)
    await run_round(env.context)
    before = await count_rows(env, "drafts")
    env.world.move_clock(2 * DAY_S)
    await run_round(env.context)

    assert (before, await count_rows(env, "drafts")) == (1, 0)


@pytest.mark.parametrize("spelling", ["010-7777-0001", "01077770001", "+82 10 7777 0001"])
async def test_drafts_that_name_a_number_are_exported_and_erased(
    env: Environment, browser: Browser, spelling: str
) -> None:
    await preview(browser, form(content=TEXT, receivers=f"{PHONE}\n{spelling}, 값"))

    found = await browser.submit("/console/privacy", number="010-7777-0001")
    exported = await browser.submit("/console/privacy/export", number="010-7777-0001")
    await browser.submit("/console/privacy/erase", number="010-9999-0001")
    kept = await count_rows(env, "drafts")
    await browser.submit("/console/privacy/erase", number="010-7777-0001")

    assert "임시 저장한 내용의 줄" in found.text
    assert f'"drafts":["{spelling}, 값"]' in exported.text
    assert (kept, await count_rows(env, "drafts")) == (1, 0)


async def test_draft_of_a_campaign_stays_until_it_is_sent(env: Environment, browser: Browser) -> None:
    await create_campaign(browser, content=TEXT)

    reviewed = await review(browser, form(content=f"{TEXT}!"))
    sent = await browser.submit(SEND, **form(content=f"{TEXT}!"), **hidden_fields(reviewed))

    assert sent.status == 303
    assert await count_rows(env, "drafts") == 0


async def test_draft_keeps_the_groups_that_were_ticked(browser: Browser) -> None:
    first, second = await make_group(browser, "단골"), await make_group(browser, "손님")
    await preview(browser, {**form(content=TEXT), f"g{second}": "1"})

    again = await browser.get(SEND)

    assert f'name="g{second}" value="1" checked' in again.text
    assert f'name="g{first}" value="1">' in again.text


def page_of(shown: PageResponse) -> str:
    found = re.search(r'name="tab" value="([0-9a-f]{16})"', shown.text)
    assert found
    return found[1]


async def test_late_request_of_a_page_does_not_bring_its_sent_draft_back(browser: Browser) -> None:
    page, other = page_of(await browser.get(SEND)), page_of(await browser.get(SEND))
    fields = form(content=TEXT, tab=page)
    reviewed = await review(browser, fields)
    await browser.submit(SEND, **fields, **hidden_fields(reviewed))
    await preview(browser, fields)  # typed before the send, and arrives after it

    after_late = await shown_text(browser)
    await preview(browser, form(content="다른 탭", tab=other))
    of_other = await shown_text(browser)
    again = await review(browser, form(content="다시", tab=page))  # the way back, to write another
    await preview(browser, form(content="다시 쓴 글", tab=page_of(again)))

    assert page != other
    assert page_of(reviewed) == page
    assert after_late == ""
    assert of_other == "다른 탭"
    assert page_of(again) not in (page, other)
    assert await shown_text(browser) == "다시 쓴 글"


async def test_late_request_does_not_bring_the_draft_of_a_sent_campaign_back(browser: Browser) -> None:
    page = page_of(await browser.get(SEND))
    address = await upload_file(browser, "phone\n010-1111-2222\n", content=TEXT, tab=page)
    before = await shown_text(browser)
    await send_campaign(browser, address, name="봄")
    await preview(browser, form(content=TEXT, tab=page))

    assert before == TEXT, "it is kept until the campaign is sent"
    assert await shown_text(browser) == ""
