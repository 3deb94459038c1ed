"""What tests of the console in a browser share: people who sign in, at a desk or with a phone, and their pages."""

import contextlib
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, ViewportSize

from pabal.console.cookies import LANGUAGE
from pabal.domain.user import Role
from pabal.web.endpoints import ENDPOINTS
from tests.live import Live, run, until

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""Nothing but the pages under test is asked for; a sandbox cannot be had as root."""
SCREENS = {"desk": ViewportSize(width=1280, height=800), "phone": ViewportSize(width=360, height=740)}
ROOT = Path(__file__).parents[2]
AXE = ROOT / ".venv" / "peers" / "node_modules" / "axe-core" / "axe.min.js"
SCREENSHOTS = Path(__file__).parent / "screenshots"
TROUBLING = ("serious", "critical")
_PASSWORD = re.compile(r"password\s+(\S+)")


def chromium() -> str:
    """Return where Debian's Chromium is."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, "there is no Chromium here: `make chromium` installs it, or says how"
    return found


class House:
    """A service, and people who go in and out."""

    def __init__(self, live: Live, browser: Browser) -> None:
        self.live = live
        self._browser = browser
        self._passwords = {"admin": _password_of(live)}

    def call(self, operation: str, body: Any = None, **query: Any) -> Any:
        """Call the interface as the first account, expecting SUCCESS."""
        path = f"/api/{operation}.v1.0"
        method = next(endpoint.method for endpoint in ENDPOINTS if endpoint.path == path)
        with self.live.client() as client:
            said = client.request(method, path, json=body, params=query).json()
        assert said["result"] == "SUCCESS", said
        return said

    def open_channel(self, channel_id: str, cellphone: str) -> None:
        """Register a channel and prove it, unless that was done before."""
        if self.call("sender/list", channelId=channel_id)["totalCount"]:
            return
        category = self.call("sender/categories")["items"][0]["code"]
        self.call("sender/create", {"category": category, "channelId": channel_id, "cellphone": cellphone})
        received = self.call("simulator/phone", phoneNumber=cellphone)["items"][0]["content"]
        token = re.findall("[0-9]{6}", received)[0]
        self.call("sender/auth", {"channelId": channel_id, "token": token})

    def wait_for_end(self, request_id: str) -> None:
        """Wait until every message of a request has ended."""

        def counts() -> Any:
            return self.call("message/request", requestId=request_id)["item"]["counts"]

        with ThreadPoolExecutor() as threads:  # the browser's driver has this thread's event loop
            threads.submit(until, counts, lambda seen: seen["waiting"] + seen["sending"] == 0).result()

    def user(self, role: Role, account: str = "first") -> str:
        """Return the name of a user of this role, made if new."""
        if role is Role.OPERATOR:
            return "admin"
        name = f"{role.word}-of-{account}"
        if name not in self._passwords:
            made = run("user", "create", name, "--account", account, "--role", role.word, data=self.live.data)
            self._passwords[name] = made.stdout.strip()
        return name

    def password(self, name: str) -> str:
        return self._passwords[name]

    @contextlib.contextmanager
    def visitor(self, language: str = "ko", screen: str = "desk", **options: Any) -> Iterator[Page]:
        """A browser of its own that has signed in nowhere; whatever its console says of errors is a failure."""
        context = self._browser.new_context(
            base_url=self.live.base,
            viewport=SCREENS[screen],
            locale="ko-KR",
            is_mobile=screen == "phone",
            **options,
        )
        host = httpx.URL(self.live.base).host
        context.add_cookies([{"name": LANGUAGE, "value": language, "domain": host, "path": "/console"}])
        page = context.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        try:
            yield page
            errors = [each for each in said if "the server responded with a status of 4" not in each]
            assert errors == [], errors
        finally:
            context.close()

    @contextlib.contextmanager
    def signed_in(self, role: Role = Role.OWNER, account: str = "first", **options: Any) -> Iterator[Page]:
        """A browser in which a user of this role has signed in."""
        name = self.user(role, account)
        with self.visitor(**options) as page:
            page.goto("/console/login")
            page.locator("[name=name]").fill(name)
            page.locator("[name=password]").fill(self.password(name))
            page.locator("button.main").click()
            page.wait_for_url(re.compile("/console$"))
            yield page


def check_page(page: Page, name: str) -> None:
    """See that a page has no serious trouble for those who hear or type it, fits its screen; keep a picture."""
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    troubles = [
        f"{each['id']}: {each['help']}: {[node['html'] for node in each['nodes']]}"
        for each in found["violations"]
        if each["impact"] in TROUBLING
    ]
    assert troubles == []
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{name} is wider than its screen by {wide} px"


def weight_bytes(live: Live, path: str, cookies: dict[str, str]) -> int:
    """Return how much is fetched for a page and all that it brings along, as a browser asks for it."""
    with httpx.Client(base_url=live.base, cookies=cookies) as client:
        page = client.get(path)
        brought = set(re.findall(r'(?:href|src)="(/console/static/[^"]+)"', page.text))
        answers = [page, *(client.get(each) for each in brought)]
        return sum(each.num_bytes_downloaded for each in answers)


def _password_of(live: Live) -> str:
    found = _PASSWORD.search(live.greeting)
    assert found, live.greeting
    return found[1]
