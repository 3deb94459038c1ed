"""What callers see while a node of a distributed store is lost."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.fixtures.cluster import Cluster, open_cluster
from tests.fixtures.nodes import NODES, NodedStore, node_of
from tests.fixtures.slot_sharing import REBALANCE_S, fake_carriers, leave_slot
from tests.fixtures.virtual import Caller
from tests.fixtures.web import PHONE, call_ok, sms_body

LOST = NODES[0]
BY_PERIOD = {"requestDate": "2026-11-15"}


@pytest.fixture
def cluster(tmp_path: Path) -> AbstractAsyncContextManager[Cluster]:
    return open_cluster(tmp_path, carriers=fake_carriers())


async def start(cluster: Cluster) -> tuple[Caller, NodedStore]:
    """Return a caller that has sent 20 messages to one number, and the store."""
    store = NodedStore(cluster.store)
    process = await cluster.start_process("one", store_proxy=store)
    await cluster.wait(REBALANCE_S)
    call = await process.env.caller()
    for _ in range(20):
        await call_ok(call, "message/sendSMS", sms_body())
        await leave_slot(process)
    await cluster.wait(5)
    return call, store


def slots_of(items: list[dict[str, str]]) -> set[str]:
    return {node_of(int(each["messageId"][12:15], 16)) for each in items}


async def test_ready_service_names_the_lost_node(cluster: Cluster) -> None:
    call, store = await start(cluster)
    before = await call("/readyz")
    store.lost.add(LOST)
    await cluster.wait(2)

    lost = await call("/readyz")
    store.lost.update(NODES)
    await call("message/list", {"receivers": PHONE})
    store.lost_nodes.update(NODES)
    all_lost = await call("/readyz")

    assert "lostNodes" not in before.body
    assert (lost.status, lost.body["lostNodes"]) == (200, [LOST])
    assert (all_lost.status, all_lost.result) == (503, "SERVICE_UNAVAILABLE")
    store.lost.clear()


async def test_history_is_unavailable_unless_a_part_is_enough(cluster: Cluster) -> None:
    call, store = await start(cluster)
    store.lost.add(LOST)

    for by in ({"receivers": PHONE}, BY_PERIOD):
        whole = await call("message/list", {**by, "pageSize": 100})
        partial = await call("message/list", {**by, "pageSize": 100, "partial": True})

        assert (whole.status, whole.result) == (503, "SERVICE_UNAVAILABLE")
        assert partial.result == "SUCCESS"
        assert slots_of(list(partial.items)) == {NODES[1]}
        (warning,) = partial.body["warnings"]
        assert (warning["code"], warning["field"]) == ("PARTIAL_RESULT", "partial")
        assert "8개 중 4개" in warning["message"]
    store.lost.clear()


async def test_partial_history_is_whole_while_no_node_is_lost(cluster: Cluster) -> None:
    call, _ = await start(cluster)

    found = await call_ok(call, "message/list", {"receivers": PHONE, "pageSize": 100, "partial": True})

    assert found.body["totalCount"] == 20
    assert slots_of(list(found.items)) == set(NODES)
    assert "warnings" not in found.body


async def test_metrics_and_sends_go_on_without_the_lost_node(cluster: Cluster) -> None:
    call, store = await start(cluster)
    store.lost.add(LOST)
    await cluster.wait(2)

    sent = [await call_ok(call, "message/sendSMS", sms_body()) for _ in range(10)]
    metrics = await call("/metrics")

    assert len(sent) == 10
    assert metrics.status == 200
    store.lost.clear()
