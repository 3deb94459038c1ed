"""Events are numbered soon after they are recorded, by the holder of their slot."""

from collections import Counter
from pathlib import Path

from pabal.domain.base.dates import DAY, MINUTE
from pabal.domain.events.event import Event, EventType
from pabal.domain.sends.message import Outcome
from pabal.service.events import GATHER_PAUSE_S, POLL_INTERVAL_S
from pabal.service.sending.waiting import cancel_request
from pabal.service.work import CHECK_INTERVAL_S
from pabal.store.engine.base import Store
from pabal.store.events import events
from tests.fixtures.cluster import Cluster
from tests.fixtures.delivery import reference_of
from tests.fixtures.engines import sqlite_only
from tests.fixtures.service import FakeCarrier, account_id_of, message_id_of, sms
from tests.fixtures.slot_sharing import EVICTION_S, REBALANCE_S, send_many
from tests.fixtures.virtual import NOON, Environment, open_store

SOON_S = 2 * GATHER_PAUSE_S


async def numbered(store: Store, account_id: int) -> list[Event]:
    """Return all numbered events of an account."""
    return (await store.read(events.read_after, account_id, {}, 10_000)).events


async def record_elsewhere(env: Environment, key: str, at: int) -> None:
    """Record an event as another process would: this one is not woken."""
    account_id = await account_id_of(env)
    await env.store.write(events.record, account_id, EventType.LIMIT_NEAR, key, {}, at)


async def test_ends_in_this_process_are_numbered_at_once(env: Environment, carrier: FakeCarrier) -> None:
    account_id = await account_id_of(env)
    delivered, failed = await env.send(sms()), await env.send(sms())
    later = await env.send(sms(scheduled_at=NOON + DAY))
    await env.wait(1)
    assert await numbered(env.store, account_id) == []

    await carrier.report((reference_of(delivered), Outcome.DELIVERED), (reference_of(failed), Outcome.PHONE_OFF))
    await cancel_request(env.context, account_id, later, None)
    await env.wait(SOON_S)

    ids = [each.id for each in await numbered(env.store, account_id)]
    assert sorted(ids) == sorted(message_id_of(each) for each in (delivered, failed, later))


async def test_events_of_other_processes_are_numbered_within_five_seconds(cluster: Cluster) -> None:
    web = await cluster.start_process("web", delivers=False)
    await cluster.start_process("worker")
    await cluster.wait(REBALANCE_S)
    await record_elsewhere(web.env, "now", cluster.world.now())
    await cluster.wait(POLL_INTERVAL_S + SOON_S)

    assert len(await numbered(cluster.store, await account_id_of(web.env))) == 1
    assert POLL_INTERVAL_S + SOON_S < 5


@sqlite_only
async def test_events_of_commands_are_numbered_within_five_seconds(env: Environment, tmp_path: Path) -> None:
    account_id = await account_id_of(env)
    for number in range(1, 3):
        await env.wait(33.3)
        command = open_store(tmp_path, env.world)
        await command.write(events.record, account_id, EventType.LIMIT_NEAR, str(number), {}, env.world.now())
        await command.close()
        await env.wait(CHECK_INTERVAL_S + SOON_S)

        assert len(await numbered(env.store, account_id)) == number
    assert CHECK_INTERVAL_S + SOON_S < 5


async def test_an_event_with_a_late_clock_is_numbered_within_two_minutes(env: Environment) -> None:
    await env.wait(90)
    await record_elsewhere(env, "late", env.world.now() - 10 * MINUTE)
    await env.wait(90)

    assert len(await numbered(env.store, await account_id_of(env))) == 1


async def test_every_end_is_numbered_once_while_processes_die_and_leave(cluster: Cluster) -> None:
    one, two, three = [await cluster.start_process(name) for name in ("one", "two", "three")]
    await cluster.wait(REBALANCE_S)
    sent = [message_id for each in (one, two, three) for message_id in await send_many(each, 30)]
    await cluster.wait(0.3)
    await one.die()
    sent += await send_many(two, 30)
    await three.leave()
    sent += await send_many(two, 30)
    await cluster.wait(EVICTION_S + 60)

    account_id = await account_id_of(two.env)
    found = await numbered(cluster.store, account_id)
    assert Counter(each.id for each in found) == Counter(sent)
    for slot in range(cluster.slots):
        numbers = [each.number for each in found if each.slot == slot]
        assert numbers == sorted(set(numbers))
