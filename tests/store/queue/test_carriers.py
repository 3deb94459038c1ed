"""The last known state of each carrier, and its response times by minute."""

from pabal.domain.base.dates import MINUTE, SECOND
from pabal.store.engine.base import Tx
from pabal.store.queue import carriers, slots
from pabal.store.queue.carriers import CarrierState, MinuteLatency
from tests.fixtures.virtual import NOON


def test_last_state_of_each_carrier_is_stored(tx: Tx) -> None:
    up, down = CarrierState("telco", "up", NOON, ""), CarrierState("telco", "down", NOON + 1, "connection refused")
    other = CarrierState("backup", "aside", NOON + 2, "it takes nothing")
    assert carriers.list_states(tx) == []

    for state in (up, other, down):
        carriers.save_state(tx, state)

    assert [state[:5] for state in carriers.list_states(tx)] == [other[:5], down[:5]]


def test_last_failure_is_known_after_recovery(tx: Tx) -> None:
    carriers.save_state(tx, CarrierState("telco", "up", NOON, ""))
    (before,) = carriers.list_states(tx)
    carriers.save_state(tx, CarrierState("telco", "down", NOON + 1, "connection refused"))
    carriers.save_state(tx, CarrierState("telco", "aside", NOON + 2, "it takes nothing"))
    carriers.save_state(tx, CarrierState("telco", "up", NOON + 3, ""))

    (after,) = carriers.list_states(tx)

    assert (before.last_error, before.last_error_at) == (None, None)
    assert after == CarrierState("telco", "up", NOON + 3, "", "", "it takes nothing", NOON + 2)


def test_states_are_stored_per_worker_and_deleted_with_it(tx: Tx) -> None:
    only, one, two = (CarrierState("telco", "up", NOON, "", worker) for worker in ("", "host:1", "host:2"))
    slots.register(tx, b"1", "host:1", NOON)
    slots.register(tx, b"2", "host:2", NOON)
    for state in (two, one, only):
        carriers.save_state(tx, state)
    carriers.delete_states_of_gone_workers(tx)
    assert carriers.list_states(tx) == [only, one, two]

    slots.unregister(tx, b"1")
    carriers.delete_states_of_gone_workers(tx)

    assert carriers.list_states(tx) == [only, two]


def test_throughput_is_stored_per_worker_and_expires_after_a_minute(tx: Tx) -> None:
    for worker in ("host:1", "host:2"):
        carriers.save_state(tx, CarrierState("telco", "up", NOON, "", worker))
    carriers.save_throughput(tx, "telco", "host:1", 600, NOON)
    carriers.save_state(tx, CarrierState("telco", "down", NOON + 1, "connection refused", "host:1"))

    one, two = carriers.list_states(tx)

    assert (one.messages_per_minute, one.measured_at) == (600, NOON)
    assert [each.throughput_at(NOON + 59 * SECOND) for each in (one, two)] == [600, 0]
    assert one.throughput_at(NOON + MINUTE) == 0


def test_rows_are_replaced_and_found_by_minute(tx: Tx) -> None:
    rows = [MinuteLatency("a", NOON + number * MINUTE, "w", (number, 0)) for number in range(3)]
    carriers.save_latencies(tx, rows)
    carriers.save_latencies(tx, [rows[2]._replace(counts=(5, 5))])

    assert carriers.list_latencies(tx, NOON + MINUTE) == [rows[1], rows[2]._replace(counts=(5, 5))]
    assert carriers.delete_old_latencies(tx, NOON + 2 * MINUTE, 100) == 2
    assert len(carriers.list_latencies(tx, 0)) == 1
