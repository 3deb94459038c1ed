"""Uploads: a file with good and bad rows is checked by the rules of the interface, looked over, and sent once."""

import io
import re
from pathlib import Path

import pytest
from openpyxl import Workbook

from pabal.console.upload.sheet import MAX_FILE_BYTES
from pabal.domain.campaign import CampaignState
from pabal.domain.codes import Code
from pabal.domain.dates import HOUR
from pabal.domain.user import Role
from pabal.service.sending import campaigns as service
from pabal.store import campaigns
from pabal.store.campaigns import Campaign
from pabal.store.engine.base import StoreUnavailable
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import Browser, PageResponse, signed_in_browser
from tests.fixtures.console_send import IMAGE, talk
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import (
    NOON,
    Environment,
    VirtualWorld,
    build_environment,
    open_store,
    run_in_virtual_time,
)
from tests.fixtures.web import (
    FailingStore,
    RunScenario,
    approve_template,
    call_ok,
    list_phone_messages,
    register_channel,
    set_up_sender,
    template_body,
)

UPLOAD = "/console/send/upload"
LIST = """휴대폰번호,이름,메모
010-1111-2222,홍길동,a
1033334444,<b>김</b>,b
010-1111-2222,다시,c
12345,누구,d
010-5555-6666,,e
010-7777-8888,😀,f
"""


async def begun(browser: Browser, **fields: str) -> str:
    """Write a message and return the address of its campaign."""
    given = {"kind": "sms", "sender": "02-1234-5678", "content": "#{이름}님, 안녕하세요", **fields}
    shown = await browser.submit(UPLOAD, **given)
    assert shown.status == 303, shown
    return shown.location


async def uploaded(
    browser: Browser, file: bytes | str = LIST, name: str = "list.csv", once: str = "1", **fields: str
) -> str:
    """Write a message, upload a file and return the address of the campaign."""
    address = await begun(browser, **fields)
    body = file.encode() if isinstance(file, str) else file
    shown = await browser.upload(f"{address}/file", body, name, once=once)
    assert (shown.status, shown.location) == (303, address), shown
    return address


async def sent_off(browser: Browser, address: str, **fields: str) -> PageResponse:
    """Look a checked file over, and send it."""
    return await browser.submit(f"{address}/send", seen=await looked_over(browser, address), **fields)


async def looked_over(browser: Browser, address: str) -> str:
    """Return what tells the file that a page shows from any other."""
    found = re.search(r'name="seen" value="([0-9]+)"', (await browser.get(address)).text)
    return found[1] if found else ""


async def kept(env: Environment, address: str) -> Campaign:
    found = await env.store.read(campaigns.get, bytes.fromhex(address.rpartition("/")[2]))
    assert found is not None
    return found


def words(shown: PageResponse) -> str:
    """Return what a page says, without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", shown.text))


def test_a_file_is_checked_and_what_is_wrong_is_told_row_by_row(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        address = await uploaded(browser)

        campaign = await kept(env, address)
        assert (campaign.state, campaign.file_name) == (CampaignState.CHECKED, "list.csv")
        assert (campaign.receivers, campaign.invalid_rows, campaign.duplicates) == (2, 4, 1)
        assert campaign.unused_columns == ("메모",)
        faults = await env.store.read(campaigns.list_invalid_rows, campaign.id, 0, 100)
        assert [(each.number, each.reason[1]) for each in faults] == [
            (4, "The same number is in row 2."),
            (5, "A phone number is not valid. It is not a Korean mobile number."),
            (6, "A receiver has no value for a variable. Variables: 이름"),
            (7, "The text holds characters that cannot be sent. Characters: 😀 (U+1F600)"),
        ]
        page = await browser.get(address)
        assert "2행과 같은 번호입니다." in page.text
        assert "2명에게 발송" in page.text
        assert "메모" in page.text

    run_scenario(scenario)


def test_the_rows_that_are_wrong_can_be_downloaded_mended_and_uploaded_again(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        address = await uploaded(browser, LIST.replace("누구", "=cmd()"))

        file = await browser.get(f"{address}/bad.csv")

        assert file.headers["content-type"] == "text/csv; charset=utf-8"
        lines = file.text.splitlines()
        assert lines[0] == "\ufeff행,휴대폰번호,이름,메모,사유"
        assert lines[2].startswith("5,12345,'=cmd(),d,")
        mended = file.text.replace("12345", "010-9999-0000")
        again = await browser.upload(f"{address}/file", mended.encode())
        assert again.status == 303
        assert (await kept(env, address)).receivers == 2

    run_scenario(scenario)


def test_who_is_there_twice_may_be_sent_to_twice(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        address = await uploaded(await signed_in_browser(env), once="")
        campaign = await kept(env, address)
        assert (campaign.receivers, campaign.duplicates, campaign.invalid_rows) == (3, 1, 3)

    run_scenario(scenario)


def test_what_a_formula_could_not_find_is_sent_to_nobody(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        file = "phone,이름,메모\n010-1111-2222,#N/A,a\n#REF!,홍,b\n010-3333-4444,김,#N/A\n"
        address = await uploaded(await signed_in_browser(env), file)

        campaign = await kept(env, address)
        faults = await env.store.read(campaigns.list_invalid_rows, campaign.id, 0, 100)
        assert campaign.receivers == 1, "what nothing asks for is no matter"
        assert [(each.number, each.reason[1]) for each in faults] == [
            (2, "A formula shows the error #N/A."),
            (3, "A formula shows the error #REF!."),
        ]

    run_scenario(scenario)


def test_an_excel_file_is_taken_too(run_scenario: RunScenario) -> None:
    book = Workbook()
    for row in (["phone", "이름"], [1012345678, "홍길동"], ["010-2222-3333", 7]):
        book.active.append(row)
    written = io.BytesIO()
    book.save(written)

    async def scenario(env: Environment) -> None:
        address = await uploaded(await signed_in_browser(env), written.getvalue())
        assert (await kept(env, address)).receivers == 2

    run_scenario(scenario)


def test_it_is_sent_once_to_everyone_who_can_be_sent_to(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        rows = "".join(f"010-2000-{number:04},n{number}\n" for number in range(2500))
        address = await uploaded(browser, f"phone,이름\n{rows}")

        first = await sent_off(browser, address, name="봄 행사")
        second = await sent_off(browser, address, name="again")
        await env.wait(60)

        assert (first.status, second.status) == (303, 303)
        assert first.location == second.location == address.replace(UPLOAD, "/console/requests")
        assert await count_rows(env, "messages") == 2500
        assert await count_rows(env, "requests") == 3
        campaign = await kept(env, address)
        assert (campaign.name, campaign.requested, campaign.state) == ("봄 행사", 2500, CampaignState.MADE)
        done = [(each.action, each.target) for each in await env.store.read(latest_entries, None, 10)]
        assert done.count(("campaign.send", campaign.id.hex())) == 1
        phone = await browser.get("/console/phone?number=010-2000-1234")
        assert "n1234님, 안녕하세요" in phone.text

    run_scenario(scenario, simulator_messages=5000)


def test_nobody_sends_to_another_file_than_the_one_they_looked_over(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        colleague = await signed_in_browser(env, Role.SENDER)
        address = await uploaded(browser, "phone,이름\n010-1111-2222,홍\n")
        seen = await looked_over(browser, address)
        await colleague.upload(f"{address}/file", "phone,이름\n010-9999-8888,김\n".encode())

        late = await browser.submit(f"{address}/send", name="x", seen=seen)
        nothing = await browser.submit(f"{address}/send", name="x")
        await env.wait(20)

        assert (late.status, nothing.status) == (409, 409)
        assert "다른 파일이 올라왔습니다" in late.text
        assert await count_rows(env, "messages") == 0
        again = await browser.submit(f"{address}/send", name="x", seen=await looked_over(browser, address))
        assert again.status == 303

    run_scenario(scenario)


def test_it_can_be_scheduled_and_a_wrong_time_is_told_at_its_field(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        address = await uploaded(browser)

        past = await sent_off(browser, address, later="1", sendDate="2020-01-01T10:00")
        none = await sent_off(browser, address, later="1", sendDate="")
        unclear = await sent_off(browser, address, sendDate="2026-11-15T13:00")
        assert (past.status, none.status, unclear.status) == (400, 400, 400)
        assert 'id="wrong-sendDate"' in past.text
        assert (await kept(env, address)).state is CampaignState.CHECKED
        await sent_off(browser, address, later="1", sendDate="2026-11-15T13:00")
        await env.wait(60)

        assert (await kept(env, address)).scheduled_at == NOON + HOUR
        assert await count_rows(env, "jobs") == 2
        await env.wait(HOUR / 1000)
        assert await count_rows(env, "jobs") == 0

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("", "The file is empty"),
        ("휴대폰번호\n010-1111-2222\n", "There is no column for: 이름"),
        ("010-1111-2222,홍\n", "must name the columns"),
        (b"\xd0\xcf\x11\xe0", "old Excel format"),
        (b"PK\x03\x04", "cannot be read"),
    ],
    ids=["empty", "no column", "no names", "xls", "broken"],
)
def test_a_file_that_cannot_be_used_is_refused_as_a_whole_and_another_may_follow(
    run_scenario: RunScenario, file: bytes | str, said: str
) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        await browser.submit("/console/language", language="en", next="/console/history")
        address = await uploaded(browser, file)

        page = await browser.get(address)

        assert said in words(page)
        assert (await kept(env, address)).state is CampaignState.DRAFT
        await browser.upload(f"{address}/file", LIST.encode())
        assert (await kept(env, address)).state is CampaignState.CHECKED

    run_scenario(scenario)


def test_a_file_that_is_too_large_is_not_even_read(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        address = await begun(browser)
        assert (await browser.upload(f"{address}/file", b"x" * (MAX_FILE_BYTES + 1))).status == 413
        assert (await kept(env, address)).state is CampaignState.DRAFT

    run_scenario(scenario)


def test_a_message_that_cannot_be_sent_gets_no_file(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        for fields in ({"content": ""}, {"content": "가" * 46}, {"sender": "123"}, {"kind": "alimtalk"}):
            given = {"kind": "sms", "sender": "02-1234-5678", "content": "안녕", **fields}
            assert (await browser.submit(UPLOAD, **given)).status in (400, 404), fields
        assert await count_rows(env, "campaigns") == 0

    run_scenario(scenario)


def test_while_one_file_is_read_there_is_no_room_for_another_until_it_is_given_up(
    run_scenario: RunScenario,
) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        address = await begun(browser)
        campaign = await kept(env, address)
        now = env.world.now()
        assert await env.store.write(campaigns.begin_reading, campaign.id, "a", True, now, now)

        second = await browser.upload(f"{address}/file", LIST.encode())
        seen = await browser.get(f"{address}/progress?seen=0")
        await env.wait(61)
        stale = await browser.get(address)
        shown = re.search(r'progress\?seen=([0-9]+-)"', stale.text)
        assert shown
        still = await browser.get(f"{address}/progress?seen={shown[1]}")
        before = await browser.get(f"{address}/progress?seen={shown[1][:-1]}")
        assert (still.headers.get("hx-refresh"), before.headers.get("hx-refresh")) == (None, "true")
        third = await browser.upload(f"{address}/file", LIST.encode())

        assert (second.status, third.status) == (409, 303)
        assert "<progress" in seen.text
        assert "중단되었습니다" in stale.text
        assert not await env.store.write(
            campaigns.add_findings, campaign.id, campaigns.FileFindings(None, (), 0), now, env.world.now()
        ), "whoever was given up adds nothing any more"

    run_scenario(scenario)


def test_the_page_sees_by_itself_how_it_goes(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        address = await uploaded(browser)
        campaign = await kept(env, address)

        before = await browser.get(f"{address}/progress?seen=0")
        after = await browser.get(f"{address}/progress?seen={campaign.changed_at}")

        assert (before.status, before.headers.get("hx-refresh")) == (204, "true")
        assert (after.status, after.headers.get("hx-refresh")) == (204, None)

    run_scenario(scenario)


def test_the_template_file_has_the_columns_that_the_message_needs(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        address = await begun(browser, kind="lms", subject="#{제목}", content="#{이름} #{금액}")
        file = await browser.get(f"{address}/template.csv")
        assert file.text == "\ufeff휴대폰번호,이름,금액,제목\r\n"

    run_scenario(scenario)


def test_a_discarded_draft_is_not_sent(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        address = await uploaded(browser)
        await browser.submit(f"{address.replace('send/upload', 'requests')}/cancel")
        late = await sent_off(browser, address, name="x")
        await env.wait(20)

        assert late.location == address.replace(UPLOAD, "/console/requests")
        assert await count_rows(env, "messages") == 0
        assert await count_rows(env, "campaign_blocks") == 0

    run_scenario(scenario)


def test_the_store_being_away_leaves_nothing_half_sent(tmp_path: Path) -> None:
    async def whole() -> None:
        world = VirtualWorld()
        store = FailingStore(open_store(tmp_path, world))
        env = await build_environment(tmp_path, world=world, store=store)
        browser = await signed_in_browser(env)
        address = await uploaded(browser)
        store.write_error = StoreUnavailable()
        away = await sent_off(browser, address, name="x")
        store.write_error = None
        await env.wait(20)

        assert away.status == 503
        assert (await kept(env, address)).state is CampaignState.CHECKED
        assert await count_rows(env, "messages") == 0
        await env.service.stop()

    run_in_virtual_time(whole())


def test_names_of_files_and_columns_are_shown_as_they_are(run_scenario: RunScenario) -> None:
    hostile = "<script>alert(1)</script>"

    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        file = f"phone,이름,{hostile}\n010-1111-2222,홍,x\n1,{hostile},\n"
        address = await uploaded(browser, file, name=f"{hostile}.csv")
        page = await browser.get(address)
        await sent_off(browser, address, name=hostile)
        sent = await browser.get(address.replace("send/upload", "requests"))
        listed = await browser.get("/console/requests")

        for shown in (page, sent, listed):
            assert hostile not in shown.text
            assert "&lt;script&gt;" in shown.text

    run_scenario(scenario)


def test_a_viewer_uploads_nothing(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        address = await uploaded(await signed_in_browser(env))
        viewer = await signed_in_browser(env, Role.VIEWER)
        assert (await viewer.upload(f"{address}/file", LIST.encode())).status == 403
        assert (await viewer.get(f"{address}/bad.csv")).status == 403
        assert (await kept(env, address)).state is CampaignState.CHECKED

    run_scenario(scenario)


def test_what_is_halted_says_why(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        address = await uploaded(browser)
        campaign = await kept(env, address)
        await sent_off(browser, address, name="x", later="1", sendDate="2026-11-15T13:00")
        told = [Code.PRODUCT_NOT_AVAILABLE.text.ko, Code.PRODUCT_NOT_AVAILABLE.text.en]
        await env.store.write(campaigns.halt, campaign.id, told, env.world.now())
        page = await browser.get(address.replace("send/upload", "requests"))
        assert told[0] in page.text
        assert told[1] not in page.text
        assert "/now" not in page.text, "that cannot be done before it goes on"
        await browser.submit(f"{address.replace('send/upload', 'requests')}/go-on")
        await service.advance_all(env.context)
        assert (await kept(env, address)).state is CampaignState.MADE

    run_scenario(scenario)


@pytest.mark.parametrize("kind", ["sms", "lms", "mms", "alimtalk", "friendtalk"])
def test_every_kind_of_message_can_be_sent_to_a_file(run_scenario: RunScenario, kind: str) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sender_key = await register_channel(call)
        await approve_template(call, sender_key, content="#{이름}님의 주문이 왔습니다")
        browser = await signed_in_browser(env, Role.SENDER)
        link = {"buttons[0].buttonType": "webLink", "buttons[0].name": "보기"}
        fields = {**talk(kind, sender_key), "content": "#{이름}님", **(IMAGE if kind == "mms" else {})}
        if kind == "friendtalk":
            fields |= {**link, "buttons[0].mobileUrl": "https://shop.example/#{코드}", "adFlag": "1"}
        file = "휴대폰번호,이름,코드\n010-1111-2222,홍길동,a1\n010-3333-4444,,b2\n"
        address = await uploaded(browser, file, **fields)

        sent = await sent_off(browser, address, name="x")
        await env.wait(10)

        assert sent.status == 303, sent.text
        (message,) = await list_phone_messages(call, "010-1111-2222")
        assert "홍길동님" in message["content"]
        assert message["image"] is (kind == "mms")
        if kind == "friendtalk":
            assert message["content"].startswith("(광고)")
            assert message["buttons"][0]["mobileUrl"] == "https://shop.example/a1"
        assert await list_phone_messages(call, "010-3333-4444") == [], "it has no name"

    run_scenario(scenario)


def test_a_template_that_changed_since_the_check_halts_the_campaign(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sender_key = await register_channel(call)
        await approve_template(call, sender_key, content="#{이름}님의 주문이 왔습니다")
        browser = await signed_in_browser(env)
        address = await uploaded(browser, "phone,이름\n010-1111-2222,홍\n", **talk("alimtalk", sender_key))
        await call_ok(call, "template/update", template_body(sender_key, content="다른 말 #{이름} #{금액}"))
        await call_ok(call, "template/request", {"senderKey": sender_key, "templateCode": "T1"})

        await sent_off(browser, address, name="x")
        await env.wait(10)

        campaign = await kept(env, address)
        assert (campaign.state, campaign.reason[0][:2]) == (CampaignState.HALTED, "지금")
        assert await list_phone_messages(call, "010-1111-2222") == []

    run_scenario(scenario)


def test_an_advertisement_at_night_is_told_at_the_time(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        _, sender_key = await set_up_sender(env)
        browser = await signed_in_browser(env)
        fields = {**talk("friendtalk", sender_key), "adFlag": "1"}
        address = await uploaded(browser, "phone\n010-1111-2222\n", **fields)

        night = await sent_off(browser, address, later="1", sendDate="2026-11-15T22:00")

        assert night.status >= 400
        assert 'id="wrong-sendDate"' in night.text
        assert (await kept(env, address)).state is CampaignState.CHECKED

    run_scenario(scenario)
