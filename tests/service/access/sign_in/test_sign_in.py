"""Sign-in to the console: the same refusal for everyone, and sessions limited in time."""

import pytest

from pabal.domain.base.codes import Code, Refused
from pabal.domain.people.user import Role
from pabal.service.access.users import passwords, sign_in, users
from pabal.service.access.users.sign_in import IDLE_TIMEOUT_MS, SESSION_LIFETIME_MS
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.events import webhooks
from tests.fixtures.audit import latest_entries
from tests.fixtures.endpoints import add_webhook
from tests.fixtures.password_hashes import quick_hash
from tests.fixtures.refusals import refused
from tests.fixtures.service import Start
from tests.fixtures.sign_in import WORD, enter, make
from tests.fixtures.virtual import Environment, VirtualWorld
from tests.fixtures.web import world_at_noon

SECOND = 1000


async def test_sign_in_with_the_right_password_lasts_until_sign_out(env: Environment) -> None:
    await make(env)

    signed = await enter(env, " KIM ")
    assert signed is not None
    session = await sign_in.find_session(env.context, signed.token)
    assert session is not None
    await sign_in.sign_out(env.context, signed.token, session)
    after = await sign_in.find_session(env.context, signed.token)

    assert (session.user.name, session.account) == ("kim", "acme")
    assert after is None
    done = [audit_entry.action for audit_entry in await env.store.read(latest_entries, session.account_id, 10)]
    assert done == ["session.end", "session.begin", "user.create"]


async def test_session_knows_the_paused_webhooks_of_its_account(env: Environment) -> None:
    await make(env)
    signed = await enter(env)
    assert signed is not None
    ids = [await add_webhook(env, account) for account in ("acme", "twin", "acme", "acme")]
    seen = []
    for paused in (None, ids[1], ids[2], ids[0]):
        if paused is not None:
            await env.store.write(webhooks.pause, paused, env.world.now())
        session = await sign_in.find_session(env.context, signed.token)
        assert session is not None
        seen.append((session.stopped_webhooks, session.stopped_webhook))

    assert seen == [(0, None), (0, None), (1, ids[2]), (2, ids[0])]


async def test_sign_ins_have_separate_secrets_stored_only_as_hashes(
    env: Environment,
) -> None:
    await make(env)
    first, second = await enter(env), await enter(env)
    assert first is not None
    assert second is not None

    def everything(tx: Tx) -> str:
        return repr([tx.fetch_all("select * from sessions"), tx.fetch_all("select * from users")])

    kept = await env.store.read(everything)
    sessions = [await sign_in.find_session(env.context, each.token) for each in (first, second)]

    assert first.token != second.token
    assert len({each.csrf for each in sessions if each}) == 2
    assert first.token not in kept
    assert WORD not in kept
    assert "$argon2id$" in kept


@pytest.mark.parametrize("who", ["wrong password", "unknown", "no name at all", "disabled", "account disabled"])
async def test_every_refused_sign_in_gets_the_same_answer(env: Environment, who: str) -> None:
    await make(env)
    if who == "disabled":
        await env.store.write(users.set_disabled, "kim", True, env.world.now())
    if who == "account disabled":
        await env.store.write(accounts.set_disabled, "acme", env.world.now())
    name = {"unknown": "lee", "no name at all": "<b>"}.get(who, "kim")

    assert await enter(env, name, "wrong" if who == "wrong password" else WORD) is None


def test_password_hash_is_checked_for_unknown_users_too() -> None:
    assert not passwords.verify(None, "")
    assert not passwords.verify(None, WORD)
    assert (
        passwords._unmatchable_hash().split("$")[1:4]
        == passwords.hash_password(WORD, VirtualWorld()).split("$")[1:4]
    )


async def test_session_ends_after_idle_timeout_and_after_its_lifetime(start: Start) -> None:
    world = world_at_noon()
    env = await start(world=world)
    await make(env)
    idle, busy = await enter(env), await enter(env)
    assert idle is not None
    assert busy is not None

    seen = []
    for _ in range(SESSION_LIFETIME_MS // (IDLE_TIMEOUT_MS // 2)):
        world.move_clock(IDLE_TIMEOUT_MS / 2 / SECOND)
        looked = await sign_in.find_session(env.context, idle.token, is_activity=False)
        seen.append((looked is not None, await sign_in.find_session(env.context, busy.token) is not None))

    assert seen == [(True, True)] + [(False, True)] * (len(seen) - 2) + [(False, False)]


@pytest.mark.parametrize("what", ["disable", "password", "account"])
async def test_session_ends_at_once_when_user_is_disabled_or_password_changes(env: Environment, what: str) -> None:
    await make(env)
    signed = await enter(env)
    assert signed is not None
    now = env.world.now()

    if what == "disable":
        await env.store.write(users.set_disabled, "kim", True, now)
    elif what == "password":
        await env.store.write(users.change_password, "kim", quick_hash("another word"), now)
    else:
        await env.store.write(accounts.set_disabled, "acme", now)

    assert await sign_in.find_session(env.context, signed.token) is None


async def test_operator_can_view_any_existing_account(env: Environment) -> None:
    await make(env, "op", None, Role.OPERATOR)
    other = await env.store.write(accounts.ensure_account, "other", env.world.now())
    signed = await enter(env, "op")
    assert signed is not None
    session = await sign_in.find_session(env.context, signed.token)
    assert session is not None

    assert not await sign_in.switch_account(env.context, signed.token, session, 999)
    assert await sign_in.switch_account(env.context, signed.token, session, other)

    looking = await sign_in.find_session(env.context, signed.token)
    assert looking is not None
    assert looking.account == "other"


async def test_account_user_has_an_account_and_operator_has_none(env: Environment) -> None:
    for account, role in ((None, Role.OWNER), ("acme", Role.OPERATOR)):
        with pytest.raises(Refused):
            await make(env, account=account, role=role)
    await make(env)
    with refused(Code.DUPLICATE):
        await make(env, account="other")

    assert [each.name for each in await env.store.read(accounts.list_accounts)] == ["acme"]
