"""The last use of a key is recorded within half a minute, without a write for each call."""

from pabal.service.delayed_writes import WRITE_INTERVAL_S
from pabal.store.accounts import accounts
from tests.fixtures.virtual import Environment

HALF_S = WRITE_INTERVAL_S / 2


async def last_use(env: Environment) -> int | None:
    (key,) = await env.store.read(accounts.list_keys)
    return key.used_at


async def test_last_use_is_recorded_soon(env: Environment) -> None:
    call = await env.caller()
    before = await last_use(env)
    await call("sender/list")
    await env.wait(HALF_S)
    await call("sender/list")
    second_at = env.world.now()
    await env.wait(HALF_S - 1)
    collected = await last_use(env)
    await env.wait(2)

    assert (before, collected) == (None, None)
    assert await last_use(env) == second_at


async def test_refused_call_is_no_use(env: Environment) -> None:
    call = await env.caller(scopes=["send"])
    await call("sender/list")
    await env.wait(WRITE_INTERVAL_S + 1)

    assert await last_use(env) is None
