"""The history pages: every filter, a message's timeline, and the CSV export."""

import asyncio
import csv
import io
import re
from collections.abc import AsyncGenerator
from decimal import Decimal
from typing import Any

import pytest

from pabal.console.history.export import limit_rows
from pabal.console.shell.download import unescape_formula
from pabal.domain.base.codes import Code
from pabal.domain.people.user import Role
from pabal.domain.sends.message import Outcome
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.delivery import disconnected_carrier
from tests.fixtures.sheets import read_sheets
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    FALLBACK,
    NO_USER,
    PHONE,
    SENDER,
    RunScenario,
    alimtalk_body,
    call_ok,
    get_message,
    list_messages,
    product_of,
    receivers_of,
    set_up_sender,
    sms_body,
)

FORMULAS = ["=1+1", "+82", "-1", "@SUM(A1)", "\t=1", "＝1"]


async def send_messages(env: Environment) -> tuple[Caller, str, dict[str, Any]]:
    """Send messages that a search must tell apart."""
    call, sender_key = await set_up_sender(env)
    for operation, body in (
        ("sendSMS", sms_body(PHONE, content="잘 간다")),
        ("sendSMS", sms_body("010-0000-0001", content="못 간다")),
        ("sendAlimtalk", alimtalk_body(sender_key, NO_USER, **FALLBACK)),
        ("sendLMS", sms_body(PHONE, content="내일", sendDate="2026-11-16 09:00")),
    ):
        await call_ok(call, f"message/{operation}", body)
        await env.wait(0.1)  # requests of one millisecond have no order
    await env.wait(30)
    return call, sender_key, await get_message(call, "010-0000-0001")


ROW = re.compile(r"<tr>\s*<td.*?</tr>", re.DOTALL)
CELL = re.compile(r"<td[^>]*>([^<]*)")
STATE = re.compile(r'"state (\w+)"')


def kinds(shown: Any) -> list[str]:
    """Return message type and status of each row."""
    rows = ROW.findall(shown.text)
    return [f"{CELL.findall(row)[1].strip()} {STATE.findall(row)[0]}" for row in rows]


ALL = ["장문(LMS) scheduled", "단문(SMS) completed", "알림톡 completed", "단문(SMS) fail", "단문(SMS) completed"]
"""The Alimtalk failed, and its fallback has reached the receiver."""

SEARCHES = [
    ("", ALL),
    ("status=fail", [ALL[2], ALL[3]]),
    ("status=waiting", [ALL[0]]),
    ("product=sms", [ALL[1], ALL[3], ALL[4]]),
    ("product=alimTalk", [ALL[2]]),
    ("product=sms&status=fail", [ALL[3]]),
    (f"receiver={PHONE}", [ALL[0], ALL[4]]),
    ("receiver=01000000001", [ALL[3]]),
    (f"receiver={PHONE}&status=completed", [ALL[4]]),
    ("channel=%40shop", [ALL[1], ALL[2]]),
    ("template=T1", [ALL[2]]),
    ("template=T2", []),
    ("sender_key={sender_key}", [ALL[1], ALL[2]]),
    ("request={request}", [ALL[3]]),
    ("message={message}", [ALL[3]]),
    ("requested_from=2026-11-15&requested_to=2026-11-15", ALL),
    ("requested_from=2026-11-16", []),
    ("requested_to=2026-11-14", []),
    ("requested_from=2026-11-15T12:00", ALL),
    ("scheduled_from=2026-11-16", [ALL[0]]),
    ("scheduled_to=2026-11-15", ALL[1:]),
    ("completed_from=2026-11-15", ALL[1:]),
    ("completed_from=2026-11-16", []),
    ("month=2026-11", ALL),
    ("month=202612", []),
    ("product=push", []),
]


async def test_search_finds_same_messages_on_page_and_in_export(env: Environment) -> None:
    _, sender_key, failed = await send_messages(env)
    browser = await signed_in_browser(env)
    for query, found in SEARCHES:
        asked = query.format(sender_key=sender_key, request=failed["requestId"], message=failed["messageId"])

        shown = await browser.get(f"/console/history?{asked}")

        assert shown.status == 200, query
        assert kinds(shown) == found, query
        assert len(await cells(browser, asked)) == len(found) + 1, query


async def test_a_period_is_one_click_and_keeps_the_other_filters(browser: Browser) -> None:
    link = "/console/history?product=sms&amp;requested_from=2026-10-01&amp;requested_to=2026-10-31"

    shown = await browser.get("/console/history?product=sms")
    chosen = await browser.get(link.replace("&amp;", "&"))

    assert f'<a href="{link}">지난달</a>' in shown.text
    assert f'<a href="{link}" aria-current="true">지난달</a>' in chosen.text
    for kind in ("csv", "xlsx"):
        assert f'href="{link.replace("history?", f"history.{kind}?")}" download' in chosen.text


MISTAKES = [
    ("message=nonsense", "message"),
    ("request=nonsense", "request"),
    ("receiver=119", "receiver"),
    ("product=fax", "product"),
    ("status=lost", "status"),
    ("requested_from=yesterday", "requested_from"),
    ("completed_from=2026-11-16&completed_to=2026-11-15", "completed_from"),
    ("month=2026-13", "month"),
    ("channel=%20a%20b", "channel"),
]


async def test_invalid_search_value_is_reported_at_its_field(browser: Browser) -> None:
    for query, field in MISTAKES:
        shown = await browser.get(f"/console/history?{query}")
        exported = [await browser.get(f"/console/history.{each}?{query}") for each in ("csv", "xlsx")]

        assert [each.status for each in (shown, *exported)] == [400] * 3, query
        assert f'id="wrong-{field}"' in shown.text, query
        assert f'aria-describedby="wrong-{field}"' in shown.text, query


async def test_history_pages_have_no_gaps_and_no_duplicates(env: Environment, call: Caller) -> None:
    for _ in range(3):
        await call_ok(call, "message/sendSMS", sms_body(receivers=receivers_of(*[PHONE] * 41)))
        await env.wait(1)
    browser = await signed_in_browser(env)

    seen: list[str] = []
    path: str | None = "/console/history?product=sms"
    while path:
        shown = await browser.get(path)
        seen += re.findall(r'href="/console/history/([0-9a-f]{32})"', shown.text)
        older = re.search(r'href="([^"]+)" rel="next"', shown.text)
        path = older[1].replace("&amp;", "&") if older else None

    assert seen == sorted(seen, reverse=True)
    assert len(seen) == len(set(seen)) == 3 * 41


async def test_failed_message_and_its_fallback_link_to_each_other(env: Environment) -> None:
    call, _, _ = await send_messages(env)
    fallback, failed = await list_messages(call, NO_USER)
    browser = await signed_in_browser(env)

    story = await browser.get(f"/console/history/{failed['messageId']}")
    other = await browser.get(f"/console/history/{fallback['messageId']}")

    assert f"/console/history/{fallback['messageId']}" in story.text
    assert f"/console/history/{failed['messageId']}" in other.text
    assert "대체 문자가 전달되었습니다. 조치할 사항이 없습니다." in story.text
    assert "대체 문자를 만들었습니다" in other.text


async def test_timeline_lists_every_attempt(env: Environment, call: Caller) -> None:
    await call_ok(call, "message/sendSMS", sms_body("010-0000-0005"))
    browser = await signed_in_browser(env)
    path = f"/console/history/{(await get_message(call, '010-0000-0005'))['messageId']}"

    await env.wait(0.5)
    before = await browser.get(path)
    await env.wait(60)
    after = await browser.get(path)

    assert "발송 경로로 발송합니다" in before.text
    assert after.text.count("혼잡해 다시 시도합니다") == 2
    assert "전달되었습니다" in after.text


async def test_timeline_shows_scheduled_time_and_awaited_receipt(env: Environment, call: Caller) -> None:
    await call_ok(call, "message/sendSMS", sms_body("010-0000-0006"))
    await call_ok(call, "message/sendSMS", sms_body(PHONE, sendDate="2026-11-16 09:00"))
    await env.wait(5)
    browser = await signed_in_browser(env)

    taken = await browser.get(f"/console/history/{(await get_message(call, '010-0000-0006'))['messageId']}")
    scheduled = await browser.get(f"/console/history/{(await get_message(call))['messageId']}")

    assert "발송 경로가 접수했습니다" in taken.text
    assert "예약되었습니다" in scheduled.text
    assert scheduled.text.count('<li class="next">') == 2  # the time, and the carrier: neither has happened yet
    assert "2026-11-16 09:00:00" in scheduled.text


async def cells(browser: Browser, query: str = "") -> list[list[str]]:
    shown = await browser.get(f"/console/history.csv?{query}")
    assert shown.status == 200
    assert shown.text.startswith("\ufeff")
    assert shown.headers["content-disposition"] == 'attachment; filename="pabal-2026-11-15.csv"'
    return list(csv.reader(io.StringIO(shown.text.removeprefix("\ufeff"))))


async def test_exports_list_messages_newest_first_with_formulas_as_text(env: Environment, call: Caller) -> None:
    for formula in FORMULAS:
        receivers = receivers_of(PHONE, reference=formula, templateData={"v": formula})
        await call_ok(call, "message/sendLMS", sms_body(content="#{v}", subject="#{v}"[:40], receivers=receivers))
        await env.wait(0.1)  # requests of one millisecond have no order
    content = 'a <b> "c", & d\n_x0041_'
    await call_ok(call, "message/sendSMS", sms_body(receivers=receivers_of(*[PHONE] * 1000), content=content))
    await env.wait(5)
    browser = await signed_in_browser(env)

    head, *rows = await cells(browser)
    book = await browser.get("/console/history.xlsx")

    assert len(rows) == 1000 + len(FORMULAS)
    assert head[4] == "수신번호"
    assert (rows[0][4], rows[0][8]) == (PHONE, SENDER)
    assert rows[0][12] == content
    assert [row[0] for row in rows] == sorted((row[0] for row in rows), reverse=True)
    dangerous = [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝"))]
    assert dangerous == []
    assert {row[12] for row in rows[1000:]} == {f"'{formula}" for formula in FORMULAS}
    assert book.headers["content-disposition"] == 'attachment; filename="pabal-2026-11-15.xlsx"'
    assert read_sheets(book.body) == {"발송 내역": [head, *([_excel_cell(cell) for cell in row] for row in rows)]}


def _excel_cell(cell: str) -> str:
    """Return what a workbook has in place of a cell of a CSV file."""
    return unescape_formula(cell).replace("_x0041_", "_x005F_x0041_")  # Excel reads it as it was written


@pytest.mark.parametrize(
    ("language", "heads"),
    [
        ("ko", ["전송 시각", "발송 경로", "발송 경로 코드", "비용(원)", "API 키"]),
        ("en", ["Submitted", "Carrier", "Carrier's code", "Cost (won)", "API key"]),
    ],
)
@pytest.mark.settings(prices={"sms": Decimal("1234.5")})
async def test_export_says_which_carrier_decided_at_what_cost(
    env: Environment, call: Caller, browser: Browser, language: str, heads: list[str]
) -> None:
    browser.cookies["pabal_language"] = language
    for number, changes in ((PHONE, {}), ("010-0000-0001", {}), (PHONE, {"sendDate": "2026-11-16 09:00"})):
        await call_ok(call, "message/sendSMS", sms_body(number, **changes))
        await env.wait(5)

    head, waiting, failed, delivered = await cells(browser)

    assert head[16:] == heads
    assert delivered[16:20] == ["2026-11-15 12:00:00", "simulator", "SIM-1000", "1234.50"]
    assert failed[17:20] == ["simulator", failed[18], "0.00"]
    assert waiting[16:20] == [""] * 4
    assert delivered[20] == failed[20] == waiting[20] != ""


async def test_viewer_sees_only_masked_numbers(env: Environment) -> None:
    call, _, _ = await send_messages(env)
    message = (await list_messages(call, PHONE))[0]["messageId"]
    viewer = await signed_in_browser(env, Role.VIEWER)
    owner = await signed_in_browser(env, Role.OWNER)

    for path in (
        "/console/history",
        f"/console/history/{message}",
        "/console/history.csv",
        "/console/history.xlsx",
    ):
        masked, whole = await viewer.get(path), await owner.get(path)

        assert "010-****-5678" in masked.text
        assert "1234-5678" not in masked.text.replace('placeholder="010-1234-5678"', "").replace("02-1234-5678", "")
        assert PHONE in whole.text


@pytest.mark.parametrize(
    ("most", "passed"),
    [(4, ["a", "b", "c", "d"]), (3, ["a", "b", "c", "cut"]), (2, ["a", "b", "cut"]), (1, ["a", "cut"])],
)
def test_truncated_export_ends_with_a_note(most: int, passed: list[str]) -> None:
    async def batches() -> AsyncGenerator[list[list[str]], None]:
        for names in ("ab", "cd"):
            yield [[name] for name in names]

    async def whole() -> list[str]:
        return [row[0] async for rows in limit_rows(most, batches(), "cut") for row in rows]

    assert asyncio.run(whole()) == passed


def test_page_of_an_expired_message_says_why_what_to_do_and_what_it_cost(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call, browser = await env.caller(), await signed_in_browser(env)
        await call_ok(call, "message/sendSMS", sms_body(PHONE, expireMinutes=1))
        message = await get_message(call)
        waiting = await browser.get(f"/console/history/{message['messageId']}")
        await env.wait(90)
        await env.store.write(lambda tx: tx.execute("update messages set cost = 950"))
        expired = await browser.get(f"/console/history/{message['messageId']}")

        assert "<dt>발송 기한</dt><dd>2026-11-15 12:01:00</dd>" in waiting.text
        assert "<dt>비용</dt>" not in waiting.text
        assert "발송 기한 지남" in expired.text
        assert "아직 필요한 내용이면 다시 발송하세요" in expired.text
        assert "<dt>비용</dt><dd>9.5원</dd>" in expired.text

    run_scenario(scenario, carriers={"simulator": disconnected_carrier()})


async def test_bad_search_is_not_shown_as_no_results(env: Environment) -> None:
    await send_messages(env)
    browser = await signed_in_browser(env)

    bad = await browser.get("/console/history?message=nonsense")
    none = await browser.get(f"/console/history?message={'0' * 32}")

    assert bad.status == 400
    assert "검색하지 않았습니다" in bad.text
    assert "ID는 0-9, a-f로 된 32자입니다." in bad.text
    assert 'class="empty"' not in bad.text
    assert 'class="empty"' in none.text


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        ("", "대체 문자가 전달되었습니다. 조치할 사항이 없습니다."),
        ("01000000001", "대체 문자도 전달되지 않았습니다."),
    ],
)
async def test_advice_knows_what_became_of_the_fallback(
    env: Environment, call: Caller, alimtalk_key: str, number: str, advice: str
) -> None:
    receiver = number or NO_USER
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(alimtalk_key, receiver, **FALLBACK))
    await env.wait(60)
    failed = next(one for one in await list_messages(call, receiver) if product_of(one) == "alimTalk")
    browser = await signed_in_browser(env)

    page = await browser.get(f"/console/history/{failed['messageId']}")

    assert advice in page.text


async def test_every_code_is_shown_with_what_to_do(viewer: Browser) -> None:
    shown = (await viewer.get("/console/codes")).text

    assert re.findall(r'id="outcome-(\d+)"', shown) == [str(each.number) for each in Outcome]
    assert re.findall(r'id="result-(\w+)"', shown) == [each.name for each in Code if each is not Code.SUCCESS]
    assert Code.KEY_EXPIRED.remedy.ko in shown
    assert "결번" in shown
