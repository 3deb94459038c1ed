"""The console in a browser: sign-in, the simulated phone, the keyboard, and templates with their pictures."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from pabal.domain.people.user import Role
from tests.fixtures.browser import BrowserEnvironment, Way, check_page, in_both_ways
from tests.fixtures.web import channel_body, image_body, receivers_of, sms_body

pytestmark = pytest.mark.slow

HEAD_PX = 40
"""How far from the top of the window a page begins at most."""
HAVE_WHOLE_TIMES = """(all) => all.every((each) =>
    each.getBoundingClientRect().right <= each.closest(".screen").getBoundingClientRect().right)"""
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


@in_both_ways
def test_user_signs_in_and_out(env: BrowserEnvironment, way: Way) -> None:
    name = env.user(Role.OWNER)
    with env.open_page(way=way) as page:
        page.goto("/console/history?status=fail")
        expect(page).to_have_url(re.compile("/console/login"))
        assert page.locator(".brand").evaluate("(brand) => brand.getBoundingClientRect().top") < HEAD_PX
        check_page(page, "sign-in")
        page.locator("[name=name]").fill(name)
        page.locator("[name=password]").fill("wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.locator("[name=name]")).to_have_value(name)
        check_page(page, "sign-in-wrong")
        page.locator("[name=password]").fill(env.password(name))
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(r"/console/history\?status=fail"))
        page.locator("form[action='/console/logout'] button").click()
        expect(page).to_have_url(re.compile("/console/login"))
        page.goto("/console/history")
        expect(page).to_have_url(re.compile("/console/login"))


@in_both_ways
def test_new_messages_appear_on_open_phone_page(env: BrowserEnvironment, way: Way) -> None:
    number = f"010-7777-{way.digits}00"
    with env.signed_in(way=way) as page:
        page.goto("/console/phone")
        page.locator("[name=number]").fill(number)
        page.keyboard.press("Enter")
        expect(page.locator(".screen .empty")).to_be_visible()

        env.call("message/sendSMS", sms_body(number, content=f"첫째 {HOSTILE[:30]}"))
        expect(page.locator(".bubble")).to_have_count(1)
        env.call("message/sendLMS", sms_body(number, content="둘째 줄\n셋째 줄", subject="제목"))
        expect(page.locator(".bubble")).to_have_count(2)
        env.call("sender/create", channel_body(channelId=f"@phone-{way.word}", cellphone=number))
        expect(page.locator(".bubble.token")).to_have_count(1)
        image = image_body()
        env.call("message/sendMMS", sms_body(number, subject="제목", images=[image, image]))
        expect(page.locator(".bubble")).to_have_count(4)
        expect(page.locator(".bubble .picture")).to_have_count(2)
        assert page.locator(".bubble > time").evaluate_all(HAVE_WHOLE_TIMES)

        expect(page.locator("#news")).not_to_be_empty()
        check_page(page, "phone")


def test_stored_content_never_runs_as_script(env: BrowserEnvironment) -> None:
    hostile = receivers_of("010-5555-6666", reference=HOSTILE)
    request_id = env.send(content=HOSTILE, receivers=hostile)
    dialogs: list[str] = []
    with env.signed_in() as page:
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        for path in ("/console/phone?number=010-5555-6666", f"/console/history?request={request_id}"):
            page.goto(path)
            expect(page.get_by_text(HOSTILE[:20]).first).to_be_visible()
        page.locator("tbody a").first.click()
        expect(page.get_by_text(HOSTILE).first).to_be_visible()
        page.goto(f"/console/history?receiver={HOSTILE}")
        expect(page.locator("[name=receiver]")).to_have_value(HOSTILE)

    assert dialogs == []


def test_page_is_usable_by_keyboard(env: BrowserEnvironment) -> None:
    with env.signed_in() as page:
        page.goto("/console/history")
        page.keyboard.press("Tab")
        assert _focused(page) == "#content"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.name") == "receiver"


def _focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.getAttribute('href')"))


@in_both_ways
def test_template_is_written_with_preview_reviewed_and_approved(env: BrowserEnvironment, way: Way) -> None:
    env.approve_channel("@templates", "010-8888-0000")
    code = f"T-{way.word}"
    with env.signed_in(Role.SENDER, way=way) as page:
        page.goto("/console/templates/new")
        page.locator("[name=templateCode]").fill(code)
        page.locator("[name=name]").fill("보류: 배송 안내")
        page.locator("[name=content]").fill("#{이름}님, 주문하신 물건이 출발했습니다.")
        expect(page.locator("#preview mark")).to_have_text("#{이름}")
        page.locator("details", has=page.locator("[name='buttons[0].buttonType']")).locator("summary").click()
        expect(page.locator("[name='buttons[0].mobileUrl']")).to_be_hidden()
        rows = page.locator("details:visible", has=page.locator("[name^='buttons[']"))
        expect(rows).to_have_count(1)
        page.locator("[name='buttons[0].buttonType']").select_option("webLink")
        expect(rows).to_have_count(2)
        expect(page.locator("[name='buttons[0].androidUrl']")).to_be_hidden()
        page.locator("[name='buttons[0].name']").fill("배송 조회")
        if way.screen == "desktop":
            expect(page.locator("#preview")).to_be_in_viewport()
        page.locator("button.main").click()
        expect(page.get_by_role("alert")).to_be_visible()
        check_page(page, "template-form")
        page.locator("[name='buttons[0].mobileUrl']").fill("https://shop.example/#{번호}")
        page.locator("#save").click()
        expect(page.locator(".state.registered")).to_be_visible()
        page.locator("form[action$='/request'] button").click()
        expect(page.locator(".state.inspecting")).to_be_visible()
        address = page.url
        check_page(page, "template")
    with env.signed_in(Role.OPERATOR, way=way) as page:
        page.goto(address)
        check_page(page, "template-review")
        page.locator("[value=approve]").click()
        expect(page.locator(".state.approved")).to_be_visible()
        page.goto("/console/templates")
        expect(page.locator("tbody")).to_contain_text(code)
        check_page(page, "templates")


@pytest.mark.torture
@in_both_ways
def test_template_image_is_previewed_and_shown_after_saving(
    env: BrowserEnvironment, way: Way, tmp_path: Path
) -> None:
    env.approve_channel("@pictures", "010-8888-1111")
    with env.signed_in(Role.SENDER, way=way) as page:
        page.goto("/console/templates/new")
        file = tmp_path / "picture.jpg"
        file.write_bytes(page.locator("h1").screenshot(type="jpeg", quality=50))
        page.locator("[name=templateCode]").fill(f"P-{way.word}")
        page.locator("[name=name]").fill("그림이 있는 안내")
        page.locator("[name=content]").fill("#{이름}님, 새 매장이 열렸습니다.")
        expect(page.locator("[name=image]")).to_be_hidden()
        page.locator("[name=emphasisType][value=text]").check()
        page.locator("[name=emphasisTitle]").fill("새 매장")
        page.locator("[name=emphasisType][value=image]").check()
        expect(page.locator("[name=emphasisTitle]")).to_be_visible()  # what stands in a field is not hidden
        page.locator("[name=emphasisTitle]").fill("")
        expect(page.locator("[name=emphasisTitle]")).to_be_hidden()
        expect(page.locator("#preview .picture")).to_be_visible()
        page.locator("[name=image]").set_input_files(file)
        expect(page.locator(".drop.scripted .chosen").first).not_to_be_empty()
        expect(page.locator("#preview canvas")).to_be_visible()
        expect(page.locator("#preview .picture")).to_be_hidden()
        check_page(page, "template-picture-form")
        page.locator("#save").click()
        expect(page.locator(".state.registered")).to_be_visible()
        assert page.locator("img.picture-shown").evaluate("image => image.decode().then(() => image.naturalWidth)")
        check_page(page, "template-picture")
