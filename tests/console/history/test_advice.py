"""What the history says about a search that is wrong, and about a message whose fallback was sent."""

import pytest

from tests.console.history.test_history import send_messages
from tests.fixtures.console import signed_in_browser
from tests.fixtures.virtual import Environment
from tests.fixtures.web import (
    FALLBACK,
    NO_USER,
    alimtalk_body,
    call_ok,
    list_messages,
    product_of,
    set_up_sender,
)


async def test_bad_search_is_not_shown_as_no_results(env: Environment) -> None:
    await send_messages(env)
    browser = await signed_in_browser(env)

    bad = await browser.get("/console/history?message=nonsense")
    none = await browser.get(f"/console/history?message={'0' * 32}")

    assert bad.status == 400
    assert "검색하지 않았습니다" in bad.text
    assert "ID는 0-9, a-f로 된 32자입니다." in bad.text
    assert 'class="empty"' not in bad.text
    assert 'class="empty"' in none.text


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        ("", "대체 문자가 전달되었습니다. 조치할 사항이 없습니다."),
        ("01000000001", "대체 문자도 전달되지 않았습니다."),
    ],
)
async def test_advice_knows_what_became_of_the_fallback(env: Environment, number: str, advice: str) -> None:
    call, sender_key = await set_up_sender(env)
    receiver = number or NO_USER
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key, receiver, **FALLBACK))
    await env.wait(60)
    failed = next(one for one in await list_messages(call, receiver) if product_of(one) == "alimTalk")
    browser = await signed_in_browser(env)

    page = await browser.get(f"/console/history/{failed['messageId']}")

    assert advice in page.text
