"""Where a carrier's answer and its receipt meet, in whichever order they come."""

from pabal.domain.message import Outcome
from pabal.domain.when import HOUR
from pabal.store import receipts
from pabal.store.base import Tx
from tests.store.kept import CARRIER, Explaining, message_id
from tests.virtual import NOON

ONE, OTHER = message_id(1), message_id(2)
GOOD, BAD = Outcome.DELIVERED, Outcome.PHONE_OFF


def kept(tx: Tx) -> int:
    row = tx.row("select count(*) from receipts")
    assert row is not None
    return int(row[0])


def test_a_receipt_after_the_answer_finds_its_message(tx: Tx) -> None:
    assert receipts.expect(tx, CARRIER, [("r1", ONE), ("r2", OTHER)]) == []

    assert receipts.arrive(tx, CARRIER, [("r2", BAD)], NOON) == ([(OTHER, BAD)], 0)


def test_a_receipt_before_the_answer_is_kept_for_it(tx: Tx) -> None:
    assert receipts.arrive(tx, CARRIER, [("r1", BAD)], NOON) == ([], 1)

    assert receipts.expect(tx, CARRIER, [("r1", ONE), ("r2", OTHER)]) == [(ONE, BAD)]


def test_of_two_receipts_the_first_counts(tx: Tx) -> None:
    receipts.expect(tx, CARRIER, [("r1", ONE)])
    receipts.arrive(tx, CARRIER, [("r1", GOOD)], NOON)

    assert receipts.arrive(tx, CARRIER, [("r1", BAD)], NOON + 1) == ([(ONE, GOOD)], 0)


def test_of_two_receipts_in_one_delivery_the_first_counts(tx: Tx) -> None:
    receipts.expect(tx, CARRIER, [("r1", ONE)])

    assert receipts.arrive(tx, CARRIER, [("r1", BAD), ("r1", GOOD), ("r1", GOOD)], NOON) == ([(ONE, BAD)], 0)


def test_of_two_receipts_before_the_answer_the_first_counts(tx: Tx) -> None:
    receipts.arrive(tx, CARRIER, [("r1", GOOD)], NOON)
    receipts.arrive(tx, CARRIER, [("r1", BAD)], NOON + 1)

    assert receipts.expect(tx, CARRIER, [("r1", ONE)]) == [(ONE, GOOD)]


def test_the_same_reference_at_two_carriers_is_two_references(tx: Tx) -> None:
    receipts.expect(tx, CARRIER, [("r1", ONE)])
    receipts.expect(tx, "another", [("r1", OTHER)])

    assert receipts.arrive(tx, "another", [("r1", GOOD)], NOON) == ([(OTHER, GOOD)], 0)


def test_many_receipts_at_once_are_all_matched(tx: Tx) -> None:
    receipts.expect(tx, CARRIER, [(f"r{number}", message_id(number)) for number in range(250)])

    matched, unmatched = receipts.arrive(tx, CARRIER, [(f"r{number}", GOOD) for number in range(300)], NOON)

    assert sorted(matched) == [(message_id(number), GOOD) for number in range(250)]
    assert unmatched == 50


def test_nothing_arrives_where_nothing_is_handed_in(tx: Tx) -> None:
    assert receipts.arrive(tx, CARRIER, [], NOON) == ([], 0)
    assert receipts.expect(tx, CARRIER, []) == []


def test_what_has_ended_is_forgotten(tx: Tx) -> None:
    receipts.expect(tx, CARRIER, [("r1", ONE), ("r2", OTHER)])

    receipts.forget(tx, [(CARRIER, "r1"), ("another", "r2")])

    assert receipts.arrive(tx, CARRIER, [("r1", GOOD), ("r2", GOOD)], NOON) == ([(OTHER, GOOD)], 1)


def test_only_old_receipts_that_nobody_claimed_are_forgotten_some_at_a_time(tx: Tx) -> None:
    receipts.arrive(tx, CARRIER, [(f"old{number}", GOOD) for number in range(5)], NOON - HOUR)
    receipts.arrive(tx, CARRIER, [("new", GOOD)], NOON)
    receipts.expect(tx, CARRIER, [("old0", ONE), ("waiting", OTHER)])

    assert receipts.forget_unmatched(tx, NOON, 3) == 3
    assert receipts.forget_unmatched(tx, NOON, 3) == 1
    assert receipts.forget_unmatched(tx, NOON, 3) == 0
    assert kept(tx) == 3


def test_receipts_are_found_by_carrier_and_reference_and_never_by_walking(tx: Tx) -> None:
    receipts.expect(tx, CARRIER, [(f"r{number}", message_id(number)) for number in range(500)])
    explaining = Explaining(tx)

    receipts.expect(explaining, CARRIER, [("r1", ONE)])
    receipts.arrive(explaining, CARRIER, [("r1", GOOD)], NOON)
    receipts.forget(explaining, [(CARRIER, f"r{number}") for number in range(150)])
    receipts.forget_unmatched(explaining, NOON, 10)

    assert explaining.scans == []
    assert explaining.uses("receipts_unmatched")
    assert explaining.uses("PRIMARY KEY (carrier=? AND reference=?)")
