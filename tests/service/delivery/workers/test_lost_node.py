"""A node of a distributed store is lost: its slots wait, and all others go on."""

from collections import Counter
from pathlib import Path

import pytest

from pabal.carriers.base import Accepted
from pabal.domain.base import identifiers
from pabal.domain.sends.message import Outcome, Status
from pabal.service.sending.accept import IdempotencyKey, accept, choose_slot, find_accepted
from pabal.store.engine.base import NodeUnavailable
from pabal.store.queue import receipts
from tests.fixtures.campaigns import campaign_parts, checked_campaign, phones, start_campaign
from tests.fixtures.cluster import Cluster, Process, open_cluster
from tests.fixtures.nodes import NODES, NodedStore, node_of
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, account_id_of, sms
from tests.fixtures.slot_sharing import REBALANCE_S, carrier_of, fake_carriers, send_many, submissions

LOST, HEALTHY = NODES
RECOVERY_S = 5.0
"""Within this time after a node is back, its slots go on by themselves."""


async def start(cluster: Cluster, name: str = "one") -> tuple[Process, NodedStore]:
    store = NodedStore(cluster.store)
    process = await cluster.start_process(name, store_proxy=store)
    await cluster.wait(REBALANCE_S)
    return process, store


async def rows_in(cluster: Cluster, table: str) -> int:
    """Return how many rows a table has, whether its nodes are lost or not."""
    rows = await cluster.store.read(lambda tx: tx.fetch_all(f"select count(*) from {table}"))
    return int(rows[0][0])


def node_of_message(message_id: bytes) -> str:
    return node_of(identifiers.slot_of(message_id))


async def test_sends_are_accepted_and_delivered_in_the_slots_of_other_nodes(cluster: Cluster) -> None:
    process, store = await start(cluster)
    store.lost.add(LOST)

    sent = await send_many(process, 30)
    await cluster.wait(2)

    assert {node_of_message(one) for one in sent} == {HEALTHY}
    assert submissions(process) == Counter(sent)


async def test_messages_of_a_lost_node_wait_and_are_submitted_once_when_it_is_back(cluster: Cluster) -> None:
    process, store = await start(cluster)
    carrier_of(process).is_connected = False
    sent = await send_many(process, 40)
    await cluster.wait(1.5)
    store.lost.add(LOST)
    carrier_of(process).is_connected = True
    await cluster.wait(20)
    assert submissions(process) == Counter(one for one in sent if node_of_message(one) == HEALTHY)

    store.lost.clear()
    await cluster.wait(RECOVERY_S)

    assert submissions(process) == Counter(sent)


async def test_verdicts_of_a_lost_node_do_not_keep_other_slots_from_being_claimed(tmp_path: Path) -> None:
    async with open_cluster(tmp_path, carriers=fake_carriers(delay_s=2.0)) as cluster:
        process, store = await start(cluster)
        sent = await send_many(process, 40)
        await cluster.wait(1)  # all are with the carrier, which has not answered
        store.lost.add(LOST)
        await cluster.wait(3)
        later = await send_many(process, 10)
        await cluster.wait(3)
        assert Counter(later) <= submissions(process)

        store.lost.clear()
        await cluster.wait(RECOVERY_S)

        assert submissions(process) == Counter([*sent, *later])
        assert await rows_in(cluster, "jobs") == 0


async def test_receipts_of_a_lost_node_are_taken_and_end_their_messages_when_it_is_back(tmp_path: Path) -> None:

    def carriers() -> dict[str, FakeCarrier]:
        return {DEFAULT_CARRIER: FakeCarrier(answer=lambda attempt: Accepted(attempt.message_id.hex()))}

    async with open_cluster(tmp_path, carriers=carriers) as cluster:
        process, store = await start(cluster)
        sent = await send_many(process, 20)
        await cluster.wait(2)
        store.lost.add(LOST)

        await carrier_of(process).report(*((one.hex(), Outcome.DELIVERED) for one in sent))

        waiting = {row[0] for row in await cluster.store.read(lambda tx: tx.fetch_all("select id from jobs"))}
        assert waiting == {one for one in sent if node_of_message(one) == LOST}
        assert await cluster.store.read(receipts.list_postponed_slots)
        store.lost.clear()
        store.lost_nodes.clear()  # reached again before the next look at what was postponed
        contradicting = [(one.hex(), Outcome.PHONE_OFF) for one in sent if node_of_message(one) == LOST]
        await carrier_of(process).report(*contradicting)
        await cluster.wait(RECOVERY_S)
        for one in sent:
            assert await process.env.outcomes_of(identifiers.request_id_of(one)) == [
                (Status.COMPLETED, Outcome.DELIVERED)
            ]
        assert await cluster.store.read(receipts.list_postponed_slots) == []
        matched = "select 1 from receipts where message_id is not null"
        assert await cluster.store.read(lambda tx: tx.fetch_all(matched)) == []


async def test_send_with_a_key_waits_for_its_slot_and_one_without_takes_another(cluster: Cluster) -> None:
    process, store = await start(cluster)
    context, account = process.env.context, await account_id_of(process.env)
    names = (f"key-{number}" for number in range(1000))
    name = next(each for each in names if node_of(choose_slot(context, account, each)) == LOST)
    key = IdempotencyKey(name, b"digest")
    store.lost.add(LOST)

    for _ in range(2):  # the first finds out, the second knows
        with pytest.raises(NodeUnavailable) as refused:
            await accept(context, account, sms(), key)
        assert not refused.value.is_uncertain
    with pytest.raises(NodeUnavailable):
        await find_accepted(context, account, key)
    assert await rows_in(cluster, "requests") == 0
    await process.env.send(sms())

    store.lost.clear()
    await cluster.wait(RECOVERY_S)
    assert await accept(context, account, sms(), key) == await accept(context, account, sms(), key)


async def test_campaign_with_a_block_for_a_lost_node_waits_and_others_go_on(cluster: Cluster) -> None:
    process, store = await start(cluster)
    env = process.env
    campaigns = [await checked_campaign(env, phones(2, 10 * number)) for number in range(12)]
    store.lost.add(LOST)

    for each in campaigns:
        await start_campaign(env, each)
    await cluster.wait(5)
    made = [await campaign_parts(env, each) for each in campaigns]
    reached = [part.request_id for parts in made for part in parts]
    assert {node_of_message(one) for one in reached} == {HEALTHY}
    assert 0 < len(reached) < len(campaigns)

    store.lost.clear()
    await cluster.wait(RECOVERY_S)
    assert sorted(Counter(one.receiver for _, one in carrier_of(process).submitted).values()) == [1] * 24


async def test_a_worker_that_starts_while_a_node_is_lost_takes_the_other_slots(cluster: Cluster) -> None:
    store = NodedStore(cluster.store)
    store.lost.add(LOST)
    process = await cluster.start_process("one", store_proxy=store)
    await cluster.wait(REBALANCE_S)
    assert {node_of(slot) for slot in process.held} == {HEALTHY}

    store.lost.clear()
    await cluster.wait(RECOVERY_S)

    assert len(process.held) == cluster.slots


async def test_events_of_other_nodes_are_numbered_while_one_is_lost(cluster: Cluster) -> None:
    process, store = await start(cluster)
    store.lost.add(LOST)
    await send_many(process, 10)
    await cluster.wait(RECOVERY_S)

    assert await rows_in(cluster, "new_events") == 0
    assert await rows_in(cluster, "events") == 10
