"""The limits of accounts in the console: set by operators, audited, shown to owners."""

from pabal.domain.sends.account import AccountLimits
from pabal.store.accounts import account_limits, accounts
from tests.fixtures.console import Browser
from tests.fixtures.console_operate import audit_lines
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import sms_body

FIELDS = dict.fromkeys(AccountLimits._fields, "")


async def test_operator_sets_limits_which_hold_and_are_audited(
    env: Environment, account: str, operator: Browser
) -> None:
    (first,) = [each.id for each in await env.store.read(accounts.list_accounts)]

    done = await operator.submit(f"{account}/limits", **FIELDS | {"receivers_per_day": "1,000"})
    await operator.submit(f"{account}/limits", **FIELDS | {"receivers_per_day": "1000"})
    page = await operator.get(account)

    assert (done.status, done.location) == (303, account)
    assert await env.store.read(account_limits.get, first) == AccountLimits(0, 1000)
    assert "1,000" in page.text
    lines = [each for each in await audit_lines(env) if "account.limits" in each]
    assert [each.partition("account.limits ")[2] for each in lines] == ["receivers_per_day=1000"]


async def test_invalid_limit_is_told_beside_its_field_and_changes_nothing(
    env: Environment, account: str, operator: Browser
) -> None:
    refused = await operator.submit(f"{account}/limits", **FIELDS | {"receivers_per_day": "<b>"})

    assert refused.status == 400
    assert 'id="wrong-receivers_per_day"' in refused.text
    assert "<b>" not in refused.text
    assert not [each for each in await audit_lines(env) if "account.limits" in each]


async def test_owner_sees_limits_and_a_notice_when_one_is_near(
    env: Environment, owner: Browser, call: Caller
) -> None:
    (first,) = [each.id for each in await env.store.read(accounts.list_accounts)]
    assert "하루 수신자" not in (await owner.get("/console")).text
    await env.store.write(account_limits.save, first, AccountLimits(0, 10))
    await env.wait(1)

    await call("message/sendSMS", sms_body(*["010-1111-1111"] * 6))
    before = await owner.get("/console")
    await call("message/sendSMS", sms_body("010-1111-1111"))
    near = await owner.get("/console")
    refused = await call("message/sendSMS", sms_body(*["010-1111-1111"] * 4))

    assert "하루 수신자" in before.text
    assert "한도의" not in before.text
    assert "하루 수신자 한도의 70%를 사용했습니다. 2026-11-16 00:00:00" in near.text
    assert (refused.status, refused.result) == (403, "LIMIT_EXCEEDED")
    assert refused.body["errors"][0]["field"] == "receivers_per_day"
