"""The ten commonest tasks of staff in a browser: each takes as many steps as the page about them says."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, expect

from docs import generate
from tests.fixtures.browser import BrowserEnvironment
from tests.fixtures.live import serving
from tests.fixtures.web import SENDER, sms_body

pytestmark = pytest.mark.slow

NOBODY = "010-0000-0001"
CONTACTS = "이름,연락처\n홍길동,010-2300-0001\n김철수,010-2300-0002\n"
GROUP = "단골"


class Steps:
    """A page of a person who does something, and the steps so far: clicks, and fields that were filled in."""

    def __init__(self, env: BrowserEnvironment, page: Page) -> None:
        self.env = env
        self.page = page
        self.count = 0

    def click(self, target: str | Locator) -> None:
        self.count += 1
        (self.page.locator(target) if isinstance(target, str) else target).click()

    def open(self, path: str) -> None:
        """Choose a page in the menu."""
        self.click(f".menu a[href='{path}']")
        self.page.wait_for_url(f"**{path}")

    def fill(self, name: str, value: str) -> None:
        self.count += 1
        self.page.locator(f"[name='{name}']").fill(value)

    def choose(self, name: str, place: int) -> None:
        self.count += 1
        self.page.locator(f"[name='{name}']").first.select_option(index=place)

    def review_and_send(self) -> None:
        self.click("#review")
        expect(self.page.locator("#last-look")).to_be_visible()
        self.click("#send-it")
        self.page.wait_for_url("**/console/send/done/*")


@pytest.fixture(scope="module")
def office(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserEnvironment]:
    """A service with prices, where owners create keys, with a sender number, a channel and a group."""
    folder = tmp_path_factory.mktemp("office")
    (folder / "pabal.toml").write_text("[prices]\nsms = 9.5\n", encoding="utf-8")
    config = ("--config", str(folder / "pabal.toml"))
    with serving(folder / "data", *config, key_rate=0, owner_keys="true") as live:
        env = BrowserEnvironment(live, browser)
        env.approve_channel("@steps", "010-9999-0009")
        with env.signed_in() as page:
            page.goto("/console/numbers")
            page.locator("[name=number]").fill(SENDER)
            page.locator("form[action='/console/numbers'] button").click()
            expect(page.locator("td.number")).to_be_visible()
            page.goto("/console/contacts/file")
            file = FilePayload(name="a.csv", mimeType="text/csv", buffer=CONTACTS.encode())
            page.locator("[name=file]").set_input_files(file)
            expect(page.locator("#columns select")).to_have_count(2)
            page.locator("[name=new_group]").fill(GROUP)
            page.locator("form.card button.main").click()
            expect(page.locator("#result")).to_be_visible()
        yield env


def send_to_group(steps: Steps) -> None:
    write_to_group(steps)
    steps.click("#send-it")
    steps.page.wait_for_url("**/console/requests/*")


def write_to_group(steps: Steps) -> None:
    steps.open("/console/send")
    steps.fill("content", "내일 쉽니다")
    steps.click(steps.page.get_by_label(re.compile(GROUP)))
    steps.click("#review")
    steps.page.wait_for_url("**/console/send/upload/*")
    expect(steps.page.locator("#found")).to_be_visible()


def resend_failed(steps: Steps) -> None:
    sent = steps.env.call("message/sendSMS", sms_body(NOBODY))["item"]["requestId"]
    steps.env.wait_until_final(sent)
    steps.open("/console/requests")
    steps.click(f"a[href$='/{sent}']")
    steps.click("a[href*='?resend=']")
    steps.review_and_send()


def find_message(steps: Steps) -> None:
    steps.open("/console/history")
    steps.fill("receiver", NOBODY)
    steps.click("form.search button.main")
    expect(steps.page.locator("tbody .state.fail").first).to_be_visible()


def change_schedule(steps: Steps) -> None:
    body = sms_body("010-2300-0001", sendDate=later("%Y-%m-%d %H:%M"))
    sent = steps.env.call("message/sendSMS", body)["item"]["requestId"]
    steps.open("/console/requests")
    steps.click(f"a[href$='/{sent}']")
    steps.click("a[href*='?edit=']")
    steps.fill("sendDate", later("%Y-%m-%dT%H:%M", days=2))
    steps.review_and_send()


def export_last_month(steps: Steps) -> None:
    steps.open("/console/history")
    steps.click(steps.page.get_by_role("link", name="지난달"))
    with steps.page.expect_download() as download:
        steps.click("a[href*='history.csv?']")
    assert download.value.suggested_filename.endswith(".csv")


def register_template(steps: Steps) -> None:
    steps.open("/console/templates")
    steps.click("a.main[href='/console/templates/new']")
    steps.fill("templateCode", "STEPS")
    steps.fill("name", "배송 안내")
    steps.choose("category", 1)
    steps.fill("content", "상품이 출발했습니다.")
    steps.click("button[name=then]")
    steps.page.wait_for_url(re.compile("/console/templates/[0-9]+$"))
    expect(steps.page.locator("h1 .state.registered")).to_have_count(0)


def invite_colleague(steps: Steps) -> None:
    steps.open("/console/team")
    steps.click("[name=role][value=viewer]")
    steps.click("form[action='/console/team/invite'] button")
    steps.click("button[data-copy]")
    steps.count += 1  # the link is given to the colleague


def rotate_key(steps: Steps) -> None:
    steps.page.goto("/console/keys")
    create_key(steps.page, "이전 키")
    steps.page.goto("/console")
    steps.open("/console/keys")
    keys = steps.page.locator("tr", has_text="이전 키")
    steps.click(keys.locator("form[action$='/replace'] button"))
    steps.click("button[data-copy]")
    steps.click("details.ask summary")
    steps.click("button.danger")
    expect(keys).to_have_count(2)
    expect(keys.last.locator(".state.fail")).to_be_visible()


def create_key(page: Page, name: str) -> None:
    page.locator("details.new > summary").click()
    page.locator("[name=name]").fill(name)
    page.locator("form[action$='/keys'] button.main").click()
    expect(page.locator("code.secret")).to_be_visible()


def see_cost(steps: Steps) -> None:
    expect(steps.page.locator("#kinds + table")).to_contain_text("원")


def stop_campaign(steps: Steps) -> None:
    write_to_group(steps)
    steps.page.locator("[name=later][value='1']").check()
    steps.fill("sendDate", later("%Y-%m-%dT%H:%M"))
    steps.page.locator("#send-it").click()
    steps.page.wait_for_url(re.compile("/console/requests/[0-9a-f]{26}"))
    sent = steps.page.url.rpartition("/")[2]
    steps.count = 0
    steps.page.goto("/console")
    steps.open("/console/requests")
    steps.click(f"#stop-{sent} summary")
    steps.click(f"#stop-{sent} button.danger")
    steps.page.wait_for_url(f"**/console/requests/{sent}*")
    expect(steps.page.locator(".state.cancel")).to_be_visible()


def later(form: str, days: int = 1) -> str:
    return (datetime.now(ZoneInfo("Asia/Seoul")) + timedelta(days=days)).strftime(form)


TASKS: dict[str, Callable[[Steps], None]] = {
    "Send to a group": send_to_group,
    "Resend to those who were not reached": resend_failed,
    "Find out whether a message arrived": find_message,
    "Change a schedule": change_schedule,
    "Export last month": export_last_month,
    "Register a template": register_template,
    "Invite a colleague": invite_colleague,
    "Rotate a key": rotate_key,
    "See the cost": see_cost,
    "Stop a campaign": stop_campaign,
}


def documented_steps() -> dict[str, int]:
    """Return the steps of each task by the table of the page."""
    text = (generate.DOCS / "steps.md").read_text(encoding="utf-8")
    return {task: int(count) for task, count in re.findall(r"^\| ([A-Z][^|]+) \| ([0-9]+) \|", text, re.MULTILINE)}


@pytest.mark.torture
def test_each_common_task_takes_the_steps_that_the_page_says(office: BrowserEnvironment) -> None:
    counted = {}
    with office.signed_in() as page:
        for task, perform in TASKS.items():
            page.goto("/console")
            steps = Steps(office, page)
            perform(steps)
            counted[task] = steps.count

    assert counted == documented_steps()
