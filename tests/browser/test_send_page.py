"""The send page as cards and a bar: ways of choosing receivers and time, fields of brand messages, and undo."""

import re

import pytest
from playwright.sync_api import Route, expect

from pabal.domain.people.user import Role
from tests.fixtures.browser import (
    BrowserEnvironment,
    Way,
    check_page,
    csv_file,
    import_contacts,
    in_both_ways,
    open_send_page,
    write,
)

pytestmark = pytest.mark.slow

WORDS = {"ko": ("내일 08:00", "모레 오후 3시"), "en": ("tomorrow 08:00", "day after tomorrow 3 pm")}
MINUTE = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}")
COMPONENTS = (
    "seg", "pick", "chip", "option", "drop", "date-time", "toast", "skeleton", "empty", "phone", "part-look",
    "chosen", "avatar", "parts", "filters", "rows", "mapping", "tiles", "tool", "foot",
)  # fmt: skip
TELL_SKELETON = """() => new MutationObserver(() => document.querySelector(".skeleton") && console.log("skeleton"))
  .observe(document.body, { childList: true, subtree: true })"""


@in_both_ways
def test_time_is_typed_in_words_or_picked_by_keyboard(env: BrowserEnvironment, way: Way) -> None:
    with env.signed_in(way=way) as page:
        write(page, "안녕하세요", "010-2400-0001")
        page.locator("[name=later][value='1']").check()
        field, tomorrow = page.locator("[name=sendDate]"), page.locator("[name=later]").last.get_attribute("value")
        assert tomorrow

        field.fill(WORDS[way.language][0])
        field.press("Tab")
        expect(field).to_have_value(tomorrow.replace("T", " "))
        expect(page.locator("#sum")).to_contain_text("08:00")
        field.fill("...")
        field.press("Tab")
        expect(page.locator("#wrong-sendDate")).not_to_be_empty()
        field.fill(WORDS[way.language][1])
        field.press("Tab")
        expect(field).to_have_value(re.compile("15:00$"))
        expect(page.locator("#wrong-sendDate")).to_be_empty()

        field.press("ArrowDown")
        expect(page.locator(".calendar")).to_be_visible()
        check_page(page, "picker")
        before = field.input_value()
        for key in ("ArrowDown", "ArrowRight", "Enter", "Escape"):
            page.keyboard.press(key)
        expect(page.locator(".calendar")).to_be_hidden()
        expect(field).to_have_value(MINUTE)
        assert field.input_value() > before
        assert field.input_value().endswith("15:00")


@in_both_ways
def test_tomorrow_morning_is_one_choice(env: BrowserEnvironment, way: Way) -> None:
    with env.signed_in(way=way) as page:
        write(page, "안녕하세요", "010-2400-0002")
        page.locator("[name=later]").last.check()
        expect(page.locator("#sum")).to_contain_text("08:00")
        page.locator("#review").click()
        expect(page.locator("#send-it")).to_contain_text("08:00")
        expect(page.locator("#send .main:visible")).to_have_count(2)
        assert page.locator("#review").evaluate(
            "(button) => getComputedStyle(button).backgroundColor"
        ) != page.locator("#send-it").evaluate("(button) => getComputedStyle(button).backgroundColor")
        check_page(page, "tomorrow")


@in_both_ways
def test_file_that_is_chosen_on_the_send_page_is_there_on_the_next(env: BrowserEnvironment, way: Way) -> None:
    with env.signed_in(way=way) as page:
        write(page, "안녕하세요", "")
        page.locator("[name=whom][value=file]").check()
        check_page(page, "file-way")
        rows = csv_file("휴대폰번호\n010-2400-0003\n", "guests.csv")
        page.locator(".way.file input[type=file]").set_input_files(rows)
        page.wait_for_url("**/console/send/upload/*")
        expect(page.locator(".drop .chosen")).to_contain_text("guests.csv")
        expect(page.locator("#columns select")).to_have_count(1, timeout=20_000)
        page.locator("#upload-it").click()
        expect(page.locator("#found")).to_be_visible(timeout=20_000)
        check_page(page, "carried")


@in_both_ways
def test_brand_message_is_written_in_fields(env: BrowserEnvironment, way: Way) -> None:
    env.approve_channel("@fields", "010-9999-0029")
    with env.signed_in(way=way) as page:
        open_send_page(page, "?kind=brand")
        page.locator("#talk").select_option("carouselFeed")
        first = page.locator("[name='attachment.carousel.list[0].header']")
        first.fill("Winter")
        expect(page.locator("#look .brand-parts.card .subject")).to_have_text("Winter")
        expect(page.locator("#part-look-card-1 .subject")).to_have_text("Winter")  # beside its fields, too
        expect(page.locator("label:has(#at-attachment-carousel-list-0-header) .limit")).to_have_text("6 / 20")
        expect(page.locator("#what [aria-invalid]")).to_have_count(0)  # a button that nobody has typed is no error
        page.locator("#add-part").click()
        expect(page.locator("[name='attachment.carousel.list[2].header']")).to_be_visible()
        expect(first).to_have_value("Winter")
        expect(page.locator("#look .brand-parts.card > li")).to_have_count(3)
        check_page(page, "brand-fields")
        page.locator("#review").click()
        expect(page.locator("#wrong-attachment-carousel-list-1-header")).not_to_be_empty()


@in_both_ways
def test_what_was_deleted_is_undone_from_the_toast(env: BrowserEnvironment, way: Way) -> None:
    with env.signed_in(way=way) as page:
        import_contacts(page, f"이름,연락처\n홍길동 {way.word},010-2450-{way.digits}01\n", f"묶음 {way.word}")
        page.goto("/console/contacts")
        person = page.locator(".contacts a", has_text=f"홍길동 {way.word}")
        person.click()
        page.locator("details.ask > summary").click()
        page.locator("button.danger").click()
        expect(page.locator(".toast")).to_be_visible()
        expect(person).to_have_count(0)
        assert page.url.endswith("/console/contacts"), "a reload shows the list"
        check_page(page, "toast")
        page.locator(".toast form button").click()
        expect(person).to_have_count(1)


@in_both_ways
def test_search_that_takes_long_shows_the_shape_of_what_it_finds(env: BrowserEnvironment, way: Way) -> None:
    held: list[Route] = []
    with env.signed_in(way=way, expects_failures=True) as page:
        env.send("010-2453-0001")
        page.goto("/console/history")
        expect(page.locator("#content .list")).to_be_visible()
        page.route("**/console/history?**", lambda route: held.append(route))
        page.evaluate(TELL_SKELETON)
        with page.expect_console_message(lambda message: message.text == "skeleton"):
            page.locator("form[role=search] button.main").click(no_wait_after=True)
        held[0].abort("aborted")  # the driver looks at no page that is being left
        expect(page.locator(".skeleton")).to_be_visible()
        expect(page.locator("#content .list")).to_be_hidden()
        check_page(page, "skeleton")
        page.unroute("**/console/history?**")
        page.goto("/console/history?product=sms")
        expect(page.locator(".skeleton")).to_have_count(0)


@in_both_ways
def test_page_of_components_shows_each(env: BrowserEnvironment, way: Way) -> None:
    with env.signed_in(Role.VIEWER, way=way) as page:
        page.goto("/console/components")
        for each in COMPONENTS:
            expect(page.locator(f".{each}").first, each).to_be_attached()
        check_page(page, "components")
        page.locator(".toast .close").click()
        expect(page.locator(".toast")).to_have_count(0)
