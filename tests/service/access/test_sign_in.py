"""Sign-in to the console: throttled, the same refusal for everyone, and limited in time."""

from ipaddress import ip_address
from typing import Any

import pytest

from pabal.domain.codes import Code, Refused
from pabal.domain.user import Role
from pabal.service.access import passwords, sign_in, users
from pabal.service.access.passwords import WorkerThreads
from pabal.service.access.sign_in import (
    IDLE_TIMEOUT_MS,
    SESSION_LIFETIME_MS,
    NewSession,
)
from pabal.service.access.throttle import (
    FREE_ATTEMPTS_PER_ADDRESS,
    FREE_ATTEMPTS_PER_NAME,
    FREE_ATTEMPTS_PER_NAME_AND_ADDRESS,
    MAX_FAILURES_OF_DEVICE,
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


async def enter(
    env: Environment, name: str = "kim", word: str = WORD, address: Any = HERE, device: str | None = None
) -> NewSession | None:
    return await sign_in.sign_in(env.context, WorkerThreads(env.world), name, word, address, device)


async def wait_of(env: Environment, **given: Any) -> float:
    """Return how long the right password has to wait, 0 if it is accepted."""
    try:
        signed = await enter(env, **given)
    except Refused as refused:
        return (refused.retry_after_s or 0) if refused.code is Code.RATE_LIMITED else -1
    return 0 if signed else -1


async def guess(env: Environment, count: int, **given: Any) -> None:
    """Make failed attempts, each as soon as it may be made."""
    for _ in range(count):
        assert await enter(env, **{"word": "wrong", **given}) is None


async def guess_from_many_addresses(env: Environment, count: int, name: str = "kim") -> None:
    for number in range(count):
        await guess(env, 1, name=name, address=ip_address(f"203.0.113.{number}"))


async def sign_in_entries(env: Environment) -> list[tuple[str, str]]:
    """Return the action and target of what the audit log has about failed sign-ins, oldest first."""
    found = await env.store.read(latest_entries, None, 100)
    about = ("session.failed", "session.throttled", "user.unlock")
    return [(each.action, each.target) for each in reversed(found) if each.action in about]


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


def test_right_password_waits_ever_longer_after_too_many_wrong_ones(run_scenario: RunScenario) -> None:
    world = world_at_noon()

    async def scenario(env: Environment) -> None:
        await make(env)
        await guess(env, FREE_ATTEMPTS_PER_NAME_AND_ADDRESS)

        waits = []
        for _ in range(12):
            waits.append(await wait_of(env))
            world.move_clock(waits[-1])
            await guess(env, 1)

        assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
        assert await wait_of(env, address=THERE) == 0, "nobody else has to wait"
        world.move_clock(900)
        assert await enter(env) is not None

    run_scenario(scenario, world=world)


def test_guessing_is_throttled_by_name_and_by_address(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        await make(env)
        await guess_from_many_addresses(env, FREE_ATTEMPTS_PER_NAME)
        assert await wait_of(env, address=THERE) == 1

        for number in range(FREE_ATTEMPTS_PER_ADDRESS):
            await guess(env, 1, name=f"user{number}", address=ip_address(f"2001:db8::{number}"))
        await make(env, "lee")
        assert await wait_of(env, name="lee", address=ip_address("2001:db8::ffff")) == 1
        assert await wait_of(env, name="lee", address=ip_address("2001:db8:0:1::1")) == 0

    run_scenario(scenario)


def test_right_password_works_on_a_known_device_whatever_others_try(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        await make(env)
        known = await enter(env)
        assert known is not None
        await guess(env, FREE_ATTEMPTS_PER_NAME_AND_ADDRESS)
        await guess_from_many_addresses(env, FREE_ATTEMPTS_PER_NAME - FREE_ATTEMPTS_PER_NAME_AND_ADDRESS)
        assert await wait_of(env) > 0
        assert await wait_of(env, address=THERE) > 0

        signed = await enter(env, device=known.device_token)
        assert signed is not None
        elsewhere = await enter(env, address=THERE, device=signed.device_token)

        assert elsewhere is not None
        assert await wait_of(env, device=known.device_token) > 0, "a device token is used once"

    run_scenario(scenario)


def test_device_with_many_failures_is_trusted_no_longer(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        await make(env)
        stolen = await enter(env)
        assert stolen is not None
        await guess(env, MAX_FAILURES_OF_DEVICE, device=stolen.device_token)
        await guess(env, FREE_ATTEMPTS_PER_NAME_AND_ADDRESS, device=stolen.device_token)

        assert await wait_of(env, device=stolen.device_token) == 1
        assert await wait_of(env, address=THERE) == 0

    run_scenario(scenario)


@pytest.mark.parametrize("what", ["password", "disable"])
def test_new_password_or_disabling_ends_trust_in_devices(run_scenario: RunScenario, what: str) -> None:
    async def scenario(env: Environment) -> None:
        await make(env)
        signed = await enter(env)
        assert signed is not None
        now, hash = env.world.now(), passwords.hash_password(WORD, env.world)
        if what == "password":
            await env.store.write(users.change_password, "kim", hash, now)
        else:
            await env.store.write(users.set_disabled, "kim", True, now)
            await env.store.write(users.set_disabled, "kim", False, now)

        await guess(env, FREE_ATTEMPTS_PER_NAME_AND_ADDRESS)

        assert await wait_of(env, device=signed.device_token) > 0

    run_scenario(scenario)


def test_device_of_one_user_is_not_trusted_for_another(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        await make(env)
        await make(env, "thief")
        thief = await enter(env, "thief")
        assert thief is not None

        await guess(env, FREE_ATTEMPTS_PER_NAME_AND_ADDRESS, device=thief.device_token)

        assert await wait_of(env, device=thief.device_token) == 1

    run_scenario(scenario)


@pytest.mark.parametrize("what", ["password", "unlock"])
def test_new_password_or_unlocking_lifts_the_delay(run_scenario: RunScenario, what: str) -> None:
    async def scenario(env: Environment) -> None:
        await make(env)
        await guess(env, FREE_ATTEMPTS_PER_NAME_AND_ADDRESS)
        await guess_from_many_addresses(env, FREE_ATTEMPTS_PER_NAME - FREE_ATTEMPTS_PER_NAME_AND_ADDRESS)
        assert await wait_of(env) > 0

        now = env.world.now()
        if what == "unlock":
            assert await env.store.write(users.unlock, " KIM ", now)
            assert not await env.store.write(users.unlock, "kim", now)
        else:
            hash = passwords.hash_password(WORD, env.world)
            await env.store.write(users.change_password, "kim", hash, now)

        assert await wait_of(env) == 0
        assert await wait_of(env, address=THERE) == 0
        assert (await sign_in_entries(env))[-1] == ("user.unlock", "kim")

    run_scenario(scenario)


def test_failed_sign_ins_are_recorded_but_do_not_fill_the_audit_log(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        await make(env)
        await guess_from_many_addresses(env, FREE_ATTEMPTS_PER_NAME)
        for _ in range(100):
            assert await wait_of(env, address=THERE) == 1

        assert await sign_in_entries(env) == [
            ("session.failed", "kim 203.0.113.0 (1)"),
            ("session.failed", "kim 203.0.113.1 (2)"),
            ("session.failed", "kim 203.0.113.4 (5)"),
            ("session.failed", "kim 203.0.113.9 (10)"),
            ("session.failed", "kim 203.0.113.19 (20)"),
            ("session.throttled", "kim 203.0.113.19 (1)"),
        ]
        counted = [env.context.metrics.sign_ins.count(result) for result in ("success", "failure", "throttled")]
        assert counted == [0, FREE_ATTEMPTS_PER_NAME, 100]

    run_scenario(scenario)


def test_names_that_no_user_has_are_recorded_nowhere(
    run_scenario: RunScenario, caplog: pytest.LogCaptureFixture
) -> None:
    typed = "my-secret-password"

    def everything(tx: Tx) -> str:
        tables = ("audit_log", "sign_in_attempts", "sessions", "users")
        return repr([tx.fetch_all(f"select * from {table}") for table in tables])

    async def scenario(env: Environment) -> None:
        await make(env)
        for number in range(FREE_ATTEMPTS_PER_ADDRESS):
            await guess(env, 1, name=f"{typed}{number}", word=WORD)
        await guess(env, 1, word=typed, address=THERE)

        assert typed not in await env.store.read(everything)
        assert typed not in caplog.text
        assert "sign-in failed" in caplog.text
        assert await sign_in_entries(env) == [
            *(("session.failed", f"{HERE} ({count})") for count in (1, 2, 5, 10, 20, 50)),
            ("session.throttled", f"{HERE} (1)"),
            ("session.failed", f"kim {THERE} (1)"),
        ]

    run_scenario(scenario)


def test_successful_sign_ins_are_never_throttled(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        await make(env)
        for _ in range(FREE_ATTEMPTS_PER_NAME_AND_ADDRESS + 1):
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
