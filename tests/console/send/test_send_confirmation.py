"""The send page: what is sent was confirmed, and is sent once."""

import asyncio

import pytest

from tests.fixtures.audit import latest_entries
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.console_send import form, hidden_fields, review, send, talk
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import PHONE, approve_template, call_ok, list_messages, list_phone_messages, template_body


async def test_a_double_click_sends_once(env: Environment, call: Caller, browser: Browser) -> None:
    fields = form()
    ready_to_go = {**fields, **hidden_fields(await review(browser, fields))}

    both = await asyncio.gather(*(browser.submit("/console/send", **ready_to_go) for _ in range(2)))
    later = await browser.submit("/console/send", **ready_to_go)
    await env.wait(5)

    assert len({shown.location for shown in (*both, later)}) == 1
    assert both[0].status == 303
    assert len(await list_phone_messages(call)) == 1
    assert len(await list_messages(call)) == 1


async def test_resubmitting_a_sent_message_shows_it_after_its_time_has_passed(
    env: Environment, browser: Browser
) -> None:
    fields = form(later="1", sendDate="2026-11-15T12:05")
    ready_to_go = {**fields, **hidden_fields(await review(browser, fields))}

    first = await browser.submit("/console/send", **ready_to_go)
    await env.wait(600)
    again = await browser.submit("/console/send", **ready_to_go)

    assert first.location.startswith("/console/send/done/")
    assert again.location == first.location, "its time is over, but that is no matter"
    done = [each.action for each in await env.store.read(latest_entries, None, 100)]
    assert done.count("message.send") == 1


@pytest.mark.settings(idempotency_hours=1)
async def test_expired_confirmation_sends_nothing(env: Environment, call: Caller, browser: Browser) -> None:
    ready_to_go = {**form(), **hidden_fields(await review(browser, form()))}
    await browser.submit("/console/send", **ready_to_go)
    await env.jump(3700)

    again = await browser.submit("/console/send", **ready_to_go)
    strange = await browser.submit("/console/send", **{**ready_to_go, "key": "zz" * 32})
    await env.wait(5)

    assert (again.status, strange.status) == (200, 200)
    assert 'id="send-it"' in again.text, "it can be looked over again"
    assert len(await list_phone_messages(call)) == 1


async def test_template_changed_after_confirmation_is_confirmed_again(
    env: Environment, call: Caller, sender_key: str
) -> None:
    await approve_template(call, sender_key, content="주문이 왔습니다")
    browser = await signed_in_browser(env)
    fields = talk("alimtalk", sender_key)
    seen = hidden_fields(await review(browser, fields))
    await call_ok(call, "template/update", template_body(sender_key, content="다른 말입니다"))
    await call_ok(call, "template/request", {"senderKey": sender_key, "templateCode": "T1"})

    shown = await browser.submit("/console/send", **fields, **seen)
    await env.wait(5)

    assert shown.status == 200
    assert "다른 말입니다" in shown.text
    assert await list_phone_messages(call) == []
    again = await browser.submit("/console/send", **fields, **hidden_fields(shown))
    assert again.status == 303


async def test_message_changed_after_confirmation_is_confirmed_again(
    env: Environment, call: Caller, browser: Browser
) -> None:
    seen = hidden_fields(await review(browser, form()))
    later = {"later": "1", "sendDate": "2026-11-20T10:00"}
    for change in ({"content": "다른 말"}, {"receivers": "010-9999-8888"}, later):
        shown = await browser.submit("/console/send", **{**form(), **change}, **seen)

        assert (shown.status, shown.location) == (200, "")
        assert hidden_fields(shown)["digest"] != seen["digest"]
    await env.wait(5)

    assert await list_phone_messages(call) + await list_phone_messages(call, "010-9999-8888") == []


async def test_nothing_is_sent_without_confirmation(env: Environment, call: Caller, browser: Browser) -> None:
    shown = await browser.submit("/console/send", **form())
    await env.wait(5)

    assert shown.status == 200
    assert 'id="send-it"' in shown.text
    assert await list_phone_messages(call) == []


async def test_confirming_twice_sends_twice(env: Environment, call: Caller, browser: Browser) -> None:
    first, second = await send(browser, form()), await send(browser, form())
    await env.wait(5)

    assert first != second
    assert len(await list_phone_messages(call)) == 2


async def test_confirmation_shows_count_and_time(browser: Browser) -> None:
    receivers = f"{PHONE}\n010-2222-3333\n01012345678"

    shown = await review(browser, form(receivers=receivers, later="1", sendDate="2026-11-16T09:30"))

    assert "2명 · 중복 1건 제외" in shown.text
    assert "2026-11-16 09:30" in shown.text
    assert "2명 · 11/16 09:30 예약" in shown.text
