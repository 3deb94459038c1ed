"""A process that was evicted changes nothing in slots that others have got."""

import dataclasses
from collections import Counter
from pathlib import Path

from pabal.domain.base.dates import MINUTE
from pabal.domain.sends.message import Outcome, Status
from pabal.service.delivery.claiming.reroute import reroute_due
from pabal.service.slots import NOBODY, Slots
from pabal.service.upkeep.deadline_sweep import expire_request
from tests.fixtures.circuit_breaker import SMS_TO_BOTH, answer_busy, two_carriers
from tests.fixtures.cluster import Cluster, Process, open_cluster
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.service import FakeCarrier, sms
from tests.fixtures.slot_sharing import EVICTION_S, REBALANCE_S, SLOTS, carrier_of, send_many, slot_counts
from tests.fixtures.virtual import NOON, VirtualWorld, settings_for

FAILOVER_S = 20


def make_carriers() -> dict[str, FakeCarrier]:
    one, two = two_carriers(accept_without_receipt, failover_after_s=FAILOVER_S)
    return {one.name: one, two.name: two}


def first_carrier_of(process: Process) -> FakeCarrier:
    found = process.carriers["one"]
    assert isinstance(found, FakeCarrier)
    return found


def submissions(*processes: Process) -> Counter[bytes]:
    """Return how often all carriers of these processes got each message."""
    carriers = [each for process in processes for each in process.carriers.values()]
    return Counter(one for each in carriers if isinstance(each, FakeCarrier) for one in each.ids)


async def test_a_process_paused_while_it_reroutes_moves_nothing_that_others_have_in_flight(tmp_path: Path) -> None:
    settings = dataclasses.replace(settings_for(tmp_path), routes=dict(SMS_TO_BOTH))
    async with open_cluster(tmp_path, carriers=make_carriers, settings=settings) as cluster:
        ahead = await cluster.start_process("ahead", world=VirtualWorld(1, NOON + 2 * MINUTE))
        other = await cluster.start_process("other")
        await cluster.wait(REBALANCE_S)
        first_carrier_of(ahead).answer = answer_busy
        ahead.store_proxy.freeze_before(reroute_due)
        while not ahead.store_proxy.is_frozen:
            await send_many(other, 4)
            await cluster.wait(1)
        await cluster.wait(EVICTION_S)
        assert slot_counts(other) == [SLOTS]
        first_carrier_of(other).delay_s = 15.0
        sent = await send_many(other)
        await cluster.wait(1)
        assert set(sent) <= set(submissions(other))

        ahead.store_proxy.thaw()
        await cluster.wait(180)

        submitted = submissions(ahead, other)
        assert {one: submitted[one] for one in sent} == dict.fromkeys(sent, 1)


async def test_a_process_paused_at_a_deadline_ends_nothing_that_others_have_in_flight(cluster: Cluster) -> None:
    ahead = await cluster.start_process("ahead", world=VirtualWorld(1, NOON + 2 * MINUTE))
    other = await cluster.start_process("other")
    await cluster.wait(REBALANCE_S)
    for each in (ahead, other):
        carrier_of(each).is_connected = False
    ahead.store_proxy.freeze_before(expire_request)
    sent = [await other.env.send(sms(expire_minutes=2)) for _ in range(40)]
    while not ahead.store_proxy.is_frozen:
        await cluster.wait(1)
    await cluster.wait(EVICTION_S)
    assert slot_counts(other) == [SLOTS]
    carrier_of(other).delay_s = 15.0
    carrier_of(other).is_connected = True
    await cluster.wait(5)
    assert len(carrier_of(other).ids) == len(sent)

    ahead.store_proxy.thaw()
    await cluster.wait(30)

    for one in sent:
        assert await other.env.outcomes_of(one) == [(Status.COMPLETED, Outcome.DELIVERED)]


def test_a_process_among_others_holds_a_slot_only_by_its_id() -> None:
    alone, shared = Slots(SLOTS), Slots(SLOTS, worker="one")
    assert alone.holder is None
    assert shared.holder == NOBODY

    shared.worker_id = b"id"
    assert shared.holder == b"id"

    shared.worker_id = None  # evicted
    assert shared.holder == NOBODY
