"""The operators' pages of accounts and users."""

import pytest

from pabal.domain.people.user import Role
from pabal.store.accounts import accounts
from pabal.store.users import users
from tests.fixtures.console import PASSWORD, Browser, make_user, sign_in
from tests.fixtures.console_operate import ALL_SCOPES, HOSTILE, audit_lines, shown_secret
from tests.fixtures.virtual import Caller, Environment


async def test_account_is_created_disabled_and_enabled_with_its_keys_and_users(
    env: Environment, operator: Browser
) -> None:
    made = await operator.submit("/console/operate/accounts", name=f" {HOSTILE} ")
    again = await operator.submit("/console/operate/accounts", name=HOSTILE)
    nameless = await operator.submit("/console/operate/accounts", name=" ")
    account = made.location
    call = Caller(env.service, shown_secret(await operator.submit(f"{account}/keys", **ALL_SCOPES)))
    owner = await sign_in(env, await make_user(env, Role.OWNER, HOSTILE, "kim"))
    await operator.submit(f"{account}/state", to="disabled")
    await operator.submit(f"{account}/state", to="disabled")
    await env.wait(1)
    stopped = await call("sender/list"), await owner.get("/console/history")
    listed = await operator.get("/console/operate/accounts")
    await operator.submit(f"{account}/state", to="enabled")
    works = await call("sender/list")

    assert (again.status, nameless.status) == (409, 400)
    assert (stopped[0].result, stopped[1].status) == ("UNAUTHORIZED", 303)
    assert "사용 중지" in listed.text
    assert works.result == "SUCCESS"
    for path in ("", "/accounts", "/deeds", account.removeprefix("/console/operate")):
        assert HOSTILE not in (await operator.get(f"/console/operate{path}")).text
    assert [each.partition(" ")[2] for each in await audit_lines(env)][:1] == ["account.enable"]
    assert sum("account.disable" in each for each in await audit_lines(env)) == 1


async def test_user_is_created_gets_new_password_and_is_disabled(
    env: Environment, account: str, operator: Browser
) -> None:
    first = shown_secret(await operator.submit(f"{account}/users", user="Kim", role="viewer"))
    browser = Browser(env.service)
    signed = await browser.submit("/console/login", name="kim", password=first)
    second = shown_secret(await operator.submit(f"{account}/users/password", user="kim"))
    thrown_out = await browser.get("/console/history")
    old = await Browser(env.service).submit("/console/login", name="kim", password=first)
    browser = Browser(env.service)
    new = await browser.submit("/console/login", name="kim", password=second)
    await operator.submit(f"{account}/users/state", user="kim", to="disabled")
    disabled = await browser.get("/console/history")
    page = await operator.get(account)
    await operator.submit(f"{account}/users/state", user="kim", to="enabled")
    back = await Browser(env.service).submit("/console/login", name="kim", password=second)

    assert (signed.status, thrown_out.status, old.status, new.status) == (303, 303, 401, 303)
    assert thrown_out.location.startswith("/console/login")
    assert (disabled.status, back.status) == (303, 303)
    assert "사용 중지" in page.text
    assert [each for each in await audit_lines(env) if each.endswith(" kim")] == [
        "operator-of-acme user.enable kim",
        "operator-of-acme user.disable kim",
        "operator-of-acme user.password kim",
        "operator-of-acme user.create kim",
    ]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"user": "", "role": "viewer"}, "user"),
        ({"user": "a b", "role": "viewer"}, "user"),
        ({"user": "operator-of-acme", "role": "viewer"}, "user"),
        ({"user": "kim", "role": "operator"}, "role"),
        ({"user": "kim", "role": "king"}, "role"),
    ],
)
async def test_invalid_user_form_is_reported_at_its_field(
    env: Environment, account: str, operator: Browser, fields: dict[str, str], field: str
) -> None:
    shown = await operator.submit(f"{account}/users", **fields)

    assert shown.status in (400, 409)
    assert f'id="wrong-{field}"' in shown.text
    assert len(await env.store.read(users.list_all)) == 1


async def test_account_page_changes_only_keys_and_users_of_that_account(
    env: Environment, account: str, operator: Browser
) -> None:
    await make_user(env, Role.OWNER, "other")
    await env.caller("other")
    (key,) = await env.store.read(accounts.list_keys)

    tries = [
        await operator.submit(f"{account}/keys/revoke", key=str(key.id)),
        await operator.submit(f"{account}/keys/replace", key=str(key.id)),
        await operator.submit(f"{account}/keys/rate", key=str(key.id), rate="1"),
        await operator.submit(f"{account}/users/state", user="owner-of-other", to="disabled"),
        await operator.submit(f"{account}/users/state", user="operator-of-acme", to="disabled"),
        await operator.submit(f"{account}/users/password", user="owner-of-other"),
        await operator.submit(f"{account}/users/state", user="owner-of-other", to="dead"),
        await operator.submit(f"{account}/state", to="dead"),
        await operator.submit("/console/operate/accounts/999/state", to="disabled"),
        await operator.get("/console/operate/accounts/x"),
    ]

    assert [each.status for each in tries] == [404, 404, 404, 400, 400, 400, 404, 404, 404, 404]
    assert all(each.is_active for each in await env.store.read(users.list_all))
    assert (await sign_in(env, "owner-of-other")).is_signed_in
    assert all(each.is_live for each in await env.store.read(accounts.list_keys))


async def test_shown_password_does_not_appear_in_audit_log(account: str, operator: Browser) -> None:
    word = shown_secret(await operator.submit(f"{account}/users", user="kim", role="owner"))

    shown = await operator.get("/console/audit")

    assert "사용자 생성" in shown.text
    assert word not in shown.text
    assert PASSWORD not in shown.text
