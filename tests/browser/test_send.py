"""The send page in a browser: each message type is written, reviewed, sent and received."""

import base64
import re

import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from tests.fixtures.browser import (
    BrowserEnvironment,
    Way,
    check_page,
    in_both_ways,
    open_send_page,
    review,
    send_it,
    write,
)
from tests.fixtures.web import SENDER

pytestmark = pytest.mark.slow

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


@pytest.fixture(scope="module")
def shop(env: BrowserEnvironment) -> BrowserEnvironment:
    """A service whose account has a channel."""
    env.approve_channel("@shop", "010-9999-0000")
    return env


def picture(page: Page, side: int = 200) -> FilePayload:
    """Return a real JPEG, drawn by the browser."""
    painted = page.evaluate(
        """side => {
          const canvas = Object.assign(document.createElement("canvas"), {width: side, height: side / 2});
          const brush = canvas.getContext("2d");
          brush.fillStyle = "teal"; brush.fillRect(0, 0, side, side);
          brush.fillStyle = "gold"; brush.fillRect(20, 20, side / 3, side / 4);
          return canvas.toDataURL("image/jpeg").split(",")[1];
        }""",
        side,
    )
    return FilePayload(name="photo.jpg", mimeType="image/jpeg", buffer=base64.b64decode(painted))


def begin(page: Page, kind: str, receivers: str) -> None:
    """Open the tab of a message type and enter the receivers."""
    open_send_page(page)
    page.locator(f"#to-{kind}").click()
    expect(page.locator(f"#to-{kind}")).to_have_attribute("aria-current", "true")
    page.locator("[name=receivers]").fill(receivers)


def arrived(page: Page, number: str) -> None:
    """Check that one message arrives on a simulated phone."""
    page.goto(f"/console/phone?number={number}")
    expect(page.locator(".bubble")).to_have_count(1)


@pytest.mark.torture
@in_both_ways
def test_long_sms_is_changed_to_lms_and_sent(env: BrowserEnvironment, way: Way) -> None:
    number = f"010-2000-{way.digits}01"
    with env.signed_in(way=way) as page:
        begin(page, "sms", f"{number}, 홍길동\n010-12, 김\n{number}, 이")
        page.locator("[name=sender]").fill(SENDER)
        page.locator("[name=content]").fill("#{이름}님 😀 " + "가" * 45)
        expect(page.locator(".size")).to_have_attribute("data-size", "100")
        expect(page.locator("#arriving mark.lost")).to_have_text("😀")
        expect(page.locator("tr.bad")).to_have_count(2)
        expect(page.locator("tr.again")).to_have_count(1)
        check_page(page, "send-sms")

        page.locator("[name=content]").fill("#{이름}님 " + "가" * 45)
        page.locator("[name=receivers]").fill(f"{number}, 홍길동")
        expect(page.locator("#arriving")).to_have_text("홍길동님 " + "가" * 45)
        page.locator("#offer-lms").click()
        expect(page.locator("[name=content]")).to_be_focused()
        page.locator("[name=subject]").fill("제목")
        expect(page.locator("#look .subject")).to_have_text("제목")
        review(page)
        expect(page.locator("#last-look")).to_be_focused()
        check_page(page, "send-last")
        send_it(page)
        check_page(page, "send-done")

        arrived(page, number)
        expect(page.locator(".bubble .text")).to_have_text("홍길동님 " + "가" * 45)


def test_sms_is_sent_by_keyboard_only(env: BrowserEnvironment) -> None:
    with env.signed_in() as page:
        open_send_page(page)
        page.locator("[name=sender]").focus()
        page.keyboard.type(SENDER)
        page.keyboard.press("Tab")
        page.keyboard.type("키보드")
        for _ in ("the saved texts", "saving this one", "advertisement"):
            page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
        page.keyboard.type("봄상점")
        page.keyboard.press("Tab")
        page.keyboard.type("080-123-4567")
        for _ in ("the preview", "the cards of receivers", "receivers"):
            page.keyboard.press("Tab")
        page.keyboard.type("010-2000-0003")
        expect(page.locator("#arriving")).to_have_text("(광고)[봄상점] 키보드 무료거부 0801234567")
        page.locator("[name=adFlag]").focus()
        page.keyboard.press("Space")
        page.locator("[name=sender]").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#last-look")).to_be_visible()
        page.locator("#send-it").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/console/send/done/*")
        arrived(page, "010-2000-0003")


@in_both_ways
def test_friend_talk_is_sent_with_image_and_buttons(shop: BrowserEnvironment, way: Way) -> None:
    number = f"010-2022-{way.digits}01"
    with shop.signed_in(way=way) as page:
        begin(page, "friendtalk", number)
        page.locator("[name=messageType]").select_option("friendTalkImage")
        page.locator("input[data-picture]").set_input_files(picture(page))
        page.locator("[name=content]").fill("친구야 😀")
        page.locator("#button-add").click()
        page.locator("[name='buttons[0].name']").fill("둘째")
        page.locator("[name='buttons[0].mobileUrl']").fill("shop.example")
        expect(page.locator("#wrong-buttons-0-mobileUrl")).not_to_be_empty()
        page.locator("[name='buttons[0].mobileUrl']").fill("https://shop.example")
        expect(page.locator("#wrong-buttons-0-mobileUrl")).to_be_empty()
        page.locator("#button-add").click()
        page.locator("[name='buttons[1].buttonType']").select_option("channelAddition")
        expect(page.locator("[name='buttons[1].mobileUrl']")).to_have_count(0)
        page.locator("[name='buttons[1].name']").fill("첫째")
        page.locator("#button-up-1").click()
        expect(page.locator("#look .buttons li")).to_have_text(["첫째", "둘째"])
        expect(page.locator("#look canvas")).to_have_attribute("width", "200")
        check_page(page, "send-friendtalk")
        review(page)
        send_it(page)

        arrived(page, number)
        expect(page.locator(".bubble .buttons li")).to_have_text(["첫째", "둘째"])


def test_focus_and_scroll_stay_when_form_parts_change(shop: BrowserEnvironment) -> None:
    with shop.signed_in() as page:
        begin(page, "friendtalk", "010-2000-0025")
        page.locator("#button-add").press("Enter")
        expect(page.locator("#button-type-0")).to_be_focused()
        page.locator("#button-add").press("Enter")
        expect(page.locator("#button-type-1")).to_be_focused()
        page.locator("[name='buttons[0].name']").fill("첫째")
        page.locator("#button-up-1").focus()
        scrolled = page.evaluate("scrollY")
        page.keyboard.press("Enter")
        expect(page.locator("[name='buttons[1].name']")).to_have_value("첫째")
        expect(page.locator("#button-up-1")).to_be_focused()
        assert page.evaluate("scrollY") == scrolled > 0
        page.locator("#button-remove-1").press("Enter")
        expect(page.locator("#button-add")).to_be_focused()
        page.locator("#review").press("Enter")
        expect(page.get_by_role("alert")).to_be_focused()


def test_preview_after_a_pressed_button_is_only_a_preview(env: BrowserEnvironment) -> None:
    with env.signed_in() as page:
        write(page, "한 번만 시험", "010-2000-0053")
        page.locator("#test > summary").click()
        page.locator("[name=own_number]").fill("010-2000-0054")
        test = page.get_by_role("button", name="테스트 발송")
        test.click()
        expect(page.locator("#tested .good")).to_be_visible()
        test.focus()
        posted: list[str] = []
        page.on("request", lambda request: posted.append(request.url) if request.method == "POST" else None)

        with page.expect_request(lambda request: request.method == "POST"):  # not the answer to an earlier preview
            page.evaluate("document.querySelector('#message').dispatchEvent(new Event('input', {bubbles: true}))")

        assert {url.rpartition("/")[2] for url in posted} == {"look"}


@pytest.mark.parametrize("screen", ["desktop", "phone"])
def test_review_is_reached_without_scrolling(env: BrowserEnvironment, screen: str) -> None:
    with env.signed_in(way=Way(screen=screen)) as page:
        open_send_page(page)
        expect(page.locator("#review")).to_be_in_viewport(ratio=1)

        page.locator("#when summary").click()
        page.locator("[name=expireMinutes]").focus()  # at the end of the form
        expect(page.locator("#review")).to_be_in_viewport(ratio=1)
        field, bar = page.locator("[name=expireMinutes]").bounding_box(), page.locator(".foot").bounding_box()

    assert field
    assert bar
    assert field["y"] + field["height"] <= bar["y"], "the bar covers what has the focus"


def test_clicking_open_tab_keeps_typed_text(env: BrowserEnvironment) -> None:
    with env.signed_in() as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url) if "/send/form" in request.url else None)
        begin(page, "sms", "010-2000-0055")
        page.locator("#to-sms").click()
        page.locator("#to-lms").click()
        expect(page.locator("#to-lms")).to_have_attribute("aria-current", "true")
        expect(page.locator("[name=receivers]")).to_have_value("010-2000-0055")
        assert len(asked) == 1


def test_text_typed_while_tab_changes_is_kept(env: BrowserEnvironment) -> None:
    with env.signed_in() as page:
        begin(page, "sms", "010-2000-0056")
        page.locator("[name=content]").fill("처음")
        expect(page.locator(".size")).to_have_attribute("data-size", "4")
        held: list[Route] = []
        page.route("**/console/send/form", lambda route: held.append(route))
        with page.expect_request("**/console/send/form"):
            page.locator("#to-lms").click()
        page.locator("[name=content]").press_sequentially(", 그리고")
        expect(page.locator("[name=content]")).to_have_value("처음, 그리고")

        held[0].continue_()

        expect(page.locator("#to-lms")).to_have_attribute("aria-current", "true")
        expect(page.locator("[name=content]")).to_have_value("처음, 그리고")
        expect(page.locator("[name=receivers]")).to_have_value("010-2000-0056")
        expect(page.locator("[name=content]")).to_be_focused()
        expect(page.locator(".size")).to_have_attribute("data-size", "12")


def test_message_is_sent_without_javascript(env: BrowserEnvironment) -> None:
    with env.signed_in(java_script_enabled=False) as page:
        write(page, "스크립트 없이", "010-2000-0081", "?kind=lms")
        page.locator("[name=subject]").fill("제목")
        page.locator("#to-sms").click()
        expect(page.locator("[name=content]")).to_have_value("스크립트 없이")
        page.locator("#review").click()
        page.locator("#send-it").click()
        expect(page).to_have_url(re.compile("/console/send/done/"))
        env.wait_until_final(page.url.rpartition("/")[2])
        arrived(page, "010-2000-0081")


def test_typed_content_never_runs_as_script(shop: BrowserEnvironment) -> None:
    dialogs: list[str] = []
    with shop.signed_in() as page:
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        begin(page, "friendtalk", f"010-2000-0091, {HOSTILE}\n{HOSTILE}")
        page.locator("[name=content]").fill(HOSTILE + "#{" + "<b>" + "}")
        page.locator("#button-add").click()
        page.locator("[name='buttons[0].name']").fill(HOSTILE)
        page.locator("[name='buttons[0].mobileUrl']").fill(HOSTILE)
        expect(page.locator("#wrong-buttons-0-mobileUrl")).not_to_be_empty()
        expect(page.locator("#arriving")).to_contain_text("<script>")
        page.locator("#review").click()
        expect(page.get_by_role("alert")).to_be_visible()

    assert dialogs == []
