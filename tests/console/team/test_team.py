"""The team of an account: owners invite users, change roles and remove users; the last owner stays."""

import re

import pytest

from pabal.domain.people.user import Role
from pabal.service.access.users import users as user_service
from pabal.service.access.users.sign_in_delays import FREE_ATTEMPTS_PER_NAME_AND_ADDRESS
from pabal.service.access.users.team import INVITE_LIFETIME_MS, MAX_OPEN_INVITES
from pabal.service.upkeep.housekeeping import run_round
from pabal.store.accounts import accounts
from pabal.store.users import users
from tests.fixtures.audit import audited, audited_actions
from tests.fixtures.console import PASSWORD, Browser, PageResponse, make_user, sign_in, signed_in_browser
from tests.fixtures.console_upload import page_text
from tests.fixtures.service import account_id_of, count_rows
from tests.fixtures.virtual import Environment

TEAM = "/console/team"
INVITE = "/console/invite"
LIFETIME_S = INVITE_LIFETIME_MS // 1000


async def invite(browser: Browser, role: str = "sender") -> str:
    """Create an invitation and return its token."""
    shown = await browser.submit(f"{TEAM}/invite", role=role)
    found = re.search(r"/console/invite\?token=([0-9a-f]{64})", shown.text)
    assert found, shown.text
    return found[1]


async def accept(env: Environment, token: str, name: str = "newcomer", password: str = PASSWORD) -> PageResponse:
    fields = {"token": token, "name": name, "password": password, "repeated": password}
    return await Browser(env.service).submit(INVITE, **fields)


async def role_of(env: Environment, name: str) -> Role | None:
    found = await env.store.read(users.get_by_name, name)
    return found.user.role if found else None


async def test_invited_user_chooses_name_and_password_and_signs_in(env: Environment, owner: Browser) -> None:
    token = await invite(owner)
    form = await Browser(env.service).get(f"{INVITE}?token={token}")

    joined = await accept(env, token, "New.Comer@shop")
    greeting = await Browser(env.service).get(joined.location)
    newcomer = await sign_in(env, "new.comer@shop")

    assert "acme" in form.text
    assert "owner-of-acme" in form.text
    assert joined.status == 303
    assert 'value="new.comer@shop"' in greeting.text
    assert (await newcomer.get("/console/send")).status == 200
    assert (await newcomer.get(TEAM)).status == 403
    assert (await audited_actions(env, 5))[1:3] == ["user.join", "invite.create"]
    shown = page_text(await owner.get(TEAM))
    assert "new.comer@shop 발송 담당" in shown
    assert "사용하지 않은 초대" not in shown


async def test_token_of_an_invitation_is_stored_as_a_hash_only(env: Environment) -> None:
    token = await invite(await signed_in_browser(env))

    (row,) = await env.store.read(lambda tx: tx.fetch_all("select * from invites"))

    assert token not in repr(row)
    assert bytes.fromhex(token) not in row


@pytest.mark.parametrize(
    "what", ["used", "expired", "withdrawn", "demoted", "viewer", "removed", "disabled", "account", "unknown"]
)
async def test_invitation_that_is_void_lets_nobody_in(env: Environment, owner: Browser, what: str) -> None:
    other = await sign_in(env, await make_user(env, name="other"))
    token = await invite(owner, "viewer" if what == "viewer" else "owner")
    if what == "used":
        assert (await accept(env, token, "first")).status == 303
    elif what == "expired":
        env.world.move_clock(LIFETIME_S)
    elif what == "withdrawn":
        await other.submit(f"{TEAM}/withdraw", invite="1")
    elif what in ("demoted", "viewer"):
        role = "viewer" if what == "viewer" else "sender"
        await other.submit(f"{TEAM}/role", user="owner-of-acme", role=role)
    elif what == "removed":
        await other.submit(f"{TEAM}/remove", user="owner-of-acme")
    elif what == "disabled":
        await env.store.write(user_service.set_disabled, "owner-of-acme", True, env.world.now())
    elif what == "account":
        await env.store.write(accounts.set_disabled, "acme", env.world.now())
    else:
        token = "0" * 64

    shown = await Browser(env.service).get(f"{INVITE}?token={token}")
    refused = await accept(env, token)

    assert (shown.status, refused.status) == (409, 409)
    assert "초대가 만료되었거나 이미 사용되었습니다" in refused.text
    assert await role_of(env, "newcomer") is None


async def test_invitation_lasts_until_its_end_and_is_deleted_then(env: Environment, owner: Browser) -> None:
    first, _ = await invite(owner), await invite(owner)
    env.world.move_clock(LIFETIME_S - 60)

    last_moment = await accept(env, first)
    env.world.move_clock(60)
    await run_round(env.context)

    assert last_moment.status == 303
    assert await count_rows(env, "invites") == 0


@pytest.mark.parametrize(
    ("name", "password", "repeated", "problem"),
    [
        ("", PASSWORD, PASSWORD, "name"),
        ("with blank", PASSWORD, PASSWORD, "name"),
        ("owner-of-acme", PASSWORD, PASSWORD, "name"),
        ("newcomer", "short", "short", "password"),
        ("long-newcomer", "long-newcomer", "long-newcomer", "password"),
        ("newcomer", PASSWORD, f"{PASSWORD}!", "repeated"),
    ],
)
async def test_refused_name_or_password_does_not_use_the_invitation_up(
    env: Environment, name: str, password: str, repeated: str, problem: str
) -> None:
    token = await invite(await signed_in_browser(env))

    refused = await Browser(env.service).submit(
        INVITE, token=token, name=name, password=password, repeated=repeated
    )

    assert f'id="wrong-{problem}"' in refused.text
    assert f'name="name" value="{name}"' in refused.text
    assert password not in refused.text.replace(f'value="{name}"', "")
    assert (await accept(env, token)).status == 303


async def test_number_of_open_invitations_is_limited(env: Environment, owner: Browser) -> None:
    for _ in range(MAX_OPEN_INVITES):
        await invite(owner)

    refused = await owner.submit(f"{TEAM}/invite", role="sender")

    assert refused.status == 403
    assert await count_rows(env, "invites") == MAX_OPEN_INVITES


@pytest.mark.parametrize("role", ["operator", "king", ""])
async def test_role_that_no_user_of_an_account_has_is_refused(env: Environment, owner: Browser, role: str) -> None:
    sender = await make_user(env, Role.SENDER)

    invited = await owner.submit(f"{TEAM}/invite", role=role)
    changed = await owner.submit(f"{TEAM}/role", user=sender, role=role)

    assert (invited.status, changed.status) == (400, 400)
    assert await count_rows(env, "invites") == 0
    assert await role_of(env, sender) is Role.SENDER


async def test_changed_role_counts_at_once(env: Environment, sender: Browser, owner: Browser) -> None:
    before = await sender.get(TEAM)

    changed = await owner.submit(f"{TEAM}/role", user="sender-of-acme", role="owner")
    after = await sender.get(TEAM)

    assert (before.status, changed.status, after.status) == (403, 303, 200)
    assert await audited(env, 1) == [("user.role", "sender-of-acme owner")]


async def test_removed_user_is_signed_out_and_the_name_is_free(
    env: Environment, sender: Browser, owner: Browser
) -> None:
    await sender.submit("/console/send/form", kind="sms", content="쓰던 글")

    removed = await owner.submit(f"{TEAM}/remove", user="sender-of-acme")
    after = await sender.get("/console/send")
    again = await accept(env, await invite(owner), "sender-of-acme")
    renewed = await sign_in(env, "sender-of-acme")

    assert (removed.status, after.status, again.status) == (303, 303, 303)
    assert "쓰던 글" not in (await renewed.get("/console/send")).text
    assert "user.remove" in await audited_actions(env, 5)


@pytest.mark.parametrize("way", ["remove", "role"])
async def test_last_owner_who_can_sign_in_stays(env: Environment, owner: Browser, way: str) -> None:
    await make_user(env, account="other")
    await make_user(env, name="disabled")
    await env.store.write(user_service.set_disabled, "disabled", True, env.world.now())

    refused = await owner.submit(f"{TEAM}/{way}", user="owner-of-acme", role="viewer")
    await make_user(env, name="second")
    done = await owner.submit(f"{TEAM}/{way}", user="owner-of-acme", role="viewer")

    assert (refused.status, done.status) == (409, 303)
    assert "관리자가 한 명은 있어야 합니다" in refused.text
    assert await role_of(env, "owner-of-acme") is (None if way == "remove" else Role.VIEWER)


async def test_operator_invites_for_the_account_that_is_selected(env: Environment) -> None:
    await account_id_of(env)
    operator = await signed_in_browser(env, Role.OPERATOR)

    joined = await accept(env, await invite(operator, "owner"))
    found = await env.store.read(users.get_by_name, "newcomer")

    assert joined.status == 303
    assert found is not None
    assert (found.user.account, found.user.role) == ("acme", Role.OWNER)


async def test_owner_gives_a_colleague_a_new_password(env: Environment, sender: Browser, owner: Browser) -> None:
    stranger = await signed_in_browser(env, account="other")

    refused = await stranger.submit(f"{TEAM}/password", user="sender-of-acme")
    kept = await sender.get("/console/send")
    shown = await owner.submit(f"{TEAM}/password", user="sender-of-acme")
    found = re.search(r'id="secret"[^>]*>([^<]+)<', shown.text)
    assert found
    entered = await Browser(env.service).submit("/console/login", name="sender-of-acme", password=found[1])

    assert (refused.status, kept.status, entered.status) == (400, 200, 303)
    assert (await sender.get("/console/send")).status == 303, "signed out"


async def test_owner_lifts_the_delay_of_a_colleague(env: Environment, owner: Browser) -> None:
    await make_user(env, name="colleague")
    stranger = await signed_in_browser(env, account="other")
    before = await owner.get(TEAM)
    browser = Browser(env.service)
    for _ in range(FREE_ATTEMPTS_PER_NAME_AND_ADDRESS + 1):
        blocked = await browser.submit("/console/login", name="colleague", password="wrong horse battery")

    shown = await owner.get(TEAM)
    by_stranger = await stranger.submit(f"{TEAM}/unlock", user="colleague")
    still_blocked = await browser.submit("/console/login", name="colleague", password=PASSWORD)
    done = await owner.submit(f"{TEAM}/unlock", user="colleague")
    entered = await browser.submit("/console/login", name="colleague", password=PASSWORD)

    assert "/console/team/unlock" not in before.text
    assert "/console/team/unlock" in shown.text
    assert (blocked.status, by_stranger.status, still_blocked.status) == (429, 400, 429)
    assert (done.status, entered.status) == (303, 303)
    assert "user.unlock" in await audited_actions(env, 3)


async def test_full_names_are_shown_in_team_audit_log_and_menu(env: Environment, owner: Browser) -> None:
    fields = {"token": await invite(owner), "name": "jihyun", "full_name": " 김  지현 ", "repeated": PASSWORD}
    await Browser(env.service).submit(INVITE, **fields, password=PASSWORD)
    newcomer = await sign_in(env, "jihyun")

    team, log = await owner.get(TEAM), await owner.get("/console/audit")
    menu = await newcomer.get("/console")
    renamed = await newcomer.submit("/console/me/name", full_name="지현 (점장)")
    wrong = await newcomer.submit("/console/me/name", full_name="가" * 41)
    emptied = await newcomer.submit("/console/me/name", full_name="")

    assert "<strong>김 지현</strong> <small>jihyun</small>" in team.text
    assert "김 지현 <small>jihyun</small>" in log.text
    assert "김 지현 <small>발송 담당</small>" in menu.text
    assert (renamed.status, wrong.status, emptied.status) == (303, 400, 303)
    assert "이름은 40자까지 입력하세요." in wrong.text
    assert "jihyun <small>발송 담당</small>" in (await newcomer.get("/console")).text
    assert (await audited_actions(env, 2))[0] == "user.full_name"


async def test_audit_log_says_what_a_number_is_of(owner: Browser) -> None:
    await invite(owner)
    (invite_id,) = re.findall(r'name="invite" value="([0-9]+)"', (await owner.get(TEAM)).text)
    await owner.submit(f"{TEAM}/withdraw", invite=invite_id)

    assert f"초대 #{invite_id}" in (await owner.get("/console/audit")).text
