"""API keys: shown once, stored as a hash, recognized quickly, and invalid within a second of revocation."""

import re

import pytest

from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import SECOND
from pabal.service.access.accounts import keys
from pabal.service.access.accounts.keys import KeyCache, NewKey, hash_key
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from tests.fixtures.virtual import NOON, Environment


async def issue(env: Environment, **options: object) -> str:
    options = {"rate": 5, **options}
    return await env.store.write(keys.issue, env.world, "acme", NewKey("first", **options))  # type: ignore[arg-type]


async def refusal(ring: KeyCache, key: str | None) -> Code:
    with pytest.raises(Refused) as refused:
        await ring.authenticate(key)
    return refused.value.code


async def test_key_is_recognised_with_its_permissions(env: Environment) -> None:
    key = await issue(env, scopes=("send", "read"), allow=("10.0.0.0/8",), expires_at=NOON + SECOND)

    known = await KeyCache(env.context.setup.changes).authenticate(key)

    assert (known.account, known.name, known.rate) == ("acme", "first", 5)
    assert known.scopes == {"send", "read"}
    assert [str(network) for network in known.allow] == ["10.0.0.0/8"]


async def test_key_has_no_restrictions_by_default(env: Environment) -> None:
    known = await KeyCache(env.context.setup.changes).authenticate(await issue(env))

    assert known.scopes == {"send", "read", "manage"}
    assert (known.allow, known.expires_at) == ((), None)


async def test_only_the_hash_of_a_key_is_stored(env: Environment) -> None:
    key = await issue(env)

    def everything(tx: Tx) -> str:
        return repr(tx.fetch_all("select * from keys"))

    assert re.fullmatch(r"pb_[0-9A-Za-z]{40}", key)
    kept = await env.store.read(everything)
    assert key not in kept
    assert key.removeprefix("pb_") not in kept
    assert len(hash_key(key)) == 32


async def test_every_new_key_is_different(env: Environment) -> None:
    assert len({await issue(env) for _ in range(50)}) == 50


async def test_revoked_key_stops_working_at_once(env: Environment) -> None:
    ring = KeyCache(env.context.setup.changes)
    key = await issue(env)
    known = await ring.authenticate(key)

    await env.store.write(accounts.revoke_key, known.id, env.world.now())

    assert await refusal(ring, key) is Code.UNAUTHORIZED


async def test_key_created_after_a_refusal_works_at_once(env: Environment) -> None:
    ring = KeyCache(env.context.setup.changes)
    key = await issue(env)
    await env.store.write(accounts.set_disabled, "acme", env.world.now())
    assert await refusal(ring, "pb_" + "0" * 40) is Code.UNAUTHORIZED
    await env.store.write(accounts.set_disabled, "acme", None)

    assert await ring.authenticate(key)
