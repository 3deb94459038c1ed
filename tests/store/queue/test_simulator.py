"""The simulator's rows: messages on its phones, and pending receipts."""

from pabal.domain.base import identifiers
from pabal.domain.base.dates import MINUTE, SECOND
from pabal.domain.content.button import Button
from pabal.domain.sends.message import TOKEN_KIND, Outcome, SimulatedMessage
from pabal.store.engine.base import Tx
from pabal.store.queue import simulator
from tests.fixtures.rows import CARRIER, PHONE, ExplainingTx, message_id
from tests.fixtures.virtual import NOON

SLOTS = (0, 1)
GOOD, BAD = Outcome.DELIVERED, Outcome.UNDELIVERABLE


def arrival(number: int, **fields: object) -> SimulatedMessage:
    usual = SimulatedMessage(
        message_id(number),
        1,
        PHONE,
        NOON,
        NOON + SECOND,
        "sms",
        "02-1234-5678",
        None,
        f"글 {number}",
        receipts=((NOON + SECOND, GOOD),),
    )
    return usual._replace(**fields)  # type: ignore[arg-type]


def texts(tx: Tx, at: int = NOON + MINUTE, page: int = 1, page_size: int = 10) -> list[str]:
    return [each.content for each in simulator.list_on_phone(tx, 1, PHONE, at, page, page_size)[1]]


def test_phone_shows_arrived_messages_as_sent(tx: Tx) -> None:
    buttons = (Button("webLink", "보기", mobile_url="https://example.com"),)
    sent = arrival(1, kind="alimTalk", sender="@shop", subject="제목", buttons=buttons, images=2)
    simulator.add_messages(tx, CARRIER, [sent])

    total, (shown,) = simulator.list_on_phone(tx, 1, PHONE, NOON + SECOND, 1, 10)

    assert total == 1
    assert shown == sent._replace(receipts=())


def test_phone_does_not_show_messages_that_have_not_arrived(tx: Tx) -> None:
    simulator.add_messages(tx, CARRIER, [arrival(1), arrival(2, arrives_at=None)])

    assert texts(tx, at=NOON + SECOND - 1) == []
    assert texts(tx, at=NOON + SECOND) == ["글 1"]


def test_phone_shows_only_messages_of_the_asking_account(tx: Tx) -> None:
    simulator.add_messages(tx, CARRIER, [arrival(1), arrival(2, account_id=2), arrival(3, phone="01099999999")])

    assert texts(tx) == ["글 1"]


def test_phone_shows_newest_messages_first_by_page(tx: Tx) -> None:
    simulator.add_messages(tx, CARRIER, [arrival(number, arrives_at=NOON + number) for number in (3, 1, 2)])

    assert texts(tx, page_size=2) == ["글 3", "글 2"]
    assert texts(tx, page=2, page_size=2) == ["글 1"]
    assert texts(tx, page=3, page_size=2) == []
    assert simulator.list_on_phone(tx, 1, PHONE, NOON + MINUTE, 2, 2)[0] == 3


def test_repeated_message_is_ignored_and_has_one_receipt(tx: Tx) -> None:
    simulator.add_messages(tx, CARRIER, [arrival(1)])

    simulator.add_messages(tx, CARRIER, [arrival(1, content="again", receipts=((NOON + MINUTE, BAD),)), arrival(2)])

    assert texts(tx) == ["글 2", "글 1"]
    assert simulator.find_due_receipts(tx, CARRIER, SLOTS, NOON + MINUTE, 10) == [
        (NOON + SECOND, message_id(1), GOOD),
        (NOON + SECOND, message_id(2), GOOD),
    ]


def test_any_number_of_tokens_without_id_is_stored(tx: Tx) -> None:
    for number in range(2):
        simulator.add_messages(tx, CARRIER, [arrival(number, message_id=None, kind=TOKEN_KIND, receipts=())])

    assert len(texts(tx)) == 2


def test_receipts_are_due_from_their_time_until_sent_oldest_first(tx: Tx) -> None:
    simulator.add_messages(
        tx, CARRIER, [arrival(1, receipts=((NOON + 2, GOOD), (NOON + 9, BAD))), arrival(2, receipts=())]
    )
    simulator.add_messages(tx, CARRIER, [arrival(3, receipts=((NOON + 1, BAD),))])

    assert simulator.next_receipt_at(tx, CARRIER, SLOTS) == NOON + 1
    assert simulator.find_due_receipts(tx, CARRIER, SLOTS, NOON, 10) == []
    due = simulator.find_due_receipts(tx, CARRIER, SLOTS, NOON + 5, 10)
    assert due == [(NOON + 1, message_id(3), BAD), (NOON + 2, message_id(1), GOOD)]
    assert simulator.find_due_receipts(tx, CARRIER, SLOTS, NOON + 5, 1) == due[:1]

    simulator.delete_receipts(tx, CARRIER, due)

    assert simulator.find_due_receipts(tx, CARRIER, SLOTS, NOON + 5, 10) == []
    assert simulator.next_receipt_at(tx, CARRIER, SLOTS) == NOON + 9


def test_busy_answers_are_counted_per_message(tx: Tx) -> None:
    one, other = message_id(1), message_id(2)

    assert simulator.count_busy(tx, CARRIER, [one]) == {one: 1}
    assert simulator.count_busy(tx, CARRIER, [one, other]) == {one: 2, other: 1}


def test_oldest_messages_over_the_limit_are_deleted_in_batches(tx: Tx) -> None:
    simulator.add_messages(tx, CARRIER, [arrival(number) for number in range(10)])
    simulator.count_busy(tx, CARRIER, [message_id(0), message_id(9)])

    assert simulator.trim(tx, 4, NOON + 1, 0, 5) == 5
    assert simulator.trim(tx, 4, NOON + 1, 0, 5) == 1
    assert simulator.trim(tx, 4, NOON + 1, 0, 5) == 0

    assert sorted(texts(tx)) == ["글 6", "글 7", "글 8", "글 9"]
    assert tx.fetch_all("select message_id from simulated_busy") == [(message_id(9),)]


def test_recently_accepted_messages_are_not_deleted(tx: Tx) -> None:
    simulator.add_messages(tx, CARRIER, [arrival(number) for number in range(10)])

    assert simulator.trim(tx, 4, NOON, 0, 100) == 0


def test_simulator_queries_never_scan_a_table(tx: Tx) -> None:
    simulator.add_messages(tx, CARRIER, [arrival(number) for number in range(200)])
    explaining = ExplainingTx(tx)

    simulator.add_messages(explaining, CARRIER, [arrival(1), arrival(1000)])
    due = simulator.find_due_receipts(explaining, CARRIER, SLOTS, NOON + MINUTE, 10)
    simulator.delete_receipts(explaining, CARRIER, due)
    simulator.count_busy(explaining, CARRIER, [message_id(1)])
    simulator.list_on_phone(explaining, 1, PHONE, NOON + MINUTE, 1, 10)
    simulator.trim(explaining, 10, NOON + MINUTE, 0, 10)
    simulator.next_receipt_at(explaining, CARRIER, SLOTS)

    # SQLite reads the minimum from the first entry of an index: a search without a constraint.
    assert explaining.scans == []


def test_messages_past_retention_are_deleted_even_if_few(tx: Tx) -> None:
    simulator.add_messages(tx, CARRIER, [arrival(1)])

    assert simulator.trim(tx, 4, NOON + MINUTE, NOON, 5) == 0
    assert simulator.trim(tx, 4, NOON + MINUTE, NOON + 1, 5) == 1


def test_each_simulator_has_its_own_due_receipts(tx: Tx) -> None:
    simulator.add_messages(tx, CARRIER, [arrival(1)])
    simulator.add_messages(tx, "other", [arrival(2)])

    (own,) = simulator.find_due_receipts(tx, CARRIER, SLOTS, NOON + MINUTE, 10)
    simulator.delete_receipts(tx, CARRIER, [own])

    assert own[1] == message_id(1)
    assert [one for _, one, _ in simulator.find_due_receipts(tx, "other", SLOTS, NOON + MINUTE, 10)] == [
        message_id(2)
    ]


def in_slot(slot: int, number: int) -> bytes:
    return identifiers.make_message_id(identifiers.make_request_id(NOON, slot, number), 1)


def test_receipts_are_due_at_the_holder_of_their_slot(tx: Tx) -> None:
    ids = {slot: in_slot(slot, slot) for slot in (0, 3, 7)}
    due = {slot: ((NOON + slot, GOOD),) for slot in ids}
    simulator.add_messages(tx, CARRIER, [arrival(0, message_id=ids[slot], receipts=due[slot]) for slot in ids])

    owed = simulator.find_due_receipts(tx, CARRIER, [7, 0], NOON + MINUTE, 10)

    assert owed == [(NOON, ids[0], GOOD), (NOON + 7, ids[7], GOOD)]
    assert simulator.next_receipt_at(tx, CARRIER, [3, 7]) == NOON + 3
    assert simulator.find_due_receipts(tx, CARRIER, [], NOON + MINUTE, 10) == []
    assert simulator.next_receipt_at(tx, CARRIER, []) is None
    simulator.delete_receipts(tx, CARRIER, owed)
    assert simulator.find_due_receipts(tx, CARRIER, [0, 3, 7], NOON + MINUTE, 10) == [(NOON + 3, ids[3], GOOD)]


def test_every_slot_gets_a_share_of_due_receipts(tx: Tx) -> None:
    late = [in_slot(1, number) for number in range(20)]
    simulator.add_messages(tx, CARRIER, [arrival(0, message_id=one) for one in [*late, in_slot(2, 1)]])

    found = [one for _, one, _ in simulator.find_due_receipts(tx, CARRIER, [1, 2], NOON + MINUTE, 10)]

    assert in_slot(2, 1) in found
    assert len(found) <= 10
