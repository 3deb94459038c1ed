"""Who holds a slot is noted beside its jobs, and workers get slots of as few nodes as possible."""

import pytest

from pabal.store.engine.base import Tx
from pabal.store.queue import slots
from tests.fixtures.virtual import NOON
from tests.store.queue.test_slots import ONE, THREE, TWO, beat, divide_and_join


def noted(tx: Tx) -> list[tuple[int, bytes, int]]:
    return [
        (row[0], row[1], row[2]) for row in tx.fetch_all("select slot, worker_id, assignment from slot_holders")
    ]


def test_only_the_worker_that_a_slot_is_assigned_to_is_noted_as_its_holder(tx: Tx) -> None:
    divide_and_join(tx, 1, ONE)
    slots.register(tx, TWO, "host:2", NOON)

    slots.hold(tx, 0, ONE)
    slots.hold(tx, 0, ONE)
    with pytest.raises(slots.SlotNotHeld):
        slots.hold(tx, 0, TWO)

    assert noted(tx) == [(0, ONE, 1)]
    assert slots.is_noted(tx, 0, ONE)
    assert not slots.is_noted(tx, 0, TWO)


def test_next_holder_of_a_slot_replaces_the_one_that_was_noted(tx: Tx) -> None:
    divide_and_join(tx, 1, ONE)
    slots.hold(tx, 0, ONE)
    slots.register(tx, TWO, "host:2", NOON)
    (dead,) = [(worker.id, worker.heartbeat) for worker, _ in slots.list_workers(tx) if worker.id == ONE]
    beat(tx, TWO, dead)

    assert slots.is_noted(tx, 0, ONE), "nothing is written to a node by a heartbeat"
    slots.hold(tx, 0, TWO)

    assert noted(tx) == [(0, TWO, 2)]
    with pytest.raises(slots.SlotNotHeld):
        slots.hold(tx, 0, ONE)


def test_note_of_an_earlier_assignment_does_not_replace_a_later_one(tx: Tx) -> None:
    divide_and_join(tx, 1, ONE)
    tx.execute("insert into slot_holders (slot, worker_id, assignment) values (0, ?, 2)", (TWO,))

    with pytest.raises(slots.SlotNotHeld):
        slots.hold(tx, 0, ONE)

    assert noted(tx) == [(0, TWO, 2)]


def test_heartbeat_tells_whether_every_worker_notes_that_it_holds_a_slot(tx: Tx) -> None:
    divide_and_join(tx, 2, ONE, TWO)
    assert beat(tx, ONE).all_know_holders

    tx.execute("update workers set migration = ? where id = ?", (slots.HOLDERS_SINCE_MIGRATION - 1, TWO))
    assert not beat(tx, ONE).all_know_holders
    tx.execute("update workers set migration = null where id = ?", (TWO,))
    assert not beat(tx, ONE).all_know_holders


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
