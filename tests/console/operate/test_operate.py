"""The operators' pages: accounts, keys shown once, users, carriers, the queue, settings without secrets."""

import asyncio
import dataclasses
import html
import re

import pytest

from pabal.console.app import build_console
from pabal.console.operate.setting_descriptions import KOREAN_DESCRIPTIONS
from pabal.domain.codes import LANGUAGES
from pabal.domain.user import Role
from pabal.settings.carriers import CARRIER_KINDS, CarrierSettings, NhnCloudSettings, SmppSettings
from pabal.settings.field import fields
from pabal.settings.settings import Settings, load
from pabal.store import accounts, carrier_states, users
from pabal.store.carrier_states import CarrierState
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import PASSWORD, Browser, PageResponse, make_user, sign_in, signed_in_browser
from tests.fixtures.service import FakeCarrier
from tests.fixtures.virtual import NOON, Caller, Environment
from tests.fixtures.web import RunScenario, call_ok, sms_body

HOSTILE = "<script>alert(1)</script>"
MEANING = re.compile(r'<td data-name="(?:설명|Description)">([^<]*)</td>')
AFTER = re.compile(r'name="after" value="([0-9]+)"')
SECRET = re.compile(r'<code class="secret"[^>]*>([^<]+)</code>')
ALL = {"scope_send": "1", "scope_read": "1", "scope_manage": "1", "rate": "0"}


async def operator_and_account(env: Environment, name: str = "acme") -> tuple[Browser, str]:
    """Return an operator, and the address of an account."""
    account_id = await env.store.write(accounts.ensure_account, name, env.world.now())
    return await signed_in_browser(env, Role.OPERATOR), f"/console/operate/accounts/{account_id}"


def secret_in(shown: PageResponse) -> str:
    assert shown.status == 200, shown.text
    found = SECRET.search(shown.text)
    assert found
    return found[1]


async def noted(env: Environment) -> list[str]:
    found = await env.store.read(latest_entries, None, 20)
    return [f"{each.actor} {each.action} {each.target}".strip() for each in found if "session" not in each.action]


def test_key_form_submitted_twice_creates_one_key(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        operator, account = await operator_and_account(env)
        page = await operator.get(account)
        fields = {"after": AFTER.findall(page.text)[0], "name": "계산대", **ALL}

        both = await asyncio.gather(*(operator.submit(f"{account}/keys", **fields) for _ in range(2)))
        again = await operator.submit(f"{account}/keys", **fields)

        assert sorted(shown.status for shown in (*both, again)) == [200, 409, 409]
        assert "키가 만들어졌습니다" in again.text
        assert "계산대" in again.text, "nothing typed is lost"
        assert len(await env.store.read(accounts.list_keys)) == 1
        assert len([each for each in await noted(env) if "key.create" in each]) == 1
        more = await operator.submit(f"{account}/keys", **{**fields, "after": AFTER.findall(again.text)[0]})
        assert secret_in(more)

    run_scenario(scenario)


def test_key_is_created_shown_once_used_and_revoked(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        operator, account = await operator_and_account(env)

        made = await operator.submit(f"{account}/keys", name="계산대", **ALL)
        key = secret_in(made)
        call = Caller(env.service, key)
        await call_ok(call, "message/sendSMS", sms_body())
        page = await operator.get(account)
        (kept,) = await env.store.read(accounts.list_keys)
        gone = await operator.submit(f"{account}/keys/revoke", key=str(kept.id))
        await env.wait(1)

        assert "계산대" in page.text
        assert key not in page.text
        assert gone.location == account
        assert (await call("message/sendSMS", sms_body())).result == "UNAUTHORIZED"
        assert "폐기됨" in (await operator.get(account)).text
        assert (await operator.submit(f"{account}/keys/revoke", key=str(kept.id))).status == 404
        assert await noted(env) == [
            f"operator-of-acme key.revoke {kept.id}",
            f"operator-of-acme key.create {kept.id}",
            "command line user.create operator-of-acme",
        ]

    run_scenario(scenario)


def test_key_is_limited_to_its_scopes_networks_and_expiry_date(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        operator, account = await operator_and_account(env)
        fields = {"scope_read": "1", "allow": "127.0.0.1\n192.0.2.0/24", "rate": "5", "expires": "2026-11-16"}

        call = Caller(env.service, secret_in(await operator.submit(f"{account}/keys", **fields)))

        (kept,) = await env.store.read(accounts.list_keys)
        assert (set(kept.scopes), kept.rate) == ({"read"}, 5)
        assert kept.expires_at == NOON + 36 * 3600 * 1000
        assert (await call("message/sendSMS", sms_body())).result == "FORBIDDEN"
        assert (await call("sender/list")).result == "SUCCESS"
        assert (await call("sender/list", peer="192.0.3.1")).result != "SUCCESS"
        page = (await operator.get(account)).text
        assert "127.0.0.1/32, 192.0.2.0/24" in page
        assert '<td data-name="만료일" class="short">2026-11-16</td>' in page

    run_scenario(scenario)


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
def test_invalid_key_form_is_reported_at_its_field_and_creates_no_key(
    run_scenario: RunScenario, changes: dict[str, str], field: str
) -> None:
    async def scenario(env: Environment) -> None:
        operator, account = await operator_and_account(env)

        shown = await operator.submit(f"{account}/keys", **{**ALL, "name": "가게", **changes})

        assert shown.status == 400
        assert f'id="wrong-{field}"' in shown.text
        assert len(re.findall('id="wrong-', shown.text)) == 1
        assert HOSTILE not in shown.text
        assert await env.store.read(accounts.list_keys) == []

    run_scenario(scenario)


def test_account_is_created_disabled_and_enabled_with_its_keys_and_users(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        operator = await signed_in_browser(env, Role.OPERATOR)

        made = await operator.submit("/console/operate/accounts", name=f" {HOSTILE} ")
        again = await operator.submit("/console/operate/accounts", name=HOSTILE)
        nameless = await operator.submit("/console/operate/accounts", name=" ")
        account = made.location
        call = Caller(env.service, secret_in(await operator.submit(f"{account}/keys", **ALL)))
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
        assert [each.partition(" ")[2] for each in await noted(env)][:1] == ["account.enable"]
        assert sum("account.disable" in each for each in await noted(env)) == 1

    run_scenario(scenario)


def test_user_is_created_gets_new_password_and_is_disabled(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        operator, account = await operator_and_account(env)

        first = secret_in(await operator.submit(f"{account}/users", user="Kim", role="viewer"))
        browser = Browser(env.service)
        signed = await browser.submit("/console/login", name="kim", password=first)
        second = secret_in(await operator.submit(f"{account}/users/password", user="kim"))
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
        assert [each for each in await noted(env) if each.endswith(" kim")] == [
            "operator-of-acme user.enable kim",
            "operator-of-acme user.disable kim",
            "operator-of-acme user.password kim",
            "operator-of-acme user.create kim",
        ]

    run_scenario(scenario)


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
def test_invalid_user_form_is_reported_at_its_field(
    run_scenario: RunScenario, fields: dict[str, str], field: str
) -> None:
    async def scenario(env: Environment) -> None:
        operator, account = await operator_and_account(env)

        shown = await operator.submit(f"{account}/users", **fields)

        assert shown.status in (400, 409)
        assert f'id="wrong-{field}"' in shown.text
        assert len(await env.store.read(users.list_all)) == 1

    run_scenario(scenario)


def test_account_page_changes_only_keys_and_users_of_that_account(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        operator, account = await operator_and_account(env)
        await make_user(env, Role.OWNER, "other")
        await env.caller("other")
        (key,) = await env.store.read(accounts.list_keys)

        tries = [
            await operator.submit(f"{account}/keys/revoke", key=str(key.id)),
            await operator.submit(f"{account}/users/state", user="owner-of-other", to="disabled"),
            await operator.submit(f"{account}/users/state", user="operator-of-acme", to="disabled"),
            await operator.submit(f"{account}/users/password", user="owner-of-other"),
            await operator.submit(f"{account}/users/state", user="owner-of-other", to="dead"),
            await operator.submit(f"{account}/state", to="dead"),
            await operator.submit("/console/operate/accounts/999/state", to="disabled"),
            await operator.get("/console/operate/accounts/x"),
        ]

        assert [each.status for each in tries] == [404, 400, 400, 400, 404, 404, 404, 404]
        assert all(each.is_active for each in await env.store.read(users.list_all))
        assert (await sign_in(env, "owner-of-other")).is_signed_in
        assert all(each.is_live for each in await env.store.read(accounts.list_keys))

    run_scenario(scenario)


def test_status_page_shows_carrier_state_last_error_and_queue(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        operator, _ = await operator_and_account(env)
        call = await env.caller()
        await call_ok(call, "message/sendSMS", sms_body("010-1111-2222", sendDate="2026-11-16 12:00"))
        for state in (
            CarrierState("simulator", "down", NOON, f"refused {HOSTILE}"),
            CarrierState("simulator", "up", NOON + 1000, ""),
            CarrierState("telco", "aside", NOON, "it takes nothing"),
        ):
            await env.store.write(carrier_states.save, state)

        page = await operator.get("/console/operate")
        part = await operator.get("/console/operate/state")

        for shown in (page, part):
            assert HOSTILE not in shown.text
            assert "refused &lt;script&gt;" in shown.text
            assert re.search(r'<span class="state up">정상</span>', shown.text)
            assert re.search(
                r'<span class="state gone">설정에 없음</span> <span class="reason">it takes', shown.text
            )
            assert '<td data-name="메시지 수" class="amount">1</td>' in shown.text
        assert "<html" not in part.text

    run_scenario(scenario)


def test_status_page_shows_longest_delay_in_queue(run_scenario: RunScenario) -> None:
    post = FakeCarrier()
    post.is_connected = False

    async def scenario(env: Environment) -> None:
        operator, _ = await operator_and_account(env)
        call = await env.caller()
        await call_ok(call, "message/sendSMS", sms_body(sendDate="2026-11-15 12:01"))
        await env.wait(60 + 125)

        assert ">2분<" in (await operator.get("/console/operate")).text

    run_scenario(scenario, carriers={post.name: post})


def test_settings_page_hides_secrets(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        telco = SmppSettings(name="telco", host="smsc.example", system_id="pabal", password="geheim-1234")
        settings = dataclasses.replace(
            load({}), carriers={"telco": telco}, store="postgresql://pabal:geheim-5678@db/pabal"
        )
        await make_user(env, Role.OPERATOR)
        operator = await sign_in(env, "operator-of-acme", Browser(build_console(env.context, settings)))

        shown = await operator.get("/console/operate/settings")

        assert "smsc.example" in shown.text
        assert "geheim" not in shown.text
        assert "설정됨" in shown.text

    run_scenario(scenario)


def test_setting_descriptions_follow_page_language(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        carriers: dict[str, CarrierSettings] = {
            "telco": SmppSettings(name="telco", host="smsc.example", system_id="pabal"),
            "relay": NhnCloudSettings(name="relay", sms_app_key="app", sms_secret_key="word"),
        }
        console = build_console(env.context, dataclasses.replace(load({}), carriers=carriers))
        await make_user(env, Role.OPERATOR)
        shapes = [Settings, *map(type, carriers.values())]

        for language in LANGUAGES:
            operator = await sign_in(env, "operator-of-acme", Browser(console))
            await operator.submit("/console/language", language=language)
            shown = await operator.get("/console/operate/settings")
            told = [html.unescape(each) for each in MEANING.findall(shown.text)]
            helps = [each.metadata["help"] for shape in shapes for each in fields(shape).values()]

            assert f'<html lang="{language}">' in shown.text
            assert told == (helps if language == "en" else [KOREAN_DESCRIPTIONS[help] for help in helps])

    run_scenario(scenario)


def test_every_setting_description_has_exactly_one_korean_text() -> None:
    shapes: list[type] = [Settings, *CARRIER_KINDS.values()]
    helps = {each.metadata["help"] for shape in shapes for each in fields(shape).values()}

    assert set(KOREAN_DESCRIPTIONS) == helps
    assert [ko for ko in KOREAN_DESCRIPTIONS.values() if not re.search("[가-힣].*[.]$", ko)] == []


def test_shown_password_does_not_appear_in_audit_log(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        operator, account = await operator_and_account(env)
        word = secret_in(await operator.submit(f"{account}/users", user="kim", role="owner"))

        shown = await operator.get("/console/audit")

        assert "사용자 생성" in shown.text
        assert word not in shown.text
        assert PASSWORD not in shown.text

    run_scenario(scenario)
