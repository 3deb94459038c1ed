"""Sender numbers: registered and removed by owners and operators only."""

import pytest

from pabal.domain.user import Role
from pabal.service.access.numbers import MAX_SENDER_NUMBERS
from pabal.store import accounts
from pabal.store.engine.base import Tx
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import signed_in_browser
from tests.fixtures.virtual import Environment
from tests.fixtures.web import SENDER, RunScenario, call_ok, sms_body

DIGITS = "0212345678"


@pytest.mark.parametrize("role", [Role.OWNER, Role.OPERATOR])
def test_sender_number_is_registered_used_and_removed_after_confirmation(
    run_scenario: RunScenario, role: Role
) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        browser = await signed_in_browser(env, role)
        refused = await call("message/sendSMS", sms_body())

        done = await browser.submit("/console/numbers", number=f" {SENDER} ")
        listed = await browser.get(done.location)
        await call_ok(call, "message/sendSMS", sms_body())
        question = await browser.get(f"/console/numbers/remove?number={DIGITS}")
        gone = await browser.submit("/console/numbers/remove", number=DIGITS)

        assert refused.result != "SUCCESS"
        assert SENDER in listed.text
        assert "등록된 번호만" in listed.text
        assert f"발신번호 {SENDER}을(를) 삭제하시겠습니까?" in question.text
        assert gone.status == 303
        assert (await call("message/sendSMS", sms_body())).result == refused.result
        found = await env.store.read(latest_entries, None, 2)
        assert [(each.action, each.target) for each in found] == [
            ("number.remove", "02-****-5678"),
            ("number.add", "02-****-5678"),
        ]

    run_scenario(scenario, check_sender_numbers=True)


@pytest.mark.parametrize(
    ("typed", "error"), [("", "비어"), ("119", "발신번호로 쓸 수 없는"), ("<b>", "숫자와 하이픈")]
)
def test_invalid_sender_number_is_reported_at_its_field(run_scenario: RunScenario, typed: str, error: str) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)

        shown = await browser.submit("/console/numbers", number=typed)

        assert shown.status == 400
        assert error in shown.text
        assert 'aria-describedby="wrong-number"' in shown.text
        assert "<b>" not in shown.text
        assert await env.store.read(accounts.list_numbers) == []

    run_scenario(scenario)


def test_duplicate_number_and_number_over_account_limit_are_refused(run_scenario: RunScenario) -> None:
    def fill_up(tx: Tx, account_id: int) -> None:
        for each in range(MAX_SENDER_NUMBERS - 1):
            accounts.add_number(tx, account_id, f"0701{each:07}", 0)

    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        await browser.submit("/console/numbers", number=SENDER)

        again = await browser.submit("/console/numbers", number=SENDER)
        (account,) = await env.store.read(accounts.list_accounts)
        await env.store.write(fill_up, account.id)
        full = await browser.submit("/console/numbers", number="1588-0000")

        assert (again.status, full.status) == (409, 400)
        assert "이미 등록된 번호입니다" in again.text
        assert f"{MAX_SENDER_NUMBERS}개까지" in full.text

    run_scenario(scenario)


def test_numbers_of_other_accounts_cannot_be_viewed_or_removed(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        owner, stranger = await signed_in_browser(env), await signed_in_browser(env, account="other")
        await owner.submit("/console/numbers", number=SENDER)

        shown = await stranger.get("/console/numbers")
        asked = await stranger.get(f"/console/numbers/remove?number={DIGITS}")
        removed = await stranger.submit("/console/numbers/remove", number=DIGITS)

        assert f">{SENDER}<" not in shown.text
        assert (asked.status, removed.status) == (404, 404)
        assert len(await env.store.read(accounts.list_numbers)) == 1

    run_scenario(scenario)
