"""Sender numbers: registered by owners, approved by operators, for one account each."""

import pytest

from pabal.domain.people.phone import NumberState
from pabal.domain.people.user import Role
from pabal.service.access.accounts.sender_numbers import MAX_PENDING_NUMBERS, MAX_SENDER_NUMBERS
from pabal.store.accounts import accounts, numbers
from pabal.store.engine.base import Tx
from tests.fixtures.audit import audited
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.console_operate import audit_lines
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import SENDER, RunScenario, call_ok, sms_body

DIGITS = "0212345678"


@pytest.mark.parametrize("role", [Role.OWNER, Role.OPERATOR])
@pytest.mark.settings(check_sender_numbers=True, own_numbers="trusted")
async def test_sender_number_is_registered_used_and_removed_after_confirmation(
    env: Environment, call: Caller, role: Role
) -> None:
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
    assert f"발신번호({SENDER})를 삭제하시겠습니까?" in question.text
    assert gone.status == 303
    assert (await call("message/sendSMS", sms_body())).result == refused.result
    assert await audited(env, 2) == [
        ("number.remove", "02-****-5678"),
        ("number.add", "02-****-5678"),
    ]


@pytest.mark.settings(check_sender_numbers=True)
async def test_number_of_an_owner_waits_for_an_operator(
    env: Environment, owner: Browser, operator: Browser, call: Caller
) -> None:
    await owner.submit("/console/numbers", number=SENDER)
    waiting = await owner.get("/console/numbers")
    refused = await call("message/sendSMS", sms_body())
    asked = await operator.get("/console/operate/numbers")
    approved = await operator.submit("/console/operate/numbers/approve", account="1", number=DIGITS)
    again = await operator.submit("/console/operate/numbers/approve", account="1", number=DIGITS)

    assert "승인 대기" in waiting.text
    assert refused.result == "SENDER_NUMBER_NOT_REGISTERED"
    assert SENDER in asked.text
    assert "새로 등록한 번호" in asked.text
    assert (approved.status, again.status) == (303, 409)
    await call_ok(call, "message/sendSMS", sms_body())
    assert "승인 대기" not in (await owner.get("/console/numbers")).text
    assert "기다리는 발신번호가 없습니다" in (await operator.get(approved.location)).text
    assert await audit_lines(env) == [
        "operator-of-acme number.approve 02-****-5678",
        "owner-of-acme number.request 02-****-5678",
        "command line user.create operator-of-acme",
        "command line user.create owner-of-acme",
    ]


@pytest.mark.parametrize("own_numbers", ["approval", "trusted"])
def test_number_of_another_account_stays_pending(run_scenario: RunScenario, own_numbers: str) -> None:
    async def scenario(env: Environment) -> None:
        first, second = await signed_in_browser(env), await signed_in_browser(env, account="other")
        operator = await signed_in_browser(env, Role.OPERATOR)
        await operator.submit("/console/numbers", number=SENDER)

        done = await second.submit("/console/numbers", number=SENDER)
        shown = await second.get(done.location)
        asked = await operator.get("/console/operate/numbers")
        approved = await operator.submit("/console/operate/numbers/approve", account="2", number=DIGITS)
        await first.submit("/console/numbers/remove", number=DIGITS)
        then = await operator.submit("/console/operate/numbers/approve", account="2", number=DIGITS)

        assert done.status == 303
        assert "승인 대기" in shown.text
        assert "acme" not in shown.text, "only operators see why"
        assert "acme 계정이 쓰는 번호입니다" in asked.text
        assert approved.status == 409
        assert "acme 계정이 쓰는 번호입니다" in approved.text
        assert then.status == 303
        assert await env.store.read(numbers.get_holder, DIGITS) == (2, "other")

    run_scenario(scenario, own_numbers=own_numbers)


async def test_operator_cannot_register_a_number_of_another_account(env: Environment) -> None:
    await env.store.write(accounts.ensure_account, "acme", 0)
    other = await env.store.write(accounts.ensure_account, "other", 0)
    await env.store.write(numbers.add, other, DIGITS, 0)
    operator = await signed_in_browser(env, Role.OPERATOR)

    refused = await operator.submit("/console/numbers", number=SENDER)

    assert refused.status == 409
    assert "other 계정이 쓰는 번호입니다" in refused.text
    assert await env.store.read(numbers.list_by_account, 1) == []


async def test_rejected_number_is_shown_with_the_reason_and_can_be_tried_again(
    owner: Browser, operator: Browser
) -> None:
    await owner.submit("/console/numbers", number=SENDER)

    target = {"account": "1", "number": DIGITS}
    long = await operator.submit("/console/operate/numbers/reject", comment="x" * 201, **target)
    unknown = await operator.submit("/console/operate/numbers/reject", account="9", number=DIGITS)
    await operator.submit("/console/operate/numbers/reject", comment="<b>증명원</b>", **target)
    shown = await owner.get("/console/numbers")
    await owner.submit("/console/numbers/remove", number=DIGITS)
    await owner.submit("/console/numbers", number=SENDER)

    assert (long.status, unknown.status) == (400, 404)
    assert "반려" in shown.text
    assert "&lt;b&gt;증명원" in shown.text
    assert "승인 대기" in (await owner.get("/console/numbers")).text


async def test_pending_numbers_of_an_account_are_limited(env: Environment, owner: Browser) -> None:
    for each in range(MAX_PENDING_NUMBERS):
        await env.store.write(numbers.add, 1, f"0701{each:07}", 0, NumberState.PENDING)

    full = await owner.submit("/console/numbers", number=SENDER)

    assert full.status == 400
    assert f"{MAX_PENDING_NUMBERS}개까지" in full.text


async def test_pending_number_can_be_chosen_where_numbers_are_not_checked(env: Environment, owner: Browser) -> None:
    await owner.submit("/console/numbers", number=SENDER)

    shown = await owner.get("/console/send")

    assert SENDER in shown.text
    await call_ok(await env.caller(), "message/sendSMS", sms_body())


@pytest.mark.parametrize(
    ("typed", "error"), [("", "번호를 입력하세요."), ("119", "발신번호로 쓸 수 없는"), ("<b>", "숫자와 하이픈")]
)
async def test_invalid_sender_number_is_reported_at_its_field(
    env: Environment, browser: Browser, typed: str, error: str
) -> None:
    shown = await browser.submit("/console/numbers", number=typed)

    assert shown.status == 400
    assert error in shown.text
    assert 'aria-describedby="wrong-number"' in shown.text
    assert "<b>" not in shown.text
    assert await env.store.read(numbers.list_all) == []


async def test_duplicate_number_and_number_over_account_limit_are_refused(
    env: Environment, browser: Browser
) -> None:
    def fill_up(tx: Tx, account_id: int) -> None:
        for each in range(MAX_SENDER_NUMBERS - 1):
            numbers.add(tx, account_id, f"0701{each:07}", 0)

    await browser.submit("/console/numbers", number=SENDER)

    again = await browser.submit("/console/numbers", number=SENDER)
    (account,) = await env.store.read(accounts.list_accounts)
    await env.store.write(fill_up, account.id)
    full = await browser.submit("/console/numbers", number="1588-0000")

    assert (again.status, full.status) == (409, 400)
    assert "이미 등록된 번호입니다" in again.text
    assert f"{MAX_SENDER_NUMBERS}개까지" in full.text


@pytest.mark.parametrize("role", [Role.OWNER, Role.OPERATOR])
@pytest.mark.settings(opt_out_number="080-999-0000")
async def test_number_for_opting_out_is_set_and_removed(env: Environment, role: Role) -> None:
    await env.caller()
    browser = await signed_in_browser(env, role)

    wrong = await browser.submit("/console/numbers/opt-out", optOutNumber="02-1234-5678")
    saved = await browser.submit("/console/numbers/opt-out", optOutNumber=" 080 123 4567 ")
    shown = await browser.get(saved.location)
    stored = await env.store.read(accounts.get_opt_out_numbers, [1])
    await browser.submit("/console/numbers/opt-out", optOutNumber="")

    assert (wrong.status, saved.status) == (400, 303)
    assert "080으로 시작하는" in wrong.text
    assert 'value="02-1234-5678"' in wrong.text
    assert 'value="080-123-4567"' in shown.text
    assert "번호(080-999-0000)를 씁니다" in shown.text
    assert stored == {1: "0801234567"}
    assert await env.store.read(accounts.get_opt_out_numbers, [1]) == {}
    assert await audited(env, 2) == [
        ("account.opt_out", ""),
        ("account.opt_out", "080-****-4567"),
    ]
