"""What pages say of a send is true: its result and colour, why it waits, and what operators do about it."""

import contextlib
import http.server
import threading
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from pabal.domain.people.user import Role
from tests.fixtures.browser import BrowserEnvironment, check_page
from tests.fixtures.live import serving
from tests.fixtures.web import SENDER, alimtalk_body, image_body, sms_body, template_body

pytestmark = pytest.mark.slow

FAILURE = "010-0000-0001"
"""A number that nobody has."""
CARRIERS = """[carriers.near]
kind = "simulator"
[carriers.slow]
kind = "simulator"
rate = 1
[carriers.away]
kind = "smpp"
host = "127.0.0.1"
port = 1
system_id = "pabal"
password = "secret"
[carriers.far]
kind = "smpp"
host = "127.0.0.1"
port = 2
system_id = "pabal"
password = "secret"
[routes]
alimTalk = ["near"]
sms = ["near"]
lms = ["away", "far"]
mms = ["slow"]
"""
in_both_ways = pytest.mark.parametrize(
    ("language", "screen", "color"), [("ko", "desktop", "dark"), ("en", "phone", "light")]
)


@contextlib.contextmanager
def plain_server() -> Iterator[int]:
    """A server on this machine that speaks HTTP, not HTTPS; its port."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture(scope="module")
def env(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserEnvironment]:
    """A service with a carrier that is up and one that nobody answers, and sends through both."""
    folder = tmp_path_factory.mktemp("states")
    (folder / "pabal.toml").write_text(CARRIERS, encoding="utf-8")
    with plain_server() as port:
        allowed = f"first@127.0.0.1:{port}"
        config = ("--config", str(folder / "pabal.toml"))
        with serving(
            folder / "data", *config, key_rate=0, check_sender_numbers="false", webhook_allow=allowed
        ) as live:
            found = BrowserEnvironment(live, browser)
            found.call("webhook/create", {"url": f"https://127.0.0.1:{port}/hook", "events": ["message.result"]})
            send(found, "도착", "010-4100-0001", "010-4100-0002")
            send(found, "결번", FAILURE, FAILURE.replace("0001", "0002"))
            send_alimtalk(found, "010-0000-0003")
            later = sms_body("010-4100-0003", content="모레", sendDate=day_after_tomorrow())
            found.call("message/sendSMS", later)
            long = {"subject": "긴 글", "content": "기다리는 글"}
            found.call("message/sendLMS", sms_body("010-4100-0004", "010-4100-0005", **long))
            yield found


def day_after_tomorrow() -> str:
    return time.strftime("%Y-%m-%d 10:00", time.localtime(time.time() + 2 * 24 * 3600))


def send(env: BrowserEnvironment, content: str, *numbers: str) -> None:
    env.wait_until_final(env.call("message/sendSMS", sms_body(*numbers, content=content))["item"]["requestId"])


def send_alimtalk(env: BrowserEnvironment, number: str) -> None:
    """Send an Alimtalk with a text in its place to somebody without KakaoTalk."""
    env.approve_channel("@states", "010-8888-4444")
    key = env.call("sender/list", channelId="@states")["items"][0]["senderKey"]
    env.call("template/create", template_body(key))
    env.call("template/request", {"senderKey": key, "templateCode": "T1"})
    body = alimtalk_body(key, number, resend=True, resendPhoneNumber=SENDER, resendContent="대신 온 문자")
    env.wait_until_final(env.call("message/sendAlimtalk", body)["item"]["requestId"])


@in_both_ways
def test_states_say_the_result_in_its_colour(
    env: BrowserEnvironment, language: str, screen: str, color: str
) -> None:
    with env.signed_in(language=language, screen=screen, color_scheme=color) as page:
        page.goto("/console/requests")
        for content, state in (("도착", "completed"), ("결번", "fail"), ("모레", "scheduled")):
            expect(page.locator("tbody tr", has_text=content).locator(".state")).to_have_class(f"state {state}")
        check_page(page, f"states-{language}-{screen}")
        page.goto("/console/history?receiver=010-0000-0003")
        expect(page.locator("tbody .state")).to_have_class(["state completed"] * 2)  # not failed: the text arrived
        page.goto("/console")
        reached = page.locator(".tiles.cards > div").nth(1).locator("dd").first
        expect(reached).to_contain_text("60.0")  # three of five: what waits and what is for later does not count
        page.goto("/console/webhooks")
        expect(page.locator("tbody .state")).to_have_class("state fail")
        page.locator("tbody a.open").click()
        page.locator("form[action$='/test'] button").click()
        expect(page.locator("main [role=status].wrong")).to_contain_text("HTTPS")  # it is no matter of certificates
        check_page(page, f"plain-webhook-{language}-{screen}")


@in_both_ways
def test_every_page_says_why_a_message_waits(
    env: BrowserEnvironment, language: str, screen: str, color: str
) -> None:
    env.wait_until(lambda: env.call("message/list", receivers="010-4100-0004")["items"], bool)
    with env.signed_in(language=language, screen=screen, color_scheme=color) as page:
        page.goto("/console")
        expect(page.locator("main .remedy").first).to_contain_text("away")
        check_page(page, f"blocked-{language}-{screen}")
        for path in ("/console/requests", "/console/history?receiver=010-4100-0004"):
            page.goto(path)
            row = page.locator("tbody tr").filter(has=page.locator(".why"))
            expect(row.first.locator(".why")).to_contain_text("away")
        row.first.locator("a.open").click()
        expect(page.locator("main .notice")).to_contain_text("away")


def test_resending_is_offered_as_soon_as_some_failed(env: BrowserEnvironment) -> None:
    numbers = [f"010-4300-000{each}" for each in range(4)]
    body = sms_body(*numbers, FAILURE, subject="사진", content="느린 사진", image=image_body())
    with env.signed_in() as page:
        page.goto("/console/requests")
        sent = env.call("message/sendMMS", body)["item"]["requestId"]
        page.goto(f"/console/requests/{sent}")
        expect(page.locator("#next a[href*='resend=']")).to_have_count(0)
        page.evaluate("document.body.dataset.same = 'yes'")
        expect(page.locator("#next a[href*='resend=']")).to_be_visible()
        expect(page.locator("body[data-same=yes]")).to_have_count(1)  # it was not loaded again


def test_operator_moves_what_waits_and_sees_how_many(env: BrowserEnvironment) -> None:
    env.call("message/sendLMS", sms_body("010-4200-0001", sender=SENDER, subject="옮길 글", content="옮길 글"))
    with env.signed_in(Role.OPERATOR) as page:
        page.goto("/console/operate")
        away = page.locator("section.carrier", has_text="away")
        waiting = away.locator(".queue strong").inner_text()
        away.locator(".queue a").click()
        page.locator("[name=to]").select_option("far")
        page.locator("form[action='/console/operate/move'] button").click()
        expect(page.locator("main .good")).to_contain_text("".join(filter(str.isdigit, waiting)))
        expect(away.locator(".queue strong")).to_contain_text("0")
