"""Nothing that was typed is lost, and a failure is told: drafts, ended sessions, and a network that fails."""

from itertools import product

import pytest
from playwright.sync_api import Page, Route, expect

from tests.fixtures.browser import BrowserEnvironment, Way, check_page, go_to_file, in_both_ways, send_it, write

pytestmark = pytest.mark.slow

UNAVAILABLE = '<main id="content"><h1>-</h1><p>The store is away.</p><p>home</p></main>'


def keep(page: Page, text: str, receiver: str = "010-2000-0100") -> None:
    """Write a message and wait until it is kept."""
    write(page, text, receiver)
    expect(page.locator("#kept")).not_to_be_empty()
    expect(page.locator("#arriving")).to_have_text(text)


def discard(page: Page) -> None:
    page.goto("/console/send")
    page.locator("#draft-loaded button").click()
    expect(page.locator("[name=content]")).to_have_value("")


def abort(route: Route) -> None:
    route.abort("internetdisconnected")


def answer_503(route: Route) -> None:
    route.fulfill(status=503, content_type="text/html", body=UNAVAILABLE)


@in_both_ways
def test_draft_survives_reload_menu_upload_and_language(env: BrowserEnvironment, way: Way) -> None:
    with env.signed_in(way=way) as page:
        keep(page, "여러 번 돌아옵니다")
        page.reload()
        expect(page.locator("[name=content]")).to_have_value("여러 번 돌아옵니다")
        page.goto("/console/history")
        page.goto("/console/send")
        expect(page.locator("[name=content]")).to_have_value("여러 번 돌아옵니다")
        go_to_file(page)
        page.go_back()
        expect(page.locator("[name=content]")).to_have_value("여러 번 돌아옵니다")
        page.locator("form[action='/console/language'] button").click()
        expect(page.locator("html")).not_to_have_attribute("lang", way.language)
        expect(page.locator("[name=content]")).to_have_value("여러 번 돌아옵니다")
        expect(page.locator("[name=receivers]")).to_have_value("010-2000-0100")
        check_page(page, "draft")
        page.locator("form[action='/console/language'] button").click()
        expect(page.locator("html")).to_have_attribute("lang", way.language)
        discard(page)


@in_both_ways
def test_ended_session_asks_for_the_password_in_place(env: BrowserEnvironment, way: Way) -> None:
    with env.signed_in(way=way, expects_failures=True) as page:
        keep(page, "로그인이 끝나도")
        expect(page.locator("#sum strong")).to_have_count(1)  # no request of the page comes before the button's
        name = str(page.locator("#again").get_attribute("data-user"))
        page.context.clear_cookies(name="pabal_session")

        page.locator("#review").click()
        expect(page.locator("#again")).to_be_visible()
        check_page(page, "sign-in-again")
        page.locator("#again [name=password]").fill("wrong password")
        page.locator("#again button").click()
        expect(page.locator("#again-told")).not_to_be_empty()
        page.locator("#again [name=password]").fill(env.password(name))
        page.locator("#again button").click()

        expect(page.locator("#last-look")).to_be_visible()
        expect(page.locator("[name=content]")).to_have_value("로그인이 끝나도")
        send_it(page)


@in_both_ways
def test_failed_request_says_whether_something_was_sent(env: BrowserEnvironment, way: Way) -> None:
    fail = abort if way.screen == "desktop" else answer_503
    with env.signed_in(way=way, expects_failures=True) as page:
        keep(page, "끊겨도 한 번만", "010-2000-0101")
        page.route("**/console/send/check", fail)
        page.locator("#review").click()
        expect(page.locator("#failed")).to_contain_text("아무것도" if way.language == "ko" else "Nothing was sent")
        check_page(page, "failed")
        page.unroute("**/console/send/check")
        page.locator("#failed button").click()
        expect(page.locator("#last-look")).to_be_visible()
        expect(page.locator("#failed")).to_be_hidden()

        page.route("**/console/send", fail)
        page.locator("#send-it").click()
        expect(page.locator("#failed")).to_contain_text("한 번만" if way.language == "ko" else "only once")
        page.unroute("**/console/send")
        page.locator("#failed button").click()
        page.wait_for_url("**/console/send/done/*")


def test_corrected_field_is_no_longer_marked(env: BrowserEnvironment) -> None:
    with env.signed_in() as page:
        keep(page, "표시", "119")
        page.locator("#review").click()
        receivers = page.locator("[name=receivers]")
        expect(receivers).to_have_attribute("aria-invalid", "true")

        receivers.fill("010-2000-0102")

        expect(receivers).not_to_have_attribute("aria-invalid", "true")
        discard(page)


def test_known_words_of_tables_are_not_broken_in_two(env: BrowserEnvironment) -> None:
    with env.signed_in(way=Way("en")) as page:
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
