"""Team and own profile in a browser: a colleague is invited, turns on two-factor sign-in, and gets a new role."""

import base64
import re
import time

import pytest
from playwright.sync_api import Page, expect

from pabal.domain.people import totp
from pabal.domain.people.user import Role
from tests.fixtures.browser import BrowserEnvironment, check_page, open_send_page, schedule
from tests.fixtures.web import SENDER

pytestmark = pytest.mark.slow

in_both_ways = pytest.mark.parametrize(("language", "screen"), [("ko", "desktop"), ("en", "phone")])
PASSWORD = "correct horse battery"
NEW_PASSWORD = "another horse battery"


def now_step() -> int:
    return totp.step_of(round(time.time() * 1000))


def invite(env: BrowserEnvironment, language: str, screen: str) -> str:
    """Have an owner invite somebody, and return the path of the link."""
    with env.signed_in(language=language, screen=screen) as page:
        page.goto("/console/team")
        check_page(page, f"team-{screen}")
        page.locator("form[action='/console/team/invite'] [name=role][value=sender]").check()
        page.locator("form[action='/console/team/invite'] button").click()
        link = page.locator("code.secret").inner_text()
        check_page(page, f"invited-{screen}")
        assert link.startswith(env.live.base_url)
        return link.removeprefix(env.live.base_url)


def join(env: BrowserEnvironment, link: str, name: str, language: str, screen: str) -> None:
    with env.open_page(language, screen) as page:
        page.goto(link)
        page.locator("[name=name]").fill(name)
        page.locator("[name=password]").fill(PASSWORD)
        page.locator("[name=repeated]").fill("something else")
        page.locator("button.main").click()
        expect(page.locator("#wrong-repeated")).to_be_visible()
        expect(page.locator("[name=name]")).to_have_value(name)
        check_page(page, f"join-{screen}")
        page.locator("[name=password]").fill(PASSWORD)
        page.locator("[name=repeated]").fill(PASSWORD)
        page.locator("button.main").click()
        page.wait_for_url("**/console/login?*")
        expect(page.locator("[name=name]")).to_have_value(name)
        page.locator("[name=password]").fill(PASSWORD)
        page.locator("button.main").click()
        page.wait_for_url(re.compile("/console$"))


def enter(page: Page, name: str, password: str = PASSWORD) -> None:
    page.goto("/console/login")
    page.locator("[name=name]").fill(name)
    page.locator("[name=password]").fill(password)
    page.locator("button.main").click()


@pytest.mark.torture
@in_both_ways
def test_invited_colleague_joins_and_is_promoted_and_removed(
    env: BrowserEnvironment, language: str, screen: str
) -> None:
    name = f"colleague-{language}"
    join(env, invite(env, language, screen), name, language, screen)

    with env.signed_in(language=language, screen=screen) as page:
        page.goto("/console/team")
        row = page.locator("tr").filter(has_text=name)
        row.locator("summary").first.click()
        row.locator("[name=role]").select_option("viewer")
        row.locator("form[action='/console/team/role'] button").click()
        expect(page.locator("#busy")).to_be_hidden()
        expect(page.locator("tr").filter(has_text=name)).to_contain_text(
            {"ko": "조회 전용", "en": "Viewer"}[language]
        )
        row = page.locator("tr").filter(has_text=name)
        row.locator("summary").last.click()
        row.locator("form[action='/console/team/remove'] button.danger").click()
        expect(page.locator("tr").filter(has_text=name)).to_have_count(0)
        own = page.locator("tr").filter(has_text=env.user(Role.OWNER))
        own.locator("summary").last.click()
        own.locator("form[action='/console/team/remove'] button.danger").click()
        expect(page.locator("[role=alert]").last).to_be_visible()
        check_page(page, f"team-refused-{screen}")


@pytest.mark.torture
@in_both_ways
def test_two_factor_sign_in_and_own_password(env: BrowserEnvironment, language: str, screen: str) -> None:
    name = f"careful-{language}"
    join(env, invite(env, language, screen), name, language, screen)

    with env.open_page(language, screen) as page:
        enter(page, name)
        page.locator("a.user").click()
        check_page(page, f"me-{screen}")
        page.fill("input[name=enable_password]", PASSWORD)
        page.locator("form[action='/console/me/two-factor'] button").click()
        check_page(page, f"two-factor-{screen}")
        secret = base64.b32decode(page.locator("code.secret").inner_text().replace(" ", ""))
        first = now_step()
        page.locator("[name=code]").fill(totp.code_at(secret, first))
        page.locator("form[action='/console/me/two-factor/confirm'] button").click()
        expect(page.locator("main a.button.main")).to_be_visible()
        codes = page.locator("code.secret").inner_text().split()
        assert len(codes) == totp.RECOVERY_CODES
        check_page(page, f"recovery-codes-{screen}")
        page.locator("a.button.main").click()
        page.locator("[name=current]").fill(PASSWORD)
        page.locator("section [name=password]").fill(NEW_PASSWORD)
        page.locator("[name=repeated]").fill(NEW_PASSWORD)
        page.locator("form[action='/console/me/password'] button").click()
        expect(page.locator(".good")).to_be_visible()
        check_page(page, f"me-two-factor-{screen}")

    with env.open_page(language, screen, expects_failures=True) as page:
        enter(page, name, NEW_PASSWORD)
        page.locator("[name=code]").fill("000000")
        page.locator("button.main").click()
        expect(page.locator("#told")).to_be_visible()
        check_page(page, f"code-{screen}")
        page.locator("[name=code]").fill(totp.code_at(secret, max(first, now_step()) + 1))
        page.locator("button.main").click()
        page.wait_for_url(re.compile("/console$"))
        open_send_page(page)
        page.locator("[name=sender]").fill(SENDER)
        page.locator("[name=content]").fill("로그인이 끝나도")
        expect(page.locator("#kept")).not_to_be_empty()
        page.context.clear_cookies(name="pabal_session")
        page.locator("#review").click()
        page.locator("#again [name=password]").fill(NEW_PASSWORD)
        page.locator("#again button").click()
        page.locator("#again [name=code]").fill(codes[0])
        check_page(page, f"code-again-{screen}")
        page.locator("#again button").click()
        expect(page.locator("#again")).not_to_be_visible()
        expect(page.locator("[name=content]")).to_have_value("로그인이 끝나도")


@pytest.mark.torture
@in_both_ways
def test_owner_sees_the_last_use_of_keys_and_changes_a_rate(
    env: BrowserEnvironment, language: str, screen: str
) -> None:
    env.call("sender/list")
    with env.signed_in(language=language, screen=screen) as page:
        page.goto("/console/keys")
        check_page(page, f"keys-{screen}")
        page.locator("tbody summary").first.click()
        page.locator("tbody [name=rate]").first.fill("900")
        page.locator("form[action='/console/keys/rate'] button").first.click()
        expect(page.locator("tbody tr").first).to_contain_text("900")


@pytest.mark.torture
@in_both_ways
def test_time_of_a_scheduled_request_is_changed(env: BrowserEnvironment, language: str, screen: str) -> None:
    with env.signed_in(language=language, screen=screen) as page:
        open_send_page(page)
        page.locator("[name=sender]").fill(SENDER)
        page.locator("[name=content]").fill(f"예약한 말 {language}")
        page.locator("[name=receivers]").fill("010-2000-0300")
        later = time.strftime("%Y-%m-%dT10:00", time.localtime(time.time() + 3 * 24 * 3600))
        schedule(page, later)
        page.locator("#review").click()
        page.locator("#send-it").click()
        page.wait_for_url("**/console/send/done/*")
        page.locator(".actions a[href*='/console/requests/']").first.click()
        old = page.url
        page.locator("a[href*='?edit=']").click()
        expect(page.locator("[name=content]")).to_have_value(f"예약한 말 {language}")
        expect(page.locator("[name=sendDate]")).to_have_value(later.replace("T", " "))
        page.locator("[name=sendDate]").fill(later.replace("T10:00", "T11:30"))
        page.locator("#review").click()
        expect(page.locator("#last-look")).to_be_visible()
        check_page(page, f"edit-schedule-{screen}")
        page.locator("#send-it").click()
        page.wait_for_url("**/console/send/done/*")
        page.goto(old)
        expect(page.locator("a[href*='?edit=']")).to_have_count(0)
