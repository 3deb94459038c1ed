"""The reseller codes of accounts in the console: set by operators, audited, refused beside their field."""

from pabal.domain.sends.account import SenderCodes
from pabal.store.accounts import accounts
from tests.fixtures.console import Browser
from tests.fixtures.console_operate import audit_lines
from tests.fixtures.virtual import Environment


async def test_operator_sets_reseller_codes_which_are_audited(
    env: Environment, account: str, operator: Browser
) -> None:
    (first,) = [each.id for each in await env.store.read(accounts.list_accounts)]

    done = await operator.submit(f"{account}/codes", origin_code=" 123456789 ", reseller_code="")
    await operator.submit(f"{account}/codes", origin_code="123456789", reseller_code="")
    page = await operator.get(account)

    assert (done.status, done.location) == (303, account)
    assert await env.store.read(accounts.list_sender_codes) == {first: SenderCodes("123456789")}
    assert "123456789" in page.text
    lines = [each for each in await audit_lines(env) if "account.codes" in each]
    assert [each.partition("account.codes ")[2] for each in lines] == ["origin_code=123456789"]


async def test_invalid_reseller_code_is_told_beside_its_field(
    env: Environment, account: str, operator: Browser, owner: Browser
) -> None:
    refused = await operator.submit(f"{account}/codes", origin_code="<b>", reseller_code="가")
    forbidden = await owner.submit(f"{account}/codes", origin_code="123456789", reseller_code="")

    assert (refused.status, forbidden.status) == (400, 403)
    assert 'id="wrong-origin_code"' in refused.text
    assert 'id="wrong-reseller_code"' in refused.text
    assert "<b>" not in refused.text
    assert await env.store.read(accounts.list_sender_codes) == {}
