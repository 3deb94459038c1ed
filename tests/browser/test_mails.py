"""Mails in a browser: an address is confirmed, kinds of notices are chosen, and an invited user joins."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from pabal.domain.people.user import Role
from tests.browser.steps import Behind, Case, Flow, Step, press_through_failures, run
from tests.fixtures.browser import BrowserEnvironment, Way, check_page, in_both_ways
from tests.fixtures.failing_network import failing_network
from tests.fixtures.live import serving
from tests.fixtures.mail_servers import Mailbox, mail_server_in_thread, read_texts

pytestmark = pytest.mark.slow

URL = "https://pabal.example.com"
PASSWORD = "correct horse battery"
MAIL_S = 60.0


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
    check_page(page, "notices")
    mails = len(box.mails)
    box.arrived.clear()
    page.locator("[name=address]").fill(address)
    yield Step("notices.address", page.locator("form[action$='/address'] button"), page.locator("[role=status]"))
    check_page(page, "notices-asked")
    assert box.arrived.wait(MAIL_S)
    assert box.recipients[-1] == address
    assert len(box.mails) == mails + 1
    (link,) = re.findall(rf"{URL}(/console/me/notices/confirm\S+)", read_texts(box.mails)[-1])
    page.goto(link)
    check_page(page, "notices-confirm")
    yield Step("notices.confirm", page.locator("main form button"), page.locator("strong", has_text=address))
    page.locator("[name='kind.quota']").check()
    page.locator("[name='kind.campaign']").uncheck()
    save = page.locator("form[action='/console/me/notices'] button.main")
    yield Step("notices.choose", save, page.locator("[role=status]"))
    expect(page.locator("[name='kind.quota']")).to_be_checked()
    expect(page.locator("[name='kind.campaign']")).not_to_be_checked()


@pytest.mark.torture
@in_both_ways
def test_address_is_confirmed_and_a_test_mail_arrives(network: Behind, box: Mailbox, way: Way) -> None:
    env, failing = network
    address = f"{way.word}@example.com"
    with env.signed_in(Role.OPERATOR, way=way, expects_failures=True) as page:
        case = Case(env, failing, page, way)
        run(Flow("notices", partial(confirm_address, box=box, address=address)), case)
        mails = len(box.mails)
        page.goto("/console/operate/mail")
        check_page(page, "mail")
        press_through_failures(case, page.locator("form[action$='/test'] button"))
        expect(page.locator("[role=status]")).to_be_visible()

    assert box.recipients[mails:] == [address]


@in_both_ways
def test_invitation_is_mailed_and_a_named_user_joins(network: Behind, box: Mailbox, way: Way) -> None:
    env, _ = network
    with env.signed_in(way=way) as page:
        page.goto("/console/team")
        page.locator("[name=address]").fill("nobody")
        page.locator("[name=address]").evaluate("(field) => (field.form.noValidate = true)")
        page.locator("form[action='/console/team/invite'] button").click()
        expect(page.locator("#wrong-address")).to_be_visible()
        check_page(page, "invite-wrong")
        page.locator("[name=address]").fill("jihyun@example.com")
        page.locator("form[action='/console/team/invite'] button").click()
        expect(page.locator(".good").first).to_contain_text("jihyun@example.com")
        expect(page.locator("code.secret")).to_contain_text("/console/invite?token=")  # the link stays
        check_page(page, "invited")
    assert box.recipients == ["jihyun@example.com"]
    (path,) = re.findall(rf"{URL}(/console/invite\?token=[0-9a-f]{{64}})", read_texts(box.mails)[-1])

    with env.open_page(way=way) as page:
        page.goto(path)
        page.locator("[name=name]").fill("jihyun")
        page.locator("[name=full_name]").fill("김지현")
        check_page(page, "join")
        page.locator("[name=password]").fill(PASSWORD)
        page.locator("[name=repeated]").fill(PASSWORD)
        page.locator("form[action='/console/invite'] button").last.click()
        page.wait_for_url(re.compile("/console/login"))
        page.locator("[name=password]").fill(PASSWORD)
        page.locator("form[action='/console/login'] button").click()
        page.wait_for_url(re.compile("/console$"))
        expect(page.locator(".who .user")).to_contain_text("김지현")
        page.goto("/console/me")
        page.locator("[name=full_name]").fill("김지현 과장")
        page.locator("form[action='/console/me/name'] button").click()
        expect(page.locator(".who .user")).to_contain_text("김지현 과장")
        check_page(page, "me-named")
