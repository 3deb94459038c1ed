"""Charts in a browser: their numbers are read with the pointer and with the keyboard."""

import pytest
from playwright.sync_api import Page, expect

from tests.fixtures.browser import BrowserEnvironment, Way, check_page, in_both_ways

pytestmark = pytest.mark.slow


@pytest.mark.torture
@in_both_ways
def test_numbers_of_a_chart_are_read_with_pointer_and_keyboard(env: BrowserEnvironment, way: Way) -> None:
    env.send("010-1111-2222", "010-0000-0001")
    with env.signed_in(way=way) as page:
        page.goto("/console/statistics")
        read_chart(page)  # the last days: at midnight, today has one column
        page.locator("nav.parts a").first.click()  # today, by hour
        expect(page.locator("nav.parts").first.locator("a[aria-current]")).to_have_count(1)
        page.locator("details summary").first.click()
        expect(page.locator("#series")).to_be_visible()
        check_page(page, "statistics")


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
