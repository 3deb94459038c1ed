"""The history as an Excel workbook: every message, and every cell a text."""

from typing import Any

from pabal.domain.user import Role
from tests.console.history.test_history import FORMULAS
from tests.fixtures.console import Visitor, visitor_of
from tests.fixtures.sheets import read_sheets
from tests.fixtures.virtual import Environment
from tests.fixtures.web import PHONE, RunScenario, call_ok, receivers_of, sms_body


async def exported(visitor: Visitor, query: str = "") -> dict[str, list[list[Any]]]:
    shown = await visitor.get(f"/console/history.xlsx?{query}")
    assert shown.status == 200
    assert shown.headers["content-disposition"] == 'attachment; filename="pabal-2026-11-15.xlsx"'
    return read_sheets(shown.body)


def test_the_workbook_has_every_message_newest_first_and_formulas_stay_text(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
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
        visitor = await visitor_of(env)

        ((name, (head, *rows)),) = (await exported(visitor)).items()
        few = await exported(visitor, "receiver=010-9999-0000")

        assert name == "발송 내역"
        assert head[4] == "수신번호"
        assert len(rows) == 1 + 1000 + len(FORMULAS)
        assert [row[4] for row in rows].count(PHONE) == len(rows) - 1
        written = [row[12] for row in rows]
        assert written.count('a <b> "c" & d\n_x005F_x0041_') == 1000, "Excel reads it as it was written"
        assert [row[0] for row in rows] == sorted((row[0] for row in rows), reverse=True)
        assert {(row[11], row[12], row[13]) for row in rows if row[11]} == {(each,) * 3 for each in FORMULAS}
        assert [row[12] for row in few[name][1:]] == ["다른 번호"]

    run_scenario(scenario)


def test_a_workbook_of_nothing_has_its_head_and_a_search_with_a_mistake_is_refused(
    run_scenario: RunScenario,
) -> None:
    async def scenario(env: Environment) -> None:
        await env.caller()
        visitor = await visitor_of(env, Role.VIEWER)
        visitor.cookies["pabal_language"] = "en"

        empty = await exported(visitor)
        refused = await visitor.get("/console/history.xlsx?receiver=12")
        page = await visitor.get("/console/history?status=fail")

        assert [len(rows) for rows in empty.values()] == [1]
        assert refused.status == 400
        assert 'href="/console/history.xlsx?status=fail"' in page.text

    run_scenario(scenario)
