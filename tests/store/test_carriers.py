"""The last known state of each carrier."""

from pabal.store import carriers
from pabal.store.base import Tx
from pabal.store.carriers import CarrierState
from tests.virtual import NOON


def test_of_each_carrier_the_last_state_is_kept(tx: Tx) -> None:
    up, down = CarrierState("telco", "up", NOON, ""), CarrierState("telco", "down", NOON + 1, "connection refused")
    other = CarrierState("backup", "aside", NOON + 2, "it takes nothing")
    assert carriers.states(tx) == []

    for state in (up, other, down):
        carriers.put(tx, state)

    assert carriers.states(tx) == [other, down]


def test_the_same_state_may_be_kept_again(tx: Tx) -> None:
    state = CarrierState("telco", "up", NOON, "")

    carriers.put(tx, state)
    carriers.put(tx, state)

    assert carriers.states(tx) == [state]
