"""Nothing that was typed is lost, and a failure is told: drafts, ended sessions, and a network that fails."""

from collections.abc import Callable
from itertools import product

import pytest
from playwright.sync_api import Page, Route, expect

from tests.fixtures.browser import BrowserEnvironment, check_page, open_send_page
from tests.fixtures.web import SENDER

pytestmark = pytest.mark.slow

in_both_ways = pytest.mark.parametrize(("language", "screen"), [("ko", "desktop"), ("en", "phone")])
UNAVAILABLE = '<main id="content"><h1>-</h1><p>The store is away.</p><p>home</p></main>'


def write(page: Page, text: str, receiver: str = "010-2000-0100") -> None:
    """Write a message and wait until it is kept."""
    open_send_page(page)
    page.locator("[name=sender]").fill(SENDER)
    page.locator("[name=content]").fill(text)
    page.locator("[name=receivers]").fill(receiver)
    expect(page.locator("#kept")).not_to_be_empty()
    expect(page.locator("#arriving")).to_have_text(text)


def discard(page: Page) -> None:
    page.goto("/console/send")
    page.locator("#draft-loaded button").click()
    expect(page.locator("[name=content]")).to_have_value("")


def review(page: Page) -> None:
    page.locator("#review").click()


def abort(route: Route) -> None:
    route.abort("internetdisconnected")


def answer_503(route: Route) -> None:
    route.fulfill(status=503, content_type="text/html", body=UNAVAILABLE)


@in_both_ways
def test_draft_survives_reload_menu_upload_and_language(
    env: BrowserEnvironment, language: str, screen: str
) -> None:
    with env.signed_in(language=language, screen=screen) as page:
        write(page, "여러 번 돌아옵니다")
        page.reload()
        expect(page.locator("[name=content]")).to_have_value("여러 번 돌아옵니다")
        page.goto("/console/history")
        page.goto("/console/send")
        expect(page.locator("[name=content]")).to_have_value("여러 번 돌아옵니다")
        page.locator("[name=whom][value=file]").check()
        page.locator("#to-upload").click()
        page.wait_for_url("**/console/send/upload/*")
        page.go_back()
        expect(page.locator("[name=content]")).to_have_value("여러 번 돌아옵니다")
        page.locator("form[action='/console/language'] button").click()
        expect(page.locator("html")).not_to_have_attribute("lang", language)
        expect(page.locator("[name=content]")).to_have_value("여러 번 돌아옵니다")
        expect(page.locator("[name=receivers]")).to_have_value("010-2000-0100")
        check_page(page, f"draft-{screen}")
        page.locator("form[action='/console/language'] button").click()
        expect(page.locator("html")).to_have_attribute("lang", language)
        discard(page)


@in_both_ways
def test_ended_session_asks_for_the_password_in_place(env: BrowserEnvironment, language: str, screen: str) -> None:
    with env.signed_in(language=language, screen=screen, expects_failures=True) as page:
        write(page, "로그인이 끝나도")
        expect(page.locator("#sum strong")).to_have_count(1)  # no request of the page comes before the button's
        name = str(page.locator("#again").get_attribute("data-user"))
        page.context.clear_cookies(name="pabal_session")

        review(page)
        expect(page.locator("#again")).to_be_visible()
        check_page(page, f"sign-in-again-{screen}")
        page.locator("#again [name=password]").fill("wrong password")
        page.locator("#again button").click()
        expect(page.locator("#again-told")).not_to_be_empty()
        page.locator("#again [name=password]").fill(env.password(name))
        page.locator("#again button").click()

        expect(page.locator("#last-look")).to_be_visible()
        expect(page.locator("[name=content]")).to_have_value("로그인이 끝나도")
        page.locator("#send-it").click()
        page.wait_for_url("**/console/send/done/*")


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("language", "screen", "fail"), [("ko", "desktop", abort), ("en", "phone", answer_503)], ids=["offline", "503"]
)
def test_failed_request_says_whether_something_was_sent(
    env: BrowserEnvironment, language: str, screen: str, fail: Callable[[Route], None]
) -> None:
    with env.signed_in(language=language, screen=screen, expects_failures=True) as page:
        write(page, "끊겨도 한 번만", "010-2000-0101")
        page.route("**/console/send/check", fail)
        review(page)
        expect(page.locator("#failed")).to_contain_text("아무것도" if language == "ko" else "Nothing was sent")
        check_page(page, f"failed-{screen}")
        page.unroute("**/console/send/check")
        page.locator("#failed button").click()
        expect(page.locator("#last-look")).to_be_visible()
        expect(page.locator("#failed")).to_be_hidden()

        page.route("**/console/send", fail)
        page.locator("#send-it").click()
        expect(page.locator("#failed")).to_contain_text("한 번만" if language == "ko" else "only once")
        page.unroute("**/console/send")
        page.locator("#failed button").click()
        page.wait_for_url("**/console/send/done/*")


def test_corrected_field_is_no_longer_marked(env: BrowserEnvironment) -> None:
    with env.signed_in() as page:
        write(page, "표시", "119")
        review(page)
        receivers = page.locator("[name=receivers]")
        expect(receivers).to_have_attribute("aria-invalid", "true")

        receivers.fill("010-2000-0102")

        expect(receivers).not_to_have_attribute("aria-invalid", "true")
        discard(page)


def test_known_words_of_tables_are_not_broken_in_two(env: BrowserEnvironment) -> None:
    with env.signed_in(language="en") as page:
        for path, width in product(("/console", "/console/requests", "/console/history"), (1280, 900, 720)):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(path)
            broken = page.evaluate(
                """() => [...document.querySelectorAll(".list :is(th, .short, .word, .state)")].filter((cell) => {
                  const range = document.createRange();
                  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
                  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
                    for (const word of node.textContent.matchAll(/\\S+/g)) {
                      range.setStart(node, word.index);
                      range.setEnd(node, word.index + word[0].length);
                      const boxes = [...range.getClientRects()].filter((box) => box.width > 1);
                      if (new Set(boxes.map((box) => Math.round(box.top))).size > 1) return true;
                    }
                  }
                  return false;
                }).map((cell) => cell.textContent)"""
            )
            assert broken == [], (path, width)
