"""The Excel export of the history: every message, every cell a text."""

from typing import Any

from pabal.domain.people.user import Role
from tests.console.history.test_history import FORMULAS
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.sheets import read_sheets
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import PHONE, call_ok, receivers_of, sms_body


async def exported(browser: Browser, query: str = "") -> dict[str, list[list[Any]]]:
    shown = await browser.get(f"/console/history.xlsx?{query}")
    assert shown.status == 200
    assert shown.headers["content-disposition"] == 'attachment; filename="pabal-2026-11-15.xlsx"'
    return read_sheets(shown.body)


async def test_xlsx_export_lists_messages_newest_first_and_keeps_formulas_as_text(
    env: Environment, call: Caller
) -> None:
    for formula in FORMULAS:
        receivers = receivers_of(PHONE, reference=formula, templateData={"v": formula})
        await call_ok(call, "message/sendLMS", sms_body(content="#{v}", subject="#{v}", receivers=receivers))
    await call_ok(
        call,
        "message/sendSMS",
        sms_body(receivers=receivers_of(*[PHONE] * 1000), content='a <b> "c" & d\n_x0041_'),
    )
    await call_ok(call, "message/sendSMS", sms_body("010-9999-0000", content="다른 번호"))
    await env.wait(5)
    browser = await signed_in_browser(env)

    ((name, (head, *rows)),) = (await exported(browser)).items()
    few = await exported(browser, "receiver=010-9999-0000")

    assert name == "발송 내역"
    assert head[4] == "수신번호"
    assert len(rows) == 1 + 1000 + len(FORMULAS)
    assert [row[4] for row in rows].count(PHONE) == len(rows) - 1
    written = [row[12] for row in rows]
    assert written.count('a <b> "c" & d\n_x005F_x0041_') == 1000, "Excel reads it as it was written"
    assert [row[0] for row in rows] == sorted((row[0] for row in rows), reverse=True)
    assert {(row[11], row[12], row[13]) for row in rows if row[11]} == {(each,) * 3 for each in FORMULAS}
    assert [row[12] for row in few[name][1:]] == ["다른 번호"]


async def test_empty_xlsx_export_has_header_and_invalid_search_is_refused(
    env: Environment,
) -> None:
    await env.caller()
    browser = await signed_in_browser(env, Role.VIEWER)
    browser.cookies["pabal_language"] = "en"

    empty = await exported(browser)
    refused = await browser.get("/console/history.xlsx?receiver=12")
    page = await browser.get("/console/history?status=fail")

    assert [len(rows) for rows in empty.values()] == [1]
    assert refused.status == 400
    assert 'href="/console/history.xlsx?status=fail"' in page.text
