"""The last known state of each carrier."""

from pabal.domain.base.dates import MINUTE, SECOND
from pabal.store.engine.base import Tx
from pabal.store.queue import carrier_states, slots
from pabal.store.queue.carrier_states import CarrierState
from tests.fixtures.virtual import NOON


def test_last_state_of_each_carrier_is_stored(tx: Tx) -> None:
    up, down = CarrierState("telco", "up", NOON, ""), CarrierState("telco", "down", NOON + 1, "connection refused")
    other = CarrierState("backup", "aside", NOON + 2, "it takes nothing")
    assert carrier_states.list_all(tx) == []

    for state in (up, other, down):
        carrier_states.save(tx, state)

    assert [state[:5] for state in carrier_states.list_all(tx)] == [other[:5], down[:5]]


def test_last_failure_is_known_after_recovery(tx: Tx) -> None:
    carrier_states.save(tx, CarrierState("telco", "up", NOON, ""))
    (before,) = carrier_states.list_all(tx)
    carrier_states.save(tx, CarrierState("telco", "down", NOON + 1, "connection refused"))
    carrier_states.save(tx, CarrierState("telco", "aside", NOON + 2, "it takes nothing"))
    carrier_states.save(tx, CarrierState("telco", "up", NOON + 3, ""))

    (after,) = carrier_states.list_all(tx)

    assert (before.last_error, before.last_error_at) == (None, None)
    assert after == CarrierState("telco", "up", NOON + 3, "", "", "it takes nothing", NOON + 2)


def test_same_state_may_be_stored_again(tx: Tx) -> None:
    state = CarrierState("telco", "up", NOON, "")

    carrier_states.save(tx, state)
    carrier_states.save(tx, state)

    assert carrier_states.list_all(tx) == [state]


def test_states_are_stored_per_worker_and_deleted_with_it(tx: Tx) -> None:
    only, one, two = (CarrierState("telco", "up", NOON, "", worker) for worker in ("", "host:1", "host:2"))
    slots.register(tx, b"1", "host:1", NOON)
    slots.register(tx, b"2", "host:2", NOON)
    for state in (two, one, only):
        carrier_states.save(tx, state)
    carrier_states.delete_gone_workers(tx)
    assert carrier_states.list_all(tx) == [only, one, two]

    slots.unregister(tx, b"1")
    carrier_states.delete_gone_workers(tx)

    assert carrier_states.list_all(tx) == [only, two]


def test_throughput_is_stored_per_worker_and_expires_after_a_minute(tx: Tx) -> None:
    for worker in ("host:1", "host:2"):
        carrier_states.save(tx, CarrierState("telco", "up", NOON, "", worker))
    carrier_states.save_throughput(tx, "telco", "host:1", 600, NOON)
    carrier_states.save(tx, CarrierState("telco", "down", NOON + 1, "connection refused", "host:1"))

    one, two = carrier_states.list_all(tx)

    assert (one.messages_per_minute, one.measured_at) == (600, NOON)
    assert [each.throughput_at(NOON + 59 * SECOND) for each in (one, two)] == [600, 0]
    assert one.throughput_at(NOON + MINUTE) == 0
