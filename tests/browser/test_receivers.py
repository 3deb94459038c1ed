"""Whom a message goes to, in a browser: one button for typed receivers, groups and files, and files that stay."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.fixtures.browser import (
    BrowserEnvironment,
    Way,
    check_page,
    csv_file,
    go_to_file,
    import_contacts,
    in_both_ways,
    open_send_page,
    review,
    schedule,
    write,
)

pytestmark = pytest.mark.slow

GROUP = "단골"


@pytest.fixture(scope="module")
def office(env: BrowserEnvironment) -> BrowserEnvironment:
    """A service whose account has a group of two contacts."""
    with env.signed_in() as page:
        import_contacts(page, "이름,연락처\n홍길동,010-2310-0001\n김철수,010-2310-0002\n", GROUP)
    return env


def choose_file(page: Page, rows: str) -> None:
    go_to_file(page)
    page.locator("input[type=file]").set_input_files(csv_file(rows))
    expect(page.locator("#columns select").first).to_be_visible()


@in_both_ways
def test_main_button_goes_on_with_a_group_and_typed_receivers(office: BrowserEnvironment, way: Way) -> None:
    with office.signed_in(way=way) as page:
        write(page, "내일 쉽니다", "010-2310-0009")
        page.locator("[name=whom][value=group]").check()
        page.get_by_label(re.compile(GROUP)).check()
        expect(page.locator("main button.main")).to_have_count(1)
        page.locator("#review").click()
        page.wait_for_url("**/console/send/upload/*")
        expect(page.locator("#found")).to_be_visible()
        expect(page.locator("#send-it")).to_contain_text("3")
        check_page(page, "group-and-typed")


@pytest.mark.torture
@in_both_ways
def test_column_that_is_not_mapped_costs_neither_file_nor_mapping(office: BrowserEnvironment, way: Way) -> None:
    with office.signed_in(way=way) as page:
        write(page, "#{이름}님, #{상품} 도착")
        choose_file(page, "고객명,물건,연락처\n김,사과,010-2320-0001\n이,배,010-2320-0002\n")
        told, button = page.locator("#columns [data-needed]"), page.locator("#upload-it")
        expect(page.locator("#column0")).to_have_value("field:이름")  # that is what 고객명 means
        expect(told).to_contain_text("상품")
        expect(button).to_be_disabled()
        expect(page.locator("#upload-why")).to_contain_text("상품")  # the bar may hide the other place
        check_page(page, "unmapped")
        page.locator("#column1").select_option("field:상품")
        expect(told).to_be_hidden()
        expect(button).to_be_enabled()
        expect(page.locator("#upload-why")).to_be_empty()
        page.locator("#column1").select_option("field:이름")  # a second column for it
        expect(told).to_be_visible()
        page.evaluate("document.querySelector('#columns [data-needed]').remove()")  # a page that checks nothing
        page.locator("#column1").select_option("")
        button.evaluate("(button) => (button.disabled = false)")
        button.click()
        expect(page.locator(".going [role=alert]")).to_contain_text("상품")
        assert page.locator("input[type=file]").evaluate("(input) => input.files.length") == 1
        page.locator("#column1").select_option("field:상품")
        button.click()
        expect(page.locator("#first-message")).to_contain_text("김님, 사과 도착")


@in_both_ways
def test_columns_of_files_and_pasted_tables_are_mapped(office: BrowserEnvironment, way: Way) -> None:
    with office.signed_in(way=way) as page:
        write(page, "#{이름}님께", "고객\t전화\n홍길동\t010-3300-0001")
        expect(page.locator("#pasted")).to_have_attribute("open", "")
        page.locator("#column0").select_option("field:이름")
        expect(page.locator("#arriving")).to_have_text("홍길동님께")
        expect(page.locator("#column0")).to_have_value("field:이름")
        check_page(page, "pasted")
        review(page)
        expect(page.locator("#left-out")).to_have_count(0)
        choose_file(page, "고객,전화\n김철수,010-3300-0002\n")
        page.locator("#column0").select_option("field:이름")
        page.locator("#column1").select_option("phone")
        check_page(page, "columns")
        page.locator("#upload-it").click()
        expect(page.locator("#first-message")).to_contain_text("김철수님께")


def test_progress_of_an_upload_is_told_beside_its_bar(office: BrowserEnvironment) -> None:
    with office.signed_in() as page:
        write(page, "#{이름}님")
        choose_file(page, "별명,연락처\n김,010-2330-0001\n")
        page.locator("#column0").select_option("field:이름")
        held: list[Route] = []
        page.route("**/file", lambda route: held.append(route))
        page.locator("#upload-it").click()
        expect(page.locator("#upload-it")).to_be_disabled()
        expect(page.locator(".going progress")).to_be_visible()
        expect(page.locator("#columns [data-needed]")).to_be_hidden()
        held[0].continue_()
        expect(page.locator("#found")).to_be_visible()


@in_both_ways
def test_button_names_the_time_of_a_scheduled_send(office: BrowserEnvironment, way: Way) -> None:
    with office.signed_in(way=way) as page:
        at = in_two_days(page)
        shown = f"{at[5:7]}/{at[8:10]} 10:00"
        write(page, "안내", "010-2350-0001")
        schedule(page, at)
        page.locator("#review").click()
        expect(page.locator("#send-it")).to_contain_text(shown)
        write(page, "안내")
        choose_file(page, "연락처\n010-2350-0002\n")
        page.locator("#upload-it").click()
        button = page.locator("#send-it")
        expect(button).to_be_visible()
        expect(button).not_to_contain_text("10:00")
        schedule(page, at)
        expect(button).to_contain_text(shown)
        page.locator("[name=later][value='']").check()
        expect(button).not_to_contain_text(shown)


def test_button_that_works_is_disabled_and_counts_seconds(office: BrowserEnvironment) -> None:
    with office.signed_in() as page:
        page.goto("/console/contacts/file")
        page.locator("[name=file]").set_input_files(csv_file("이름,연락처\n박영희,010-2360-0001\n"))
        expect(page.locator("#columns select")).to_have_count(2)
        held: list[Route] = []
        page.route("**/console/contacts/file", lambda route: held.append(route))
        button = page.locator("form.card button.main")
        button.click()
        expect(button).to_be_disabled()
        expect(button).to_have_attribute("aria-busy", "true")
        expect(button).to_have_attribute("data-elapsed", re.compile("[1-9]초"))
        held[0].continue_()
        expect(page.locator("#result")).to_be_visible()


def test_refused_import_keeps_its_file(office: BrowserEnvironment) -> None:
    with office.signed_in() as page:
        page.goto("/console/contacts/file")
        page.locator("[name=file]").set_input_files(csv_file("이름,전번\n박영희,없음\n"))
        told, button = page.locator("#columns [data-needed]"), page.locator("form.card button.main")
        expect(told).to_be_visible()
        expect(button).to_be_disabled()
        page.evaluate("document.querySelector('#columns [data-needed]').remove()")
        button.evaluate("(button) => (button.disabled = false)")
        button.click()
        expect(page.locator("#refused")).to_be_visible()
        assert page.locator("input[type=file]").evaluate("(input) => input.files.length") == 1


def in_two_days(page: Page) -> str:
    return str(page.evaluate("new Date(Date.now() + 2 * 86400000).toISOString().slice(0, 10)")) + "T10:00"


def test_chip_inserts_a_variable_where_the_cursor_is(office: BrowserEnvironment) -> None:
    with office.signed_in() as page:
        write(page, "님, 안녕하세요", "수신번호,이름\n010-2380-0001,홍길동")
        page.locator("[name=content]").press("Control+Home")
        page.locator(".chip", has_text="이름").click()
        expect(page.locator("[name=content]")).to_have_value("#{이름}님, 안녕하세요")
        expect(page.locator("#arriving")).to_have_text("홍길동님, 안녕하세요")


@pytest.mark.torture
def test_advertisement_at_night_offers_the_morning(office: BrowserEnvironment) -> None:
    with office.signed_in() as page:
        write(page, "세일", "010-2390-0001")
        page.locator("[name=adFlag]").check()
        page.locator("[name=adSender]").fill("가게")
        page.locator("[name=optOutNumber]").fill("080-123-4567")
        at = in_two_days(page)
        schedule(page, at.replace("T10:00", "T03:00"))
        page.locator("#morning").click()
        expect(page.locator("[name=sendDate]")).to_have_value(at.replace("T10:00", " 08:00"))
        expect(page.locator("#morning")).to_have_count(0)
        page.locator("#review").click()
        expect(page.locator("#send-it")).to_contain_text("08:00")


def test_errors_name_their_field_and_a_new_button_is_not_wrong_yet(office: BrowserEnvironment) -> None:
    office.approve_channel("@errors", "010-9999-0019")
    with office.signed_in() as page:
        open_send_page(page, "?kind=friendtalk")
        page.locator("#button-add").click()
        page.locator("[name='buttons[0].name']").fill("배송 조회")
        expect(page.locator("#look .buttons")).to_contain_text("배송 조회")
        expect(page.locator("#message [aria-invalid]")).to_have_count(0)
        page.locator("#review").click()
        expect(page.locator("#wrong-buttons-0-mobileUrl")).to_have_text("모바일 링크를 입력하세요.")
        write(page, "")
        page.locator("#review").click()
        expect(page.locator("#wrong-content")).to_have_text("내용을 입력하세요.")
        expect(page.locator("#wrong-receivers")).to_contain_text("수신자를 입력하거나")
