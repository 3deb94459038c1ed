"""Advertising texts on the send page: recognized, and complete before they are sent."""

import pytest

from tests.fixtures.console import signed_in_browser
from tests.fixtures.console_send import errors, form, preview, preview_text, review, send
from tests.fixtures.console_upload import UPLOAD
from tests.fixtures.virtual import Environment
from tests.fixtures.web import list_phone_messages

COMPLETE = {"adSender": "봄상점", "optOutNumber": "080-123-4567"}


@pytest.mark.parametrize("content", ["(광고)세일", "(광고) 세일", "[광고]세일", "  (광고)세일"])
async def test_typed_label_makes_an_advertisement(env: Environment, content: str) -> None:
    call = await env.caller()
    browser = await signed_in_browser(env)

    told = await preview(browser, form(content=content))
    bare = await review(browser, form(content=content))
    await send(browser, form(content=content, **COMPLETE))
    await env.wait(5)

    assert "광고로 발송합니다" in told.text
    assert (bare.status, set(errors(bare))) == (400, {"adSender"})
    (message,) = await list_phone_messages(call)
    assert message["content"] == "(광고)[봄상점] 세일\n무료거부 0801234567"


async def test_sender_and_number_are_both_asked_for(env: Environment) -> None:
    browser = await signed_in_browser(env)
    ad = form(content="세일", adFlag="1")

    no_name = await review(browser, {**ad, "optOutNumber": "080-123-4567"})
    no_number = await review(browser, {**ad, "adSender": "봄상점"})
    uploaded = await browser.submit(UPLOAD, **{**ad, "optOutNumber": "080-123-4567"})

    assert list(errors(no_name)) == ["adSender"]
    assert "보내는 사람의 이름(상호)을 밝혀야 합니다." in errors(no_name)["adSender"]
    assert set(errors(no_number)) == {"optOutNumber"}
    assert (uploaded.status, set(errors(uploaded))) == (400, {"adSender"})


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("세일", "(광고)[봄상점] 세일"),
        ("봄상점 세일", "(광고)봄상점 세일"),
        ("(광고)[봄상점] 세일", "(광고)[봄상점] 세일"),
        ("", ""),
    ],
)
async def test_name_is_added_unless_the_text_begins_with_it(env: Environment, content: str, shown: str) -> None:
    browser = await signed_in_browser(env)

    seen = await preview(browser, form(content=content, adFlag="1", **COMPLETE))

    assert preview_text(seen).partition("\n")[0] == shown
