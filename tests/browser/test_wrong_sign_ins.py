"""Sign-ins in a browser that went wrong: answers of the provider out of place, and a second factor not passed."""

import base64
import re
import time
from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from pabal.console.pages import PAGES
from pabal.domain.people import totp
from pabal.domain.people.user import Role
from tests.browser.test_openid import sign_in_there, stay_here
from tests.fakes.openid.server import OpenIdServer, running_provider
from tests.fixtures.browser import BrowserEnvironment
from tests.fixtures.live import serving

pytestmark = pytest.mark.slow

CALLBACK = "/console/login/openid/callback"
SUBJECT = "kim-at-acme"
REFUSED = (401, 403, 409)
SMS = {"content": "x", "sender": "02-1234-5678", "receivers": [{"phoneNumber": "010-1234-5678"}]}


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdServer]:
    with running_provider() as server:
        yield server


@pytest.fixture(scope="module")
def openid_env(
    browser: Browser, provider: OpenIdServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserEnvironment]:
    """A service whose users sign in through a real provider, and an owner who is linked to SUBJECT."""
    with serving(tmp_path_factory.mktemp("openid") / "data", key_rate=0, **provider.settings) as live:
        env = BrowserEnvironment(live, browser)
        provider.register(env.base_url)
        with env.signed_in(expects_failures=True) as page:
            stay_here(page)
            page.goto("/console/me")
            page.locator("[name=openid_password]").fill(env.password(env.user(Role.OWNER)))
            page.locator("form[action='/console/me/openid'] button").click()
            sign_in_there(page, provider, SUBJECT)
            page.wait_for_url("**/console/me?linked=1")
        yield env


def held_answer(page: Page, provider: OpenIdServer, subject: str) -> str:
    """Sign in at the provider, and return its answer, which the browser does not follow yet."""
    stay_here(page)
    page.goto("/console/login")
    page.locator("form[action='/console/login/openid'] button").click()
    page.wait_for_url(f"{provider.issuer}/interaction/*")
    page.locator("[name=login]").fill(subject)
    page.locator("[name=password]").fill("x")
    page.locator("button[type=submit]").click()
    consent = page.locator("form:has([name=prompt][value=consent])")
    target = urljoin(page.url, consent.get_attribute("action") or "")
    response = page.request.post(target, form={"prompt": "consent"}, max_redirects=0)
    while CALLBACK not in (target := urljoin(target, response.headers["location"])):
        response = page.request.get(target, max_redirects=0)
    return target


def changed(url: str, **changes: str | None) -> str:
    """Return an address with another query; None leaves a field out."""
    fields = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()} | changes
    return (
        f"{url.partition('?')[0]}?{urlencode({name: value for name, value in fields.items() if value is not None})}"
    )


def check_refused(page: Page, url: str) -> None:
    """Check that an answer of the provider signs nobody in, and says so to people."""
    response = page.goto(url)
    assert response
    assert response.status in REFUSED, (url, response.status)
    expect(page.locator("form[action='/console/login/openid'] button")).to_be_visible()
    page.goto("/console/history")
    page.wait_for_url("**/console/login?next=*")


@pytest.mark.torture
def test_answer_of_the_provider_works_once_in_its_browser_and_unchanged(
    openid_env: BrowserEnvironment, provider: OpenIdServer
) -> None:
    with openid_env.open_page(expects_failures=True) as page, openid_env.open_page(expects_failures=True) as thief:
        answer = held_answer(page, provider, SUBJECT)
        check_refused(thief, answer)  # a browser that never set out
        own = held_answer(thief, provider, "thief")
        check_refused(thief, answer)  # one that did, with another state and nonce
        state = parse_qs(urlsplit(answer).query)["state"][0]
        other_code = parse_qs(urlsplit(own).query)["code"][0]

        page.goto(answer)
        page.wait_for_url(re.compile("/console$"))
        expect(page.locator("a.user")).to_contain_text(openid_env.user(Role.OWNER))
        again = page.goto(answer)
        assert again
        assert again.status in REFUSED
        page.goto("/console")
        expect(page.locator("a.user")).to_contain_text(openid_env.user(Role.OWNER))
        page.context.clear_cookies(name=re.compile("pabal_session"))
        check_refused(page, answer)

    wrong_state = ("0" if state[0] != "0" else "1") + state[1:]
    for changes in ({"state": wrong_state}, {"state": None}, {"state": ""}, {"code": other_code}, {"code": None}):
        with openid_env.open_page(expects_failures=True) as page:
            answer = held_answer(page, provider, SUBJECT)
            check_refused(page, changed(answer, **changes))


def now_step() -> int:
    return totp.step_of(round(time.time() * 1000))


def turn_on(env: BrowserEnvironment, account: str) -> tuple[bytes, int, list[str]]:
    """Turn two-factor sign-in on; return the secret, the step of the first code, and the recovery codes."""
    with env.signed_in(account=account) as page:
        page.goto("/console/me")
        page.locator("[name=enable_password]").fill(env.password(env.user(Role.OWNER, account)))
        page.locator("form[action='/console/me/two-factor'] button").click()
        secret = base64.b32decode(page.locator("code.secret").inner_text().replace(" ", ""))
        step = now_step()
        page.locator("[name=code]").fill(totp.code_at(secret, step))
        page.locator("form[action='/console/me/two-factor/confirm'] button").click()
        expect(page.locator("main a.button.main")).to_be_visible()
        return secret, step, page.locator("code.secret").inner_text().split()


def enter_password(env: BrowserEnvironment, page: Page, account: str) -> None:
    name = env.user(Role.OWNER, account)
    page.goto("/console/login")
    page.locator("[name=name]").fill(name)
    page.locator("[name=password]").fill(env.password(name))
    page.locator("form[action='/console/login'] button").click()
    expect(page.locator("[name=code]")).to_be_visible()


def enter_code(page: Page, code: str, *, is_right: bool) -> None:
    """Enter a code, and wait for the answer to this one: an earlier one may be shown until then."""
    page.evaluate("document.querySelector('#told')?.classList.add('earlier')")
    page.locator("[name=code]").fill(code)
    page.locator("button.main").click()
    if is_right:
        page.wait_for_url(re.compile("/console$"))
    else:
        expect(page.locator("#told:not(.earlier)")).to_be_visible()
        expect(page.locator("[name=code]")).to_be_visible()


def check_nothing_opens(env: BrowserEnvironment, page: Page) -> None:
    """Check that a browser which has passed the first factor alone opens no page, form or endpoint."""
    fields = {
        "csrf": page.locator("form[action='/console/login/code'] [name=csrf]").input_value(),
        "token": page.locator("[name=token]").input_value(),
    }
    cookies = {str(each["name"]): str(each["value"]) for each in page.context.cookies()}
    with httpx.Client(base_url=env.base_url, cookies=cookies) as client:
        for each in PAGES:
            if each.roles is None:
                continue
            path = re.sub(r"\{\w+\}", "1", each.path)
            shown = client.request(each.method, path, data=None if each.method == "GET" else fields)
            assert shown.status_code == 303, (each.method, path, shown.status_code)
            assert shown.headers["location"].startswith("/console/login"), path
        assert client.post("/api/message/sendSMS.v1.0", json=SMS).status_code == 401
        refused = client.post("/api/message/sendSMS.v1.0", json=SMS, headers={"apiKey": fields["token"]})
        assert refused.status_code == 401


def test_password_alone_opens_nothing_and_each_code_works_once(env: BrowserEnvironment) -> None:
    account = "careful"
    secret, first, codes = turn_on(env, account)
    with env.open_page(expects_failures=True) as page, env.open_page(expects_failures=True) as other:
        enter_password(env, page, account)
        enter_password(env, other, account)
        check_nothing_opens(env, page)
        enter_code(page, totp.code_at(secret, first), is_right=False)  # it has turned the factor on
        used = max(first, now_step()) + 1
        enter_code(page, totp.code_at(secret, used), is_right=True)

        for step in (used, used - 1):
            enter_code(other, totp.code_at(secret, step), is_right=False)
        enter_code(other, totp.code_at(secret, used - 5), is_right=False)
        enter_code(other, codes[0], is_right=True)
    with env.open_page(expects_failures=True) as page:
        enter_password(env, page, account)
        enter_code(page, codes[0], is_right=False)
        enter_code(page, codes[1].lower(), is_right=True)
        page.goto("/console/me")
        expect(page.locator("main")).to_contain_text(str(totp.RECOVERY_CODES - 2))
