"""Equal pictures of many sends: stored once, erased with the last of them, and never beside an older worker."""

import asyncio

from pabal.domain.base import identifiers
from pabal.domain.content.image import Image
from pabal.domain.sends.message import Product
from pabal.service.sending.accept import accept
from pabal.service.upkeep import privacy
from pabal.service.upkeep.housekeeping import run_round
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.messages import images
from pabal.store.queue import slots
from tests.fixtures.service import PHONE, Start, account_id_of, count_rows, sms
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

PICTURE = Image("image/jpeg", "a.jpg", b"\xff\xd8\xff" + bytes(50_000))
OTHER = "01077770002"
DECEMBER = 1_796_083_200_000


async def send(env: Environment, *phones: str, account: str = "acme") -> bytes:
    sending = sms(*phones, product=Product.MMS, images=(PICTURE,))
    return await accept(env.context, await account_id_of(env, account), sending)


async def count_bodies(env: Environment) -> int:
    return (await env.store.read(_read_bodies)).count(len(PICTURE.body))


def _read_bodies(tx: Tx) -> list[int]:
    return [row[0] for row in tx.fetch_all("select length(body) from images where length(body) > 0")]


async def test_picture_of_a_campaign_is_stored_once_in_each_slot(env: Environment) -> None:
    ids = await asyncio.gather(*(send(env, f"010{number:08}") for number in range(60)))

    assert await count_bodies(env) == len({identifiers.slot_of(one) for one in ids})
    assert {await env.store.read(images.get, one) for one in ids} == {(PICTURE,)}


async def test_accounts_do_not_share_pictures(env: Environment) -> None:
    ids = [await send(env, account=name) for name in ("acme", "other", "acme", "other")]

    places = {(identifiers.slot_of(one), number % 2) for number, one in enumerate(ids)}
    assert await count_bodies(env) == len(places)


async def test_picture_is_stored_again_in_the_next_month(start: Start) -> None:
    env = await start(world=VirtualWorld(1, DECEMBER - 10_000))
    ids = [await send(env) for _ in range(5)]
    await env.wait(20)
    ids += [await send(env) for _ in range(5)]

    places = {(identifiers.slot_of(one), identifiers.requested_at(one) < DECEMBER) for one in ids}
    assert len({is_before for _, is_before in places}) == 2
    assert await count_bodies(env) == len(places)
    assert {await env.store.read(images.get, one) for one in ids} == {(PICTURE,)}


async def test_erased_number_leaves_the_picture_of_others(env: Environment) -> None:
    mine, others, both = [await send(env, *each) for each in ((PHONE,), (OTHER,), (PHONE, OTHER))]
    await env.wait(20)

    for phone, left in ((PHONE, [(), (PICTURE,), (PICTURE,)]), (OTHER, [(), (), (PICTURE,)])):
        owner = await account_id_of(env)
        await privacy.erase(
            env.context, owner, phone, AuditEntry(NOON, None, "command line", owner, privacy.ERASE_ACTION)
        )
        for _ in range(3):
            await run_round(env.context)
        assert [await env.store.read(images.get, one) for one in (mine, others, both)] == left
    assert await count_bodies(env) == 1
    assert await count_rows(env, "images") == 2


def _register_older(tx: Tx) -> None:
    """Register a worker as the version before does."""
    tx.execute(
        "insert into workers (id, name, heartbeat, joined_at, clock_at) values (?, 'older', 0, ?, ?)",
        (b"1", NOON, NOON),
    )


async def test_pictures_are_not_shared_while_an_older_worker_delivers(env: Environment) -> None:
    await env.store.write(_register_older)
    beside = [await send(env) for _ in range(3)]
    assert await count_bodies(env) == await count_rows(env, "images") == 3

    await env.store.write(slots.unregister, b"1")
    await env.store.write(slots.register, b"2", "newer", NOON)
    after = [await send(env) for _ in range(3)]

    assert await count_bodies(env) == 3 + len({identifiers.slot_of(one) for one in after})
    assert {await env.store.read(images.get, one) for one in beside + after} == {(PICTURE,)}
