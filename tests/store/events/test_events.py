"""The outbox: events are recorded with what causes them, numbered later, and read by their numbers."""

from collections.abc import Sequence

import pytest

from pabal.domain.base import identifiers
from pabal.domain.base.dates import DAY
from pabal.domain.events.event import Event, EventType, lowest_number
from pabal.domain.sends.message import Outcome, Product
from pabal.store.engine.base import Tx
from pabal.store.events import events
from pabal.store.events.events import MAX_EVENTS_AT_ONCE, MAX_EVENTS_PER_ROW, MessageEnd, NumberedBatch
from pabal.store.messages import messages
from tests.fixtures.rows import ACCOUNT, PHONE, ExplainingTx, message_id, present, sms, store_request
from tests.fixtures.virtual import NOON

OTHER = ACCOUNT + 1


def end(slot: int, number: int, account: int = ACCOUNT) -> MessageEnd:
    request = identifiers.make_request_id(NOON, slot, number)
    return MessageEnd(identifiers.make_message_id(request, 1), account, Product.SMS.number)


def number_all(tx: Tx, *slots: int, now: int = NOON) -> None:
    for slot in slots or (0,):
        while events.number_some(tx, slot, 0, now, 10).has_more:
            pass


def read_all(tx: Tx, account: int = ACCOUNT, limit: int = 100) -> list[Event]:
    """Return what a chain of cursors reads."""
    found: list[Event] = []
    positions: dict[int, int] = {}
    has_more = True
    while has_more:
        page, positions, has_more = events.read_after(tx, account, positions, limit)
        found += page
    return found


def ids(found: Sequence[Event]) -> list[bytes]:
    return [each.id for each in found]


def test_each_end_of_a_message_is_recorded_once(tx: Tx) -> None:
    store_request(tx, 1, sms([PHONE] * 4))
    one, two, three = (message_id(1, number) for number in range(1, 4))

    messages.finish(tx, [(one, Outcome.DELIVERED), (two, Outcome.SPAM)], NOON)
    messages.finish(tx, [(two, Outcome.DELIVERED)], NOON + 1)
    messages.cancel(tx, [one, three], NOON + 2)
    messages.cancel(tx, [three], NOON + 3)
    origin = messages.get(tx, [two])[two]
    fallback, unsendable = message_id(1, 6), message_id(1, 8)
    messages.add_fallback(tx, origin, fallback, Product.LMS, "글", None, NOON)
    for _ in range(2):
        messages.add_fallback(tx, origin, unsendable, Product.LMS, "글", Outcome.NOT_SENDABLE_AS_TEXT, NOON + 4)
    number_all(tx)

    found = read_all(tx)
    assert sorted(ids(found)) == sorted([one, two, three, unsendable])
    assert {each.product for each in found} == {Product.SMS.number, Product.LMS.number}
    assert {each.type for each in found} == {EventType.MESSAGE_RESULT}


def test_events_are_not_read_before_they_have_numbers(tx: Tx) -> None:
    events.record_ends(tx, [end(0, 1)], NOON)

    assert read_all(tx) == []
    assert events.slots_with_new(tx, {0: 0, 1: 0}) == [0]
    assert events.slots_with_new(tx, {0: NOON + 1, 1: 0}) == []


def test_numbering_is_done_in_batches_and_says_for_whom(tx: Tx) -> None:
    for number in range(3):
        events.record_ends(tx, [end(0, number, ACCOUNT + number)], NOON + number)

    assert events.number_some(tx, 0, 0, NOON, 2) == NumberedBatch(frozenset([ACCOUNT, ACCOUNT + 1]), True)
    assert events.number_some(tx, 0, 0, NOON, 2) == NumberedBatch(frozenset([ACCOUNT + 2]), False)
    assert events.number_some(tx, 0, 0, NOON, 2) == NumberedBatch(frozenset(), False)


def test_more_ends_than_fit_in_a_row_are_all_numbered(tx: Tx) -> None:
    ends = [end(0, number) for number in range(MAX_EVENTS_PER_ROW + 5)]
    events.record_ends(tx, ends, NOON)
    number_all(tx)

    assert ids(read_all(tx, limit=300)) == [each.id for each in ends]


def test_a_transaction_numbers_only_so_many_events(tx: Tx) -> None:
    for number in range(3):
        some = [end(0, number * MAX_EVENTS_PER_ROW + each) for each in range(MAX_EVENTS_PER_ROW)]
        events.record_ends(tx, some, NOON + number)

    batches = [events.number_some(tx, 0, 0, NOON, 10), events.number_some(tx, 0, 0, NOON, 10)]

    assert MAX_EVENTS_AT_ONCE == 2 * MAX_EVENTS_PER_ROW
    assert [each.has_more for each in batches] == [True, False]
    assert len(set(ids(read_all(tx, limit=1000)))) == 3 * MAX_EVENTS_PER_ROW


def test_numbers_grow_also_when_the_clock_is_set_back(tx: Tx) -> None:
    events.record_ends(tx, [end(0, 1)], NOON)
    number_all(tx)
    events.record_ends(tx, [end(0, 2)], NOON - 60_000)
    number_all(tx, now=NOON - 60_000)
    events.record_ends(tx, [end(0, 3)], NOON + 60_000)
    number_all(tx, now=NOON + 60_000)

    first, second, third = (each.number for each in read_all(tx))
    assert lowest_number(NOON) < first < second < lowest_number(NOON + 60_000) < third


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_a_chain_of_cursors_reads_every_event_of_its_account_once(tx: Tx, limit: int) -> None:
    mine = [end(slot, number) for number in range(4) for slot in (0, 3)]
    theirs = [end(slot, 100 + number, OTHER) for number in range(4) for slot in (0, 5)]
    events.record_ends(tx, [*mine, *theirs], NOON)
    number_all(tx, 0, 3, 5)

    found = read_all(tx, limit=limit)

    assert sorted(ids(found)) == sorted(each.id for each in mine)
    for slot in (0, 3):
        assert ids([each for each in found if each.slot == slot]) == [
            each.id for each in mine if identifiers.slot_of(each.id) == slot
        ]


def test_what_happens_between_two_pages_is_read_by_the_next(tx: Tx) -> None:
    events.record_ends(tx, [end(0, 1), end(1, 1)], NOON)
    number_all(tx, 0, 1)
    first = events.read_after(tx, ACCOUNT, {}, 1)
    events.record_ends(tx, [end(1, 2)], NOON)
    number_all(tx, 1)
    second = events.read_after(tx, ACCOUNT, first.positions, 100)

    assert ids(first.events + second.events) == [end(0, 1).id, end(1, 1).id, end(1, 2).id]
    assert (first.has_more, second.has_more) == (True, False)
    assert events.read_after(tx, ACCOUNT, second.positions, 100).events == []


def test_an_unwanted_type_is_passed_over(tx: Tx) -> None:
    events.record(tx, ACCOUNT, EventType.LIMIT_NEAR, "a", {}, NOON)
    events.record_ends(tx, [end(0, 1)], NOON)
    number_all(tx)

    page = events.read_after(tx, ACCOUNT, {}, 100, [EventType.MESSAGE_RESULT])

    assert ids(page.events) == [end(0, 1).id]
    assert events.read_after(tx, ACCOUNT, page.positions, 100).events == []


def test_another_event_is_recorded_once_for_each_key(tx: Tx) -> None:
    data = {"name": "쿠폰", "counts": {"fail": 1}}

    one = present(events.record(tx, ACCOUNT, EventType.CAMPAIGN_FINISHED, "1", data, NOON))
    again = events.record(tx, ACCOUNT, EventType.CAMPAIGN_FINISHED, "1", {}, NOON)
    number_all(tx)
    once_more = events.record(tx, ACCOUNT, EventType.CAMPAIGN_FINISHED, "1", {}, NOON)
    number_all(tx)

    assert (again, once_more) == (None, None)
    assert ids(read_all(tx)) == [one]
    assert events.get_data(tx, [one])[one] == (EventType.CAMPAIGN_FINISHED, NOON, data)


def test_what_an_event_says_about_a_number_is_erased_with_it(tx: Tx) -> None:
    data = {"phoneNumber": PHONE}
    one, two = (
        present(events.record(tx, account, EventType.OPT_OUT_ADDED, "1", data, NOON, phone=PHONE))
        for account in (ACCOUNT, OTHER)
    )

    assert events.erase_data(tx, ACCOUNT, PHONE) == [one]

    stored = events.get_data(tx, [one, two])
    assert stored[one].data == {}
    assert stored[two].data == {"phoneNumber": PHONE}
    assert events.erase_data(tx, ACCOUNT, PHONE) == []


def test_a_cursor_is_expired_once_events_behind_it_were_deleted(tx: Tx) -> None:
    events.record_ends(tx, [end(0, 1), end(1, 1)], NOON)
    number_all(tx, 0, 1)
    behind_one = events.read_after(tx, ACCOUNT, {}, 1).positions
    behind_both = events.last_positions(tx)
    later = NOON + 40 * DAY
    events.record_ends(tx, [end(0, 2)], later)
    number_all(tx, now=later)

    for slot in (0, 1):
        until = events.mark_deleted(tx, slot, later - 30 * DAY)
        assert events.delete_old(tx, ACCOUNT, slot, until, 10) == 1

    assert not events.is_expired(tx, behind_both)  # nothing that it has not read is missing
    assert events.is_expired(tx, behind_one)
    assert not events.is_expired(tx, {})
    assert ids(read_all(tx)) == [end(0, 2).id]


def test_events_are_kept_until_their_whole_day_is_old(tx: Tx) -> None:
    midnight = NOON - NOON % DAY
    for number, at in enumerate([midnight + 1, midnight + DAY - 1, midnight + DAY, midnight + 3 * DAY]):
        events.record_ends(tx, [end(0, number)], at)
        number_all(tx, now=at)
    numbers = [each.number for each in read_all(tx)]

    assert events.mark_deleted(tx, 0, midnight + 2) == 0
    assert events.mark_deleted(tx, 0, midnight + DAY) == numbers[1]
    assert events.mark_deleted(tx, 0, midnight + DAY - 5) == numbers[1]  # the clock was set back
    assert events.mark_deleted(tx, 0, midnight + 2 * DAY) == numbers[2]
    assert events.mark_deleted(tx, 0, midnight + 4 * DAY) == numbers[3]
    assert events.mark_deleted(tx, 1, midnight + 4 * DAY) == 0


def test_old_events_are_deleted_in_batches_by_account(tx: Tx) -> None:
    events.record_ends(tx, [end(0, number, account) for number in range(5) for account in (ACCOUNT, OTHER)], NOON)
    number_all(tx)
    until = events.mark_deleted(tx, 0, NOON + DAY)

    assert events.next_account(tx, 0, 0) == ACCOUNT
    assert events.next_account(tx, 0, ACCOUNT) == OTHER
    assert events.next_account(tx, 0, OTHER) is None
    assert events.next_account(tx, 1, 0) is None
    assert [events.delete_old(tx, OTHER, 0, until, 3) for _ in range(3)] == [3, 2, 0]
    assert events.delete_old(tx, ACCOUNT, 0, until, 10) == 5


def test_accounts_with_new_events_are_found(tx: Tx) -> None:
    events.record_ends(tx, [end(0, 1), end(1, 2, OTHER)], NOON)
    number_all(tx, 0, 1)
    assert events.find_accounts(tx, [ACCOUNT, OTHER], {})[0] == {ACCOUNT, OTHER}
    before = events.last_positions(tx)
    assert events.find_accounts(tx, [ACCOUNT, OTHER], before) == (set(), before)

    events.record_ends(tx, [end(1, 3), end(2, 4, OTHER + 1)], NOON)
    number_all(tx, 1, 2)

    assert events.find_accounts(tx, [ACCOUNT, OTHER], before) == ({ACCOUNT}, events.last_positions(tx))
    assert events.find_accounts(tx, [], before) == (set(), events.last_positions(tx))


def test_old_data_is_deleted_in_batches(tx: Tx) -> None:
    for number in range(3):
        events.record(tx, ACCOUNT, EventType.LIMIT_NEAR, str(number), {}, NOON + number)

    assert [events.delete_old_data(tx, NOON + 2, 1) for _ in range(3)] == [1, 1, 0]


def test_no_statement_reads_more_than_it_needs(tx: Tx) -> None:
    for number in range(300):
        events.record_ends(tx, [end(0, number, ACCOUNT + number % 7)], NOON + number)
        events.record(tx, ACCOUNT, EventType.LIMIT_NEAR, str(number), {}, NOON, phone=f"010{number:08}")
        if number == 250:
            number_all(tx)
    explaining = ExplainingTx(tx)

    events.slots_with_new(explaining, {0: 0})
    events.number_some(explaining, 0, 0, NOON, 10)
    events.read_after(explaining, ACCOUNT, {0: 1}, 10)
    events.find_accounts(explaining, [ACCOUNT, OTHER], {0: 1})
    events.next_account(explaining, 0, ACCOUNT)
    events.mark_deleted(explaining, 0, NOON + DAY)
    events.delete_old(explaining, ACCOUNT, 0, lowest_number(NOON + 1), 10)
    events.delete_old_data(explaining, NOON, 10)
    events.erase_data(explaining, ACCOUNT, PHONE)
    events.get_data(explaining, [bytes(16)])

    assert [each for each in explaining.scans if "event_numbers" not in each[1]] == []
