"""Receipts that wait for a node: each is kept with its slot until it is processed."""

from pabal.domain.sends.message import Outcome
from pabal.store.engine.base import Tx
from pabal.store.queue import receipts
from pabal.store.queue.receipts import PostponedReceipt
from tests.fixtures.rows import CARRIER
from tests.fixtures.virtual import NOON

FIRST = PostponedReceipt(3, "r1", Outcome.DELIVERED, None, None)
SECOND = PostponedReceipt(3, "r2", Outcome.PHONE_OFF, "?01012345678#0001", "099")
OTHER = PostponedReceipt(4, "r3", Outcome.DELIVERED, None, "000")


def test_postponed_receipts_are_listed_by_carrier_and_slot_until_deleted(tx: Tx) -> None:
    assert receipts.list_postponed_slots(tx) == []
    receipts.postpone(tx, CARRIER, [FIRST, SECOND, OTHER], NOON)
    receipts.postpone(tx, "another", [FIRST], NOON)
    assert receipts.list_postponed_slots(tx) == [("another", 3), (CARRIER, 3), (CARRIER, 4)]

    found = receipts.list_postponed(tx, CARRIER, 3, 10)

    assert [each._replace(id=0) for each in found] == [FIRST, SECOND]
    assert receipts.list_postponed(tx, CARRIER, 3, 1) == found[:1]
    receipts.delete_postponed(tx, found)
    assert receipts.list_postponed_slots(tx) == [("another", 3), (CARRIER, 4)]
