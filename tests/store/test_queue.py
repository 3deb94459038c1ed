"""The queue: who is due, in whose hands, and whose word still counts."""

import pytest

from pabal.domain.dates import HOUR, SECOND
from pabal.domain.message import Product
from pabal.store import messages, queue, queue_admin
from pabal.store.engine.base import Tx
from pabal.store.queue import Lane, Lease
from pabal.store.queue_admin import QueueDepth
from tests.fixtures.rows import (
    CARRIER,
    ExplainingTx,
    message_id,
    request_id,
    sms,
    store_many_requests,
    store_request,
)
from tests.fixtures.virtual import NOON

SLOT = 0
LEASE = 12 * SECOND


def add(tx: Tx, number: int, lane: int = Lane.SMALL, ready_at: int = NOON, carrier: str = CARRIER) -> bytes:
    """Put the job of a message in the queue."""
    one = message_id(number)
    queue.add(tx, one, carrier, lane, ready_at)
    return one


def take(tx: Tx, *ids: bytes, at: int = NOON) -> list[Lease]:
    """Take jobs in hand."""
    return queue.claim(tx, ids, at, at + LEASE)


def due(tx: Tx, most: int = 100, at: int = NOON, carrier: str = CARRIER) -> list[bytes]:
    return queue.find_due(tx, SLOT, carrier, at, most)


def where(tx: Tx, one: bytes) -> tuple[str, int, int, int, int, str | None]:
    """Return carrier, lane, time, attempt, tries and reference of a job."""
    row = tx.fetch_one("select carrier, lane, ready_at, attempt, tries, reference from jobs where id = ?", (one,))
    assert row is not None
    return row


def test_every_message_of_a_request_gets_a_job(tx: Tx) -> None:
    store_request(tx, 1, sms(["01000000011", "01000000012", "01000000013"]), scheduled_at=NOON + 5)
    store_request(tx, 2)

    assert due(tx, at=NOON + 4) == [message_id(2)]
    assert due(tx, at=NOON + 5) == [message_id(2), message_id(1, 1), message_id(1, 2), message_id(1, 3)]


def test_nothing_is_due_before_its_time_nor_at_another_carrier(tx: Tx) -> None:
    one = add(tx, 1, ready_at=NOON + 1)

    assert due(tx, at=NOON) == []
    assert due(tx, at=NOON + 1) == [one]
    assert due(tx, at=NOON + 1, carrier="another") == []


def test_what_has_waited_longest_is_due_first(tx: Tx) -> None:
    late, early, middle = (add(tx, number, ready_at=at) for number, at in ((1, NOON), (2, NOON - 9), (3, NOON - 5)))

    assert due(tx) == [early, middle, late]
    assert due(tx, most=2) == [early, middle]


def test_small_sends_go_first_and_campaigns_keep_a_quarter(tx: Tx) -> None:
    small = [add(tx, number) for number in range(100)]
    campaign = [add(tx, number, Lane.CAMPAIGN, NOON - HOUR) for number in range(100, 200)]

    assert due(tx, most=40) == small[:30] + campaign[:10]


@pytest.mark.parametrize(
    ("small", "campaign", "most", "expected"),
    [
        (0, 100, 40, (0, 40)),
        (100, 0, 40, (40, 0)),
        (5, 100, 40, (5, 35)),
        (100, 5, 40, (35, 5)),
        (3, 3, 40, (3, 3)),
        (100, 100, 4, (3, 1)),
        (0, 100, 1, (0, 1)),
    ],
)
def test_neither_lane_leaves_room_unused(
    tx: Tx, small: int, campaign: int, most: int, expected: tuple[int, int]
) -> None:
    for number in range(small):
        add(tx, number)
    for number in range(campaign):
        add(tx, 1000 + number, Lane.CAMPAIGN)

    found = due(tx, most=most)

    lanes = [where(tx, one)[1] for one in found]
    assert (lanes.count(Lane.SMALL), lanes.count(Lane.CAMPAIGN)) == expected


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("pace", [1, 50, 250, 500, 1000, 2000, 4000, 10_000, 60_000])
def test_a_claim_too_small_for_a_share_is_the_campaigns_first_about_every_fourth_time(
    tx: Tx, most: int, pace: int
) -> None:
    small = [add(tx, number) for number in range(3)]
    campaign = [add(tx, number, Lane.CAMPAIGN) for number in range(3, 6)]

    claims = [due(tx, most, at=NOON + pace * number) for number in range(400)]

    theirs = [found for found in claims if found != small[:most]]
    assert 60 <= len(theirs) <= 140
    assert all(found == small[: most - 1] + campaign[:1] for found in theirs)


@pytest.mark.parametrize("lane", [Lane.SMALL, Lane.CAMPAIGN])
def test_whoever_is_alone_gets_every_small_claim(tx: Tx, lane: int) -> None:
    ids = [add(tx, number, lane) for number in range(3)]

    assert all(due(tx, 1, at=NOON + 500 * number) == ids[:1] for number in range(20))


def test_a_claim_postpones_the_job_to_the_end_of_its_lease_and_counts_the_attempt(tx: Tx) -> None:
    one = add(tx, 1)

    assert take(tx, one) == [Lease(one, 1, 0)]

    assert due(tx, at=NOON + LEASE - 1) == []
    assert due(tx, at=NOON + LEASE) == [one]
    assert take(tx, one, at=NOON + LEASE) == [Lease(one, 2, 0)]


def test_the_job_of_a_dead_worker_comes_due_again_by_itself_and_its_late_word_changes_nothing(tx: Tx) -> None:
    one = add(tx, 1)
    take(tx, one)
    take(tx, one, at=NOON + LEASE)
    before = where(tx, one)

    assert queue.still_leased(tx, [(one, 1)]) == set()
    assert queue.await_receipts(tx, [queue.AcceptedJob(one, 1, "late", NOON)]) == set()
    assert queue.retry_later(tx, [queue.RetriedJob(one, 1, NOON, "another", 0)]) == set()

    assert where(tx, one) == before
    assert queue.still_leased(tx, [(one, 2)]) == {one}


def test_a_word_counts_once(tx: Tx) -> None:
    one = add(tx, 1)
    take(tx, one)

    assert queue.await_receipts(tx, [queue.AcceptedJob(one, 1, "r1", NOON + HOUR)]) == {one}
    assert queue.await_receipts(tx, [queue.AcceptedJob(one, 1, "r2", NOON + HOUR)]) == set()
    assert queue.retry_later(tx, [queue.RetriedJob(one, 1, NOON, CARRIER, 1)]) == set()
    assert queue.still_leased(tx, [(one, 1)]) == set()
    assert where(tx, one) == (CARRIER, Lane.AWAITING_RECEIPT, NOON + HOUR, 1, 0, "r1")


def test_a_taken_job_is_not_due_again_but_overdue_in_the_end(tx: Tx) -> None:
    one = add(tx, 1)
    take(tx, one)
    queue.await_receipts(tx, [queue.AcceptedJob(one, 1, "r", NOON + HOUR)])

    assert due(tx, at=NOON + 2 * HOUR) == []
    assert queue.find_overdue(tx, SLOT, CARRIER, NOON + HOUR - 1, 10) == []
    assert queue.find_overdue(tx, SLOT, CARRIER, NOON + HOUR, 10) == [(one, "r")]


def test_a_job_that_is_put_back_keeps_when_where_and_after_how_many_tries_it_goes_on(tx: Tx) -> None:
    one = add(tx, 1)
    for attempt in (1, 2, 3):
        take(tx, one)
        queue.retry_later(tx, [queue.RetriedJob(one, attempt, NOON, CARRIER, attempt)])
    assert where(tx, one) == (CARRIER, Lane.SMALL, NOON, 3, 3, None)
    assert take(tx, one) == [Lease(one, 4, 3)]

    queue.retry_later(tx, [queue.RetriedJob(one, 4, NOON + 7, "next", 0)])

    assert where(tx, one) == ("next", Lane.SMALL, NOON + 7, 4, 0, None)
    assert due(tx, at=NOON + 7, carrier="next") == [one]


def test_postponed_jobs_are_in_nobodys_hands(tx: Tx) -> None:
    one = add(tx, 1)
    take(tx, one)

    queue.postpone(tx, [one], NOON + HOUR)

    assert due(tx, at=NOON + HOUR - 1) == []
    assert queue.still_leased(tx, [(one, 1)]) == set()


def test_dropped_jobs_say_whose_they_were_and_are_dropped_once(tx: Tx) -> None:
    one, other = add(tx, 1), add(tx, 2)
    take(tx, one)
    queue.await_receipts(tx, [queue.AcceptedJob(one, 1, "r", NOON)])

    assert sorted(queue.remove(tx, [one, other, message_id(3)])) == [(one, CARRIER, "r"), (other, CARRIER, None)]
    assert queue.remove(tx, [one, other]) == []


def test_only_jobs_that_nobody_ever_had_in_hand_are_dropped_by_a_cancel(tx: Tx) -> None:
    untouched, in_hand, put_back = (add(tx, number) for number in range(3))
    take(tx, in_hand, put_back)
    queue.retry_later(tx, [queue.RetriedJob(put_back, 1, NOON, CARRIER, 1)])

    assert queue.remove_unclaimed(tx, [untouched, in_hand, put_back]) == [untouched]
    assert due(tx, at=NOON + HOUR) == [put_back, in_hand]


def test_only_leases_are_void_at_a_new_start(tx: Tx) -> None:
    in_hand = add(tx, 1)
    taken = add(tx, 2)
    put_back = add(tx, 3)
    scheduled = add(tx, 4, ready_at=NOON + 5 * SECOND)
    of_another = add(tx, 5, carrier="another")
    take(tx, in_hand, taken, put_back, of_another)
    queue.await_receipts(tx, [queue.AcceptedJob(taken, 1, "r", NOON + 5 * SECOND)])
    queue.retry_later(tx, [queue.RetriedJob(put_back, 1, NOON + 5 * SECOND, CARRIER, 1)])

    assert queue_admin.release_leases(tx, SLOT, CARRIER, NOON + 1, LEASE) == 1

    assert due(tx, at=NOON + 1) == [in_hand]
    assert queue.still_leased(tx, [(in_hand, 1), (of_another, 1)]) == {of_another}
    assert where(tx, taken)[1:3] == (Lane.AWAITING_RECEIPT, NOON + 5 * SECOND)
    assert {where(tx, one)[2] for one in (put_back, scheduled)} == {NOON + 5 * SECOND}


def test_a_lease_that_ran_out_leaves_its_job_in_doubt(tx: Tx) -> None:
    ran_out, fresh, put_back, taken = (add(tx, number) for number in range(4))
    take(tx, ran_out, put_back, taken)
    queue.retry_later(tx, [queue.RetriedJob(put_back, 1, NOON, CARRIER, 1)])
    queue.await_receipts(tx, [queue.AcceptedJob(taken, 1, "r", NOON)])

    found = due(tx, at=NOON + LEASE)

    assert sorted(found) == [ran_out, fresh, put_back]
    assert queue.find_in_doubt(tx, found) == [ran_out]
    assert queue.find_in_doubt(tx, []) == []


def test_a_job_whose_lease_is_void_is_in_doubt_no_more(tx: Tx) -> None:
    one = add(tx, 1)
    take(tx, one)

    queue_admin.release_leases(tx, SLOT, CARRIER, NOON + 1, LEASE)

    assert queue.find_in_doubt(tx, due(tx, at=NOON + 1)) == []


def test_what_is_in_hand_is_known_by_carrier_whether_its_lease_ran_out_or_not(tx: Tx) -> None:
    held, campaign, taken, waiting, put_back = (
        add(tx, number, lane) for number, lane in enumerate((Lane.SMALL, Lane.CAMPAIGN, *[Lane.SMALL] * 3))
    )
    of_another = add(tx, 9, carrier="another")
    take(tx, held, taken, put_back, of_another)
    take(tx, campaign, at=NOON - HOUR)
    queue.await_receipts(tx, [queue.AcceptedJob(taken, 1, "r", NOON)])
    queue.retry_later(tx, [queue.RetriedJob(put_back, 1, NOON, CARRIER, 1)])

    assert sorted(queue.find_in_flight(tx, SLOT, CARRIER, 10)) == [held, campaign]
    assert len(queue.find_in_flight(tx, SLOT, CARRIER, 1)) == 1
    assert queue.find_in_flight(tx, SLOT, "another", 10) == [of_another]
    assert waiting in due(tx)


def test_a_held_job_waits_for_a_receipt_by_the_name_of_its_message_and_is_in_nobodys_hands(tx: Tx) -> None:
    one, other = add(tx, 1), add(tx, 2, Lane.CAMPAIGN)
    take(tx, one, other)

    queue.hold_for_receipt(
        tx, [queue.HeldJob(one, "?one", NOON + HOUR), queue.HeldJob(other, "?other", NOON + 2 * HOUR)]
    )

    assert where(tx, one) == (CARRIER, Lane.AWAITING_RECEIPT, NOON + HOUR, 1, 0, "?one")
    assert queue.find_in_flight(tx, SLOT, CARRIER, 10) == []
    assert queue.still_leased(tx, [(one, 1), (other, 1)]) == set()
    assert due(tx, at=NOON + 3 * HOUR) == []
    assert queue.find_overdue(tx, SLOT, CARRIER, NOON + HOUR, 10) == [(one, "?one")]
    assert queue.remove(tx, [other]) == [(other, CARRIER, "?other")]


def test_overdue_jobs_come_with_their_references_the_oldest_first(tx: Tx) -> None:
    ids = [add(tx, number) for number in range(3)]
    take(tx, *ids)
    references = ("a\nb\nc", "?in doubt", "r")
    waits = zip(ids, references, (NOON + 3, NOON + 1, NOON + 2), strict=True)
    queue.await_receipts(tx, [queue.AcceptedJob(one, 1, reference, until) for one, reference, until in waits])

    found = queue.find_overdue(tx, SLOT, CARRIER, NOON + 3, 10)

    assert found == [(ids[1], "?in doubt"), (ids[2], "r"), (ids[0], "a\nb\nc")]
    assert queue.find_overdue(tx, SLOT, CARRIER, NOON + 3, 1) == found[:1]
    assert queue.find_overdue(tx, SLOT, "another", NOON + 3, 10) == []


def test_only_what_is_due_and_in_nobodys_hands_may_move_to_another_carrier(tx: Tx) -> None:
    small, campaign = message_id(1), message_id(2)
    store_request(tx, 1)
    store_request(tx, 2, lane=Lane.CAMPAIGN)
    store_request(tx, 3, scheduled_at=NOON + 1)
    for number in (4, 5, 6):
        store_request(tx, number)
    store_request(tx, 7, carrier="another")
    store_request(tx, 8, sms(product=Product.LMS))
    take(tx, *(message_id(number) for number in (4, 5, 6)))
    queue.await_receipts(tx, [queue.AcceptedJob(message_id(5), 1, "r", NOON)])
    queue.retry_later(tx, [queue.RetriedJob(message_id(6), 1, NOON, CARRIER, 1)])
    products = [Product.SMS.number, Product.ALIMTALK.number]

    found = queue_admin.find_reroutable(tx, SLOT, CARRIER, products, NOON, 10, includes_in_doubt=False)

    assert sorted(found) == [(one, Product.SMS.number) for one in (small, campaign, message_id(6))]
    assert len(queue_admin.find_reroutable(tx, SLOT, CARRIER, products, NOON, 2, includes_in_doubt=False)) == 2
    assert queue_admin.find_reroutable(
        tx, SLOT, CARRIER, [Product.LMS.number], NOON, 2, includes_in_doubt=False
    ) == [(message_id(8), Product.LMS.number)]
    later = queue_admin.find_reroutable(tx, SLOT, CARRIER, products, NOON + LEASE, 10, includes_in_doubt=False)
    assert message_id(4) not in [one for one, _ in later]  # in doubt, though its lease is out
    doubted = queue_admin.find_reroutable(tx, SLOT, CARRIER, products, NOON + LEASE, 10, includes_in_doubt=True)
    assert {*doubted} - {*later} == {(message_id(4), Product.SMS.number)}


def test_only_what_was_never_in_anyones_hands_may_move_if_it_is_to_be_untried(tx: Tx) -> None:
    for number in (1, 2, 3):
        store_request(tx, number)
    take(tx, message_id(2), message_id(3))
    queue.retry_later(tx, [queue.RetriedJob(message_id(2), 1, NOON, CARRIER, 1)])
    products = [Product.SMS.number]

    found = queue_admin.find_reroutable(
        tx, SLOT, CARRIER, products, NOON + LEASE, 10, includes_in_doubt=True, only_untried=True
    )

    assert found == [(message_id(1), Product.SMS.number)]
    assert (
        len(queue_admin.find_reroutable(tx, SLOT, CARRIER, products, NOON + LEASE, 10, includes_in_doubt=True)) == 3
    )


def test_the_next_job_of_some_lanes_is_known(tx: Tx) -> None:
    assert queue.next_due_at(tx, SLOT, CARRIER, (Lane.SMALL, Lane.CAMPAIGN)) is None
    add(tx, 1, Lane.CAMPAIGN, NOON + 3)
    add(tx, 2, Lane.SMALL, NOON + 7)
    add(tx, 3, Lane.AWAITING_RECEIPT, NOON + 1)
    add(tx, 4, Lane.SMALL, NOON, carrier="another")

    assert queue.next_due_at(tx, SLOT, CARRIER, (Lane.SMALL, Lane.CAMPAIGN)) == NOON + 3
    assert queue.next_due_at(tx, SLOT, CARRIER, (Lane.SMALL,)) == NOON + 7
    assert queue.next_due_at(tx, SLOT, CARRIER, (Lane.AWAITING_RECEIPT,)) == NOON + 1


def test_what_comes_next_is_known_for_each_lane_from_a_time_on(tx: Tx) -> None:
    for number, lane, ready_at in (
        (1, Lane.SMALL, NOON - 9),
        (2, Lane.SMALL, NOON - 3),
        (3, Lane.CAMPAIGN, NOON + 7),
    ):
        add(tx, number, lane, ready_at)
    add(tx, 4, Lane.SMALL, NOON - 99, carrier="another")

    both = [(SLOT, Lane.SMALL, 0), (SLOT, Lane.CAMPAIGN, 0)]
    assert sorted(queue.next_due_by_lane(tx, CARRIER, both)) == [
        (SLOT, Lane.SMALL, NOON - 9),
        (SLOT, Lane.CAMPAIGN, NOON + 7),
    ]
    assert queue.next_due_by_lane(tx, CARRIER, [(SLOT, Lane.SMALL, NOON - 8)]) == [(SLOT, Lane.SMALL, NOON - 3)]
    assert queue.next_due_by_lane(tx, CARRIER, [(SLOT, Lane.SMALL, NOON), (SLOT + 1, Lane.SMALL, 0)]) == []


def test_what_is_due_before_a_time_is_left_out_lane_by_lane(tx: Tx) -> None:
    old, small = add(tx, 1, Lane.SMALL, NOON - 9), add(tx, 2, Lane.SMALL, NOON - 3)
    campaign = add(tx, 3, Lane.CAMPAIGN, NOON - 9)

    assert queue.find_due(tx, SLOT, CARRIER, NOON, 100, (NOON - 3, NOON - 9)) == [small, campaign]
    assert queue.find_due(tx, SLOT, CARRIER, NOON, 100, (NOON - 9, NOON - 8)) == [old, small]


def test_the_carriers_that_have_jobs_are_known(tx: Tx) -> None:
    assert queue_admin.carriers_with_jobs(tx, SLOT) == []
    for number, carrier in enumerate(("b", "a", "b", "c")):
        add(tx, number, carrier=carrier)

    assert queue_admin.carriers_with_jobs(tx, SLOT) == ["a", "b", "c"]


def test_what_a_carrier_has_still_to_be_given_is_known_due_or_not(tx: Tx) -> None:
    waiting = [add(tx, 1), add(tx, 2, Lane.CAMPAIGN, NOON + HOUR)]
    add(tx, 3, Lane.AWAITING_RECEIPT)
    add(tx, 4, carrier="another")

    assert sorted(queue_admin.find_unsent(tx, SLOT, CARRIER, NOON, 10)) == waiting
    assert len(queue_admin.find_unsent(tx, SLOT, CARRIER, NOON, 1)) == 1
    queue.claim(tx, waiting[:1], NOON, NOON + LEASE)
    assert sorted(queue_admin.find_unsent(tx, SLOT, CARRIER, NOON, 10, includes_leased=False)) == waiting[1:]
    assert sorted(queue_admin.find_unsent(tx, SLOT, CARRIER, NOON + LEASE, 10, includes_leased=False)) == waiting


def test_jobs_given_to_another_carrier_begin_their_tries_anew(tx: Tx) -> None:
    one = add(tx, 1)
    take(tx, one)
    queue.retry_later(tx, [queue.RetriedJob(one, 1, NOON, CARRIER, 1)])

    queue_admin.reroute(tx, [queue_admin.ReroutedJob(one, "another")])

    assert where(tx, one) == ("another", Lane.SMALL, NOON, 1, 0, None)


def test_depths_count_every_lane_and_know_the_oldest_that_is_due(tx: Tx) -> None:
    add(tx, 1, Lane.SMALL, NOON - 5)
    add(tx, 2, Lane.SMALL, NOON - 9)
    add(tx, 3, Lane.CAMPAIGN, NOON + 1)

    assert queue_admin.depths(tx, [SLOT], [CARRIER], NOON) == [
        QueueDepth(CARRIER, Lane.SMALL, 2, NOON - 9),
        QueueDepth(CARRIER, Lane.CAMPAIGN, 1, None),
        QueueDepth(CARRIER, Lane.AWAITING_RECEIPT, 0, None),
    ]


def test_an_attempt_is_noted_once(tx: Tx) -> None:
    one = message_id(1)
    queue.record_attempts(
        tx, CARRIER, [queue.EndedAttempt(one, 1, "busy"), queue.EndedAttempt(one, 2, "unknown")], NOON
    )
    queue.record_attempts(tx, CARRIER, [queue.EndedAttempt(one, 1, "busy")], NOON + 1)

    noted = tx.fetch_all("select number, carrier, verdict, ended_at from attempts order by number")
    assert noted == [(1, CARRIER, "busy", NOON), (2, CARRIER, "unknown", NOON)]


def test_claiming_and_settling_never_walk_the_queue(tx: Tx) -> None:
    store_many_requests(tx)
    explaining = ExplainingTx(tx)

    found = queue.find_due(explaining, SLOT, CARRIER, NOON, 50)
    leases = queue.claim(explaining, found, NOON, NOON + LEASE)
    messages.mark_sending(explaining, found)
    messages.get(explaining, found)
    queue.next_due_at(explaining, SLOT, CARRIER, (Lane.SMALL, Lane.CAMPAIGN))
    queue.next_due_by_lane(explaining, CARRIER, [(SLOT, Lane.SMALL, NOON), (SLOT, Lane.CAMPAIGN, 0)])
    held = [(lease.id, lease.attempt) for lease in leases]
    queue.still_leased(explaining, held)
    queue.await_receipts(explaining, [queue.AcceptedJob(*each, each[0].hex(), NOON + HOUR) for each in held[:20]])
    queue.retry_later(explaining, [queue.RetriedJob(*each, NOON + HOUR, CARRIER, 1) for each in held[20:40]])
    queue.postpone(explaining, found[40:], NOON + HOUR)
    queue.record_attempts(explaining, CARRIER, [queue.EndedAttempt(*each, "busy") for each in held], NOON)
    queue.find_overdue(explaining, SLOT, CARRIER, NOON + HOUR, 50)
    queue.find_in_doubt(explaining, found)
    queue.find_in_flight(explaining, SLOT, CARRIER, 50)
    queue.hold_for_receipt(explaining, [queue.HeldJob(one, "?", NOON + HOUR) for one in found[:5]])
    queue_admin.find_reroutable(explaining, SLOT, CARRIER, [1, 2], NOON, 50, includes_in_doubt=False)
    queue.remove(explaining, found[:10])
    queue.remove_unclaimed(explaining, found[10:20])
    queue.add_requests(explaining, [queue.NewJobs(request_id(9999), CARRIER, Lane.SMALL, NOON)])
    queue_admin.release_leases(explaining, SLOT, CARRIER, NOON, LEASE)
    queue_admin.carriers_with_jobs(explaining, SLOT)
    queue_admin.find_unsent(explaining, SLOT, CARRIER, NOON, 10)
    queue_admin.reroute(explaining, [queue_admin.ReroutedJob(one, CARRIER) for one in found])
    queue_admin.depths(explaining, [SLOT], [CARRIER], NOON)

    assert explaining.scans == []


def test_the_claim_finds_its_jobs_by_the_index_of_what_is_ready_in_its_order(tx: Tx) -> None:
    store_many_requests(tx)
    explaining = ExplainingTx(tx)

    queue.find_due(explaining, SLOT, CARRIER, NOON, 50)
    queue.find_overdue(explaining, SLOT, CARRIER, NOON, 50)

    assert explaining.uses("jobs_ready (carrier=? AND lane=? AND slot=? AND ready_at>? AND ready_at<?)")
    assert not any("TEMP B-TREE" in step or "Sort" in step for step, _ in explaining.plans)


def test_where_others_want_the_rest_campaigns_get_their_share_and_no_more(tx: Tx) -> None:
    store_request(tx, 1, lane=queue.Lane.SMALL)
    for number in range(2, 30):
        store_request(tx, number, lane=queue.Lane.CAMPAIGN)

    found = queue.find_due(tx, 0, CARRIER, NOON, 20, fills_up=False)

    assert sorted(found) == [message_id(number) for number in range(1, 7)]
    assert len(queue.find_due(tx, 0, CARRIER, NOON, 20)) == 20
