"""What comes back, in a browser: webhooks, opt-outs, inbound messages, timelines and statistics."""

import base64
import csv
import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, Download, Page, expect

from pabal.domain.people.user import Role
from tests.browser.test_console import in_each_language_and_screen, send
from tests.fakes.smsc.peer import Peer, running_peer
from tests.fakes.webhooks.receiver import Receiver, running_receiver
from tests.fixtures.browser import BrowserEnvironment, check_page
from tests.fixtures.certificates import AUTHORITY
from tests.fixtures.live import serving
from tests.fixtures.web import SENDER, sms_body

pytestmark = pytest.mark.slow

UNKNOWN_SECRET = f"whsec_{base64.b64encode(bytes(32)).decode()}"
LONG = "긴글자" * 60
CONFIGURATION = """
[routes]
sms = ["telco"]
lms = ["simulator"]
[carriers.simulator]
kind = "simulator"
[carriers.telco]
kind = "smpp"
host = "127.0.0.1"
port = {port}
system_id = "pabal"
password = "secret"
prices = {{ sms = 9.5 }}
"""


@pytest.fixture(scope="module")
def smsc() -> Iterator[Peer]:
    """A third-party SMSC, which delivers every SMS and sends what subscribers write."""
    with running_peer() as peer:
        yield peer


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    """The server of a webhook, which verifies posts with the published library."""
    with running_receiver(secret=UNKNOWN_SECRET) as found:
        yield found


@pytest.fixture(scope="module")
def env(
    browser: Browser, smsc: Peer, receiver: Receiver, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserEnvironment]:
    """A new service with an SMSC, the simulator, and a webhook's server that it may reach."""
    folder = tmp_path_factory.mktemp("results")
    config = folder / "pabal.toml"
    config.write_text(CONFIGURATION.format(port=smsc.port), encoding="utf-8")
    settings: dict[str, Any] = {"config": config, "webhook_tls_ca": AUTHORITY, "key_rate": 0}
    with serving(folder / "data", webhook_allow=f"first@localhost:{receiver.port}", **settings) as live:
        found = BrowserEnvironment(live, browser)
        with found.signed_in(Role.OPERATOR) as page:
            page.goto("/console/numbers")
            page.locator("[name=number]").fill(SENDER)
            page.locator("form[action='/console/numbers'] button").click()
            expect(page.locator("tbody")).to_contain_text(SENDER)
        yield found


def number_of(language: str, screen: str, last: str) -> str:
    """Return a number that no other test uses."""
    return f"010-7171-{['ko', 'en'].index(language)}{['desktop', 'phone'].index(screen)}{last}"


def rows_of(download: Download) -> list[list[str]]:
    """Return the cells of a downloaded CSV file."""
    text = download.path().read_text(encoding="utf-8")
    assert text.startswith("\ufeff")
    return list(csv.reader(text.removeprefix("\ufeff").splitlines()))


def create_webhook(page: Page, receiver: Receiver, name: str) -> str:
    """Create a webhook, after a mistake; return its secret."""
    page.goto("/console/webhooks")
    expect(page.locator(".empty")).to_be_visible()
    check_page(page, f"webhooks-none-{name}")
    page.locator("[name=url]").fill("http://shop.example")
    page.locator("[name=description]").fill(LONG)
    page.locator("[name='event.optOut.added']").check()
    page.locator("form.card button.main").click()
    expect(page.locator("#wrong-url")).to_be_visible()
    expect(page.locator("[name=description]")).to_have_value(LONG)
    expect(page.locator("[name='event.optOut.added']")).to_be_checked()
    check_page(page, f"webhooks-wrong-{name}")
    page.locator("[name=url]").fill(receiver.url)
    page.locator("form.card button.main").click()
    secret = page.locator(".secret").inner_text()
    check_page(page, f"webhook-secret-{name}")
    page.locator(".card a.button").click()
    expect(page.locator(".facts").first).to_contain_text(receiver.url)
    expect(page.get_by_text(secret)).to_have_count(0)
    return secret


@pytest.mark.torture
@in_each_language_and_screen
def test_webhook_is_created_tested_changed_replayed_and_deleted(
    env: BrowserEnvironment, receiver: Receiver, language: str, screen: str
) -> None:
    name = f"{language}-{screen}"
    with env.signed_in(language=language, screen=screen) as page:
        secret = create_webhook(page, receiver, name)
        webhook = page.url.rpartition("/")[2]
        page.locator("form[action$='/test'] button").click()
        expect(page.locator("div.wrong[role=status]")).to_contain_text("HTTP 401")
        check_page(page, f"webhook-refused-{name}")
        receiver.change(secret=secret)

        seen = len(receiver.all_events)
        send(env, number_of(language, screen, "01"))
        first = receiver.wait_for(lambda event: event.get("type") == "message.result", since=seen)
        env.wait_until(
            lambda: env.call("webhook/deliveries", webhookId=webhook)["totalCount"], lambda count: count >= 2
        )
        page.goto(f"/console/webhooks/{webhook}")
        expect(page.locator("tbody tr")).to_have_count(2)
        page.locator("tbody tr").first.locator("summary").click()
        expect(page.locator("tbody tr").first).to_contain_text(first["eventIds"][0])
        check_page(page, f"webhook-deliveries-{name}")
        page.locator("form[action$='/test'] button").click()  # more than a second after the first test
        expect(page.locator("div.good[role=status]")).to_contain_text("HTTP 204")

        change_webhook(page, receiver, name)
        seen = len(receiver.all_events)
        since = datetime.now(ZoneInfo("Asia/Seoul")) - timedelta(hours=1)
        page.locator("[name=since]").fill((since + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M"))
        page.locator("form[action$='/replay'] button:not([type])").click()
        expect(page.locator("#wrong-since")).to_be_visible()
        page.locator("[name=since]").fill(since.strftime("%Y-%m-%dT%H:%M"))
        page.locator("form[action$='/replay'] button:not([type])").click()
        expect(page.get_by_role("status")).to_be_visible()
        again = receiver.wait_for(lambda event: first["eventIds"][0] in event.get("eventIds", ()), since=seen)
        assert (again["path"], again["id"] == first["id"]) == ("/hook/changed", False)

        page.locator(".actions > .ask summary").last.click()
        check_page(page, f"webhook-delete-{name}")
        page.locator("details[open] button.danger").click()
        expect(page.get_by_role("status")).to_be_visible()
        expect(page.locator(".empty")).to_be_visible()


def change_webhook(page: Page, receiver: Receiver, name: str) -> None:
    """Change address, events, products and note of the webhook that is shown, after a mistake."""
    page.locator("a[href$='/edit']").click()
    expect(page.locator("[name=url]")).to_have_value(receiver.url)
    expect(page.locator("[name=enabled]")).to_be_checked()
    page.locator("[name='event.optOut.added']").uncheck()
    page.locator("[name='event.message.result']").uncheck()
    page.locator("[name='product.sms']").check()
    page.locator("[name=description]").fill("")
    page.locator("form.card button.main").click()
    expect(page.locator("#wrong-events")).to_be_visible()
    expect(page.locator("[name='product.sms']")).to_be_checked()
    expect(page.locator("[name=description]")).to_have_value("")
    check_page(page, f"webhook-edit-{name}")
    page.locator("[name='event.message.result']").check()
    page.locator("[name=url]").fill(f"{receiver.url}/changed")
    page.locator("form.card button.main").click()
    expect(page.get_by_role("status")).to_be_visible()
    expect(page.locator(".facts").first).to_contain_text("/hook/changed")
    expect(page.get_by_text(LONG)).to_have_count(0)


@pytest.mark.torture
@in_each_language_and_screen
def test_opt_outs_are_added_imported_found_exported_and_removed(
    env: BrowserEnvironment, language: str, screen: str
) -> None:
    name = f"{language}-{screen}"
    one, two = number_of(language, screen, "11"), number_of(language, screen, "12")
    with env.signed_in(language=language, screen=screen) as page:
        page.goto("/console/opt-outs")
        check_page(page, f"opt-outs-none-{name}")
        add = page.locator("form[action='/console/opt-outs'][method=post]")
        page.locator("details", has=add).locator("summary").click()
        add.locator("[name=phoneNumber]").fill("02-1234-5678")
        add.locator("[name=reason]").fill(LONG)
        add.locator("button").click()
        expect(page.locator("#wrong-phoneNumber")).to_be_visible()
        expect(add.locator("[name=reason]")).to_have_value(LONG)
        check_page(page, f"opt-outs-wrong-{name}")
        add.locator("[name=phoneNumber]").fill(one)
        add.locator("[name=senderNumber]").fill(SENDER)
        add.locator("button").click()
        expect(page.get_by_role("status")).to_be_visible()
        expect(page.locator("tbody tr").first).to_contain_text(one)

        upload(page, f"phone,reason\n{two},창구\n123,<b>\n")
        expect(page.get_by_role("alert").locator("li")).to_have_count(1)
        check_page(page, f"opt-outs-file-wrong-{name}")
        upload(page, f"phone,reason\n{two},창구\n{one},전화\n")
        expect(page.get_by_role("status")).to_contain_text("2")
        check_page(page, f"opt-outs-{name}")
        with page.expect_download() as download:
            page.locator("a[href='/console/opt-outs.csv']").click()
        found = {tuple(row[:3]) for row in rows_of(download.value)[1:]}
        assert {(one, SENDER, LONG), (two, "", "창구"), (one, "", "전화")} <= found

        page.locator("form[role=search] [name=number]").fill(two)
        page.keyboard.press("Enter")
        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page.locator("button.danger")).to_be_hidden()
        page.locator("tbody .ask summary").click()
        check_page(page, f"opt-outs-remove-{name}")
        page.locator("tbody button.danger").click()
        expect(page.get_by_role("status")).to_be_visible()
        page.goto(f"/console/opt-outs?number={two}")
        expect(page.locator(".empty")).to_be_visible()


def upload(page: Page, text: str) -> None:
    """Import a file of opt-outs."""
    file = {"name": "opt-outs.csv", "mimeType": "text/csv", "buffer": text.encode()}
    form = page.locator("form[action$='/import']")
    if form.is_hidden():  # it is open where a file was refused
        page.locator("details", has=form).locator("summary").click()
    form.locator("[name=file]").set_input_files(file)  # type: ignore[arg-type]
    form.locator("button").click()


@pytest.mark.torture
@in_each_language_and_screen
def test_inbound_messages_are_shown_to_their_account_and_others_to_operators(
    env: BrowserEnvironment, smsc: Peer, language: str, screen: str
) -> None:
    name, number = f"{language}-{screen}", number_of(language, screen, "21")
    digits = number.replace("-", "")
    send(env, number)
    before = len(env.call("message/inbound")["items"])
    for text in (f"{number} 문의", f"첫 줄\n{LONG}", "수신 거부."):
        write(smsc, digits, SENDER.replace("-", ""), text)
    write(smsc, digits, "029998888", f"{number} 미배정")
    env.wait_until(lambda: len(env.call("message/inbound")["items"]), lambda count: count == before + 3)

    with env.signed_in(language=language, screen=screen) as page:
        page.goto("/console/inbound")
        expect(page.locator("tbody tr")).to_have_count(before + 3)
        expect(page.locator("tbody tr").filter(has_text=f"{number} 문의")).to_have_count(1)
        expect(page.locator("tbody tr").filter(has=page.locator(".state")).first).to_contain_text("수신 거부.")
        check_page(page, f"inbound-{name}")
        page.locator("[name=number]").fill(number)
        page.keyboard.press("Enter")
        expect(page.locator("tbody tr")).to_have_count(3)
        with page.expect_download() as download:
            page.locator("a[href^='/console/inbound.csv']").click()
        assert len([row for row in rows_of(download.value) if row[1:2] == [number]]) == 3
        page.goto(f"/console/opt-outs?number={number}")
        expect(page.locator("tbody tr")).to_contain_text(SENDER)
    with env.signed_in(Role.VIEWER, language=language, screen=screen) as page:
        page.goto("/console/inbound")
        cells = page.locator("tbody td:nth-child(2)")
        expect(cells.first).to_have_text(f"010-****-{number[-4:]}")
        assert number not in cells.all_inner_texts()
    with env.signed_in(Role.OPERATOR, language=language, screen=screen) as page:
        page.goto("/console/operate/inbound")
        expect(page.locator("tbody tr").filter(has_text=f"{number} 미배정")).to_contain_text("telco")
        check_page(page, f"inbound-unassigned-{name}")


def write(smsc: Peer, source: str, destination: str, text: str) -> None:
    """Have a subscriber write a message."""
    given = {"source": source, "destination": destination, "text": text}
    smsc.send_command(f"write {json.dumps(given)}")


@pytest.mark.torture
@in_each_language_and_screen
def test_timeline_and_export_say_which_carrier_took_a_message_at_what_cost(
    env: BrowserEnvironment, language: str, screen: str
) -> None:
    name, number = f"{language}-{screen}", number_of(language, screen, "31")
    request_id = send(env, number)
    with env.signed_in(language=language, screen=screen) as page:
        page.goto(f"/console/history?request={request_id}")
        with page.expect_download() as download:
            page.get_by_role("link", name="CSV").click()
        head, row = rows_of(download.value)
        page.locator("tbody a").first.click()
        expect(page.locator(".state.completed")).to_be_visible()
        expect(page.locator(".story li")).to_have_count(5)
        expect(page.locator(".story")).to_contain_text("telco")
        expect(page.locator(".facts")).to_contain_text("9.5")
        check_page(page, f"timeline-{name}")

    cells = dict(zip(head, row, strict=True))
    carrier, cost = {"ko": ("발송 경로", "비용(원)"), "en": ("Carrier", "Cost (won)")}[language]
    assert (cells[carrier], cells[cost]) == ("telco", "9.50")


@pytest.mark.torture
@in_each_language_and_screen
def test_overview_shows_and_exports_the_same_numbers(env: BrowserEnvironment, language: str, screen: str) -> None:
    lms = env.call("message/sendLMS", sms_body("010-0000-0001"))["item"]["requestId"]
    env.wait_until_final(lms)
    send(env, number_of(language, screen, "41"))
    env.wait_until(lambda: counted_carriers(env), lambda found: found >= {"telco", "simulator"})
    with env.signed_in(language=language, screen=screen) as page:
        page.locator(".spans a[href='/console?days=1']").click()
        expect(page.locator(".spans [aria-current]")).to_have_attribute("href", "/console?days=1")
        shown = {
            kind: int(page.locator(f".today [data-kind={kind}]").inner_text().replace(",", ""))
            for kind in ("completed", "fail")
        }
        check_page(page, f"statistics-{language}-{screen}")
        with page.expect_download() as download:
            page.locator("a[href='/console/statistics.csv']").click()
        head, *rows = rows_of(download.value)
        count_by_carrier(page, f"{language}-{screen}")

    assert head[0] == {"ko": "날짜", "en": "Day"}[language]
    rows = [row for row in rows if row[0] == max(each[0] for each in rows)]
    counted = {code: sum(int(row[5]) for row in rows if row[3] == code) for code in ("1000", "3003")}
    assert (counted["1000"], counted["3003"]) == (shown["completed"], shown["fail"])
    costs = [float(row[8]) for row in rows if row[3] == "1000" and re.fullmatch(r"[0-9.]+", row[8])]
    assert sum(costs) == 9.5 * counted["1000"]


def counted_carriers(env: BrowserEnvironment) -> set[str]:
    """Return the carriers in today's statistics: what takes long to count is not counted while a page waits."""
    today = datetime.now(ZoneInfo("Asia/Seoul")).strftime("%Y-%m-%d")
    items = env.call("statistics/list", **{"from": today, "groupBy": "carrier"})["items"]
    return {each.get("carrier") or "" for each in items}


def count_by_carrier(page: Page, name: str) -> None:
    """Count messages by carrier, after a mistake, and export the same."""
    page.goto("/console/statistics")
    check_page(page, f"statistics-page-{name}")
    for word in ("status", "key", "carrier"):
        page.locator(f"[name='by.{word}']").check()
    page.locator("button.main").click()
    expect(page.locator("#wrong-groupBy")).to_be_visible()
    check_page(page, f"statistics-wrong-{name}")
    for word in ("product", "key"):
        page.locator(f"[name='by.{word}']").uncheck()
    page.locator("button.main").click()
    expect(page.locator("#groups tbody tr").filter(has_text="telco").first).to_be_visible()
    check_page(page, f"statistics-by-carrier-{name}")
    with page.expect_download() as download:
        page.locator("a[href^='/console/statistics/table.csv']").click()
    _, *lines = rows_of(download.value)
    assert len(lines) == page.locator("#details tbody tr").count()
    assert {line[2] for line in lines} >= {"telco", "simulator"}
