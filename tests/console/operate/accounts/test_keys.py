"""API keys on an account's page: created, shown once, limited, revoked."""

import asyncio
import re

import pytest

from pabal.store.accounts import accounts
from tests.fixtures.console import Browser
from tests.fixtures.console_operate import ALL_SCOPES, HOSTILE, audit_lines, shown_secret
from tests.fixtures.virtual import NOON, Caller, Environment
from tests.fixtures.web import call_ok, sms_body

NEWEST_KEY = re.compile(r'name="after" value="([0-9]+)"')


async def test_key_form_submitted_twice_creates_one_key(env: Environment, account: str, operator: Browser) -> None:
    page = await operator.get(account)
    fields = {"after": NEWEST_KEY.findall(page.text)[0], "name": "계산대", **ALL_SCOPES}

    both = await asyncio.gather(*(operator.submit(f"{account}/keys", **fields) for _ in range(2)))
    again = await operator.submit(f"{account}/keys", **fields)

    assert sorted(shown.status for shown in (*both, again)) == [200, 409, 409]
    assert "키가 만들어졌습니다" in again.text
    assert "계산대" in again.text, "nothing typed is lost"
    assert len(await env.store.read(accounts.list_keys)) == 1
    assert len([each for each in await audit_lines(env) if "key.create" in each]) == 1
    more = await operator.submit(f"{account}/keys", **{**fields, "after": NEWEST_KEY.findall(again.text)[0]})
    assert shown_secret(more)


async def test_key_is_created_shown_once_used_and_revoked(
    env: Environment, account: str, operator: Browser
) -> None:
    made = await operator.submit(f"{account}/keys", name="계산대", **ALL_SCOPES)
    key = shown_secret(made)
    call = Caller(env.service, key)
    await call_ok(call, "message/sendSMS", sms_body())
    page = await operator.get(account)
    (stored,) = await env.store.read(accounts.list_keys)
    gone = await operator.submit(f"{account}/keys/revoke", key=str(stored.id))
    await env.wait(1)

    assert "계산대" in page.text
    assert key not in page.text
    assert gone.location == account
    assert (await call("message/sendSMS", sms_body())).result == "UNAUTHORIZED"
    assert "폐기됨" in (await operator.get(account)).text
    assert (await operator.submit(f"{account}/keys/revoke", key=str(stored.id))).status == 404
    assert await audit_lines(env) == [
        f"operator-of-acme key.revoke {stored.id}",
        f"operator-of-acme key.create {stored.id}",
        "command line user.create operator-of-acme",
    ]


async def test_key_is_limited_to_its_scopes_networks_and_expiry_date(
    env: Environment, account: str, operator: Browser
) -> None:
    fields = {"scope_read": "1", "allow": "127.0.0.1\n192.0.2.0/24", "rate": "5", "expires": "2026-11-16"}

    call = Caller(env.service, shown_secret(await operator.submit(f"{account}/keys", **fields)))

    (stored,) = await env.store.read(accounts.list_keys)
    assert (set(stored.scopes), stored.rate) == ({"read"}, 5)
    assert stored.expires_at == NOON + 36 * 3600 * 1000
    assert (await call("message/sendSMS", sms_body())).result == "FORBIDDEN"
    assert (await call("sender/list")).result == "SUCCESS"
    assert (await call("sender/list", peer="192.0.3.1")).result != "SUCCESS"
    page = (await operator.get(account)).text
    assert "127.0.0.1/32, 192.0.2.0/24" in page
    assert '<td data-name="만료일" class="short">2026-11-16</td>' in page


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"scope_send": "", "scope_read": "", "scope_manage": ""}, "scope"),
        ({"expires": "2026-11-14"}, "expires"),
        ({"expires": "gestern"}, "expires"),
        ({"allow": f"10.0.0.0/8 {HOSTILE}"}, "allow"),
        ({"allow": "10.0.0.1/8"}, "allow"),
        ({"allow": " ".join(["10.0.0.1"] * 101)}, "allow"),
        ({"rate": "-1"}, "rate"),
        ({"rate": ""}, "rate"),
        ({"name": "n" * 101}, "name"),
    ],
)
async def test_invalid_key_form_is_reported_at_its_field_and_creates_no_key(
    env: Environment, account: str, operator: Browser, changes: dict[str, str], field: str
) -> None:
    shown = await operator.submit(f"{account}/keys", **{**ALL_SCOPES, "name": "가게", **changes})

    assert shown.status == 400
    assert re.findall('id="wrong-([a-z]+)">[^<]', shown.text) == [field]
    assert HOSTILE not in shown.text
    assert await env.store.read(accounts.list_keys) == []
