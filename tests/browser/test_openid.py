"""Sign-in by OpenID Connect in a browser, with a real provider: link, sign in, join, and go on in another tab."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from pabal.domain.people.user import Role
from tests.browser.steps import Behind, Case, press_through_failures
from tests.fakes.openid.server import OpenIdServer, running_provider
from tests.fixtures.browser import BrowserEnvironment, Way, check_page, in_both_ways
from tests.fixtures.failing_network import failing_network
from tests.fixtures.live import serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdServer]:
    with running_provider() as server:
        yield server


@pytest.fixture(scope="module")
def network(browser: Browser, provider: OpenIdServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    with (
        serving(tmp_path_factory.mktemp("openid") / "data", key_rate=0, **provider.settings) as live,
        failing_network(live.base_url) as found,
    ):
        provider.register(found.base_url)
        yield BrowserEnvironment(live, browser, found.base_url), found


def stay_here(page: Page) -> None:
    """Have the browser request nothing from other machines."""
    page.context.route(re.compile("^https://"), lambda route: route.abort())


def sign_in_there(page: Page, provider: OpenIdServer, subject: str) -> None:
    """Sign in at the provider's own pages, and agree; they want a font from elsewhere, which nobody needs."""
    page.wait_for_url(f"{provider.issuer}/interaction/*")
    page.locator("[name=login]").fill(subject)
    page.locator("[name=password]").fill("x")
    page.locator("button[type=submit]").click()
    page.locator("form:has([name=prompt][value=consent]) button[type=submit]").click()


def link(network: Behind, provider: OpenIdServer, account: str, way: Way) -> None:
    """Have the owner of a new account link the own user, while the network fails."""
    env, failing = network
    with env.signed_in(account=account, way=way, expects_failures=True) as page:
        stay_here(page)
        page.goto("/console/me")
        check_page(page, "openid-unlinked")
        page.locator("[name=openid_password]").fill(env.password(env.user(Role.OWNER, account)))
        case = Case(env, failing, page, way)
        press_through_failures(case, page.locator("form[action='/console/me/openid'] button"))
        sign_in_there(page, provider, f"kim-at-{account}")
        page.wait_for_url("**/console/me?linked=1")
        expect(page.get_by_text(f"kim-at-{account}")).to_be_visible()
        check_page(page, "openid-linked")


def invite(env: BrowserEnvironment, account: str) -> str:
    """Have the owner invite somebody, and return the path of the link."""
    with env.signed_in(Role.OWNER, account) as page:
        page.goto("/console/team")
        expect(page.locator("td .tag", has_text="Acme ID")).to_be_visible()
        page.locator("form[action='/console/team/invite'] button").click()
        return page.locator("code.secret").inner_text().removeprefix(env.base_url)


@in_both_ways
def test_user_signs_in_joins_and_goes_on_through_the_provider(
    network: Behind, provider: OpenIdServer, way: Way
) -> None:
    env, failing = network
    account, name = f"acme-{way.word}", f"lee-{way.word}"
    link(network, provider, account, way)
    with env.open_page(way, expects_failures=True) as page:
        stay_here(page)
        page.goto("/console/history?status=fail")
        page.wait_for_url("**/console/login?next=*")
        check_page(page, "openid-sign-in")
        case = Case(env, failing, page, way)
        press_through_failures(case, page.locator("form[action='/console/login/openid'] button"))
        sign_in_there(page, provider, f"kim-at-{account}")
        page.wait_for_url("**/console/history?status=fail")
        expect(page.locator("a.user")).to_contain_text(env.user(Role.OWNER, account))

        page.context.clear_cookies(name=re.compile("pabal_session"))
        page.goto(page.url)
        page.locator("form[action='/console/login/openid'] button").click()
        page.wait_for_url("**/console/history?status=fail")  # the provider knows the browser by now
    with env.open_page(way, expects_failures=True) as page:
        stay_here(page)
        page.goto(invite(env, account))
        page.locator("[name=name]").fill(name)
        check_page(page, "openid-join")
        case = Case(env, failing, page, way)
        press_through_failures(case, page.locator("button[formaction='/console/invite/openid']"))
        sign_in_there(page, provider, name)
        page.wait_for_url(re.compile("/console$"))
        expect(page.locator("a.user")).to_contain_text(name)
        page.goto("/console/send")
        page.context.clear_cookies(name=re.compile("pabal_session"))
        page.locator("[name=content]").fill("안녕하세요")
        expect(page.locator("#again")).to_be_visible()
        with page.context.expect_page() as opened:
            page.locator("#again a[target=_blank]").click()
        other = opened.value
        other.locator("form[action='/console/login/openid'] button").click()
        other.wait_for_url(re.compile("/console$"))
        other.close()
        page.bring_to_front()
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # no windows: nothing is ever hidden
        expect(page.locator("#again")).to_be_hidden()
        expect(page.locator("[name=content]")).to_have_value("안녕하세요")
