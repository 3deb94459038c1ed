"""Signing in through an OpenID Connect provider, linking to it, and joining through it."""

import re

import pytest

from pabal.domain.people import totp
from pabal.domain.people.user import Role
from pabal.openid.flow import FLOW_LIFETIME_MS
from pabal.service.access.users.provider_sign_in import WAY
from pabal.service.upkeep.housekeeping import run_round
from pabal.store.accounts.audit_log import SIGN_IN_NAME
from tests.console.me.test_two_factor import enable
from tests.fakes.openid.provider import FakeOpenIdProvider
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import PASSWORD, Browser, make_user, sign_in
from tests.fixtures.openid import HOST, SETTINGS, SUBJECT, enter, link, linked_user, open_browser, set_out
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Environment

ME, TEAM = "/console/me", "/console/team"
NAME = "owner-of-acme"
ONLY_ADMIN = SETTINGS | {"break_glass_operator": "admin"}


async def entries(env: Environment, count: int = 5) -> list[tuple[str, str, str]]:
    found = await env.store.read(latest_entries, None, count)
    return [(each.action, each.actor, each.target) for each in found]


async def invite(env: Environment, owner: Browser, role: str = "sender") -> str:
    """Have an owner invite somebody, and return the token of the link."""
    shown = await owner.submit(f"{TEAM}/invite", role=role)
    found = re.search(rf"http://{HOST}/console/invite\?token=([0-9a-f]{{64}})", shown.text)
    assert found, shown
    return found[1]


async def test_linked_user_signs_in_and_comes_to_the_page_wanted(
    provider: FakeOpenIdProvider, env: Environment
) -> None:
    await linked_user(env, provider)
    browser = open_browser(env)

    entered = await enter(provider, browser, next="/console/history?status=fail")

    assert (entered.status, entered.location) == (303, "/console/history?status=fail")
    assert "pabal_openid" not in browser.cookies
    assert NAME in (await browser.get(ME)).text
    assert ("session.begin", NAME, WAY) in await entries(env)


async def test_second_factor_is_the_providers(provider: FakeOpenIdProvider, env: Environment) -> None:
    await linked_user(env, provider)
    _, codes = await enable(env, await sign_in(env, NAME, open_browser(env)))

    entered = await enter(provider, open_browser(env))

    assert len(codes) == totp.RECOVERY_CODES
    assert entered.status == 303


async def test_user_is_never_found_by_anything_but_issuer_and_subject(
    provider: FakeOpenIdProvider, env: Environment
) -> None:
    name = await make_user(env, name="kim@acme.example")
    provider.claims = {"email": name, "email_verified": True, "preferred_username": name, "name": name}
    browser = open_browser(env)

    by_other_claims = await enter(provider, browser)
    by_subject = await enter(provider, browser, subject=name)

    assert [each.status for each in (by_other_claims, by_subject)] == [403, 403]
    assert "연결된 사용자가 없습니다" in by_other_claims.text
    assert not browser.is_signed_in
    assert await count_rows(env, "openid_identities") == 0
    failed = [each for each in await entries(env) if each[0] == "session.failed"]
    assert failed == [("session.failed", SIGN_IN_NAME, f"{WAY} 127.0.0.1 ({count})") for count in (2, 1)]


@pytest.mark.parametrize("what", ["user", "account", "removed"])
async def test_disabled_or_removed_user_does_not_come_in(
    provider: FakeOpenIdProvider, env: Environment, what: str
) -> None:
    await linked_user(env, provider)
    owner = await sign_in(env, await make_user(env, name="colleague"), open_browser(env))
    if what == "removed":
        await owner.submit(f"{TEAM}/remove", user=NAME)
        assert await count_rows(env, "openid_identities") == 0
    else:
        await env.store.write(lambda tx: tx.execute(f"update {what}s set disabled_at = 1"))

    refused = await enter(provider, open_browser(env))

    assert refused.status == 403


async def test_link_needs_the_password_and_is_audited(provider: FakeOpenIdProvider, env: Environment) -> None:
    await make_user(env)
    browser = await sign_in(env, NAME, open_browser(env))

    wrong = await browser.submit(f"{ME}/openid", openid_password="wrong horse battery")
    done = await link(provider, browser)
    shown = await browser.get(done.location)
    kept = await browser.submit(f"{ME}/openid/unlink", openid_password="wrong horse battery")
    linked = await count_rows(env, "openid_identities")
    gone = await browser.submit(f"{ME}/openid/unlink", openid_password=PASSWORD)

    assert (wrong.status, "refresh" in wrong.headers) == (400, False)
    assert SUBJECT in shown.text
    assert "연결했습니다" in shown.text
    assert (kept.status, linked, gone.status) == (400, 1, 200)
    assert await count_rows(env, "openid_identities") == 0
    assert [each for each in await entries(env) if "openid" in each[0]] == [
        ("openid.unlink", NAME, NAME),
        ("openid.link", NAME, NAME),
    ]
    assert (await enter(provider, open_browser(env))).status == 403


async def test_identity_belongs_to_one_user_and_a_user_has_one(
    provider: FakeOpenIdProvider, env: Environment
) -> None:
    await linked_user(env, provider)
    other = await sign_in(env, await make_user(env, name="other"), open_browser(env))
    same = await sign_in(env, NAME, open_browser(env))

    taken = await link(provider, other)
    second = await link(provider, same, "another")

    assert [taken.status, second.status] == [409, 409]
    assert "이미 다른 사용자와 연결된" in taken.text
    assert await count_rows(env, "openid_identities") == 1


async def test_invitation_is_accepted_through_the_provider(provider: FakeOpenIdProvider, env: Environment) -> None:
    await make_user(env)
    owner = await sign_in(env, NAME, open_browser(env))
    token = await invite(env, owner)
    browser = open_browser(env)

    taken = await browser.submit("/console/invite/openid", token=token, name=NAME)
    url = await set_out(browser, "/console/invite/openid", token=token, name="Lee")
    joined = await browser.get(provider.authorize(url, SUBJECT))
    profile = await browser.get(ME)
    again = await open_browser(env).get(f"/console/invite?token={token}")
    by_password = await open_browser(env).submit("/console/login", name="lee", password="")

    assert taken.status == 409
    assert (joined.status, joined.location) == (303, "/console")
    assert token not in url
    assert "비밀번호가 없는 사용자입니다" in profile.text
    assert f'action="{ME}/password"' not in profile.text
    assert (again.status, by_password.status) == (409, 401)
    assert [each[:2] for each in await entries(env, 4)][1:] == [
        ("session.begin", "lee"),
        ("openid.link", "lee"),
        ("user.join", "lee"),
    ]
    assert (await enter(provider, open_browser(env))).status == 303


async def test_invitation_stays_open_if_the_identity_is_taken(
    provider: FakeOpenIdProvider, env: Environment
) -> None:
    await linked_user(env, provider)
    token = await invite(env, await sign_in(env, NAME, open_browser(env)))
    browser = open_browser(env)

    url = await set_out(browser, "/console/invite/openid", token=token, name="lee")
    refused = await browser.get(provider.authorize(url, SUBJECT))

    assert refused.status == 409
    assert "이미 다른 사용자와 연결된" in refused.text
    assert 'value="lee"' in refused.text
    assert (await count_rows(env, "users"), await count_rows(env, "invites")) == (1, 1)
    assert not browser.is_signed_in


async def test_user_without_password_cannot_unlink(provider: FakeOpenIdProvider, env: Environment) -> None:
    await linked_user(env, provider)
    await env.store.write(lambda tx: tx.execute("update users set hash = null"))
    browser = open_browser(env)
    await enter(provider, browser)

    tries = [
        await browser.submit(f"{ME}/openid/unlink"),
        await browser.submit(f"{ME}/openid/unlink", openid_password="anything at all"),
    ]

    assert [each.status for each in tries] == [400, 400]
    assert await count_rows(env, "openid_identities") == 1


@pytest.mark.settings(break_glass_operator="admin")
async def test_only_the_break_glass_operator_signs_in_with_a_password(
    provider: FakeOpenIdProvider, env: Environment
) -> None:
    await make_user(env)
    await make_user(env, Role.OPERATOR, name="admin")
    await make_user(env, Role.OPERATOR, name="other")
    shown = await open_browser(env).get("/console/login")
    answers = [
        await open_browser(env).submit("/console/login", name=name, password=PASSWORD)
        for name in (NAME, "other", "admin")
    ]
    again = await open_browser(env).submit("/console/login/again", name=NAME, password=PASSWORD)
    wrong = await open_browser(env).submit("/console/login", name=NAME, password="wrong horse battery")

    assert [each.status for each in answers] == [401, 401, 303]
    assert again.status == 401
    assert "<details><summary>비상 운영자 로그인" in shown.text
    assert answers[0].text.count("Acme ID 계정으로 로그인하세요") == 1
    without_form = [re.sub('name="csrf" value="[^"]+"|X-CSRF[^}]+', "", each.text) for each in (answers[0], wrong)]
    assert without_form[0] == without_form[1], "nobody learns whose password is right"


@pytest.mark.settings(break_glass_operator="admin")
async def test_invitations_need_the_provider_where_passwords_are_off(
    provider: FakeOpenIdProvider, env: Environment
) -> None:
    await make_user(env, Role.OPERATOR, name="admin")
    await make_user(env)
    token = await invite(env, await sign_in(env, "admin", open_browser(env)))
    browser = open_browser(env)

    shown = await browser.get(f"/console/invite?token={token}")
    refused = await browser.submit("/console/invite", token=token, name="lee", password=PASSWORD, repeated=PASSWORD)

    assert "password" not in shown.text
    assert 'formaction="/console/invite/openid"' in shown.text
    assert refused.status == 404
    assert await count_rows(env, "users") == 2


async def test_owner_unlinks_a_colleague_who_is_signed_out(provider: FakeOpenIdProvider, env: Environment) -> None:
    await linked_user(env, provider)
    browser = open_browser(env)
    await enter(provider, browser)
    owner = await sign_in(env, await make_user(env, name="colleague"), open_browser(env))
    stranger = await sign_in(env, await make_user(env, account="other", name="stranger"), open_browser(env))

    await stranger.submit(f"{TEAM}/openid", user=NAME)
    kept = await count_rows(env, "openid_identities")
    done = await owner.submit(f"{TEAM}/openid", user=NAME)

    assert (kept, done.status) == (1, 303)
    assert (await browser.get(ME)).status == 303
    assert (await enter(provider, open_browser(env))).status == 403
    assert ("openid.unlink", "colleague", NAME) in await entries(env)


async def test_nothing_is_stored_before_the_provider_has_vouched(
    provider: FakeOpenIdProvider, env: Environment
) -> None:
    for _ in range(3):
        await set_out(open_browser(env))
    waiting = await count_rows(env, "used_openid_answers")
    await enter(provider, open_browser(env))
    used = await count_rows(env, "used_openid_answers")
    env.world.move_clock(FLOW_LIFETIME_MS // 1000)
    await run_round(env.context)

    assert (waiting, used) == (0, 1)
    assert await count_rows(env, "used_openid_answers") == 0


async def test_without_a_provider_its_pages_do_not_exist(env: Environment) -> None:
    browser = await sign_in(env, await make_user(env))
    tries = [
        await browser.submit("/console/login/openid"),
        await browser.get("/console/login/openid/callback?code=1&state=2"),
        await browser.submit(f"{ME}/openid", openid_password=PASSWORD),
    ]

    assert [each.status for each in tries] == [404, 404, 404]
    assert "openid" not in (await Browser(env.service).get("/console/login")).text
