"""Every page in a browser, light and dark, in both languages and on two screens: accessible, and not too large."""

import html
import re
import time
from collections.abc import Iterator, Sequence
from typing import Literal

import httpx
import pytest
from playwright.sync_api import Browser, FilePayload, Page, ViewportSize, expect

from pabal.console.pages import PAGES
from pabal.console.shell.page_request import OPENID_CALLBACK
from pabal.domain.people.user import Role
from tests.fixtures.browser import (
    USUAL_WAY,
    WAYS,
    BrowserEnvironment,
    Way,
    downloaded_bytes,
    find_cut,
    find_violations,
    go_to_file,
    open_send_page,
)
from tests.fixtures.live import serving
from tests.fixtures.web import SENDER, sms_body, template_body

pytestmark = pytest.mark.slow

LINK = re.compile(r'href="(/console[^"#]*)"')
NO_PAGE = re.compile(r"\.(csv|xlsx)$|/picture$")
ELSEWHERE = {
    "/console/components": "for developers",
    "/console/login": "for those who are not signed in",
    "/console/login/again": "a part of a page whose session has ended",
    OPENID_CALLBACK: "leads on",
    "/console/profiles/categories": "a part of a page",
    "/console/profiles/token": "follows a form, see test_profiles",
    "/console/me/notices/confirm": "a mail leads there, see test_mails",
    "/console/invite": "an invitation leads there, see test_mails",
}
"""Pages that no link leads to, for those who are signed in."""
MAX_FETCHED = 400
FIRST_PAGE_BYTES = 100_000
"""What a page and its static files take on the way, at most."""
RECEIVER = "010-1111-2222"
Color = Literal["light", "dark"]
DARK_ONLY: Sequence[Color] = ("dark",)
BOTH: Sequence[Color] = ("light", "dark")
BETWEEN_PX = (760, 1040, 1160)
"""Widths of tablets and of small windows."""


@pytest.fixture(scope="module")
def env(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserEnvironment]:
    """A service whose pages have something to show."""
    with serving(tmp_path_factory.mktemp("pages") / "data", key_rate=0) as live:
        found = BrowserEnvironment(live, browser)
        furnish(found)
        yield found


def furnish(env: BrowserEnvironment) -> None:
    """Have something of every kind: sent, scheduled, written, registered, and begun."""
    for number in (RECEIVER, "010-0000-0001"):
        env.wait_until_final(env.call("message/sendSMS", sms_body(number))["item"]["requestId"])
    later = time.strftime("%Y-%m-%d 10:00", time.localtime(time.time() + 3 * 24 * 3600))
    env.call("message/sendSMS", sms_body("010-1111-3333", sendDate=later))
    env.approve_channel("@pages", "010-8888-4444")
    (profile,) = env.call("sender/list", channelId="@pages")["items"]
    for code in ("P1", "P2"):
        env.call("template/create", template_body(profile["senderKey"], templateCode=code, name=f"보류 {code}"))
    env.call("template/request", {"senderKey": profile["senderKey"], "templateCode": "P1"})
    env.call("webhook/create", {"url": "https://shop.example/hook", "events": ["message.result"]})
    env.call("optOut/add", {"phoneNumber": "010-1111-4444"})
    with env.signed_in() as page:
        page.goto("/console/numbers")
        page.locator("[name=number]").fill(SENDER)
        page.locator("main form button.main").click()
        expect(page.locator("tbody")).to_contain_text(SENDER)
        page.goto("/console/contacts/file")
        rows = "휴대폰번호,이름\n010-1111-2222,홍길동\n"
        file = FilePayload(name="contacts.csv", mimeType="text/csv", buffer=rows.encode())
        page.locator("[name=file]").set_input_files(file)
        expect(page.locator("#columns select")).to_have_count(2)
        page.locator("[name=new_group]").fill("단골")
        page.locator("form.card button.main").click()
        expect(page.locator("#result")).to_be_visible()
        open_send_page(page)
        page.locator("[name=sender]").fill(SENDER)
        page.locator("[name=content]").fill("봄 행사에 오세요")
        page.locator("#save-text > summary").click()
        page.locator("[name=text_name]").fill("봄 행사")
        page.locator("[formaction='/console/send/save']").click()
        expect(page.locator("#send .notice[role=status]")).to_be_visible()
        go_to_file(page)


def find_pages(env: BrowserEnvironment, page: Page) -> dict[str, str]:
    """Return an address of every page that links lead to, by the path in its declaration."""
    paths = [each.path for each in PAGES if each.method == "GET" and not each.is_polled]
    templates = {path: re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))) for path in paths}
    cookies = {each["name"]: each["value"] for each in page.context.cookies()}
    found: dict[str, str] = {}
    sent = env.call("message/sendSMS", sms_body(RECEIVER))["item"]["requestId"]
    waiting = ["/console", "/console/requests/approvals", f"/console/send/done/{sent}"]
    seen = set[str]()
    with httpx.Client(base_url=env.live.base_url, cookies=cookies) as client:
        while waiting and len(seen) < MAX_FETCHED:
            url = waiting.pop(0)
            path = url.partition("?")[0]
            name = next((name for name, each in templates.items() if each.fullmatch(path)), "")
            if url in seen or not name or name in found or NO_PAGE.search(path):
                continue
            seen.add(url)
            answer = client.get(url)
            if answer.status_code == httpx.codes.OK:
                found[name] = url
                waiting += [html.unescape(each) for each in LINK.findall(answer.text)]
    return found


def find_size(env: BrowserEnvironment, url: str, cookies: dict[str, str]) -> list[str]:
    """Return what is wrong with the size of a page and its static files."""
    size = downloaded_bytes(env.live, url, cookies)
    return [f"{size} bytes"] if size >= FIRST_PAGE_BYTES else []


def look_at(page: Page, url: str, colors: Sequence[Color]) -> list[str]:
    """Return what is wrong with a page in each of the color schemes."""
    page.goto(url)
    wrong = []
    for color in colors:
        page.emulate_media(color_scheme=color)
        wrong += [f"{color}: {each}" for each in find_violations(page)]
    return wrong + look_between(page)


def look_between(page: Page) -> list[str]:
    """Return what is cut off on screens between a phone and a desktop."""
    own = page.viewport_size
    assert own
    wrong = []
    for width in BETWEEN_PX if own["width"] > max(BETWEEN_PX) else ():
        page.set_viewport_size(ViewportSize(width=width, height=own["height"]))
        wrong += [f"{width} px: {each}" for each in find_cut(page)]
    page.set_viewport_size(own)
    return wrong


@pytest.mark.parametrize(
    ("way", "colors", "step"),
    [
        pytest.param(USUAL_WAY, DARK_ONLY, 4, id="dark"),
        *(pytest.param(way, BOTH, 1, id=way.word, marks=pytest.mark.torture) for way in WAYS),
    ],
)
def test_every_page_is_accessible_and_small(
    env: BrowserEnvironment, way: Way, colors: Sequence[Color], step: int
) -> None:
    wrong: dict[str, list[str]] = {}
    with env.signed_in(Role.OPERATOR, way=way) as page:
        found = find_pages(env, page)
        missing = {
            each.path
            for each in PAGES
            if each.method == "GET" and not each.is_polled and not NO_PAGE.search(each.path)
        } - {*found, *ELSEWHERE}
        assert missing == set()
        cookies = {each["name"]: each["value"] for each in page.context.cookies()}
        for url in list(found.values())[::step]:
            wrong[url] = [*find_size(env, url, cookies), *look_at(page, url, colors)]
    with env.open_page(way) as page:
        wrong["/console/login"] = [*find_size(env, "/console/login", {}), *look_at(page, "/console/login", colors)]
    assert {url: told for url, told in wrong.items() if told} == {}
