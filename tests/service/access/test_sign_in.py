"""Sign-in to the console: throttled, the same refusal for everyone, and limited in time."""

from ipaddress import ip_address
from typing import Any

import pytest

from pabal.domain.codes import Code, Refused
from pabal.domain.user import Role
from pabal.service.access import passwords, sign_in, users
from pabal.service.access.passwords import WorkerThreads
from pabal.service.access.sign_in import (
    ATTEMPT_WINDOW_MS,
    IDLE_TIMEOUT_MS,
    MAX_ATTEMPTS_PER_NAME,
    MAX_ATTEMPTS_PER_NAME_AND_ADDRESS,
    SESSION_LIFETIME_MS,
    NewSession,
)
from pabal.store import accounts
from pabal.store.engine.base import Tx
from tests.fixtures.audit import latest_entries
from tests.fixtures.service import RunScenario
from tests.fixtures.virtual import Environment, VirtualWorld
from tests.fixtures.web import world_at_noon

WORD = "correct horse battery"
HERE, THERE = ip_address("192.0.2.1"), ip_address("198.51.100.7")
SECOND = 1000


async def make(env: Environment, name: str = "kim", account: str | None = "acme", role: Role = Role.OWNER) -> None:
    hash = passwords.hash_password(WORD, env.world)
    await env.store.write(users.create, account, name, role, hash, env.world.now())


async def enter(env: Environment, name: str = "kim", word: str = WORD, address: Any = HERE) -> NewSession | None:
    return await sign_in.sign_in(env.context, WorkerThreads(env.world), name, word, address)


async def is_locked(env: Environment, **given: Any) -> bool:
    """Say whether the right password is throttled; if so, check that the delay is given."""
    try:
        await enter(env, **given)
    except Refused as refused:
        wait_s = refused.retry_after_s or 0
        return refused.code is Code.RATE_LIMITED and 0 < wait_s <= ATTEMPT_WINDOW_MS / SECOND
    return False


def test_sign_in_with_the_right_password_lasts_until_sign_out(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
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

    run_scenario(scenario)


def test_sign_ins_have_separate_secrets_stored_only_as_hashes(
    run_scenario: RunScenario,
) -> None:
    async def scenario(env: Environment) -> None:
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

    run_scenario(scenario)


@pytest.mark.parametrize("who", ["wrong password", "unknown", "no name at all", "disabled", "account disabled"])
def test_every_refused_sign_in_gets_the_same_answer(run_scenario: RunScenario, who: str) -> None:
    async def scenario(env: Environment) -> None:
        await make(env)
        if who == "disabled":
            await env.store.write(users.set_disabled, "kim", True, env.world.now())
        if who == "account disabled":
            await env.store.write(accounts.set_disabled, "acme", env.world.now())
        name = {"unknown": "lee", "no name at all": "<b>"}.get(who, "kim")

        assert await enter(env, name, "wrong" if who == "wrong password" else WORD) is None

    run_scenario(scenario)


def test_password_hash_is_checked_for_unknown_users_too() -> None:
    assert not passwords.verify(None, "")
    assert not passwords.verify(None, WORD)
    assert (
        passwords._unmatchable_hash().split("$")[1:4]
        == passwords.hash_password(WORD, VirtualWorld()).split("$")[1:4]
    )


def test_right_password_is_throttled_after_too_many_wrong_ones(run_scenario: RunScenario) -> None:
    world = world_at_noon()

    async def scenario(env: Environment) -> None:
        await make(env)
        for _ in range(MAX_ATTEMPTS_PER_NAME_AND_ADDRESS):
            assert await enter(env, word="wrong") is None

        assert await is_locked(env)
        assert not await is_locked(env, address=THERE), "the owner is not locked out by someone elsewhere"
        world.move_clock(ATTEMPT_WINDOW_MS / SECOND)
        assert await enter(env) is not None

    run_scenario(scenario, world=world)


@pytest.mark.slow
def test_guessing_is_throttled_by_name_and_by_address(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        await make(env)
        for number in range(MAX_ATTEMPTS_PER_NAME):
            assert await enter(env, word="wrong", address=ip_address(f"203.0.113.{number}")) is None
        assert await is_locked(env, address=THERE)

        for number in range(MAX_ATTEMPTS_PER_NAME):
            assert await enter(env, f"user{number}", "wrong", ip_address("2001:db8::1")) is None
        assert await is_locked(env, name="lee", address=ip_address("2001:db8::ffff"))

    run_scenario(scenario)


def test_successful_sign_ins_are_never_throttled(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        await make(env)
        for _ in range(MAX_ATTEMPTS_PER_NAME_AND_ADDRESS + 1):
            assert await enter(env) is not None

    run_scenario(scenario)


def test_session_ends_after_idle_timeout_and_after_its_lifetime(
    run_scenario: RunScenario,
) -> None:
    world = world_at_noon()

    async def scenario(env: Environment) -> None:
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

    run_scenario(scenario, world=world)


@pytest.mark.parametrize("what", ["disable", "password", "account"])
def test_session_ends_at_once_when_user_is_disabled_or_password_changes(
    run_scenario: RunScenario, what: str
) -> None:
    async def scenario(env: Environment) -> None:
        await make(env)
        signed = await enter(env)
        assert signed is not None
        now = env.world.now()

        if what == "disable":
            await env.store.write(users.set_disabled, "kim", True, now)
        elif what == "password":
            await env.store.write(
                users.change_password, "kim", passwords.hash_password("another word", env.world), now
            )
        else:
            await env.store.write(accounts.set_disabled, "acme", now)

        assert await sign_in.find_session(env.context, signed.token) is None

    run_scenario(scenario)


def test_operator_can_view_any_existing_account(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
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

    run_scenario(scenario)


def test_account_user_has_an_account_and_operator_has_none(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        for account, role in ((None, Role.OWNER), ("acme", Role.OPERATOR)):
            with pytest.raises(Refused):
                await make(env, account=account, role=role)
        await make(env)
        with pytest.raises(Refused) as taken:
            await make(env, account="other")

        assert taken.value.code is Code.DUPLICATE
        assert [each.name for each in await env.store.read(accounts.list_accounts)] == ["acme"]

    run_scenario(scenario)
