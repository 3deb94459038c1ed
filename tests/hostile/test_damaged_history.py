"""One stored row that cannot be read: every list shows the others, and its own page says so."""

import csv
import io

import pytest

from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import PHONE, call_ok, sms_body

MESSAGE_DAMAGES = [
    "update messages set variables = '[' where id = ?",
    "update messages set variables = '[1]' where id = ?",
    'update messages set variables = \'["하나", "둘"]\' where id = ?',
    "update messages set product = 99 where id = ?",
    "update messages set status = 99 where id = ?",
    "update messages set outcome = 1 where id = ?",
]
REQUEST_DAMAGES = [
    "update requests set variables = '[' where id = ?",
    "update requests set buttons = '[{\"type\": 7}]' where id = ?",
    "update requests set product = 99 where id = ?",
]


async def send_three(env: Environment, call: Caller) -> list[tuple[str, str]]:
    """Send three requests to one number; return the ids of each request and its message, newest first."""
    for name in ("하나", "둘", "셋"):
        receivers = [{"phoneNumber": PHONE, "templateData": {"name": name}}]
        await call_ok(call, "message/sendSMS", {**sms_body(content="#{name}님"), "receivers": receivers})
        await env.wait(0.01)
    listed = await call_ok(call, "message/list", {"receivers": PHONE})
    return [(each["requestId"], each["messageId"]) for each in listed.items]


async def damage(env: Environment, sql: str, row_id: str) -> None:
    assert await env.store.write(lambda tx: tx.execute(sql, (bytes.fromhex(row_id),))) == 1


async def send_and_damage(env: Environment, call: Caller, sql: str) -> list[tuple[str, str]]:
    """Send three requests and damage a row of the second; return the ids as `send_three` does."""
    sent = await send_three(env, call)
    await env.wait(5)
    await damage(env, sql, sent[1][0] if " requests " in sql else sent[1][1])
    return sent


def check_logged(caplog: pytest.LogCaptureFixture, sent: tuple[str, str]) -> None:
    logged = {getattr(each, name, None) for each in caplog.records for name in ("id", "message_id")}
    assert logged & set(sent)
    assert "unhandled error" not in caplog.messages


@pytest.mark.parametrize("sql", MESSAGE_DAMAGES + REQUEST_DAMAGES)
async def test_list_of_the_interface_marks_what_it_cannot_read(
    env: Environment, call: Caller, sql: str, caplog: pytest.LogCaptureFixture
) -> None:
    sent = await send_and_damage(env, call, sql)

    listed = await call_ok(call, "message/list", {"receivers": PHONE})
    exported = await call_ok(call, "privacy/export", {"phoneNumber": PHONE})

    for answer in (listed, exported):
        first, marked, last = answer.items
        assert (first["content"], last["content"]) == ("셋님", "하나님")
        assert "unreadable" not in first
        assert marked["unreadable"] is True
        assert (marked["requestId"], marked["messageId"], marked["content"]) == (*sent[1], "")
    check_logged(caplog, sent[1])


@pytest.mark.parametrize("sql", [MESSAGE_DAMAGES[0], MESSAGE_DAMAGES[2], REQUEST_DAMAGES[0]])
async def test_history_and_exports_of_the_console_mark_what_they_cannot_read(
    env: Environment, call: Caller, browser: Browser, sql: str
) -> None:
    sent = await send_and_damage(env, call, sql)

    for query in ("", f"?receiver={PHONE}"):
        shown = await browser.get(f"/console/history{query}")
        assert shown.status == 200
        assert "셋님" in shown.text
        assert "하나님" in shown.text
        assert f"메시지 ID {sent[1][1]}" in shown.text
        assert f'href="/console/history/{sent[1][1]}"' not in shown.text
    rows = list(csv.reader(io.StringIO((await browser.get("/console/history.csv")).text.lstrip("\ufeff"))))
    assert [row[12][:2] for row in rows[1:]] == ["셋님", "이 ", "하나"]
    assert rows[2][14:16] == list(sent[1])


@pytest.mark.parametrize("sql", [*MESSAGE_DAMAGES[:4], *REQUEST_DAMAGES])
async def test_damaged_rows_of_a_number_are_erased_with_the_others(
    env: Environment, call: Caller, sql: str
) -> None:
    await send_and_damage(env, call, sql)

    erased = await call_ok(call, "privacy/erase", {"phoneNumber": PHONE})

    assert erased.item["erasedCount"] == 3
    assert (await call_ok(call, "message/list", {"receivers": PHONE})).items == []


@pytest.mark.parametrize("sql", MESSAGE_DAMAGES + REQUEST_DAMAGES)
async def test_page_of_a_message_says_that_it_cannot_be_read(
    env: Environment, call: Caller, browser: Browser, sql: str, caplog: pytest.LogCaptureFixture
) -> None:
    sent = await send_and_damage(env, call, sql)

    shown = await browser.get(f"/console/history/{sent[1][1]}")
    await browser.submit("/console/language", language="en")
    in_english = await browser.get(f"/console/history/{sent[1][1]}")

    assert (shown.status, in_english.status) == (404, 404)
    assert f"손상되어 읽을 수 없습니다. 운영자에게 메시지 ID {sent[1][1]}" in shown.text
    assert f"is damaged and cannot be read. Tell the operator its ID {sent[1][1]}" in in_english.text
    assert (await browser.get(f"/console/history/{sent[0][1]}")).status == 200
    check_logged(caplog, sent[1])


@pytest.mark.parametrize("sql", MESSAGE_DAMAGES)
async def test_pages_of_a_request_show_it_beside_a_damaged_message(
    env: Environment, call: Caller, browser: Browser, sql: str
) -> None:
    sent = await send_and_damage(env, call, sql)

    done = await browser.get(f"/console/send/done/{sent[1][0]}")
    shown = await browser.get(f"/console/requests/{sent[1][0]}")
    got = await call_ok(call, "message/request", query={"requestId": sent[1][0]})
    listed = await browser.get("/console/requests")

    assert (done.status, shown.status, listed.status) == (200, 200, 200)
    assert "손상되어 읽을 수 없습니다" in done.text
    assert "unreadable" not in got.item
    assert got.item["totalCount"] == 1
    assert [each.get("unreadable") for each in got.items] == [True]


@pytest.mark.parametrize("sql", REQUEST_DAMAGES)
async def test_pages_of_a_damaged_request_say_that_it_cannot_be_read(
    env: Environment, call: Caller, browser: Browser, sql: str
) -> None:
    sent = await send_and_damage(env, call, sql)

    for path in ("/console/send/done", "/console/requests"):
        shown = await browser.get(f"{path}/{sent[1][0]}")
        assert shown.status == 404
        assert f"운영자에게 요청 ID {sent[1][0]}" in shown.text
    polled = await browser.get(f"/console/requests/progress?ids={sent[0][0]},{sent[1][0]}")
    listed = await browser.get("/console/requests")
    got = await call_ok(call, "message/request", query={"requestId": sent[1][0]})

    assert (polled.status, listed.status) == (200, 200)
    assert sent[0][0] in polled.text
    assert all(f"/console/requests/{sent[number][0]}" in listed.text for number in (0, 2))
    assert f"요청 ID {sent[1][0]}" in listed.text
    assert (got.item["requestId"], got.item["unreadable"], got.item["totalCount"]) == (sent[1][0], True, 1)
    assert got.item["messageProductType"]["value"] == "unknown"


async def test_damaged_record_of_another_account_is_not_found(env: Environment, call: Caller) -> None:
    sent = await send_three(env, call)
    await damage(env, MESSAGE_DAMAGES[0], sent[1][1])
    await damage(env, REQUEST_DAMAGES[0], sent[2][0])
    browser = await signed_in_browser(env, account="other")
    for path in (f"history/{sent[1][1]}", f"requests/{sent[2][0]}", f"send/done/{sent[2][0]}"):
        shown = await browser.get(f"/console/{path}")
        assert shown.status == 404
        assert "손상" not in shown.text


@pytest.mark.parametrize("column", ["buttons", "brand", "parts"])
async def test_simulated_phone_shows_the_other_messages(
    env: Environment, call: Caller, browser: Browser, column: str
) -> None:
    await send_and_damage(env, call, f"update simulated_messages set {column} = '[' where message_id = ?")

    shown = await browser.get(f"/console/phone?number={PHONE}")

    assert shown.status == 200
    assert "셋님" in shown.text
    assert "하나님" in shown.text
    assert "둘님" not in shown.text


@pytest.mark.parametrize(
    "sql",
    [
        "update campaigns set columns = '[' where id = ?",
        "update campaigns set state = 'lost' where id = ?",
        "update campaigns set reason = '[' where id = ?",
    ],
)
async def test_pages_of_a_damaged_campaign_say_that_it_cannot_be_read(
    env: Environment, call: Caller, browser: Browser, sql: str
) -> None:
    sent = await send_three(env, call)
    made = await browser.submit("/console/send/upload", kind="sms", sender="02-1234-5678", content="안녕")
    campaign_id = made.location.rpartition("/")[2]
    await damage(env, sql, campaign_id)
    listed = await browser.get("/console/requests")

    assert listed.status == 200
    assert f"요청 ID {campaign_id}" in listed.text
    assert all(request_id in listed.text for request_id, _ in sent)
    for path in ("/console/requests", "/console/send/upload"):
        shown = await browser.get(f"{path}/{campaign_id}")
        assert shown.status == 404
        assert f"운영자에게 요청 ID {campaign_id}" in shown.text
