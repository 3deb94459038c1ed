"""Keys of programs that were written for another relay, on an account's page: made, seen, replaced, revoked."""

import re

import pytest

from pabal.store.accounts import accounts, compat_keys
from pabal.store.accounts.compat_keys import PublicId
from tests.fixtures.console import Browser, PageResponse
from tests.fixtures.console_operate import ALL_SCOPES, HOSTILE, audit_lines, shown_secret
from tests.fixtures.solapi_calls import SECRET, SETTINGS, SolapiCaller, solapi_caller
from tests.fixtures.virtual import Environment

with_endpoints: pytest.MarkDecorator = pytest.mark.settings(**SETTINGS)
OWN = {"kind": "solapi", "id": "NCSBSHOPKEY00001", "secret": SECRET}
"""What a program has already."""


def shown_id(page: PageResponse) -> str:
    """Return the API key on the page that shows it with its secret."""
    return str(re.findall(r"<p><code>([\w.-]+)</code></p>", page.text)[0])


async def can_read(env: Environment, api_key: str, secret: str) -> bool:
    caller = SolapiCaller(env, api_key)
    answer = await caller("GET", "cash/v1/balance", header=caller.sign(secret=secret))
    return answer.status == 200


@with_endpoints
async def test_program_keeps_its_key(env: Environment, account: str, operator: Browser) -> None:
    made = await operator.submit(f"{account}/keys", name="쇼핑몰", **ALL_SCOPES, **OWN)
    page = await operator.get(account)
    (stored,) = await env.store.read(accounts.list_keys)

    assert (shown_secret(made), shown_id(made)) == (SECRET, OWN["id"])
    assert await can_read(env, OWN["id"], SECRET)
    assert OWN["id"] in page.text
    assert "솔라피, CoolSMS" in page.text
    assert SECRET not in page.text
    assert f"operator-of-acme key.create {stored.id}" in await audit_lines(env)


@with_endpoints
async def test_key_is_replaced_while_the_old_one_works_and_then_revoked(
    env: Environment, account: str, operator: Browser
) -> None:
    await operator.submit(f"{account}/keys", **ALL_SCOPES, **OWN)
    (old,) = await env.store.read(accounts.list_keys)
    replaced = await operator.submit(f"{account}/keys/replace", key=str(old.id), after=str(old.id))
    new_id, new_secret = shown_id(replaced), shown_secret(replaced)
    both = [await can_read(env, *each) for each in ((OWN["id"], SECRET), (new_id, new_secret))]
    await operator.submit(f"{account}/keys/revoke", key=str(old.id))
    await env.wait(1)
    later = [await can_read(env, *each) for each in ((OWN["id"], SECRET), (new_id, new_secret))]
    kinds = await env.store.read(compat_keys.list_public_ids, [old.id + 1])

    assert (both, later) == ([True, True], [False, True])
    assert list(kinds.values()) == [PublicId("solapi", new_id)]
    assert not await can_read(env, OWN["id"], new_secret)


@with_endpoints
async def test_what_is_left_empty_is_made_up(env: Environment, account: str, operator: Browser) -> None:
    made = await operator.submit(f"{account}/keys", **ALL_SCOPES, kind="solapi")

    assert await can_read(env, shown_id(made), shown_secret(made))


@with_endpoints
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"id": "a b"}, "id"),
        ({"id": HOSTILE}, "id"),
        ({"secret": "short"}, "secret"),
        ({"kind": "fax"}, "kind"),
        ({"kind": ""}, "kind"),
        ({"id": "THE-OTHER-KEY"}, "id"),
    ],
)
async def test_wrong_key_is_refused_at_its_field(
    env: Environment, account: str, operator: Browser, changes: dict[str, str], field: str
) -> None:
    await solapi_caller(env, "other", "THE-OTHER-KEY")
    shown = await operator.submit(f"{account}/keys", **ALL_SCOPES, **{**OWN, **changes})

    assert shown.status in (400, 409)
    assert f'id="wrong-{field}"' in shown.text
    assert HOSTILE not in shown.text
    assert SECRET not in shown.text
    assert [each.account for each in await env.store.read(accounts.list_keys)] == ["other"]


async def test_key_that_signs_is_refused_without_a_secret_key(
    env: Environment, account: str, operator: Browser
) -> None:
    shown = await operator.submit(f"{account}/keys", **ALL_SCOPES, **OWN)

    assert (shown.status, "secret_key" in shown.text) == (409, True)
    assert await env.store.read(accounts.list_keys) == []
