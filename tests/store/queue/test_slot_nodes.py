"""On nodes, each worker gets slots of as few of them as possible."""

from pabal.store.engine.base import Tx
from pabal.store.queue import slots
from tests.fixtures.virtual import NOON
from tests.store.queue.test_slots import ONE, THREE, TWO, divide_and_join


def test_workers_share_the_slots_by_node_as_far_as_they_can(tx: Tx) -> None:
    divide_and_join(tx, 8)
    nodes = {slot: "ab"[slot % 2] for slot in range(8)}
    for worker in (ONE, TWO):
        slots.register(tx, worker, "host", NOON)

    def share(*workers: bytes) -> list[list[str]]:
        found = [slots.heartbeat(tx, worker, (), NOON, nodes=nodes) for _ in range(2) for worker in workers]
        return [sorted(nodes[slot] for slot in each.held) if each else [] for each in found[-len(workers) :]]

    assert share(ONE, TWO) == [["a"] * 4, ["b"] * 4]
    slots.register(tx, THREE, "host", NOON)
    assert share(ONE, TWO, THREE) == [["a"] * 3, ["b"] * 3, ["a", "b"]]
    slots.unregister(tx, TWO)
    assert share(ONE, THREE) == [["a"] * 3 + ["b"], ["a"] + ["b"] * 3]
