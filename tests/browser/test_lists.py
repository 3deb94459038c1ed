"""Lists in a browser: contacts that are filtered, chosen and paged, and rows of one line or two."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, expect

from tests.fixtures.browser import BrowserEnvironment, Way, check_page, import_contacts, in_both_ways
from tests.fixtures.live import serving

pytestmark = pytest.mark.slow

CITIES = ("서울", "부산")
GROUP = "단골"
FAILURE = "010-0000-0001"
ONE_LINE_PX = 2
"""By how much what stands in one line may be higher or lower."""
MIDDLES_APART = """(row) => {
  const boxes = [...row.querySelectorAll("a.open, .state, .counts")].map((each) => each.getBoundingClientRect());
  const middles = boxes.map((box) => (box.top + box.bottom) / 2);
  return Math.max(...middles) - Math.min(...middles);
}"""


@pytest.fixture(scope="module")
def env(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserEnvironment]:
    """A service with 120 contacts of two cities in a group, and a few sends."""
    with serving(tmp_path_factory.mktemp("lists") / "data", key_rate=0) as live:
        found = BrowserEnvironment(live, browser)
        with found.signed_in() as page:
            rows = "".join(f"사람{each:03},010-2000-{each:04},{CITIES[each % 2]}\n" for each in range(120))
            import_contacts(page, f"이름,연락처,도시\n{rows}", GROUP)
        for each in range(3):
            found.send(f"010-3000-000{each}", *[FAILURE] * (each == 2), content=f"안내 {each}")
        yield found


def people(*numbers: int) -> list[str]:
    return [f"사람{each:03}" for each in numbers]


@in_both_ways
def test_contacts_of_a_field_are_chosen_at_once_from_what_is_in_sight(env: BrowserEnvironment, way: Way) -> None:
    new = f"새 {way.word}"
    with env.signed_in(way=way) as page:
        page.goto("/console/contacts/groups")
        page.locator("form[action='/console/contacts/groups'] [name=name]").fill(new)
        page.locator("form[action='/console/contacts/groups'] button").click()
        expect(page.locator("tbody tr", has_text=new)).to_be_visible()
        page.goto("/console/contacts")
        page.locator("select[name=field]").select_option("도시")
        page.locator("[name=value]").first.fill(CITIES[1])
        page.locator("form[role=search] button").click()
        page.wait_for_url(re.compile("value="))
        expect(page.locator(".contacts tbody a")).to_have_text(people(*range(1, 101, 2)))
        page.locator(".contacts tbody tr").nth(3).scroll_into_view_if_needed()
        page.locator("thead [data-all]" if way.screen == "desktop" else ".bulk [data-all]").check()
        expect(page.locator(".bulk button[value=add]")).to_be_in_viewport()
        expect(page.locator("[data-chosen]")).to_contain_text("50")
        page.locator("tbody [type=checkbox]").first.uncheck()
        expect(page.locator("[data-chosen]")).to_contain_text("49")
        check_page(page, "contacts-chosen")
        page.locator("[name=to_group]").select_option(label=new)
        page.locator(".bulk button[value=add]").click()
        expect(page.locator("[data-chosen]")).to_be_empty()
        expect(page.locator("[name=value]").first).to_have_value(CITIES[1])  # the search stays
        page.goto("/console/contacts/groups")
        row = page.locator("tbody tr", has_text=new)
        expect(row.locator(".amount")).to_have_text("49")
        check_page(page, "contact-groups")
        row.locator("summary.risky").click()
        expect(row.locator("label:has([name=with])")).to_contain_text("49")  # what else would be deleted
        row.locator("details[open] [data-no]").click()
        expect(row.locator("details[open]")).to_have_count(0)
        expect(row.locator("summary.risky")).to_be_focused()


@in_both_ways
def test_rows_of_sends_take_one_line_or_two(env: BrowserEnvironment, way: Way) -> None:
    with env.signed_in(way=way) as page:
        if way.screen == "desktop":
            page.set_viewport_size({"width": 1440, "height": 900})
        for path, most_px in (("/console/requests", 52), ("/console/history", 64)):
            page.goto(path)
            row = page.locator("table.rows tbody tr", has_text="안내 1").first
            box = row.bounding_box()
            assert box
            assert box["height"] <= (most_px if way.screen == "desktop" else 100), path
            if way.screen == "desktop":
                page.set_viewport_size({"width": 1440, "height": 300})
                page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
                expect(page.locator("table.rows thead th").first).to_be_in_viewport()
                page.set_viewport_size({"width": 1440, "height": 900})
            if way.screen == "desktop":
                assert row.evaluate(MIDDLES_APART) <= ONE_LINE_PX, path
            check_page(page, f"rows{path.rpartition('/')[2]}")
            row.locator("a.open").click()
            page.wait_for_url(re.compile(f"{path}/[0-9a-f]+"))
        expect(page.locator(".phone .bubble .text")).to_have_text("안내 1")
        check_page(page, "message")


@in_both_ways
def test_days_of_filters_are_typed_in_words_or_picked_from_the_past(env: BrowserEnvironment, way: Way) -> None:
    with env.signed_in(way=way) as page:
        page.goto("/console/history")
        page.locator("form.filters summary").click()
        first, last = page.locator("[name=requested_from]"), page.locator("[name=requested_to]")
        first.fill({"ko": "어제", "en": "yesterday"}[way.language])
        first.press("Tab")
        last.fill({"ko": "언젠가", "en": "some day"}[way.language])
        last.press("Tab")
        expect(page.locator("#wrong-requested_to")).not_to_be_empty()
        today = datetime.now(ZoneInfo("Asia/Seoul")).date()
        expect(first).to_have_value(str(today - timedelta(days=1)))

        last.press("ArrowDown")
        expect(page.locator("[data-day][aria-current]")).to_be_focused()
        check_page(page, "day-picker")
        for key in ("PageUp", "PageDown", "ArrowUp", "ArrowLeft", "ArrowRight", "Enter"):
            page.keyboard.press(key)
        expect(page.locator(".calendar:visible")).to_have_count(0)
        expect(last).to_have_value(str(today.replace(day=1) - timedelta(days=7)))
