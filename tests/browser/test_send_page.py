"""The send page as cards and a bar: ways of choosing receivers and time, fields of brand messages, and undo."""

import re
import time
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from pabal.domain.people.user import Role
from tests.fixtures.browser import BrowserEnvironment, check_page, open_send_page, schedule
from tests.fixtures.web import SENDER, sms_body

pytestmark = pytest.mark.slow

in_both_ways = pytest.mark.parametrize(
    ("language", "screen", "color"), [("ko", "desktop", "dark"), ("en", "phone", "light")]
)
WORDS = {"ko": ("내일 08:00", "모레 오후 3시"), "en": ("tomorrow 08:00", "day after tomorrow 3 pm")}
MINUTE = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}")


TELL_SKELETON = """() => new MutationObserver(() => document.querySelector(".skeleton") && console.log("skeleton"))
  .observe(document.body, { childList: true, subtree: true })"""


def write(page: Page, receivers: str) -> None:
    open_send_page(page)
    page.locator("[name=sender]").fill(SENDER)
    page.locator("[name=content]").fill("안녕하세요")
    page.locator("[name=receivers]").fill(receivers)


@pytest.mark.first_case
@in_both_ways
def test_time_is_typed_in_words_or_picked_by_keyboard(
    env: BrowserEnvironment, language: str, screen: str, color: str
) -> None:
    with env.signed_in(language=language, screen=screen, color_scheme=color) as page:
        write(page, "010-2400-0001")
        page.locator("[name=later][value='1']").check()
        field, tomorrow = page.locator("[name=sendDate]"), page.locator("[name=later]").last.get_attribute("value")
        assert tomorrow

        field.fill(WORDS[language][0])
        field.press("Tab")
        expect(field).to_have_value(tomorrow.replace("T", " "))
        expect(page.locator("#sum")).to_contain_text("08:00")
        field.fill("...")
        field.press("Tab")
        expect(page.locator("#wrong-sendDate")).not_to_be_empty()
        field.fill(WORDS[language][1])
        field.press("Tab")
        expect(field).to_have_value(re.compile("15:00$"))
        expect(page.locator("#wrong-sendDate")).to_be_empty()

        field.press("ArrowDown")
        expect(page.locator(".calendar")).to_be_visible()
        check_page(page, f"picker-{language}-{screen}")
        before = field.input_value()
        for key in ("ArrowDown", "ArrowRight", "Enter", "Escape"):
            page.keyboard.press(key)
        expect(page.locator(".calendar")).to_be_hidden()
        expect(field).to_have_value(MINUTE)
        assert field.input_value() > before
        assert field.input_value().endswith("15:00")


@pytest.mark.first_case
@in_both_ways
def test_tomorrow_morning_is_one_choice(env: BrowserEnvironment, language: str, screen: str, color: str) -> None:
    with env.signed_in(language=language, screen=screen, color_scheme=color) as page:
        write(page, "010-2400-0002")
        page.locator("[name=later]").last.check()
        expect(page.locator("#sum")).to_contain_text("08:00")
        page.locator("#review").click()
        expect(page.locator("#send-it")).to_contain_text("08:00")
        expect(page.locator("#send .main:visible")).to_have_count(2)
        assert page.locator("#review").evaluate(
            "(button) => getComputedStyle(button).backgroundColor"
        ) != page.locator("#send-it").evaluate("(button) => getComputedStyle(button).backgroundColor")
        check_page(page, f"tomorrow-{language}-{screen}")


@pytest.mark.first_case
@in_both_ways
def test_file_that_is_chosen_on_the_send_page_is_there_on_the_next(
    env: BrowserEnvironment, language: str, screen: str, color: str
) -> None:
    with env.signed_in(language=language, screen=screen, color_scheme=color) as page:
        write(page, "")
        page.locator("[name=whom][value=file]").check()
        check_page(page, f"file-way-{language}-{screen}")
        rows = FilePayload(name="guests.csv", mimeType="text/csv", buffer="휴대폰번호\n010-2400-0003\n".encode())
        page.locator(".way.file input[type=file]").set_input_files(rows)
        page.wait_for_url("**/console/send/upload/*")
        expect(page.locator(".drop .chosen")).to_contain_text("guests.csv")
        expect(page.locator("#columns select")).to_have_count(1, timeout=20_000)
        page.locator("#upload-it").click()
        expect(page.locator("#found")).to_be_visible(timeout=20_000)
        check_page(page, f"carried-{language}-{screen}")


@pytest.mark.first_case
@in_both_ways
def test_brand_message_is_written_in_fields(
    env: BrowserEnvironment, language: str, screen: str, color: str
) -> None:
    env.approve_channel("@fields", "010-9999-0029")
    with env.signed_in(language=language, screen=screen, color_scheme=color) as page:
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
        check_page(page, f"brand-fields-{language}-{screen}")
        page.locator("#review").click()
        expect(page.locator("#wrong-attachment-carousel-list-1-header")).not_to_be_empty()


@in_both_ways
def test_what_was_deleted_added_or_cancelled_is_undone_from_the_toast(
    env: BrowserEnvironment, language: str, screen: str, color: str
) -> None:
    way, toast = f"{language}-{screen}", ".toast form button"
    digits = "1" if language == "ko" else "2"
    with env.signed_in(language=language, screen=screen, color_scheme=color) as page:
        write(page, "")
        page.locator("#save-text > summary").click()
        page.locator("[name=text_name]").fill(f"되살릴 말 {way}")
        page.locator("[formaction='/console/send/save']").click()
        expect(page.locator("#send .notice[role=status]")).to_be_visible()
        page.goto("/console/texts")
        row = page.locator("tr", has_text=f"되살릴 말 {way}")
        row.locator("summary").click()
        row.locator("button.danger").click()
        expect(row).to_have_count(0)
        page.locator(toast).click()
        expect(row).to_have_count(1)

        page.goto("/console/contacts")
        page.locator("summary.add").click()
        page.locator("[name=phoneNumber]").fill(f"010-2450-000{digits}")
        page.locator("form[action='/console/contacts'] [name=name]").fill(f"홍길동 {way}")
        page.locator("form[action='/console/contacts'] .actions button").click()
        person = page.locator(".contacts a", has_text=f"홍길동 {way}")
        person.click()
        page.locator("details.ask > summary").click()
        page.locator("button.danger").click()
        expect(page.locator(".toast")).to_be_visible()
        expect(person).to_have_count(0)
        assert page.url.endswith("/console/contacts"), "a reload shows the list"
        check_page(page, f"toast-{way}")
        page.locator(toast).click()
        expect(person).to_have_count(1)

        page.goto("/console/opt-outs")
        page.locator("details.card > summary").first.click()
        page.locator("[name=phoneNumber]").fill(f"010-2451-000{digits}")
        page.locator("form[action='/console/opt-outs'] button.main").click()
        number = page.locator("td.number", has_text=f"010-2451-000{digits}")
        expect(number).to_have_count(1)
        page.locator(toast).click()
        expect(number).to_have_count(0)

        tomorrow = time.strftime("%Y-%m-%d 10:00", time.localtime(time.time() + 24 * 3600))
        sent = env.call("message/sendSMS", sms_body(f"010-2452-000{digits}", sendDate=tomorrow))
        page.goto(f"/console/requests/{sent['item']['requestId']}")
        page.locator("#what summary").last.click()
        page.locator("#what button.danger").click()
        page.locator(".toast a").click()
        expect(page.locator("[name=receivers]")).to_have_value(re.compile(f"010-2452-000{digits}"))


@in_both_ways
def test_search_that_takes_long_shows_the_shape_of_what_it_finds(
    env: BrowserEnvironment, language: str, screen: str, color: str
) -> None:
    held: list[Route] = []
    options: dict[str, Any] = {"language": language, "screen": screen, "color_scheme": color}
    with env.signed_in(**options, expects_failures=True) as page:
        env.wait_until_final(env.call("message/sendSMS", sms_body("010-2453-0001"))["item"]["requestId"])
        page.goto("/console/history")
        expect(page.locator("#content .list")).to_be_visible()
        page.route("**/console/history?**", lambda route: held.append(route))
        page.evaluate(TELL_SKELETON)
        with page.expect_console_message(lambda message: message.text == "skeleton"):
            page.locator("form[role=search] button.main").click(no_wait_after=True)
        held[0].abort("aborted")  # the driver looks at no page that is being left
        expect(page.locator(".skeleton")).to_be_visible()
        expect(page.locator("#content .list")).to_be_hidden()
        check_page(page, f"skeleton-{language}-{screen}")
        page.unroute("**/console/history?**")
        page.goto("/console/history?product=sms")
        expect(page.locator(".skeleton")).to_have_count(0)


@pytest.mark.first_case
@in_both_ways
def test_page_of_components_shows_each(env: BrowserEnvironment, language: str, screen: str, color: str) -> None:
    with env.signed_in(Role.VIEWER, language=language, screen=screen, color_scheme=color) as page:
        page.goto("/console/components")
        for each in (
            "seg",
            "pick",
            "chip",
            "option",
            "drop",
            "date-time",
            "toast",
            "skeleton",
            "empty",
            "phone",
            "part-look",
            "chosen",
            "avatar",
            "parts",
            "filters",
            "rows",
            "mapping",
            "tiles",
            "tool",
            "foot",
        ):
            expect(page.locator(f".{each}").first, each).to_be_attached()
        check_page(page, f"components-{language}-{screen}")
        page.locator(".toast .close").click()
        expect(page.locator(".toast")).to_have_count(0)


@pytest.mark.torture
def test_schedule_is_set_and_removed(env: BrowserEnvironment) -> None:
    with env.signed_in() as page:
        write(page, "010-2000-0041")
        schedule(page, "2020-01-01T09:00")
        expect(page.locator("#sum")).to_contain_text("01/01")
        expect(page.locator("#wrong-sendDate")).not_to_be_empty()
        check_page(page, "send-schedule")
        page.locator("[name=later][value='']").check()
        expect(page.locator("[name=sendDate]")).to_have_value("")
        expect(page.locator("#wrong-sendDate")).to_be_empty()
