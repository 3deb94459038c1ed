"""Figures in a browser: statistics with their charts, and what operators watch."""

import contextlib
import re
from collections.abc import Iterator

import apsw
import pytest
from playwright.sync_api import Browser, Page, expect

from pabal.domain.people.user import Role
from tests.browser.test_console import FIRST_PAGE_BYTES, in_each_language_and_screen, send
from tests.fixtures.browser import BrowserEnvironment, check_page, downloaded_bytes
from tests.fixtures.live import serving
from tests.fixtures.sheets import read_sheets
from tests.fixtures.web import template_body

pytestmark = pytest.mark.slow

FAILURE = "010-0000-0001"


@pytest.fixture(scope="module")
def env(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserEnvironment]:
    """A new service with the simulator and a price."""
    folder = tmp_path_factory.mktemp("reports")
    file = folder / "pabal.toml"
    file.write_text("[prices]\nsms = 9.5\n", encoding="utf-8")
    with serving(folder / "data", config=file, key_rate=0) as live:
        yield BrowserEnvironment(live, browser)


@pytest.mark.torture
@in_each_language_and_screen
def test_statistics_are_seen_compared_and_exported(env: BrowserEnvironment, language: str, screen: str) -> None:
    send(env, "010-1111-2222", FAILURE)
    with env.signed_in(language=language, screen=screen) as page:
        page.goto("/console/statistics")
        read_chart(page)  # the last days: at midnight, today has one column
        page.locator("nav.parts a").first.click()  # today, by hour
        expect(page.locator("nav.parts").first.locator("a[aria-current]")).to_have_count(1)
        expect(page.locator(".chart-plot g[role=img]")).not_to_have_count(0)
        check_page(page, f"statistics-{language}-{screen}")

        for word in ("key", "user"):
            page.locator(f"[name='by.{word}']").check()
        page.locator("[name=interval]").select_option("day")
        page.locator("[name=show]").select_option("cost")
        page.locator("button.main").click()
        expect(page.locator("#groups tbody tr")).not_to_have_count(0)
        expect(page.locator(".chart-plot rect.cost")).not_to_have_count(0)
        page.locator("details summary").first.click()
        expect(page.locator("#series")).to_be_visible()
        check_page(page, f"statistics-groups-{language}-{screen}")
        with page.expect_download() as download:
            page.locator("a[href*='table.xlsx']").click()
        ((head, *rows),) = read_sheets(download.value.path().read_bytes()).values()
        total = int(re.sub(r"\D", "", page.locator(".tiles .messages dd").inner_text().split("\n")[0]))
        query = page.url.partition("/console")[2]
        cookies = {each["name"]: each["value"] for each in page.context.cookies()}

    assert sum(int(row[head.index({"ko": "건수", "en": "Messages"}[language])]) for row in rows) == total
    assert downloaded_bytes(env.live, f"/console{query}", cookies) < FIRST_PAGE_BYTES


@pytest.mark.torture
@in_each_language_and_screen
def test_overview_shows_figures_of_today_and_costs(env: BrowserEnvironment, language: str, screen: str) -> None:
    send(env, "010-1111-2223", FAILURE)
    with env.signed_in(
        language=language, screen=screen, color_scheme="dark" if screen == "phone" else "light"
    ) as page:
        cards = page.locator(".cards > div")
        expect(cards).to_have_count(4)
        expect(cards.nth(2).locator("a")).to_have_attribute("href", re.compile("status=fail"))
        expect(cards.nth(3)).to_contain_text({"ko": "원", "en": "won"}[language])
        assert sum(map(int, page.locator(".today [data-kind]").all_inner_texts())) == int(
            cards.nth(0).locator("dd").first.inner_text().replace(",", "")
        )
        expect(page.locator(".chart-plot g[role=img]")).to_have_count(7)
        page.locator(".titled a[href*='show=cost']").click()
        expect(page.locator(".chart-plot rect.cost")).to_have_count(1)
        expect(page.locator(".chart-ticks span").first).to_contain_text({"ko": "원", "en": "won"}[language])
        page.locator(".spans a[href*='days=28']").click()
        expect(page.locator(".chart-plot g[role=img]")).to_have_count(28)
        expect(page.locator(".chart-plot rect.cost")).to_have_count(1)  # the switch keeps its choice
        check_page(page, f"overview-cost-{language}-{screen}")
        cards.nth(2).locator("a").click()
        expect(page.locator("[name=status]")).to_have_value("fail")


def read_chart(page: Page) -> None:
    """Read the numbers of a column with the pointer, and of its neighbour with the keyboard."""
    columns = page.locator(".chart-plot g[role=img]")
    expect(columns.nth(1)).to_be_attached()
    last, before = columns.last, columns.nth(columns.count() - 2)
    expect(last.locator(".tip rect")).to_be_hidden()
    last.scroll_into_view_if_needed()
    place = last.locator("rect.ground").bounding_box()
    assert place
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] - 3)
    expect(last.locator(".tip rect")).to_be_visible()
    page.mouse.move(0, 0)
    expect(last.locator(".tip rect")).to_be_hidden()

    page.locator("button.main").focus()
    for _ in range(10):  # the downloads stand in between
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.chart-plot g')"):
            break
    expect(last).to_be_focused()
    expect(last.locator(".tip rect")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(before).to_be_focused()
    expect(before.locator(".tip rect")).to_be_visible()
    expect(last.locator(".tip rect")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(before.locator(".tip rect")).to_be_hidden()


def pause_webhooks(env: BrowserEnvironment) -> None:
    """Have every webhook be paused, as after ten failures and five minutes."""
    with contextlib.closing(apsw.Connection(str(env.live.data / "pabal.db"))) as other:
        other.set_busy_timeout(10_000)
        other.execute("update webhooks set state = 'paused', failures = 12, failing_since = 1, trial_at = null")


@pytest.mark.torture
@in_each_language_and_screen
def test_operator_reviews_resumes_and_watches(env: BrowserEnvironment, language: str, screen: str) -> None:
    env.approve_channel("@reviews", "010-8888-2222")
    (profile,) = env.call("sender/list", channelId="@reviews")["items"]
    code, url = f"R-{language}-{screen}", f"https://{language}-{screen}.example/"
    key = {"senderKey": profile["senderKey"], "templateCode": code}
    env.call("template/create", template_body(profile["senderKey"], templateCode=code, name=f"보류 {code}"))
    env.call("template/request", key)
    env.call("webhook/create", {"url": url, "events": ["message.result"]})
    send(env, "010-1111-3333")
    pause_webhooks(env)
    with env.signed_in(Role.OPERATOR, language=language, screen=screen) as page:
        page.goto("/console/operate/reviews")
        check_page(page, f"reviews-{language}-{screen}")
        page.get_by_role("link", name=f"보류 {code}").click()
        page.locator("[value=reject]").click()
        expect(page.locator("#wrong-comment")).to_be_visible()
        check_page(page, f"review-{language}-{screen}")
        page.locator("[value=approve]").click()
        expect(page.locator(".good")).to_be_visible()
        expect(page.locator("main")).not_to_contain_text(code)

        page.goto("/console/operate/webhooks")
        check_page(page, f"paused-webhooks-{language}-{screen}")
        page.locator("tr", has_text=url).get_by_role("button").click()
        expect(page.locator(".good")).to_be_visible()
        expect(page.locator("main")).not_to_contain_text(url)

        page.goto("/console/operate/quotas")
        expect(page.locator("#keys")).to_be_visible()
        check_page(page, f"quotas-{language}-{screen}")

        page.goto("/console/operate")
        expect(page.locator("#state")).to_contain_text("99")  # the percentiles of the last minutes
        page.reload()
        expect(page.locator(".chart-plot rect.p50")).not_to_have_count(0)
        check_page(page, f"operate-{language}-{screen}")
        cookies = {each["name"]: each["value"] for each in page.context.cookies()}
    assert downloaded_bytes(env.live, "/console/operate", cookies) < FIRST_PAGE_BYTES
