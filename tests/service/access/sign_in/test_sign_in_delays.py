"""Failed sign-ins delay further ones, except in browsers where the user has signed in before."""

from ipaddress import ip_address
from typing import Any

import pytest

from pabal.domain.base.codes import Code, Refused
from pabal.service.access.users import users
from pabal.service.access.users.sign_in_delays import (
    FREE_ATTEMPTS_PER_ADDRESS,
    FREE_ATTEMPTS_PER_NAME,
    FREE_ATTEMPTS_PER_NAME_AND_ADDRESS,
    MAX_DELAY_PER_NAME_MS,
    MAX_FAILURES_OF_DEVICE,
)
from pabal.store.engine.base import Tx
from pabal.store.users.sign_in_attempts import RESERVATION_MS
from tests.fixtures.audit import latest_entries
from tests.fixtures.password_hashes import quick_hash
from tests.fixtures.service import Start
from tests.fixtures.sign_in import HERE, THERE, WORD, enter, make
from tests.fixtures.virtual import Environment
from tests.fixtures.web import world_at_noon


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


async def test_right_password_waits_ever_longer_after_too_many_wrong_ones(start: Start) -> None:
    world = world_at_noon()
    env = await start(world=world)
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


async def test_guessing_is_throttled_by_name_and_by_address(env: Environment) -> None:
    await make(env)
    await guess_from_many_addresses(env, FREE_ATTEMPTS_PER_NAME)
    assert await wait_of(env, address=THERE) == 1

    for number in range(FREE_ATTEMPTS_PER_ADDRESS):
        await guess(env, 1, name=f"user{number}", address=ip_address(f"2001:db8::{number}"))
    await make(env, "lee")
    assert await wait_of(env, name="lee", address=ip_address("2001:db8::ffff")) == 1
    assert await wait_of(env, name="lee", address=ip_address("2001:db8:0:1::1")) == 0


async def test_right_password_works_on_a_known_device_whatever_others_try(env: Environment) -> None:
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


async def test_attacker_cannot_put_off_the_turn_of_a_new_browser(start: Start) -> None:
    world = world_at_noon()
    env = await start(world=world)
    await make(env)
    await guess_from_many_addresses(env, FREE_ATTEMPTS_PER_NAME)
    attackers = [ip_address(f"100.64.0.{number}") for number in range(70)]
    for address in attackers[60:]:  # the delay of the name becomes the longest
        world.move_clock(await wait_of(env, word="wrong", address=address))
        await guess(env, 1, address=address)

    wait_s = await wait_of(env, address=THERE)
    for address in attackers[:59]:  # they go on while the new browser waits, and try first when it may
        world.move_clock(1)
        assert await wait_of(env, word="wrong", address=address) > 0
    almost_s = await wait_of(env, address=THERE)
    world.move_clock(1)
    for address in attackers[:59]:
        await guess(env, 1, address=address)

    assert wait_s == MAX_DELAY_PER_NAME_MS / 1000
    assert almost_s == 1, "its time stays"
    assert await wait_of(env, address=ip_address("192.0.2.77")) > 0, "others wait for theirs"
    assert await wait_of(env, address=THERE) == 0


async def test_turn_is_used_once_and_passes(start: Start) -> None:
    world = world_at_noon()
    env = await start(world=world)
    await make(env)
    await guess_from_many_addresses(env, FREE_ATTEMPTS_PER_NAME)
    world.move_clock(await wait_of(env, address=THERE))
    await guess(env, 1)

    await guess(env, 1, address=THERE)
    again_s = await wait_of(env, address=THERE)
    world.move_clock(again_s + RESERVATION_MS / 1000)
    await guess(env, 1, address=ip_address("100.64.0.1"))

    assert again_s > 0, "the next attempt of the network waits again"
    assert await wait_of(env, address=THERE) > 0, "its time has passed"


async def test_device_with_many_failures_is_trusted_no_longer(env: Environment) -> None:
    await make(env)
    stolen = await enter(env)
    assert stolen is not None
    await guess(env, MAX_FAILURES_OF_DEVICE, device=stolen.device_token)
    await guess(env, FREE_ATTEMPTS_PER_NAME_AND_ADDRESS, device=stolen.device_token)

    assert await wait_of(env, device=stolen.device_token) == 1
    assert await wait_of(env, address=THERE) == 0


@pytest.mark.parametrize("what", ["password", "disable"])
async def test_new_password_or_disabling_ends_trust_in_devices(env: Environment, what: str) -> None:
    await make(env)
    signed = await enter(env)
    assert signed is not None
    now, hash = env.world.now(), quick_hash(WORD)
    if what == "password":
        await env.store.write(users.change_password, "kim", hash, now)
    else:
        await env.store.write(users.set_disabled, "kim", True, now)
        await env.store.write(users.set_disabled, "kim", False, now)

    await guess(env, FREE_ATTEMPTS_PER_NAME_AND_ADDRESS)

    assert await wait_of(env, device=signed.device_token) > 0


async def test_device_of_one_user_is_not_trusted_for_another(env: Environment) -> None:
    await make(env)
    await make(env, "thief")
    thief = await enter(env, "thief")
    assert thief is not None

    await guess(env, FREE_ATTEMPTS_PER_NAME_AND_ADDRESS, device=thief.device_token)

    assert await wait_of(env, device=thief.device_token) == 1


@pytest.mark.parametrize("what", ["password", "unlock"])
async def test_new_password_or_unlocking_lifts_the_delay(env: Environment, what: str) -> None:
    await make(env)
    await guess(env, FREE_ATTEMPTS_PER_NAME_AND_ADDRESS)
    await guess_from_many_addresses(env, FREE_ATTEMPTS_PER_NAME - FREE_ATTEMPTS_PER_NAME_AND_ADDRESS)
    assert await wait_of(env) > 0

    now = env.world.now()
    if what == "unlock":
        assert await env.store.write(users.unlock, " KIM ", now)
        assert not await env.store.write(users.unlock, "kim", now)
    else:
        hash = quick_hash(WORD)
        await env.store.write(users.change_password, "kim", hash, now)

    assert await wait_of(env) == 0
    assert await wait_of(env, address=THERE) == 0
    assert (await sign_in_entries(env))[-1] == ("user.unlock", "kim")


async def test_failed_sign_ins_are_recorded_but_do_not_fill_the_audit_log(env: Environment) -> None:
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


async def test_names_that_no_user_has_are_recorded_nowhere(
    env: Environment, caplog: pytest.LogCaptureFixture
) -> None:
    typed = "my-secret-password"

    def everything(tx: Tx) -> str:
        tables = ("audit_log", "sign_in_attempts", "sessions", "users")
        return repr([tx.fetch_all(f"select * from {table}") for table in tables])

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


async def test_successful_sign_ins_are_never_throttled(env: Environment) -> None:
    await make(env)
    for _ in range(FREE_ATTEMPTS_PER_NAME_AND_ADDRESS + 1):
        assert await enter(env) is not None
