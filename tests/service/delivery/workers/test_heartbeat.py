"""Other processes take over the slots of one that stops, dies, is paused or loses the store."""

import asyncio
from collections import Counter
from pathlib import Path

from pabal.carriers.base import Rejected
from pabal.domain.base import identifiers
from pabal.domain.sends.message import Outcome, Status
from pabal.service.delivery.deliver import POLL_INTERVAL_S
from pabal.service.delivery.workers import HEARTBEAT_INTERVAL_S, MAX_MISSED_HEARTBEATS
from pabal.store.engine.base import Tx
from pabal.store.queue import queue, queue_admin
from pabal.store.queue.slots import SlotAssignment
from tests.fixtures.cluster import Cluster, Process, open_cluster
from tests.fixtures.service import count_rows, message_id_of, sms
from tests.fixtures.slot_sharing import (
    EVICTION_S,
    REBALANCE_S,
    SLOTS,
    carrier_of,
    fake_carriers,
    leave_slot,
    send_many,
    slot_counts,
    submissions,
)

DELIVERED = (Status.COMPLETED, Outcome.DELIVERED)


async def start_two(cluster: Cluster) -> tuple[Process, Process]:
    """Start two processes, and wait until they share the slots."""
    one, two = await cluster.start_process("one"), await cluster.start_process("two")
    await cluster.wait(REBALANCE_S)
    return one, two


async def send_slowly(cluster: Cluster, process: Process, delay_s: float = 25.0) -> list[bytes]:
    """Send messages, some of which are in flight at a process whose carrier takes so long; return their ids."""
    carrier_of(process).delay_s = delay_s
    sent = await send_many(process)
    await cluster.wait(1)
    return sent


async def send_to_slot(process: Process, slot: int, *phones: str) -> bytes:
    """Send requests until one falls into a slot; return the id of that request."""
    while True:
        request_id = await process.env.send(sms(*phones, scheduled_at=process.env.world.now()))
        if identifiers.slot_of(request_id) == slot:
            return request_id
        await leave_slot(process)


async def test_in_flight_messages_are_resent_when_a_process_dies(cluster: Cluster) -> None:
    one, two = await start_two(cluster)
    sent = await send_slowly(cluster, one)
    in_flight = submissions(one)
    assert 0 < len(in_flight) < len(sent)

    await one.die()
    died_s = cluster.world.monotonic()
    await cluster.wait(EVICTION_S)

    resent_after = [at - died_s for at, attempt in carrier_of(two).submitted if attempt.message_id in in_flight]
    assert len(resent_after) == len(in_flight)
    assert MAX_MISSED_HEARTBEATS * HEARTBEAT_INTERVAL_S <= min(resent_after) <= max(resent_after) <= 7.1
    assert submissions(two) == Counter(sent)
    assert slot_counts(two) == [SLOTS]
    assert list((await cluster.workers()).values()) == ["two"]
    assert await count_rows(two.env, "jobs") == 0


async def test_in_flight_messages_are_resent_although_a_heartbeat_lost_its_result(cluster: Cluster) -> None:
    one, two = await start_two(cluster)
    sent = await send_slowly(cluster, one)
    two.store_proxy.lose_result_once(
        lambda result: isinstance(result, SlotAssignment) and len(result.held) == SLOTS
    )

    await one.die()
    await cluster.wait(EVICTION_S + 2)

    assert submissions(two) == Counter(sent)
    assert await count_rows(two.env, "jobs") == 0


async def test_slots_of_a_process_that_died_before_it_prepared_them_stay_orphaned(cluster: Cluster) -> None:
    one = await cluster.start_process("one")
    await cluster.wait(REBALANCE_S)
    sent = await send_slowly(cluster, one)
    await one.die()
    two = await cluster.start_process("two")
    two.store_proxy.freeze_before(queue_admin.release_leases)
    await cluster.wait(EVICTION_S)
    await two.die()
    three = await cluster.start_process("three")
    await cluster.wait(EVICTION_S + 2)

    assert submissions(three) == Counter(sent)


async def test_in_flight_messages_of_a_dead_process_await_a_receipt_if_doubt_is_held(tmp_path: Path) -> None:
    async with open_cluster(tmp_path, carriers=fake_carriers(holds_in_doubt=True)) as cluster:
        one, two = await start_two(cluster)
        sent = await send_slowly(cluster, one)
        in_flight = set(submissions(one))

        await one.die()
        await cluster.wait(60)

        assert set(submissions(two)) == set(sent) - in_flight
        assert max(submissions(two).values()) == 1
        assert set(await cluster.store.read(ids_in_lane, queue.Lane.AWAITING_RECEIPT)) == in_flight
        assert await count_rows(two.env, "jobs") == len(in_flight)


def ids_in_lane(tx: Tx, number: int) -> list[bytes]:
    """Return the ids of the jobs in a lane."""
    return [row[0] for row in tx.fetch_all("select id from jobs where lane = ?", (number,))]


async def test_a_stopping_process_releases_its_slots_and_finishes_in_flight_messages(cluster: Cluster) -> None:
    one, two = await start_two(cluster)
    sent = await send_slowly(cluster, one, 6.0)
    in_flight = set(submissions(one))
    slot = one.held[0]

    leaving = asyncio.create_task(one.leave())
    await cluster.wait(HEARTBEAT_INTERVAL_S + 0.1)
    assert (one.held, len(two.held)) == ((), SLOTS)
    sent.append(message_id_of(await send_to_slot(two, slot)))
    await cluster.wait(2 * POLL_INTERVAL_S)
    assert sent[-1] in submissions(two)
    await leaving
    await cluster.wait(30)

    assert set(submissions(one)) == in_flight
    assert max(submissions(one, two).values()) == 1
    assert await count_rows(two.env, "jobs") == 0
    assert list((await cluster.workers()).values()) == ["two"]


async def test_a_process_paused_for_too_long_changes_nothing_and_rejoins(cluster: Cluster) -> None:
    one, two = await start_two(cluster)
    before = await cluster.workers()
    carrier_of(one).delay_s = 5.0
    carrier_of(one).answer = lambda attempt: Rejected(Outcome.UNDELIVERABLE)
    sent = await send_many(one, 20)
    await cluster.wait(1)
    in_flight = set(submissions(one))
    assert in_flight

    one.store_proxy.freeze()
    await cluster.wait(20)
    assert slot_counts(two) == [SLOTS]
    assert set(submissions(two)) == set(sent)
    carrier_of(two).delay_s = 8.0
    late = await send_many(two)
    await cluster.wait(1)
    one.store_proxy.thaw()
    await cluster.wait(0.5)
    assert one.held == ()
    await cluster.wait(20)

    assert [await two.env.outcomes_of(identifiers.request_id_of(each)) for each in sent] == [[DELIVERED]] * 20
    assert set(submissions(one)) == in_flight, "it claims nothing from slots of others"
    assert all(submissions(two)[each] == 1 for each in late)
    assert slot_counts(one, two) == [4, 4]
    after = await cluster.workers()
    assert sorted(after.values()) == ["one", "two"]
    assert len(set(before) & set(after)) == 1


async def test_a_process_paused_while_it_recovers_a_slot_releases_no_leases_of_others(cluster: Cluster) -> None:
    one, two = await start_two(cluster)
    await one.die()
    two.store_proxy.freeze_before(queue_admin.release_leases)
    await cluster.wait(EVICTION_S)
    assert two.store_proxy.is_frozen

    three = await cluster.start_process("three")
    await cluster.wait(EVICTION_S)
    assert slot_counts(three) == [SLOTS]
    carrier_of(three).delay_s = 15.0
    sent = await send_many(three)
    await cluster.wait(1)
    assert submissions(three) == Counter(sent)
    two.store_proxy.thaw()
    await cluster.wait(40)

    assert submissions(two, three) == Counter(sent)
    assert await count_rows(three.env, "jobs") == 0


async def test_a_process_stopped_while_it_recovers_a_slot_releases_no_leases_of_others(cluster: Cluster) -> None:
    one, two, three = [await cluster.start_process(each) for each in ("one", "two", "three")]
    await cluster.wait(REBALANCE_S)
    carrier_of(three).delay_s = 15.0
    await one.die()
    two.store_proxy.delay_before(queue_admin.release_leases, 5.0)
    await cluster.wait(EVICTION_S)
    sent = await send_many(three)
    await two.leave()
    await cluster.wait(40)

    assert submissions(two, three) == Counter(sent)
    assert slot_counts(three) == [SLOTS]


async def test_in_flight_messages_are_resent_even_if_the_recovering_process_stops(cluster: Cluster) -> None:
    one, two = await start_two(cluster)
    sent = await send_slowly(cluster, one)
    await one.die()
    two.store_proxy.delay_before(queue_admin.release_leases, 5.0)
    await cluster.wait(EVICTION_S)
    assert sorted((await cluster.workers()).values()) == ["two"]
    assert len(two.held) < SLOTS

    three = await cluster.start_process("three")
    await two.leave()
    await cluster.wait(2)

    assert slot_counts(three) == [SLOTS]
    assert submissions(two, three) == Counter(sent)


async def test_no_process_is_evicted_while_the_store_is_unavailable_to_all(cluster: Cluster) -> None:
    processes = [await cluster.start_process(f"host:{each}") for each in range(3)]
    await cluster.wait(REBALANCE_S)
    before, held = await cluster.workers(), [each.held for each in processes]

    for each in processes:
        each.store_proxy.is_unavailable = True
    await cluster.wait(60)
    for number, each in enumerate(processes):  # it becomes available to one process after another
        await cluster.wait(number)
        each.store_proxy.is_unavailable = False
    sent = await send_many(processes[0])
    await cluster.wait(15)

    assert await cluster.workers() == before
    assert [each.held for each in processes] == held
    assert submissions(*processes) == Counter(sent)


async def test_a_process_cut_off_from_the_store_is_evicted_and_rejoins(cluster: Cluster) -> None:
    one, two = await start_two(cluster)

    one.store_proxy.is_unavailable = True
    await cluster.wait(EVICTION_S)
    sent = await send_many(two)
    await cluster.wait(1)
    assert submissions(two) == Counter(sent)
    one.store_proxy.is_unavailable = False
    await cluster.wait(5)

    assert slot_counts(one, two) == [4, 4]
    sent += await send_many(one)
    await cluster.wait(2)
    assert submissions(one, two) == Counter(sent)


async def test_a_process_that_rejoins_resends_nothing_that_it_still_has_in_flight(cluster: Cluster) -> None:
    """While a third process is dead but not evicted yet, nobody takes all slots of the second one."""
    one, two, three = [await cluster.start_process(name) for name in ("one", "two", "three")]
    await cluster.wait(2 * REBALANCE_S)
    carrier_of(two).delay_s = 20.0
    await send_many(one)
    await cluster.wait(1)
    in_flight = submissions(two)
    two.store_proxy.is_unavailable = True
    await cluster.wait(4)
    await three.die()
    while two.env.context.slots.worker_id in await cluster.workers():
        await cluster.wait(0.25)

    two.store_proxy.is_unavailable = False
    await cluster.wait(3)

    regained = {each for each in in_flight if identifiers.slot_of(each) in two.held} - set(submissions(one))
    assert regained
    assert all(submissions(two)[each] == 1 for each in regained)
    await cluster.wait(60)
    assert all(submissions(one, two)[each] == 1 for each in regained)
    assert await count_rows(one.env, "jobs") == 0
