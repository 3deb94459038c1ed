"""Notices by mail in a browser: an address is confirmed by its link, kinds are chosen, an operator sends a test."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from pabal.domain.people.user import Role
from tests.browser.steps import Behind, Case, Flow, Step, press_through_failures, run
from tests.fixtures.browser import BrowserEnvironment, check_page
from tests.fixtures.failing_network import failing_network
from tests.fixtures.live import serving
from tests.fixtures.mail_servers import Mailbox, mail_server_in_thread, read_texts

pytestmark = pytest.mark.slow

URL = "https://pabal.example.com"
MAIL_S = 60.0
in_each_way = pytest.mark.parametrize(
    ("language", "screen"), [("ko", "desktop"), ("en", "desktop"), ("ko", "phone"), ("en", "phone")]
)


@pytest.fixture
def box() -> Mailbox:
    return Mailbox()


@pytest.fixture
def network(browser: Browser, box: Mailbox, tmp_path: Path) -> Iterator[Behind]:
    """A service with a mail server, and the network between it and its browsers.

    Each way has its own: a user can have an address confirmed once a minute.
    """
    folder = tmp_path / "data"
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
        failing_network(live.base_url) as found,
    ):
        yield BrowserEnvironment(live, browser, found.base_url), found


def confirm_address(case: Case, box: Mailbox, address: str) -> Iterator[Step]:
    """Enter an address, open the link that arrives, confirm it, and choose what to be told."""
    page = case.page
    page.goto("/console/me")
    page.locator("a[href='/console/me/notices']").click()
    check_page(page, f"notices-{case.word}")
    mails = len(box.mails)
    box.arrived.clear()
    page.locator("[name=address]").fill(address)
    yield Step("notices.address", page.locator("form[action$='/address'] button"), page.locator("[role=status]"))
    check_page(page, f"notices-asked-{case.word}")
    assert box.arrived.wait(MAIL_S)
    assert box.recipients[-1] == address
    assert len(box.mails) == mails + 1
    (link,) = re.findall(rf"{URL}(/console/me/notices/confirm\S+)", read_texts(box.mails)[-1])
    page.goto(link)
    check_page(page, f"notices-confirm-{case.word}")
    yield Step("notices.confirm", page.locator("main form button"), page.locator("strong", has_text=address))
    page.locator("[name='kind.quota']").check()
    page.locator("[name='kind.campaign']").uncheck()
    save = page.locator("form[action='/console/me/notices'] button.main")
    yield Step("notices.choose", save, page.locator("[role=status]"))
    expect(page.locator("[name='kind.quota']")).to_be_checked()
    expect(page.locator("[name='kind.campaign']")).not_to_be_checked()


@pytest.mark.torture
@in_each_way
def test_address_is_confirmed_and_a_test_mail_arrives(
    network: Behind, box: Mailbox, language: str, screen: str
) -> None:
    env, failing = network
    for role in (Role.OWNER, Role.OPERATOR):
        with env.signed_in(role, language=language, screen=screen, expects_failures=True) as page:
            case, address = (
                Case(env, failing, page, language, screen),
                f"{role.code}-{language}-{screen}@example.com",
            )
            run(Flow("notices", partial(confirm_address, box=box, address=address)), case)
            if role is Role.OPERATOR:
                send_test_mail(case, box, address)


def send_test_mail(case: Case, box: Mailbox, address: str) -> None:
    page, mails = case.page, len(box.mails)
    page.goto("/console/operate/mail")
    check_page(page, f"mail-{case.word}")
    press_through_failures(case, page.locator("form[action$='/test'] button"))
    expect(page.locator("[role=status]")).to_be_visible()
    assert box.recipients[mails:] == [address]
