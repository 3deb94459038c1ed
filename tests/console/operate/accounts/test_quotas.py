"""The operators' page of quotas: limits of accounts with their use, rates of keys, and what relays report."""

import re

from pabal.console.operate.system import ACCOUNTS_PER_PAGE
from pabal.domain.people.user import Role
from pabal.domain.sends.account import AccountLimits
from pabal.store.accounts import account_limits, accounts
from pabal.store.engine.base import Tx
from pabal.store.queue import carriers, slots
from pabal.store.queue.carriers import CarrierState
from tests.fixtures.console import PageResponse, signed_in_browser
from tests.fixtures.console_operate import operator_and_account
from tests.fixtures.virtual import NOON, Environment
from tests.fixtures.web import call_ok, sms_body

PATH = "/console/operate/quotas"


def table(shown: PageResponse, name: str) -> list[list[str]]:
    """Return the texts of a table's cells."""
    found = re.search(rf'id="{name}".*?<tbody>(.*?)</tbody>', shown.text, re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", found[1] if found else "", re.DOTALL)
    return [
        [
            " ".join(re.sub(r"<[^>]+>", " ", cell).split())
            for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
        ]
        for row in rows
    ]


async def test_limits_are_shown_with_what_is_used_and_left(env: Environment) -> None:
    operator, _ = await operator_and_account(env)
    none = await operator.get(PATH)
    call = await env.caller()
    other = await env.store.write(accounts.ensure_account, "other", NOON)
    (first,) = [each.id for each in await env.store.read(accounts.list_accounts) if each.name == "acme"]
    await env.store.write(account_limits.save, first, AccountLimits(50, 4, 1000))
    await env.store.write(account_limits.save, other, AccountLimits(0, 10))
    await env.wait(2)
    await call_ok(call, "message/sendSMS", sms_body("010-1111-2222", "010-3333-4444", "010-5555-6666"))
    await env.store.write(slots.register, b"1" * 16, "host:1", NOON)
    state = CarrierState("relay", "up", NOON, "", "host:1", quotas='{"messages_per_day": 3}')
    await env.store.write(carriers.save_state, state)

    shown = await operator.get(PATH)

    assert "한도가 있는 계정이 없습니다" in none.text
    limits = table(shown, "limits")
    assert limits[0] == ["acme", "초당 수신자", "50", "–", "–", "–"]
    assert limits[1][:2] == ["acme", "하루 수신자 한도에 가까움"]
    assert limits[1][2:5] == ["4", "3 (75%)", "1"]
    assert limits[1][5].startswith("2026-11-16")
    assert limits[2][:3] == ["acme", "한 달 수신자", "1,000"]
    assert limits[3][:5] == ["other", "하루 수신자", "10", "0 (0%)", "10"]
    assert table(shown, "relays") == [["relay", "하루 메시지 수", "3", "host:1"]]
    (key,) = table(shown, "keys")
    assert key[0] == "acme"


async def test_quotas_come_page_by_page_and_only_to_operators(env: Environment) -> None:
    def add_accounts(tx: Tx) -> None:
        for number in range(ACCOUNTS_PER_PAGE + 1):
            account_limits.save(tx, accounts.ensure_account(tx, f"a{number}", NOON), AccountLimits(0, 10))

    operator, _ = await operator_and_account(env)
    owner = await signed_in_browser(env, Role.OWNER)
    await env.store.write(add_accounts)

    first = await operator.get(PATH)
    (after,) = re.findall(rf'href="{PATH}\?(after=[0-9]+)"', first.text)
    second = await operator.get(f"{PATH}?{after}")

    assert len(table(first, "limits")) == ACCOUNTS_PER_PAGE
    assert [row[0] for row in table(second, "limits")] == [f"a{ACCOUNTS_PER_PAGE}"]
    assert 'rel="next"' not in second.text
    assert (await owner.get(PATH)).status == 403
