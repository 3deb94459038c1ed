"""Matching of carriers' answers and receipts, in either order."""

import pytest

from pabal.domain.base.dates import HOUR
from pabal.domain.sends.message import Outcome
from pabal.store.engine.base import Tx
from pabal.store.queue import receipts
from pabal.store.queue.receipts import ConsumedReference, EndedReference, ExpectedReceipt, PostponedReceipt
from tests.fixtures.rows import CARRIER, ExplainingTx, message_id
from tests.fixtures.virtual import NOON

ONE, OTHER = message_id(1), message_id(2)
GOOD, BAD = Outcome.DELIVERED, Outcome.PHONE_OFF


Said = tuple[str, Outcome]


def stored_references(tx: Tx) -> int:
    return tx.fetch_number("select count(*) from receipts")


def record_references(
    tx: Tx, message: bytes, *references: str, carrier: str = CARRIER
) -> list[tuple[bytes, Outcome]]:
    """Store the references of all parts of a message; return what ends with that."""
    return receipts.record_references(
        tx, carrier, [ExpectedReceipt(each, message, len(references)) for each in references]
    )


def arrive(tx: Tx, *said: Said, carrier: str = CARRIER) -> tuple[list[tuple[bytes, Outcome]], list[str]]:
    """Process receipts; return what ends with that, and the references that nobody expects."""
    return receipts.record_receipts(tx, carrier, said, NOON)[:2]


def test_receipt_before_the_answer_is_stored_until_the_answer(tx: Tx) -> None:
    assert arrive(tx, ("r1", BAD)) == ([], ["r1"])

    assert receipts.record_references(
        tx, CARRIER, [ExpectedReceipt("r1", ONE, 1), ExpectedReceipt("r2", OTHER, 1)]
    ) == [(ONE, BAD)]


def test_first_of_two_receipts_counts(tx: Tx) -> None:
    record_references(tx, ONE, "r1")
    arrive(tx, ("r1", GOOD))
    arrive(tx, ("early", GOOD))
    record_references(tx, message_id(3), "r3")

    assert arrive(tx, ("r1", BAD)) == ([], ["r1"])
    assert arrive(tx, ("r3", BAD), ("r3", GOOD), ("r3", GOOD)) == ([(message_id(3), BAD)], [])
    arrive(tx, ("early", BAD))
    assert record_references(tx, OTHER, "early") == [(OTHER, GOOD)]


def test_reference_is_taken_with_the_receipt_that_ends_its_message(tx: Tx) -> None:
    arrive(tx, ("early", GOOD))
    record_references(tx, ONE, "r1")
    record_references(tx, OTHER, "a", "b")

    matched = receipts.record_receipts(tx, CARRIER, [(each, GOOD) for each in ("a", "r1", "early", "b")], NOON)

    assert sorted(matched.ended) == [(ONE, GOOD), (OTHER, GOOD)]
    assert matched.consumed == {"r1": ConsumedReference(ONE, GOOD, None)}  # the parts of a message end together
    assert stored_references(tx) == 3


def test_reference_given_twice_belongs_to_the_later_message(tx: Tx) -> None:
    assert (
        receipts.record_references(tx, CARRIER, [ExpectedReceipt("r1", ONE, 1), ExpectedReceipt("r1", OTHER, 1)])
        == []
    )

    assert arrive(tx, ("r1", GOOD)) == ([(OTHER, GOOD)], [])


def test_same_reference_at_two_carriers_is_not_shared(tx: Tx) -> None:
    record_references(tx, ONE, "r1")
    record_references(tx, OTHER, "r1", carrier="another")

    assert arrive(tx, ("r1", GOOD), carrier="another") == ([(OTHER, GOOD)], [])


def test_many_receipts_at_once_are_all_matched(tx: Tx) -> None:
    receipts.record_references(
        tx, CARRIER, [ExpectedReceipt(f"r{number}", message_id(number), 1) for number in range(250)]
    )

    matched, unmatched = arrive(tx, *((f"r{number}", GOOD) for number in range(300)))

    assert sorted(matched) == [(message_id(number), GOOD) for number in range(250)]
    assert sorted(unmatched) == [f"r{number}" for number in range(250, 300)]
    assert (arrive(tx), receipts.record_references(tx, CARRIER, [])) == (([], []), [])


def test_reference_reused_for_another_message_is_not_deleted(tx: Tx) -> None:
    record_references(tx, ONE, "r1")
    record_references(tx, ONE, "r2")
    record_references(tx, OTHER, "r1")
    arrive(tx, ("stray", GOOD))

    ended = [EndedReference(CARRIER, each, ONE) for each in ("r1", "r2", "stray")]
    receipts.delete(tx, [*ended, EndedReference("another", "r1", OTHER)])

    assert stored_references(tx) == 2
    assert arrive(tx, ("r1", GOOD), ("r2", GOOD)) == ([(OTHER, GOOD)], ["r2"])


def test_only_unmatched_receipts_are_deleted_by_reference(tx: Tx) -> None:
    record_references(tx, ONE, "r1")
    arrive(tx, ("a", GOOD), ("b", GOOD))
    arrive(tx, ("a", GOOD), carrier="another")

    receipts.delete_unmatched_references(tx, CARRIER, ["r1", "a"])

    left = tx.fetch_all("select carrier, reference from receipts order by carrier, reference")
    assert left == [("another", "a"), (CARRIER, "b"), (CARRIER, "r1")]


def test_only_old_unmatched_receipts_are_deleted_in_batches(tx: Tx) -> None:
    receipts.record_receipts(tx, CARRIER, [(f"old{number}", GOOD) for number in range(5)], NOON - HOUR)
    arrive(tx, ("new", GOOD))
    record_references(tx, ONE, "old0")
    record_references(tx, OTHER, "waiting")

    assert [receipts.delete_old_unmatched(tx, NOON, 3) for _ in range(3)] == [3, 1, 0]
    assert stored_references(tx) == 3


def test_multipart_message_is_delivered_when_every_part_is(tx: Tx) -> None:
    assert record_references(tx, ONE, "a", "b", "c") + record_references(tx, OTHER, "r") == []

    assert arrive(tx, ("b", GOOD)) == ([], [])
    assert arrive(tx, ("r", GOOD), ("a", GOOD)) == ([(OTHER, GOOD)], [])
    assert arrive(tx, ("c", GOOD)) == ([(ONE, GOOD)], [])


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_multipart_message_fails_as_soon_as_one_part_fails(tx: Tx, bad: int) -> None:
    record_references(tx, ONE, "a", "b", "c")
    words = [BAD if number == bad else GOOD for number in range(3)]

    ends = [arrive(tx, said)[0] for said in zip("abc", words, strict=True)]

    assert ends[bad] == [(ONE, BAD)]
    assert [end for number, end in enumerate(ends) if number != bad] == [[], []]


def test_failed_part_among_delivered_ones_fails_the_message(tx: Tx) -> None:
    record_references(tx, ONE, "a", "b", "c")

    assert arrive(tx, ("a", GOOD), ("b", BAD), ("c", GOOD)) == ([(ONE, BAD)], [])


def test_part_receipts_before_the_answer_are_stored_until_the_answer(tx: Tx) -> None:
    assert arrive(tx, ("a", GOOD)) == ([], ["a"])
    assert record_references(tx, ONE, "a", "b") == []
    assert arrive(tx, ("b", GOOD)) == ([(ONE, GOOD)], [])

    arrive(tx, ("c", GOOD), ("d", GOOD))
    assert record_references(tx, OTHER, "c", "d") == [(OTHER, GOOD)]
    arrive(tx, ("f", BAD))
    assert record_references(tx, message_id(3), "e", "f") == [(message_id(3), BAD)]


def test_repeated_receipt_of_a_part_counts_once(tx: Tx) -> None:
    record_references(tx, ONE, "a", "b")

    for _ in range(3):
        assert arrive(tx, ("a", GOOD), ("a", GOOD)) == ([], [])

    assert arrive(tx, ("a", BAD)) == ([], [])  # the first receipt counts
    assert arrive(tx, ("b", GOOD)) == ([(ONE, GOOD)], [])


def test_parts_of_many_messages_are_counted_separately(tx: Tx) -> None:
    expected = [
        ExpectedReceipt(f"{number}.{part}", message_id(number), 3) for number in range(120) for part in range(3)
    ]
    receipts.record_references(tx, CARRIER, expected)

    ended, unmatched = arrive(tx, *((each, GOOD) for each, _, _ in expected[:-1]))

    assert sorted(ended) == [(message_id(number), GOOD) for number in range(119)]
    assert unmatched == []


def test_turns_of_a_message_in_parts_end_with_it(tx: Tx) -> None:
    def locks() -> list[bytes]:
        return tx.fetch_values("select message_id from receipt_turns order by message_id")

    for message, references in ((ONE, "ab"), (OTHER, "cd"), (message_id(3), "e")):
        record_references(tx, message, *references)
    arrive(tx, *((each, GOOD) for each in "ace"))
    assert locks() == [ONE, OTHER]

    receipts.delete(tx, [EndedReference(CARRIER, each, ONE) for each in "ab"])
    assert locks() == [OTHER]

    assert receipts.delete_old_locks(tx, NOON, 10) == 0
    assert receipts.delete_old_locks(tx, NOON + HOUR, 10) == 1
    assert locks() == []


def test_message_in_doubt_is_found_by_reference_at_its_carrier_only(tx: Tx) -> None:
    receipts.record_references(tx, CARRIER, [ExpectedReceipt("?one", ONE, 1), ExpectedReceipt("?other", OTHER, 1)])
    receipts.record_references(tx, "another", [ExpectedReceipt("?third", message_id(3), 1)])
    receipts.record_receipts(tx, CARRIER, [("?stray", GOOD)], NOON)

    held = receipts.find_by_reference(tx, CARRIER, ["?one", "?third", "?stray", "?nobody"])

    assert held == {"?one": ONE}
    assert receipts.find_by_reference(tx, CARRIER, []) == {}
    assert receipts.find_by_reference(tx, CARRIER, ["?one", "?other"]) == {"?one": ONE, "?other": OTHER}


def test_receipt_queries_use_the_key_and_never_scan_the_table(tx: Tx) -> None:
    receipts.record_references(
        tx, CARRIER, [ExpectedReceipt(f"r{number}", message_id(number), 1) for number in range(500)]
    )
    explaining = ExplainingTx(tx)

    receipts.record_references(explaining, CARRIER, [ExpectedReceipt("r1", ONE, 1)])
    receipts.record_receipts(explaining, CARRIER, [("r1", GOOD)], NOON)
    receipts.record_references(
        explaining, CARRIER, [ExpectedReceipt("a", OTHER, 2), ExpectedReceipt("b", OTHER, 2)]
    )
    receipts.record_receipts(explaining, CARRIER, [("a", GOOD)], NOON)
    receipts.find_by_reference(explaining, CARRIER, ["r1", "r2"])
    receipts.delete_old_unmatched(explaining, NOON, 10)

    assert explaining.scans == []
    assert explaining.uses("receipts_unmatched")
    assert explaining.uses("receipts_by_parts (message_id=?)")
    assert explaining.uses("PRIMARY KEY (carrier=? AND reference=?)")


def test_ended_references_are_deleted_by_key(tx: Tx) -> None:
    receipts.record_references(
        tx, CARRIER, [ExpectedReceipt(f"r{number}", message_id(number), 1) for number in range(500)]
    )
    ended, strays = ExplainingTx(tx), ExplainingTx(tx)

    receipts.delete(ended, [EndedReference(CARRIER, f"r{number}", message_id(number)) for number in range(150)])
    receipts.delete_unmatched_references(strays, CARRIER, ["r1", "r2"])

    for explaining in (ended, strays):
        assert explaining.scans == []
    assert ended.uses("PRIMARY KEY (carrier=? AND reference=?)")
    by_those_without = strays.is_on_postgresql and strays.uses("receipts_unmatched")  # no such row: equally good
    assert by_those_without or strays.uses("PRIMARY KEY (carrier=? AND reference=?)")
    assert stored_references(tx) == 350


FIRST = PostponedReceipt(3, "r1", Outcome.DELIVERED, None, None)
SECOND = PostponedReceipt(3, "r2", Outcome.PHONE_OFF, "?01012345678#0001", "099")
ELSEWHERE = PostponedReceipt(4, "r3", Outcome.DELIVERED, None, "000")


def test_postponed_receipts_are_listed_by_carrier_and_slot_until_deleted(tx: Tx) -> None:
    assert receipts.list_postponed_slots(tx) == []
    receipts.postpone(tx, CARRIER, [FIRST, SECOND, ELSEWHERE], NOON)
    receipts.postpone(tx, "another", [FIRST], NOON)
    assert receipts.list_postponed_slots(tx) == [("another", 3), (CARRIER, 3), (CARRIER, 4)]

    found = receipts.list_postponed(tx, CARRIER, 3, 10)

    assert [each._replace(id=0) for each in found] == [FIRST, SECOND]
    assert receipts.list_postponed(tx, CARRIER, 3, 1) == found[:1]
    receipts.delete_postponed(tx, found)
    assert receipts.list_postponed_slots(tx) == [("another", 3), (CARRIER, 4)]
