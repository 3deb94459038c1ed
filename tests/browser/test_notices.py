"""Notices by mail in a browser: an address is confirmed by its link, kinds are chosen, an operator sends a test."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from pabal.domain.user import Role
from tests.fixtures.browser import BrowserEnvironment, check_page
from tests.fixtures.live import serving
from tests.fixtures.mail_servers import Mailbox, mail_server_in_thread, read_texts

pytestmark = pytest.mark.slow

URL = "https://pabal.example.com"
MAIL_S = 30.0
in_both_ways = pytest.mark.parametrize(
    ("language", "screen"), [("ko", "desktop"), pytest.param("en", "phone", marks=pytest.mark.torture)]
)


@pytest.fixture(scope="module")
def box() -> Mailbox:
    return Mailbox()


@pytest.fixture(scope="module")
def env(browser: Browser, box: Mailbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserEnvironment]:
    """A service with a mail server."""
    folder = tmp_path_factory.mktemp("mails") / "data"
    with (
        mail_server_in_thread(box) as port,
        serving(
            folder,
            smtp_host="127.0.0.1",
            smtp_port=port,
            smtp_tls="none",
            smtp_sender="pabal@example.com",
            public_url=URL,
        ) as live,
    ):
        yield BrowserEnvironment(live, browser)


def confirm_address(page: Page, box: Mailbox, address: str, screen: str) -> None:
    """Enter an address, open the link that arrives, and confirm it."""
    page.goto("/console/me")
    page.locator("a[href='/console/me/notices']").click()
    check_page(page, f"notices-{screen}")
    box.arrived.clear()
    page.locator("[name=address]").fill(address)
    page.locator("form[action$='/address'] button").click()
    expect(page.locator("[role=status]")).to_be_visible()
    check_page(page, f"notices-asked-{screen}")
    assert box.arrived.wait(MAIL_S)
    assert box.recipients[-1] == address
    (link,) = re.findall(rf"{URL}(/console/me/notices/confirm\S+)", read_texts(box.mails)[-1])
    page.goto(link)
    check_page(page, f"notices-confirm-{screen}")
    page.locator("form[action$='/confirm'] button").click()
    expect(page.locator("[role=status]")).to_be_visible()
    expect(page.locator("section strong").first).to_have_text(address)


@in_both_ways
def test_address_is_confirmed_and_a_test_mail_arrives(
    env: BrowserEnvironment, box: Mailbox, language: str, screen: str
) -> None:
    with env.signed_in(language=language, screen=screen) as page:
        confirm_address(page, box, f"owner-{language}@example.com", screen)
        page.locator("[name='kind.quota']").check()
        page.locator("[name='kind.campaign']").uncheck()
        page.locator("form[action='/console/me/notices'] button.main").click()
        expect(page.locator("[role=status]")).to_be_visible()
        expect(page.locator("[name='kind.quota']")).to_be_checked()
        expect(page.locator("[name='kind.campaign']")).not_to_be_checked()

    with env.signed_in(Role.OPERATOR, language=language, screen=screen) as page:
        confirm_address(page, box, f"operator-{language}@example.com", screen)
        page.goto("/console/operate/mail")
        check_page(page, f"mail-{screen}")
        page.locator("form[action$='/test'] button").click()
        expect(page.locator("[role=status]")).to_be_visible()
        assert box.recipients[-1] == f"operator-{language}@example.com"
