"""One stored row that cannot be read: every list shows the others, and says so for that one."""

import csv
import io
import logging

import pytest

from tests.fixtures.console import signed_in_browser
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import PHONE, RunScenario, call_ok, sms_body

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


def pick(sql: str, sent: tuple[str, str]) -> str:
    """Return the id of the row that a statement damages."""
    request_id, message_id = sent
    return request_id if " requests " in sql else message_id


@pytest.mark.parametrize("sql", MESSAGE_DAMAGES + REQUEST_DAMAGES)
def test_list_of_the_interface_marks_what_it_cannot_read(
    run_scenario: RunScenario, sql: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sent = await send_three(env, call)
        await env.wait(5)
        await damage(env, sql, pick(sql, sent[1]))
        listed = await call_ok(call, "message/list", {"receivers": PHONE})
        exported = await call_ok(call, "privacy/export", {"phoneNumber": PHONE})

        for answer in (listed, exported):
            first, marked, last = answer.items
            assert (first["content"], last["content"]) == ("셋님", "하나님")
            assert "unreadable" not in first
            assert marked["unreadable"] is True
            assert (marked["requestId"], marked["messageId"], marked["content"]) == (*sent[1], "")
        logged = {getattr(each, name, None) for each in caplog.records for name in ("id", "message_id")}
        assert logged & set(sent[1])

    caplog.set_level(logging.ERROR)
    run_scenario(scenario)


@pytest.mark.parametrize("sql", [MESSAGE_DAMAGES[0], MESSAGE_DAMAGES[2], REQUEST_DAMAGES[0]])
def test_history_and_exports_of_the_console_mark_what_they_cannot_read(run_scenario: RunScenario, sql: str) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sent = await send_three(env, call)
        await env.wait(5)
        await damage(env, sql, pick(sql, sent[1]))
        browser = await signed_in_browser(env)

        for query in ("", f"?receiver={PHONE}"):
            shown = await browser.get(f"/console/history{query}")
            assert shown.status == 200
            assert "셋님" in shown.text
            assert "하나님" in shown.text
            assert f"메시지 ID {sent[1][1]}" in shown.text
            assert f'href="/console/history/{sent[1][1]}"' not in shown.text
        rows = list(csv.reader(io.StringIO((await browser.get("/console/history.csv")).text.lstrip("\ufeff"))))
        assert [row[12][:2] for row in rows[1:]] == ["셋님", "이 ", "하나"]
        assert rows[2][-2:] == list(sent[1])

    run_scenario(scenario)


@pytest.mark.parametrize("sql", REQUEST_DAMAGES)
def test_list_of_requests_names_what_it_cannot_read(run_scenario: RunScenario, sql: str) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sent = await send_three(env, call)
        await damage(env, sql, sent[1][0])
        browser = await signed_in_browser(env)
        shown = await browser.get("/console/requests")

        assert shown.status == 200
        assert all(f"/console/requests/{sent[number][0]}" in shown.text for number in (0, 2))
        assert f"요청 ID {sent[1][0]}" in shown.text

    run_scenario(scenario)


@pytest.mark.parametrize("sql", [*MESSAGE_DAMAGES[:4], *REQUEST_DAMAGES])
def test_damaged_rows_of_a_number_are_erased_with_the_others(run_scenario: RunScenario, sql: str) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sent = await send_three(env, call)
        await env.wait(5)
        await damage(env, sql, pick(sql, sent[1]))
        erased = await call_ok(call, "privacy/erase", {"phoneNumber": PHONE})

        assert erased.item["erasedCount"] == 3
        assert (await call_ok(call, "message/list", {"receivers": PHONE})).items == []

    run_scenario(scenario)
