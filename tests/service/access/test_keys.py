"""API keys: seen once, kept as a hash, recognised quickly, and gone within a second of being revoked."""

import re

import pytest

from pabal.domain.codes import Code, Refused
from pabal.domain.dates import SECOND
from pabal.service.access import keys
from pabal.service.access.keys import Keyring, hash_of
from pabal.store import accounts
from pabal.store.engine.base import Tx
from tests.fixtures.service import Play
from tests.fixtures.virtual import NOON, Town


async def issue(town: Town, **options: object) -> str:
    options = {"rate": 5, **options}
    return await town.store.write(keys.issue, town.world, "acme", "first", **options)  # type: ignore[arg-type]


async def refusal(ring: Keyring, key: str | None) -> Code:
    with pytest.raises(Refused) as refused:
        await ring.recognise(key)
    return refused.value.code


def test_a_key_is_recognised_with_all_that_it_may_do(play: Play) -> None:
    async def scene(town: Town) -> None:
        key = await issue(town, scopes=("send", "read"), allow=("10.0.0.0/8",), expires_at=NOON + SECOND)

        known = await Keyring(town.store, town.world).recognise(key)

        assert (known.account, known.name, known.rate) == ("acme", "first", 5)
        assert known.scopes == {"send", "read"}
        assert [str(network) for network in known.allow] == ["10.0.0.0/8"]

    play(scene)


def test_by_default_a_key_may_do_everything_from_everywhere_for_good(play: Play) -> None:
    async def scene(town: Town) -> None:
        known = await Keyring(town.store, town.world).recognise(await issue(town))

        assert known.scopes == {"send", "read", "manage"}
        assert (known.allow, known.expires_at) == ((), None)

    play(scene)


def test_only_the_hash_of_a_key_is_kept(play: Play) -> None:
    async def scene(town: Town) -> None:
        key = await issue(town)

        def everything(tx: Tx) -> str:
            return repr(tx.rows("select * from keys"))

        assert re.fullmatch(r"pb_[0-9A-Za-z]{40}", key)
        kept = await town.store.read(everything)
        assert key not in kept
        assert key.removeprefix("pb_") not in kept
        assert len(hash_of(key)) == 32

    play(scene)


def test_every_key_is_another_one(play: Play) -> None:
    async def scene(town: Town) -> None:
        assert len({await issue(town) for _ in range(50)}) == 50

    play(scene)


@pytest.mark.parametrize("key", [None, "", "pb_", "pb_" + "0" * 40, "\ud800", "키"])
def test_what_is_no_key_is_unauthorized(play: Play, key: str | None) -> None:
    async def scene(town: Town) -> None:
        await issue(town)

        assert await refusal(Keyring(town.store, town.world), key) is Code.UNAUTHORIZED

    play(scene)


def test_a_key_is_good_until_the_moment_it_expires(play: Play) -> None:
    async def scene(town: Town) -> None:
        ring = Keyring(town.store, town.world)
        key = await issue(town, expires_at=NOON + 10 * SECOND)
        await town.wait(9.5)
        await ring.recognise(key)

        await town.wait(0.5)

        assert await refusal(ring, key) is Code.KEY_EXPIRED

    play(scene)


def test_a_revoked_key_works_no_more_within_a_second(play: Play) -> None:
    async def scene(town: Town) -> None:
        ring = Keyring(town.store, town.world)
        key = await issue(town)
        known = await ring.recognise(key)
        await town.store.write(accounts.revoke_key, known.id, town.world.now())

        await town.wait(1)

        assert await refusal(ring, key) is Code.UNAUTHORIZED

    play(scene)


def test_the_keys_of_a_disabled_account_work_no_more_within_a_second_and_again_when_enabled(play: Play) -> None:
    async def scene(town: Town) -> None:
        ring = Keyring(town.store, town.world)
        key = await issue(town)
        await ring.recognise(key)
        await town.store.write(accounts.set_disabled, "acme", town.world.now())
        await town.wait(1)
        assert await refusal(ring, key) is Code.UNAUTHORIZED

        await town.store.write(accounts.set_disabled, "acme", None)
        await town.wait(1)

        assert (await ring.recognise(key)).account == "acme"

    play(scene)


def test_a_key_made_after_it_was_refused_works_at_once(play: Play) -> None:
    async def scene(town: Town) -> None:
        ring = Keyring(town.store, town.world)
        key = await issue(town)
        await town.store.write(accounts.set_disabled, "acme", town.world.now())
        assert await refusal(ring, "pb_" + "0" * 40) is Code.UNAUTHORIZED
        await town.store.write(accounts.set_disabled, "acme", None)

        assert await ring.recognise(key)

    play(scene)


def test_two_live_keys_of_an_account_allow_rotation(play: Play) -> None:
    async def scene(town: Town) -> None:
        ring = Keyring(town.store, town.world)
        old, new = await issue(town), await issue(town)
        known = await ring.recognise(old)

        await town.store.write(accounts.revoke_key, known.id, town.world.now())
        await town.wait(1)

        assert await refusal(ring, old) is Code.UNAUTHORIZED
        assert (await ring.recognise(new)).account_id == known.account_id

    play(scene)
