"""Larger sends in a browser: results of a campaign, lines left out, approval, columns, long texts and pictures."""

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest
from playwright.sync_api import Browser, FilePayload, Page, Request, Route, expect

from pabal.domain.people.user import Role
from tests.fixtures.browser import BrowserEnvironment, check_page, go_to_file, open_send_page
from tests.fixtures.live import serving
from tests.fixtures.pictures import make_jpeg
from tests.fixtures.web import SENDER

pytestmark = pytest.mark.slow

in_both_ways = pytest.mark.parametrize(
    ("language", "screen"), [("ko", "desktop"), pytest.param("en", "phone", marks=pytest.mark.torture)]
)


def write(page: Page, content: str, receivers: str = "") -> None:
    open_send_page(page)
    page.locator("[name=sender]").fill(SENDER)
    page.locator("[name=content]").fill(content)
    page.locator("[name=receivers]").fill(receivers)
    expect(page.locator("#kept")).not_to_be_empty()


def review(page: Page) -> None:
    page.locator("#review").click()
    expect(page.locator("#last-look")).to_be_visible()


def upload(page: Page, rows: str) -> None:
    """Continue to the file of the message, and choose one."""
    go_to_file(page)
    file = FilePayload(name="rows.csv", mimeType="text/csv", buffer=rows.encode())
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator("#columns select").first).to_be_visible()


def check_file(page: Page) -> None:
    page.locator("#upload-it").click()
    expect(page.locator("#found")).to_be_visible()


@contextmanager
def preferences(env: BrowserEnvironment, **chosen: str) -> Iterator[None]:
    """Let the account send by these preferences."""
    _set_preferences(env, chosen)
    try:
        yield
    finally:
        _set_preferences(env, {})


def _set_preferences(env: BrowserEnvironment, chosen: dict[str, str]) -> None:
    with env.signed_in() as page:
        page.goto("/console/preferences")
        for name in ("lms", "fallback"):
            page.locator(f"[name={name}]").set_checked(bool(chosen.get(name)))
        for name in ("fallback_number", "approval_receivers"):
            page.locator(f"[name={name}]").fill(chosen.get(name, ""))
        page.locator("main form button.main").click()
        expect(page.locator(".notice[role=status]")).to_be_visible()


def noise(width: int, height: int) -> bytes:
    """Return a PNG that does not compress."""
    chance = Random(7)
    rows = b"".join(b"\0" + chance.randbytes(3 * width) for _ in range(height))

    def chunk(kind: bytes, body: bytes) -> bytes:
        whole = kind + body
        return len(body).to_bytes(4, "big") + whole + zlib.crc32(whole).to_bytes(4, "big")

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")
    )


@pytest.mark.torture
@in_both_ways
def test_campaign_shows_its_funnel_and_is_found_again(env: BrowserEnvironment, language: str, screen: str) -> None:
    with env.signed_in(language=language, screen=screen) as page:
        write(page, "결과를 봅니다")
        upload(page, "phone\n010-3000-0001\n010-3000-0002\n010-0000-0001\n")
        page.goto("/console/requests/unsent")
        check_page(page, f"unsent-{screen}")
        page.locator("a.button.small").first.click()
        page.locator("input[type=file]").set_input_files(
            FilePayload(name="rows.csv", mimeType="text/csv", buffer=b"phone\n010-3000-0001\n010-0000-0001\n")
        )
        expect(page.locator("#columns select").first).to_be_visible()
        check_file(page)
        page.locator("[name=name]").fill(f"결과 {language}")
        page.locator("#send-it").click()
        page.wait_for_url(re.compile("/console/requests/[0-9a-f]{26}"))
        expect(page.locator("#funnel tr.reached td").first).to_have_text("1")
        expect(page.locator("#funnel tr.fail td").first).to_have_text("1")
        expect(page.locator("#funnel table.list a")).to_contain_text("3003")
        check_page(page, f"campaign-funnel-{language}-{screen}")
        with page.expect_download() as download:
            page.locator("#funnel a[href*='history.csv']").click()
        assert len(download.value.path().read_text(encoding="utf-8").splitlines()) == 3
        page.locator("#funnel table.list a").click()
        expect(page.locator("table.list tbody tr")).to_have_count(1)
        page.goto("/console/requests")
        page.locator("form.search summary").click()
        page.locator("[name=words]").fill(f"결과 {language}")
        page.locator("[name=state]").select_option("ended")
        page.locator("form.search button.main").click()
        expect(page.locator("table.list tbody tr")).to_have_count(1)
        check_page(page, f"requests-filtered-{language}-{screen}")


@in_both_ways
def test_bad_lines_are_left_out_corrected_and_sent_later(
    env: BrowserEnvironment, language: str, screen: str
) -> None:
    with env.signed_in(language=language, screen=screen) as page:
        write(page, "남은 줄", "010-3100-0001\n12345\n010-3100-0002")
        review(page)
        expect(page.locator("#left-out")).to_contain_text("1")
        check_page(page, f"left-out-{language}-{screen}")
        page.locator("#send-it").click()
        page.wait_for_url("**/console/send/done/*")
        check_page(page, f"rest-{language}-{screen}")
        with page.expect_download() as download:
            page.locator("#rest a[download]").click()
        assert "12345" in download.value.path().read_text(encoding="utf-8")
        page.locator("#rest a").first.click()
        expect(page.locator("[name=receivers]")).to_have_value("12345")
        page.locator("[name=receivers]").fill("010-3100-0003")
        review(page)
        expect(page.locator("#left-out")).to_have_count(0)
        page.locator("#send-it").click()
        page.wait_for_url("**/console/send/done/*")
        expect(page.locator("#rest")).to_have_count(0)


@pytest.mark.torture
@in_both_ways
def test_large_send_waits_for_a_second_user(env: BrowserEnvironment, language: str, screen: str) -> None:
    with preferences(env, approval_receivers="2"):
        with env.signed_in(Role.SENDER, language=language, screen=screen) as page:
            write(page, f"승인 {language}", "010-3200-0001\n010-3200-0002\n010-3200-0003")
            review(page)
            check_page(page, f"approval-needed-{language}-{screen}")
            page.locator("#send-it").click()
            page.wait_for_url("**/console/send/upload/*")
            expect(page.locator("form[action$='/approve']")).to_have_count(0)
            check_page(page, f"approval-own-{language}-{screen}")
        with env.signed_in(language=language, screen=screen, expects_failures=True) as page:
            page.goto("/console/requests/approvals")
            check_page(page, f"approvals-{language}-{screen}")
            page.locator("tr").filter(has_text=f"승인 {language}").locator("a.button").click()
            expect(page.locator("#first-message")).to_contain_text(f"승인 {language}")
            check_page(page, f"approval-{language}-{screen}")
            page.route("**/approve", lambda route: route.abort("internetdisconnected"))
            page.locator("form[action$='/approve'] button").click()
            expect(page.locator("#failed")).to_be_visible()
            page.unroute("**/approve")
            page.locator("form[action$='/approve'] button").click()
            page.wait_for_url(re.compile("/console/requests/[0-9a-f]{26}"))
            expect(page.locator("#funnel tr.reached td").first).to_have_text("3")


@in_both_ways
def test_columns_of_files_and_pasted_tables_are_mapped(env: BrowserEnvironment, language: str, screen: str) -> None:
    with env.signed_in(language=language, screen=screen) as page:
        write(page, "#{이름}님께", "고객\t전화\n홍길동\t010-3300-0001")
        expect(page.locator("#pasted")).to_have_attribute("open", "")
        page.locator("#column0").select_option("field:이름")
        expect(page.locator("#arriving")).to_have_text("홍길동님께")
        expect(page.locator("#column0")).to_have_value("field:이름")
        check_page(page, f"pasted-{language}-{screen}")
        review(page)
        expect(page.locator("#left-out")).to_have_count(0)
        upload(page, "고객,전화\n김철수,010-3300-0002\n")
        page.locator("#column0").select_option("field:이름")
        page.locator("#column1").select_option("phone")
        check_page(page, f"columns-{language}-{screen}")
        check_file(page)
        expect(page.locator("#first-message")).to_contain_text("김철수님께")


@pytest.mark.torture
@in_both_ways
def test_preferences_make_lms_and_fallbacks_by_themselves(
    env: BrowserEnvironment, language: str, screen: str
) -> None:
    with (
        preferences(env, lms="1", fallback="1", fallback_number=SENDER),
        env.signed_in(language=language, screen=screen) as page,
    ):
        page.goto("/console/preferences")
        check_page(page, f"preferences-{language}-{screen}")
        write(page, "#{이름}님")
        upload(page, f"휴대폰번호,이름\n010-3400-0002,김\n010-3400-0003,{'가' * 60}\n")
        check_file(page)
        expect(page.locator("#kinds")).to_contain_text(re.compile("SMS.*LMS"))
        check_page(page, f"upgraded-file-{language}-{screen}")
        write(page, "가" * 60, "010-3400-0001")
        expect(page.locator("#upgraded")).to_be_visible()
        review(page)
        expect(page.locator("#last")).to_contain_text("LMS")
        check_page(page, f"upgraded-{language}-{screen}")
        page.locator("#to-alimtalk").click()
        expect(page.locator("[name=resend]")).to_be_checked()
        expect(page.locator("[name=resendPhoneNumber]")).to_have_value(SENDER)


PLACES = ("image", "image2")
LARGE_PHOTO = make_jpeg(400, 300).ljust(300_000, b"\0")
"""Its end comes long before that of the file."""
RELAY = """
[carriers.relay]
kind = "nhncloud"
sms_app_key = "a"
sms_secret_key = "b"
sms_address = "http://127.0.0.1:9"
[routes]
mms = ["relay"]
"""


@pytest.mark.torture
def test_large_pictures_fit_what_a_relay_takes_of_all_together(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """NHN Cloud takes three of 300 KB, but 800 KB in all; one is chosen, then two at once."""
    file = tmp_path_factory.mktemp("relay") / "pabal.toml"
    file.write_text(RELAY, encoding="utf-8")
    photos = [FilePayload(name=f"{name}.jpg", mimeType="image/jpeg", buffer=LARGE_PHOTO) for name in "abc"]
    with (
        serving(file.parent / "data", config=file, key_rate=0) as live,
        BrowserEnvironment(live, browser).signed_in() as page,
    ):
        page.goto("/console/send")
        page.locator("#to-mms").click()
        expect(page.locator("#to-mms")).to_have_attribute("aria-current", "true")
        page.locator("input[data-picture]").set_input_files(photos[:1])
        expect(page.locator("[name=image_name]")).to_have_value("a.jpg")
        page.locator("input[data-picture]").set_input_files(photos[1:])
        expect(page.locator("[name=image3_body]")).not_to_have_value("")
        sizes = [
            page.evaluate(f"atob(document.querySelector('[name={name}_body]').value).length")
            for name in (*PLACES, "image3")
        ]

    assert sizes[0] == 300_000
    assert sum(sizes) <= 819_200


def test_preview_of_pictures_outlives_one_that_was_asked_before_it(env: BrowserEnvironment) -> None:
    held: list[Route] = []
    given_up: list[Request] = []

    def hold(route: Route) -> None:
        if "image_body" in (route.request.post_data or ""):
            route.continue_()
        else:
            held.append(route)

    with env.signed_in() as page:
        open_send_page(page)
        page.locator("#to-mms").click()
        expect(page.locator("#to-mms")).to_have_attribute("aria-current", "true")
        page.locator("[name=content]").fill("사진입니다")
        expect(page.locator(".size")).not_to_have_attribute("data-size", "0")
        page.route("**/console/send/look", hold)
        page.on("requestfailed", lambda request: given_up.append(request))
        photos = [
            FilePayload(name=f"{number}.png", mimeType="image/png", buffer=noise(900, 600)) for number in range(2)
        ]
        page.locator("input[data-picture]").set_input_files(photos)
        expect(page.locator("canvas.picture-shown")).to_have_count(2)

        early = [each.request for each in held if "image2_name=&" in (each.request.post_data or "")]
        assert early == given_up  # else its answer would hide a picture again


@pytest.mark.torture
@in_both_ways
def test_large_pictures_are_converted_and_made_to_fit_their_route(
    env: BrowserEnvironment, language: str, screen: str
) -> None:
    with env.signed_in(language=language, screen=screen) as page:
        open_send_page(page)
        page.locator("#to-mms").click()
        expect(page.locator("#to-mms")).to_have_attribute("aria-current", "true")
        page.locator("[name=sender]").fill(SENDER)
        page.locator("[name=content]").fill("사진입니다")
        page.locator("[name=receivers]").fill("010-3500-0001")
        wrong = FilePayload(name="wrong.jpg", mimeType="image/jpeg", buffer=b"no picture")
        page.locator("input[data-picture]").set_input_files(wrong)
        expect(page.locator("#wrong-image")).not_to_be_empty()
        page.locator("#unpicture").click()  # at once, before the form is made anew
        expect(page.locator("[name=image_name]")).to_have_value("")
        expect(page.locator("#unpicture")).to_have_count(0)
        photos = [
            FilePayload(name=f"photo{number}.png", mimeType="image/png", buffer=noise(900, 600 + number))
            for number in range(4)
        ]
        page.locator("input[data-picture]").set_input_files(photos[:2])
        expect(page.locator("[name=image2_name]")).to_have_value("photo1.jpg")
        expect(page.locator("canvas.picture-shown")).to_have_count(2)
        page.locator("input[data-picture]").set_input_files(photos[2:])  # one too many: none is taken
        expect(page.locator("#picture-fitted")).to_contain_text("3")
        expect(page.locator("[name=image3_name]")).to_have_value("")
        sizes = [
            page.evaluate(f"atob(document.querySelector('[name={name}_body]').value).length") for name in PLACES
        ]
        assert all(51_200 < size <= 307_200 for size in sizes)
        review(page)
        expect(page.locator("canvas.picture-shown")).to_have_count(2)
        page.locator("#unpicture").click()
        expect(page.locator("[name=image_name]")).to_have_value("photo1.jpg")
        expect(page.locator("[name=image2_name]")).to_have_value("")
        review(page)
        check_page(page, f"picture-fitted-{language}-{screen}")
        page.locator("#send-it").click()
        page.wait_for_url("**/console/send/done/*")
