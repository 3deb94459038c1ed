"""Invitations in a browser: mailed where there is a mail server, with a name that colleagues see."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.fixtures.browser import BrowserEnvironment, check_page
from tests.fixtures.live import serving
from tests.fixtures.mail_servers import Mailbox, mail_server_in_thread, read_texts

pytestmark = pytest.mark.slow

URL = "https://pabal.example.com"
PASSWORD = "correct horse battery"


@pytest.fixture
def box() -> Mailbox:
    return Mailbox()


@pytest.fixture
def env(browser: Browser, box: Mailbox, tmp_path: Path) -> Iterator[BrowserEnvironment]:
    """A service with a mail server."""
    with (
        mail_server_in_thread(box) as port,
        serving(
            tmp_path / "data",
            smtp_host="127.0.0.1",
            smtp_port=port,
            smtp_tls="none",
            smtp_sender="pabal@example.com",
            public_url=URL,
        ) as live,
    ):
        yield BrowserEnvironment(live, browser)


@pytest.mark.parametrize(
    ("language", "screen"), [("ko", "desktop"), pytest.param("en", "phone", marks=pytest.mark.torture)]
)
def test_invitation_is_mailed_and_a_named_user_joins(
    env: BrowserEnvironment, box: Mailbox, language: str, screen: str
) -> None:
    with env.signed_in(language=language, screen=screen) as page:
        page.goto("/console/team")
        page.locator("[name=address]").fill("nobody")
        page.locator("[name=address]").evaluate("(field) => (field.form.noValidate = true)")
        page.locator("form[action='/console/team/invite'] button").click()
        expect(page.locator("#wrong-address")).to_be_visible()
        check_page(page, f"invite-wrong-{language}-{screen}")
        page.locator("[name=address]").fill("jihyun@example.com")
        page.locator("form[action='/console/team/invite'] button").click()
        expect(page.locator(".good").first).to_contain_text("jihyun@example.com")
        expect(page.locator("code.secret")).to_contain_text("/console/invite?token=")  # the link stays
        check_page(page, f"invited-{language}-{screen}")
    assert box.recipients == ["jihyun@example.com"]
    (path,) = re.findall(rf"{URL}(/console/invite\?token=[0-9a-f]{{64}})", read_texts(box.mails)[-1])

    with env.open_page(language=language, screen=screen) as page:
        page.goto(path)
        page.locator("[name=name]").fill("jihyun")
        page.locator("[name=full_name]").fill("김지현")
        check_page(page, f"join-{language}-{screen}")
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
        check_page(page, f"me-named-{language}-{screen}")
