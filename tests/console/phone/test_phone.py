"""The simulated phone: shows received messages, and polls for new ones."""

import dataclasses
import re

from pabal.console.app import build_console
from pabal.settings.carriers import SmppSettings
from pabal.settings.settings import load
from tests.fixtures.console import Browser, make_user, sign_in, signed_in_browser
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import BUTTON, PHONE, alimtalk_body, call_ok, friendtalk_body, image_body, sms_body

SEEN = re.compile(r'hx-get="([^"]+)"')


def asks(text: str) -> str:
    found = SEEN.search(text)
    assert found
    return found[1].replace("&amp;", "&")


async def test_phone_shows_every_message_type_and_the_token(
    env: Environment, call: Caller, alimtalk_key: str
) -> None:
    await call_ok(call, "message/sendMMS", sms_body(subject="제목", image=image_body()))
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(alimtalk_key, PHONE))
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(alimtalk_key, PHONE, buttons=[BUTTON]))
    await env.wait(5)
    browser = await signed_in_browser(env)

    shown = await browser.get("/console/phone?number=01012345678")
    admin = await browser.get("/console/phone?number=010-9999-0000")

    assert shown.text.count('<li class="bubble') == 3
    assert "이미지가 첨부되었습니다" in shown.text
    assert f'<a href="{BUTTON["mobileUrl"]}" rel="noopener noreferrer" target="_blank">열기</a>' in shown.text
    assert '<li class="bubble token">' in admin.text


async def test_unsafe_link_is_shown_as_plain_text(env: Environment, call: Caller, alimtalk_key: str) -> None:
    app = {"buttonType": "appLink", "name": "앱", "androidUrl": "shop://x", "iosUrl": "shop://x"}
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(alimtalk_key, PHONE, buttons=[app]))
    await env.wait(5)
    browser = await signed_in_browser(env)

    shown = await browser.get(f"/console/phone?number={PHONE}")

    assert "<li><span>앱</span></li>" in shown.text
    assert "shop://" not in shown.text


async def test_poll_answers_only_when_phone_has_new_messages(
    env: Environment, call: Caller, browser: Browser
) -> None:
    page = await browser.get(f"/console/phone?number={PHONE}")

    nothing = await browser.get(asks(page.text))
    await call_ok(call, "message/sendSMS", sms_body(content="하나"))
    await env.wait(5)
    first = await browser.get(asks(page.text))
    again = await browser.get(asks(first.text))
    await call_ok(call, "message/sendSMS", sms_body(content="둘"))
    await env.wait(5)
    second = await browser.get(asks(first.text))

    assert (nothing.status, first.status, again.status, second.status) == (204, 200, 204, 200)
    assert "새 메시지: 단문(SMS), 02-1234-5678" in first.text
    assert second.text.index("둘") < second.text.index("하나")
    assert "<html" not in second.text


async def test_phone_page_defaults_to_phone_with_latest_message(env: Environment, browser: Browser) -> None:
    empty = await browser.get("/console/phone")
    call = await env.caller()
    for number in ("010-1111-1111", "010-2222-2222"):
        await call_ok(call, "message/sendSMS", sms_body(number))
        await env.wait(5)

    shown = await browser.get("/console/phone")

    assert empty.status == 200
    assert "아직 메시지를 받은 휴대폰이 없습니다" in empty.text
    assert "010-2222-2222 번호의 메시지" in shown.text
    assert "number=01011111111" in shown.text


async def test_invalid_phone_number_is_reported(browser: Browser) -> None:
    shown = await browser.get("/console/phone?number=119")
    part = await browser.get("/console/phone/messages?number=119")

    assert (shown.status, part.status) == (400, 400)
    assert "휴대폰 번호가 아닙니다" in shown.text


async def test_phone_page_does_not_exist_without_simulator(env: Environment) -> None:
    telco = SmppSettings(name="telco", host="127.0.0.1", system_id="pabal")
    settings = dataclasses.replace(load({}), carriers={"telco": telco})
    name = await make_user(env)
    browser = await sign_in(env, name, Browser(build_console(env.context, settings)))

    history, phone = await browser.get("/console/history"), await browser.get("/console/phone")

    assert (history.status, phone.status) == (200, 404)
    assert "/console/phone" not in history.text
    assert "테스트 환경" not in history.text
