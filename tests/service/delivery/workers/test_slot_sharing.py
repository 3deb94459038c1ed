"""Several processes on one store share its slots; each message is submitted by one of them."""

from collections import Counter
from pathlib import Path

import pytest

from pabal.domain.base import identifiers
from pabal.service.delivery.deliver import POLL_INTERVAL_S
from pabal.service.slots import HOUSEKEEPING_SLOT
from pabal.service.upkeep.housekeeping import FULL_ROUND_EVERY, ROUND_INTERVAL_S
from pabal.store.engine.base import Tx
from tests.fixtures.cluster import Cluster, open_cluster
from tests.fixtures.service import count_rows, message_id_of, sms
from tests.fixtures.slot_sharing import (
    EVICTION_S,
    REBALANCE_S,
    SLOTS,
    carrier_of,
    fake_carriers,
    send_many,
    slot_counts,
    submissions,
)


@pytest.mark.first_case
@pytest.mark.parametrize("number", [1, 2, 3, 5, 8, 10])
async def test_processes_share_the_slots_evenly_and_submit_each_message_once(cluster: Cluster, number: int) -> None:
    processes = [await cluster.start_process(f"host:{each}") for each in range(number)]
    await cluster.wait(REBALANCE_S)
    sent = [message_id for each in processes for message_id in await send_many(each, 100 // number)]
    await cluster.wait(2)

    counts = slot_counts(*processes)
    assert sum(counts) == SLOTS
    assert max(counts) - min(counts) <= 1
    assert submissions(*processes) == Counter(sent)
    assert all(bool(carrier_of(each).ids) == bool(each.held) for each in processes)


async def test_a_new_process_takes_its_share_within_two_seconds_without_duplicates(tmp_path: Path) -> None:
    async with open_cluster(tmp_path, carriers=fake_carriers(delay_s=0.7)) as cluster:
        one = await cluster.start_process("one")
        await cluster.wait(2)
        sent = await send_many(one)
        two = await cluster.start_process("two")
        sent += await send_many(two)
        await cluster.wait(2.2)

        assert slot_counts(one, two) == [4, 4]
        sent += await send_many(one)
        await cluster.wait(2)
        assert submissions(one, two) == Counter(sent)


async def test_messages_from_a_web_only_process_are_submitted_within_a_poll_interval(cluster: Cluster) -> None:
    web = await cluster.start_process("web", delivers=False)
    one, two = await cluster.start_process("one"), await cluster.start_process("two")
    await cluster.wait(REBALANCE_S)
    waits_s = []
    for _ in range(20):
        sent = message_id_of(await web.env.send(sms()))
        sent_s = cluster.world.monotonic()
        await cluster.wait(0.37)
        (at,) = [
            at for each in (one, two) for at, attempt in carrier_of(each).submitted if attempt.message_id == sent
        ]
        waits_s.append(at - sent_s)

    assert max(waits_s) <= POLL_INTERVAL_S + 0.06
    assert web.held == ()
    assert not submissions(web)
    assert sorted((await cluster.workers()).values()) == ["one", "two"]


@pytest.mark.first_case
async def test_housekeeping_runs_only_on_the_holder_of_its_slot_even_after_a_death(cluster: Cluster) -> None:
    processes = [await cluster.start_process(f"host:{each}") for each in range(3)]
    await cluster.wait(REBALANCE_S)
    for each in processes:
        each.store_proxy.call_counts.clear()
    await cluster.wait(FULL_ROUND_EVERY * ROUND_INTERVAL_S)

    (housekeeper,) = [each for each in processes if HOUSEKEEPING_SLOT in each.held]
    assert [each for each in processes if each.store_proxy.call_counts["delete_states_of_gone_workers"]] == [
        housekeeper
    ]
    others = [each for each in processes if each is not housekeeper]
    await housekeeper.die()
    await cluster.wait(EVICTION_S)
    for each in others:
        each.store_proxy.call_counts.clear()
    await cluster.wait(FULL_ROUND_EVERY * ROUND_INTERVAL_S)

    (successor,) = [each for each in others if HOUSEKEEPING_SLOT in each.held]
    assert [each for each in others if each.store_proxy.call_counts["delete_states_of_gone_workers"]] == [successor]


async def test_jobs_of_a_removed_carrier_are_rerouted_in_every_slot(cluster: Cluster) -> None:
    web = await cluster.start_process("web", delivers=False)
    sent = await send_many(web)
    assert len({identifiers.slot_of(message_id) for message_id in sent}) == SLOTS
    await cluster.store.write(set_carrier_of_all_jobs, "gone")

    one, two = await cluster.start_process("one"), await cluster.start_process("two")
    await cluster.wait(REBALANCE_S)

    assert submissions(one, two) == Counter(sent)
    assert await count_rows(one.env, "jobs") == 0


def set_carrier_of_all_jobs(tx: Tx, carrier: str) -> None:
    """Give every job to a carrier."""
    tx.execute("update jobs set carrier = ?", (carrier,))
