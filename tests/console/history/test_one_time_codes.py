"""One-time codes in the console: marked, their digits hidden from viewers, and from all once they have ended."""

import pytest

from pabal.domain.people.user import Role
from tests.fixtures.console import signed_in_browser
from tests.fixtures.console_send import form, send
from tests.fixtures.console_upload import UPLOAD
from tests.fixtures.virtual import Environment
from tests.fixtures.web import call_ok, get_message, list_messages, sms_body

DIGITS = "482913"
HIDDEN = "인증번호 ••••••"
CODE = {"content": f"인증번호 {DIGITS}", "purpose": "code", "sendDate": "2026-11-15 12:10"}


@pytest.mark.parametrize(
    ("role", "waits", "is_hidden"),
    [(Role.VIEWER, True, True), (Role.SENDER, True, False), (Role.SENDER, False, True)],
)
async def test_pages_and_exports_show_the_digits_to_those_who_may_see_them(
    env: Environment, role: Role, waits: bool, is_hidden: bool
) -> None:
    call = await env.caller()
    sent = await call_ok(call, "message/sendSMS", sms_body(**CODE))
    record, request_id = await get_message(call), sent.item["requestId"]
    await env.wait(1 if waits else 700)
    browser = await signed_in_browser(env, role)

    for path in (
        "/console/history",
        f"/console/history/{record['messageId']}",
        "/console/history.csv",
        "/console/requests",
        f"/console/requests/{request_id}",
    ):
        shown = await browser.get(path)
        assert (shown.status, HIDDEN in shown.text, DIGITS in shown.text) == (200, is_hidden, not is_hidden), path
        assert path.endswith(".csv") or '<span class="tag">인증번호</span>' in shown.text, path


async def test_search_by_words_does_not_tell_the_digits(env: Environment) -> None:
    call, viewer = await env.caller(), await signed_in_browser(env, Role.VIEWER)
    sent = await call_ok(call, "message/sendSMS", sms_body(**CODE))

    for words, is_found in (("인증번호", True), ("48", False), (DIGITS, False)):
        found = await viewer.get(f"/console/requests?words={words}")
        assert (sent.item["requestId"] in found.text) is is_found, words


async def test_code_that_is_sent_again_is_a_code_with_the_stored_text(env: Environment) -> None:
    call, sender = await env.caller(), await signed_in_browser(env, Role.SENDER)
    sent = await call_ok(call, "message/sendSMS", sms_body(**{**CODE, "sendDate": None}))
    await env.wait(3)

    form_page = await sender.get(f"/console/send?copy={sent.item['requestId']}")

    assert f">\n인증번호 {DIGITS}</textarea>" in form_page.text
    assert '<input type="hidden" name="purpose" value="code">' in form_page.text
    again = await send(sender, form(content=f"인증번호 {DIGITS}", purpose="code"))
    await env.wait(3)
    (record,) = await list_messages(call, requestId=again)
    assert (record["purpose"], record["content"]) == ("code", HIDDEN)


async def test_code_is_not_sent_to_a_file_where_it_would_be_none(env: Environment) -> None:
    sender = await signed_in_browser(env, Role.SENDER)

    refused = await sender.submit(UPLOAD, **form(content=f"인증번호 {DIGITS}", purpose="code"))

    assert (refused.status, "인증번호는 직접 입력한 수신자에게 바로 보냅니다." in refused.text) == (400, True)
