"""Takes the pictures of the documents in a browser; `make pictures` puts them into docs/."""

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from docs import generate
from tests.fixtures.browser import SCREENSHOTS, BrowserEnvironment, open_send_page
from tests.fixtures.web import FALLBACK, NO_USER, SENDER, alimtalk_body, sms_body, template_body

pytestmark = pytest.mark.slow

NAMES = ("message", "overview", "phone", "send")
WIDTH = 1200
"""Wide enough for the menu beside the page."""
HEIGHTS = {"message": 830, "overview": 760, "phone": 760, "send": 1180}
"""How much of a page its picture shows."""
MAX_BYTES = 160_000
RECEIVER = "010-1234-5678"
NAMED = {"templateData": {"이름": "홍길동"}}


@pytest.fixture(scope="module")
def shop(env: BrowserEnvironment) -> None:
    """What the pictures show: texts and Alimtalk that have arrived, one that failed, and its fallback."""
    env.approve_channel("@pabal", "010-9999-0000")
    sender_key = env.call("sender/list", channelId="@pabal")["items"][0]["senderKey"]
    link = {"buttonType": "webLink", "name": "배송 조회", "mobileUrl": "https://shop.example"}
    env.call(
        "template/create", template_body(sender_key, content="#{이름}님, 상품이 출발했습니다.", buttons=[link])
    )
    env.call("template/request", {"senderKey": sender_key, "templateCode": "T1"})
    crowd = [f"010-2000-{number:04}" for number in range(40)]
    sent = [
        env.call("message/sendSMS", sms_body(*crowd, content="행사 안내입니다.")),
        env.call("message/sendSMS", sms_body("010-0000-0001", "010-0000-0002", content="행사 안내입니다.")),
        env.call("message/sendSMS", sms_body(RECEIVER, content="홍길동님, 파발입니다.")),
    ]
    for number in (RECEIVER, NO_USER):
        body = alimtalk_body(sender_key, **FALLBACK, receivers=[{"phoneNumber": number, **NAMED}])
        sent.append(env.call("message/sendAlimtalk", body))
    for each in sent:
        env.wait_until_final(each["item"]["requestId"])


def show_overview(page: Page) -> None:
    page.goto("/console")
    expect(page.locator("h1")).to_be_visible()


def show_message(page: Page) -> None:
    page.goto(f"/console/history?status=fail&receiver={NO_USER}")
    page.locator("tbody a").first.click()
    expect(page.locator(".story li").first).to_be_visible()


def show_phone(page: Page) -> None:
    page.goto(f"/console/phone?number={RECEIVER}")
    expect(page.locator(".bubble")).to_have_count(2)


def show_send(page: Page) -> None:
    open_send_page(page)
    page.locator("#to-sms").click()
    expect(page.locator("#to-sms")).to_have_attribute("aria-current", "true")
    page.locator("[name=sender]").fill(SENDER)
    page.locator("[name=content]").fill("#{이름}님, 주문하신 상품이 출발했습니다.")
    page.locator("[name=receivers]").fill(f"{RECEIVER}, 홍길동\n010-2345-6789, 김영희")
    expect(page.locator("#arriving")).to_have_text("홍길동님, 주문하신 상품이 출발했습니다.")


SHOWS = {"message": show_message, "overview": show_overview, "phone": show_phone, "send": show_send}


@pytest.mark.torture
@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("language", ["ko", pytest.param("en", marks=pytest.mark.torture)])
def test_pictures_are_taken_and_small(env: BrowserEnvironment, language: str) -> None:
    folder = SCREENSHOTS / "pictures" / language
    folder.mkdir(parents=True, exist_ok=True)
    with env.signed_in(language=language, color_scheme="light") as page:
        for name in NAMES:
            page.set_viewport_size(ViewportSize(width=WIDTH, height=HEIGHTS[name]))
            SHOWS[name](page)
            page.evaluate("scrollTo(0, 0)")
            shown = page.locator("section.phone") if name == "phone" else page
            shown.screenshot(path=folder / f"{name}.png", animations="disabled", caret="hide")

    sizes = {name: (folder / f"{name}.png").stat().st_size for name in NAMES}
    assert {name: size for name, size in sizes.items() if size > MAX_BYTES} == {}


def test_documents_have_the_pictures_that_the_browser_takes() -> None:
    for folder in (generate.DOCS / "images", generate.DOCS / "ko" / "images"):
        assert sorted(path.stem for path in folder.iterdir()) == sorted(NAMES), "run `make pictures`"
