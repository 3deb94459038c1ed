"""What users change about themselves: the password, and where they are signed in."""

import re

import pytest

from pabal.domain.people.user import Role
from tests.fixtures.audit import audited_actions
from tests.fixtures.console import PASSWORD, Browser, make_user, sign_in, signed_in_browser
from tests.fixtures.console_upload import page_text
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Environment

ME = "/console/me"
NEW = "another horse battery"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


async def change(browser: Browser, current: str = PASSWORD, password: str = NEW, repeated: str = NEW) -> str:
    """Try to change the password and return the page."""
    shown = await browser.submit(f"{ME}/password", current=current, password=password, repeated=repeated)
    return shown.text


async def test_changed_password_signs_out_other_browsers_only(env: Environment) -> None:
    here = await signed_in_browser(env, Role.VIEWER)
    there = await sign_in(env, "viewer-of-acme")

    text = await change(here)
    old = await Browser(env.service).submit("/console/login", name="viewer-of-acme", password=PASSWORD)
    new = await Browser(env.service).submit("/console/login", name="viewer-of-acme", password=NEW)

    assert "비밀번호를 바꿨습니다" in text
    assert (await here.get(ME)).status == 200
    assert (await there.get(ME)).status == 303
    assert (old.status, new.status) == (401, 303)
    assert "user.password" in await audited_actions(env, 4)


@pytest.mark.parametrize(
    ("current", "password", "repeated", "problem"),
    [
        ("", NEW, NEW, "current"),
        ("wrong horse battery", NEW, NEW, "current"),
        (PASSWORD, "short", "short", "password"),
        (PASSWORD, "owner-of-acme", "owner-of-acme", "password"),
        (PASSWORD, NEW, f"{NEW}!", "repeated"),
    ],
)
async def test_refused_password_changes_nothing(
    env: Environment, browser: Browser, current: str, password: str, repeated: str, problem: str
) -> None:
    text = await change(browser, current, password, repeated)

    assert f'id="wrong-{problem}"' in text
    assert NEW not in text
    await sign_in(env, "owner-of-acme")


async def test_guessing_the_current_password_is_slowed_down(env: Environment, browser: Browser) -> None:
    del browser.cookies["pabal_device"]

    texts = [await change(browser, "wrong horse battery") for _ in range(6)]
    right = await change(browser)

    assert "현재 비밀번호가 올바르지 않습니다" in texts[0]
    assert "뒤에 다시 시도하세요" in texts[-1]
    assert "뒤에 다시 시도하세요" in right
    await env.wait(60)
    assert "비밀번호를 바꿨습니다" in await change(browser)


async def test_sessions_are_listed_and_ended(env: Environment) -> None:
    here = await signed_in_browser(env)
    there = await sign_in(env, "owner-of-acme", Browser(env.service, user_agent=FIREFOX))
    stranger = await signed_in_browser(env, account="other")

    listed = await here.get(ME)
    (session,) = re.findall(r'name="session" value="([0-9a-f]{64})"', listed.text)
    await stranger.submit(f"{ME}/sessions/end", session=session)
    still = await there.get(ME)
    await here.submit(f"{ME}/sessions/end", session=session)

    assert "Firefox, Linux" in page_text(listed)
    assert "지금 이 브라우저" in page_text(listed)
    assert still.status == 200, "nobody ends another user's session"
    assert ((await here.get(ME)).status, (await there.get(ME)).status) == (200, 303)


async def test_all_other_sessions_are_ended_at_once(env: Environment) -> None:
    here = await signed_in_browser(env)
    others = [await sign_in(env, "owner-of-acme") for _ in range(3)]
    colleague = await signed_in_browser(env, Role.VIEWER)

    done = await here.submit(f"{ME}/sessions/others")

    assert "다른 브라우저에서 로그아웃했습니다" in done.text
    assert [(await each.get(ME)).status for each in (here, *others)] == [200, 303, 303, 303]
    assert (await colleague.get(ME)).status == 200
    assert await count_rows(env, "sessions") == 2


async def test_operator_without_an_account_has_the_page_too(env: Environment) -> None:
    await make_user(env, Role.OPERATOR, name="op")
    browser = Browser(env.service)
    await browser.submit("/console/login", name="op", password=PASSWORD)

    shown = await browser.get(ME)
    text = await change(browser)

    assert shown.status == 200
    assert "비밀번호를 바꿨습니다" in text
