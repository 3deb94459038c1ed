"""API keys of an account as its owners see them: last use, rate, new ones if the operator allows it."""

import re

import pytest

from pabal.domain.base.dates import HOUR
from pabal.domain.people.user import Role
from pabal.domain.sends.account import AccountLimits
from pabal.service.delayed_writes import WRITE_INTERVAL_S
from pabal.store.accounts import account_limits, accounts
from tests.fixtures.audit import audited, latest_entries
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.console_upload import page_text
from tests.fixtures.service import account_id_of
from tests.fixtures.virtual import Caller, Environment

KEYS = "/console/keys"
FORM = {"name": "shop", "scope_send": "1", "rate": "50", "after": "0"}


async def rates(env: Environment) -> list[int]:
    return [each.rate for each in await env.store.read(accounts.list_keys)]


@pytest.mark.settings(owner_keys=True)
async def test_owner_creates_a_key_where_that_is_allowed(env: Environment, owner: Browser) -> None:
    created = await owner.submit(KEYS, **FORM)
    again = await owner.submit(KEYS, **FORM)

    assert re.search(r"pb_[0-9A-Za-z]{40}", created.text)
    assert again.status == 409, "a form that is sent twice creates one key"
    assert await rates(env) == [50]
    (entry,) = await env.store.read(latest_entries, None, 1)
    assert (entry.action, entry.actor) == ("key.create", "owner-of-acme")


@pytest.mark.settings(owner_keys=True)
async def test_owner_replaces_a_key_by_one_that_may_do_the_same(env: Environment, owner: Browser) -> None:
    await owner.submit(KEYS, **FORM | {"allow": "192.0.2.0/24"})

    replaced = await owner.submit(f"{KEYS}/replace", key="1", after="1")
    again = await owner.submit(f"{KEYS}/replace", key="1", after="1")
    both = await env.store.read(accounts.list_keys)
    await owner.submit(f"{KEYS}/revoke", key="1")
    revoked = await owner.submit(f"{KEYS}/replace", key="1", after="2")

    assert re.search(r"pb_[0-9A-Za-z]{40}", replaced.text)
    assert f'action="{KEYS}/revoke"' in replaced.text
    old, new = sorted(both)
    assert old[3:7] == new[3:7], "name, permissions, addresses and rate"
    assert (again.status, revoked.status) == (409, 404)
    assert await audited(env, 2) == [("key.revoke", "1"), ("key.create", "2")]


@pytest.mark.settings(key_rate=50, owner_keys=True)
async def test_owner_replaces_no_faster_key_than_the_account_may_have(env: Environment) -> None:
    await env.caller(rate=1000)
    owner, operator = await signed_in_browser(env), await signed_in_browser(env, Role.OPERATOR)
    account = f"/console/operate/accounts/{await account_id_of(env)}"

    by_owner = await owner.submit(f"{KEYS}/replace", key="1", after="1")
    by_operator = await operator.submit(f"{account}/keys/replace", key="1", after="1")

    assert by_owner.status == 400
    assert "#1: " in page_text(by_owner)
    assert by_operator.status == 200
    assert f'action="{account}/keys/revoke"' in by_operator.text
    assert await rates(env) == [1000, 1000]


@pytest.mark.settings(keys_per_account=2, owner_keys=True)
async def test_account_has_at_most_so_many_keys_that_can_be_used(env: Environment) -> None:
    await env.caller(expires_at=env.world.now() + HOUR)
    owner, operator = await signed_in_browser(env), await signed_in_browser(env, Role.OPERATOR)
    account = f"/console/operate/accounts/{await account_id_of(env)}"

    second = await owner.submit(KEYS, **FORM | {"after": "1"})
    third = await owner.submit(KEYS, **FORM | {"after": "2"})
    by_operator = await operator.submit(f"{account}/keys", **FORM | {"after": "2"})
    await env.wait(HOUR / 1000)
    after_expiry = await owner.submit(KEYS, **FORM | {"after": "2"})
    await owner.submit(f"{KEYS}/revoke", key="2")
    after_revoking = await owner.submit(KEYS, **FORM | {"after": "3"})

    assert (second.status, third.status, by_operator.status) == (200, 409, 409)
    assert "API 키를 2개까지 쓸 수 있습니다(keys_per_account)" in page_text(third)
    assert "API 키를 2개까지 쓸 수 있습니다(keys_per_account)" in page_text(by_operator)
    assert (after_expiry.status, after_revoking.status) == (200, 200), "only keys that can be used count"


async def test_owner_creates_no_key_by_default_but_revokes(env: Environment) -> None:
    await env.caller()
    owner = await signed_in_browser(env)

    shown = await owner.get(KEYS)
    refused = await owner.submit(KEYS, **FORM)
    revoked = await owner.submit(f"{KEYS}/revoke", key="1")

    assert "운영자에게 요청하세요" in shown.text
    assert f'action="{KEYS}"' not in shown.text
    assert (refused.status, revoked.status) == (404, 303)
    assert "폐기됨" in page_text(await owner.get(KEYS))


async def test_operator_who_acts_for_the_account_creates_keys_of_any_rate(env: Environment) -> None:
    await account_id_of(env)
    operator = await signed_in_browser(env, Role.OPERATOR)

    created = await operator.submit(KEYS, **{**FORM, "rate": "0"})

    assert created.status == 200
    assert await rates(env) == [0]


@pytest.mark.parametrize(("limit", "rate", "is_allowed"), [(0, 100, True), (0, 101, False), (30, 30, True),
                                                            (30, 31, False), (0, 0, False)])  # fmt: skip
@pytest.mark.settings(key_rate=100, owner_keys=True)
async def test_keys_of_owners_are_at_most_as_fast_as_their_account(
    env: Environment, limit: int, rate: int, is_allowed: bool
) -> None:
    await env.caller(rate=7)
    owner = await signed_in_browser(env)
    account_id = await account_id_of(env)
    await env.store.write(account_limits.save, account_id, AccountLimits(receivers_per_second=limit))

    changed = await owner.submit(f"{KEYS}/rate", key="1", rate=str(rate))
    created = await owner.submit(KEYS, **{**FORM, "rate": str(rate), "after": "1"})

    assert (changed.status, created.status) == ((303, 200) if is_allowed else (400, 400))
    assert await rates(env) == ([rate, rate] if is_allowed else [7])


async def test_last_use_is_shown_a_minute_later(env: Environment, call: Caller, owner: Browser) -> None:
    before = await owner.get(KEYS)
    await call("sender/list")
    await env.wait(WRITE_INTERVAL_S + 1)

    after = await owner.get(KEYS)

    assert "사용 기록 없음" in before.text
    assert "사용 기록 없음" not in after.text
