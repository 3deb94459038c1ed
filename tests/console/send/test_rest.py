"""Sending to the valid receivers: the other lines are kept, downloaded, corrected and sent later."""

import re

from pabal.console.send import typed_receivers
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.console_send import errors, form, hidden_fields, review, send
from tests.fixtures.console_upload import page_text, send_campaign, upload_file
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok

LINES = "번호\t이름\n010-1111-2222\t가\n12345\t나\n010-3333-4444\t다\n010-5555-6666\t"


async def typed_lines(browser: Browser, sent: str) -> str:
    """Return the receivers in the form that has the lines which a send left out."""
    page = await browser.get(f"/console/send?rest={sent}")
    found = re.search(r'<textarea id="at-receivers"[^>]*>\n(.*?)</textarea>', page.text, re.DOTALL)
    assert found, page.text
    return found[1]


async def test_valid_lines_are_sent_and_the_others_kept_to_be_corrected(
    env: Environment, call: Caller, browser: Browser
) -> None:
    fields = form(content="#{이름}님", receivers=LINES)

    shown = await review(browser, fields)
    sent = await send(browser, fields)
    done = await browser.get(f"/console/send/done/{sent}")
    csv = await browser.get(f"/console/send/done/{sent}/bad.csv")
    kept = await typed_lines(browser, sent)
    corrected = kept.replace("12345", "010-7777-8888").replace("010-5555-6666\t", "010-5555-6666\t라")
    again = await send(browser, form(content="#{이름}님", receivers=corrected, draft=f"send.rest.{sent}"))

    assert "보낼 수 없는 2줄은 빼고 발송합니다" in page_text(shown)
    assert "2명에게 발송" in page_text(shown)
    assert "보내지 않은 줄이 2개" in page_text(done)
    firsts = [line.split(",")[0] for line in csv.text.splitlines()]
    assert firsts == ["\ufeff수신번호", "12345", "010-5555-6666"]
    assert "휴대폰 번호가 아닙니다" in csv.text
    assert kept.splitlines() == ["번호\t이름", "12345\t나", "010-5555-6666\t"]
    assert (await call_ok(call, "message/request", query={"requestId": again})).item["totalCount"] == 2
    assert await count_rows(env, "messages") == 4
    assert await count_rows(env, "drafts") == 0, "what was corrected and sent is not offered again"
    assert (await browser.get(f"/console/send/done/{sent}/bad.csv")).status == 404


async def test_line_that_turns_bad_after_the_review_is_shown_again(env: Environment, browser: Browser) -> None:
    reviewed = await review(browser, form(content="#{이름}님", receivers=LINES))
    changed = form(content="#{이름}님", receivers=LINES + "\n999\t마")

    shown = await browser.submit("/console/send", **changed, **hidden_fields(reviewed))

    assert "보낼 수 없는 3줄은 빼고" in page_text(shown)
    assert await count_rows(env, "messages") == 0


async def test_send_without_any_valid_line_is_refused(browser: Browser) -> None:
    shown = await review(browser, form(receivers="12\n34"))
    assert shown.status == 400
    assert "receivers" in errors(shown)


async def test_rows_of_a_file_are_corrected_and_sent_without_those_who_got_it(
    env: Environment, browser: Browser
) -> None:
    rows = "이름,메모,휴대폰번호\n가,a,010-1111-2222\n나,b,12345\n다,c,010-1111-2222\n,d,010-5555-6666\n"
    address = await upload_file(browser, rows)
    unsent = await browser.get(f"/console/send?rest={address.rpartition('/')[2]}")
    sent = (await send_campaign(browser, address, name="봄")).location.rpartition("/")[2]
    page = await browser.get(f"/console/requests/{sent}")

    kept = await typed_lines(browser, sent)

    assert kept.splitlines() == ["수신번호,이름,메모", "12345,나,b", "010-5555-6666,,d"]
    assert f'href="/console/send?rest={sent}"' in page.text
    assert "남아 있지 않습니다" in page_text(unsent), "as long as it is not sent, its file is replaced"
    stranger = await signed_in_browser(env, account="other")
    assert "12345" not in (await stranger.get(f"/console/send?rest={sent}")).text


def test_lines_are_picked_with_the_names_of_their_columns() -> None:
    assert typed_receivers.pick_lines("\n이름 없음,a\n1,b\n2,c", [4]) == ["이름 없음,a", "2,c"]
    assert typed_receivers.pick_lines("1,b\n2,c", [2, 1, 9]) == ["1,b", "2,c"]
    assert (typed_receivers.count_lines("번호\n1\n\n2"), typed_receivers.count_lines("1\n2"), 0) == (2, 2, 0)
