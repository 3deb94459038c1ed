"""The queue: which jobs are due, which are claimed, and whose verdict still counts."""

import pytest

from pabal.domain.base.dates import HOUR
from pabal.store.engine.base import Tx
from pabal.store.queue import attempts, queue
from pabal.store.queue.queue import Lane, Lease
from tests.fixtures.jobs import LEASE, SLOT, add_job, claim_jobs, find_due, job_state
from tests.fixtures.rows import CARRIER, message_id, sms, store_request
from tests.fixtures.virtual import NOON


def test_every_message_of_a_request_gets_a_job(tx: Tx) -> None:
    store_request(tx, 1, sms(["01000000011", "01000000012", "01000000013"]), scheduled_at=NOON + 5)
    store_request(tx, 2)

    assert find_due(tx, at=NOON + 4) == [message_id(2)]
    assert find_due(tx, at=NOON + 5) == [message_id(2), message_id(1, 1), message_id(1, 2), message_id(1, 3)]


def test_job_is_due_only_at_its_time_and_at_its_carrier(tx: Tx) -> None:
    one = add_job(tx, 1, ready_at=NOON + 1)

    assert find_due(tx, at=NOON) == []
    assert find_due(tx, at=NOON + 1) == [one]
    assert find_due(tx, at=NOON + 1, carrier="another") == []


def test_oldest_job_is_due_first(tx: Tx) -> None:
    late, early, middle = (
        add_job(tx, number, ready_at=at) for number, at in ((1, NOON), (2, NOON - 9), (3, NOON - 5))
    )

    assert find_due(tx) == [early, middle, late]
    assert find_due(tx, limit=2) == [early, middle]


def test_small_sends_go_first_and_campaigns_get_a_quarter(tx: Tx) -> None:
    small = [add_job(tx, number, ready_at=NOON - HOUR + number) for number in range(100)]
    campaign = [add_job(tx, number, Lane.CAMPAIGN, NOON - 2 * HOUR + number) for number in range(100, 200)]

    assert find_due(tx, limit=40) == small[:30] + campaign[:10]


@pytest.mark.parametrize(("limit", "most", "expected"), [(40, 10, 10), (8, 10, 8), (40, None, 40), (40, 70, 40)])
def test_claim_takes_at_most_so_many_of_campaigns(tx: Tx, limit: int, most: int | None, expected: int) -> None:
    campaign = [add_job(tx, number, Lane.CAMPAIGN, NOON - HOUR + number) for number in range(60)]

    found = queue.find_due(tx, SLOT, CARRIER, NOON, limit, max_of_campaigns=most)

    assert found == campaign[:expected]


@pytest.mark.parametrize(
    ("small", "campaign", "limit", "expected"),
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
def test_either_lane_uses_what_the_other_leaves(
    tx: Tx, small: int, campaign: int, limit: int, expected: tuple[int, int]
) -> None:
    for number in range(small):
        add_job(tx, number)
    for number in range(campaign):
        add_job(tx, 1000 + number, Lane.CAMPAIGN)

    found = find_due(tx, limit=limit)

    lanes = [job_state(tx, one)[1] for one in found]
    assert (lanes.count(Lane.SMALL), lanes.count(Lane.CAMPAIGN)) == expected


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("pace", [1, 50, 250, 500, 1000, 2000, 4000, 10_000, 60_000])
def test_every_fourth_claim_too_small_for_a_share_prefers_campaigns(tx: Tx, limit: int, pace: int) -> None:
    small = [add_job(tx, number, ready_at=NOON - HOUR + number) for number in range(3)]
    campaign = [add_job(tx, number, Lane.CAMPAIGN, NOON - HOUR + number) for number in range(3, 6)]

    claims = [find_due(tx, limit, at=NOON + pace * number) for number in range(400)]

    theirs = [found for found in claims if found != small[:limit]]
    assert 60 <= len(theirs) <= 140
    assert all(found == small[: limit - 1] + campaign[:1] for found in theirs)


@pytest.mark.parametrize("lane", [Lane.SMALL, Lane.CAMPAIGN])
def test_only_lane_with_jobs_gets_every_small_claim(tx: Tx, lane: int) -> None:
    ids = [add_job(tx, number, lane) for number in range(3)]

    assert all(find_due(tx, 1, at=NOON + 500 * number) == ids[:1] for number in range(20))


def test_claim_postpones_the_job_and_raises_its_attempt(tx: Tx) -> None:
    one = add_job(tx, 1)

    assert claim_jobs(tx, one) == [Lease(one, 1, 0)]

    assert find_due(tx, at=NOON + LEASE - 1) == []
    assert find_due(tx, at=NOON + LEASE) == [one]
    assert claim_jobs(tx, one, at=NOON + LEASE) == [Lease(one, 2, 0)]


def test_job_of_a_dead_worker_is_due_again_and_its_late_verdict_is_ignored(tx: Tx) -> None:
    one = add_job(tx, 1)
    claim_jobs(tx, one)
    claim_jobs(tx, one, at=NOON + LEASE)
    before = job_state(tx, one)

    assert queue.still_leased(tx, [(one, 1)]) == {}
    queue.await_receipts(tx, [queue.AcceptedJob(one, 1, "late", NOON)])
    assert queue.retry_later(tx, [queue.RetriedJob(one, 1, NOON, "another", 0)]) == set()

    assert job_state(tx, one) == before
    assert queue.still_leased(tx, [(one, 2)]) == {one: None}


def test_verdict_counts_once(tx: Tx) -> None:
    one = add_job(tx, 1)
    claim_jobs(tx, one)

    queue.await_receipts(tx, [queue.AcceptedJob(one, 1, "r1", NOON + HOUR)])
    queue.await_receipts(tx, [queue.AcceptedJob(one, 1, "r2", NOON + HOUR)])
    assert queue.retry_later(tx, [queue.RetriedJob(one, 1, NOON, CARRIER, 1)]) == set()
    assert queue.still_leased(tx, [(one, 1)]) == {}
    assert job_state(tx, one) == (CARRIER, Lane.AWAITING_RECEIPT, NOON + HOUR, 1, 0, "r1")


def test_accepted_job_becomes_overdue_when_no_receipt_arrives(tx: Tx) -> None:
    one = add_job(tx, 1)
    claim_jobs(tx, one)
    queue.await_receipts(tx, [queue.AcceptedJob(one, 1, "r", NOON + HOUR)])

    assert find_due(tx, at=NOON + 2 * HOUR) == []
    assert queue.find_overdue(tx, SLOT, CARRIER, NOON + HOUR - 1, 10) == []
    places = [(SLOT + 1, CARRIER), (SLOT, "another"), (SLOT, CARRIER)]
    assert queue.find_with_overdue(tx, places, NOON + HOUR - 1) == []
    assert queue.find_overdue(tx, SLOT, CARRIER, NOON + HOUR, 10) == [(one, "r")]
    assert queue.find_with_overdue(tx, places, NOON + HOUR) == [(SLOT, CARRIER)]


def test_retried_job_keeps_its_time_carrier_and_tries(tx: Tx) -> None:
    one = add_job(tx, 1)
    for attempt in (1, 2, 3):
        claim_jobs(tx, one)
        queue.retry_later(tx, [queue.RetriedJob(one, attempt, NOON, CARRIER, attempt)])
    assert job_state(tx, one) == (CARRIER, Lane.SMALL, NOON, 3, 3, None)
    assert claim_jobs(tx, one) == [Lease(one, 4, 3)]

    queue.retry_later(tx, [queue.RetriedJob(one, 4, NOON + 7, "next", 0)])

    assert job_state(tx, one) == ("next", Lane.SMALL, NOON + 7, 4, 0, None)
    assert find_due(tx, at=NOON + 7, carrier="next") == [one]


def test_postponed_jobs_are_not_claimed(tx: Tx) -> None:
    one = add_job(tx, 1)
    claim_jobs(tx, one)

    queue.postpone(tx, [one], NOON + HOUR)

    assert find_due(tx, at=NOON + HOUR - 1) == []
    assert queue.still_leased(tx, [(one, 1)]) == {}


def test_removed_jobs_are_returned_once(tx: Tx) -> None:
    one, other = add_job(tx, 1), add_job(tx, 2)
    claim_jobs(tx, one)
    queue.await_receipts(tx, [queue.AcceptedJob(one, 1, "r", NOON)])

    assert sorted(queue.remove(tx, [one, other, message_id(3)])) == [(one, CARRIER, "r"), (other, CARRIER, None)]
    assert queue.remove(tx, [one, other]) == []


def test_cancel_removes_only_jobs_that_were_never_claimed(tx: Tx) -> None:
    untouched, in_hand, put_back = (add_job(tx, number) for number in range(3))
    claim_jobs(tx, in_hand, put_back)
    queue.retry_later(tx, [queue.RetriedJob(put_back, 1, NOON, CARRIER, 1)])

    assert queue.remove_unclaimed(tx, [untouched, in_hand, put_back]) == [untouched]
    assert find_due(tx, at=NOON + HOUR) == [put_back, in_hand]


def test_expired_lease_leaves_its_job_in_doubt(tx: Tx) -> None:
    ran_out, fresh, put_back, taken = (add_job(tx, number) for number in range(4))
    claim_jobs(tx, ran_out, put_back, taken)
    queue.retry_later(tx, [queue.RetriedJob(put_back, 1, NOON, CARRIER, 1)])
    queue.await_receipts(tx, [queue.AcceptedJob(taken, 1, "r", NOON)])

    found = find_due(tx, at=NOON + LEASE)

    assert sorted(found) == [ran_out, fresh, put_back]
    assert attempts.find_leased(tx, found) == [(ran_out, 1)]
    assert attempts.find_leased(tx, []) == []


def test_held_job_waits_for_a_receipt_and_is_not_claimed(tx: Tx) -> None:
    one, other = add_job(tx, 1), add_job(tx, 2, Lane.CAMPAIGN)
    claim_jobs(tx, one, other)

    attempts.hold_for_receipt(
        tx, [attempts.HeldJob(one, "?one", NOON + HOUR), attempts.HeldJob(other, "?other", NOON + 2 * HOUR)]
    )

    assert job_state(tx, one) == (CARRIER, Lane.AWAITING_RECEIPT, NOON + HOUR, 1, 0, "?one")
    assert attempts.find_in_flight(tx, SLOT, CARRIER, 10) == []
    assert queue.still_leased(tx, [(one, 1), (other, 1)]) == {}
    assert find_due(tx, at=NOON + 3 * HOUR) == []
    assert queue.find_overdue(tx, SLOT, CARRIER, NOON + HOUR, 10) == [(one, "?one")]
    assert queue.remove(tx, [other]) == [(other, CARRIER, "?other")]


def test_held_job_keeps_the_reference_of_an_earlier_attempt(tx: Tx) -> None:
    one = add_job(tx, 1)
    claim_jobs(tx, one)
    attempts.set_references(tx, one, "earlier")

    attempts.hold_for_receipt(tx, [attempts.HeldJob(one, "?one", NOON + HOUR)])

    assert queue.find_overdue(tx, SLOT, CARRIER, NOON + HOUR, 10) == [(one, "earlier\n?one")]


def test_overdue_jobs_have_their_references_oldest_first(tx: Tx) -> None:
    ids = [add_job(tx, number) for number in range(3)]
    claim_jobs(tx, *ids)
    references = ("a\nb\nc", "?in doubt", "r")
    waits = zip(ids, references, (NOON + 3, NOON + 1, NOON + 2), strict=True)
    queue.await_receipts(tx, [queue.AcceptedJob(one, 1, reference, until) for one, reference, until in waits])

    found = queue.find_overdue(tx, SLOT, CARRIER, NOON + 3, 10)

    assert found == [(ids[1], "?in doubt"), (ids[2], "r"), (ids[0], "a\nb\nc")]
    assert queue.find_overdue(tx, SLOT, CARRIER, NOON + 3, 1) == found[:1]
    assert queue.find_overdue(tx, SLOT, "another", NOON + 3, 10) == []


def test_next_due_time_of_some_lanes(tx: Tx) -> None:
    assert queue.next_due_at(tx, SLOT, CARRIER, (Lane.SMALL, Lane.CAMPAIGN)) is None
    add_job(tx, 1, Lane.CAMPAIGN, NOON + 3)
    add_job(tx, 2, Lane.SMALL, NOON + 7)
    add_job(tx, 3, Lane.AWAITING_RECEIPT, NOON + 1)
    add_job(tx, 4, Lane.SMALL, NOON, carrier="another")

    assert queue.next_due_at(tx, SLOT, CARRIER, (Lane.SMALL, Lane.CAMPAIGN)) == NOON + 3
    assert queue.next_due_at(tx, SLOT, CARRIER, (Lane.SMALL,)) == NOON + 7
    assert queue.next_due_at(tx, SLOT, CARRIER, (Lane.AWAITING_RECEIPT,)) == NOON + 1


def test_next_due_time_by_lane_from_a_time_on(tx: Tx) -> None:
    for number, lane, ready_at in (
        (1, Lane.SMALL, NOON - 9),
        (2, Lane.SMALL, NOON - 3),
        (3, Lane.CAMPAIGN, NOON + 7),
    ):
        add_job(tx, number, lane, ready_at)
    add_job(tx, 4, Lane.SMALL, NOON - 99, carrier="another")

    both = [(SLOT, Lane.SMALL, 0), (SLOT, Lane.CAMPAIGN, 0)]
    assert sorted(queue.next_due_by_lane(tx, CARRIER, both)) == [
        (SLOT, Lane.SMALL, NOON - 9),
        (SLOT, Lane.CAMPAIGN, NOON + 7),
    ]
    assert queue.next_due_by_lane(tx, CARRIER, [(SLOT, Lane.SMALL, NOON - 8)]) == [(SLOT, Lane.SMALL, NOON - 3)]
    assert queue.next_due_by_lane(tx, CARRIER, [(SLOT, Lane.SMALL, NOON), (SLOT + 1, Lane.SMALL, 0)]) == []


def test_jobs_due_before_the_watermark_are_left_out_by_lane(tx: Tx) -> None:
    old, small = add_job(tx, 1, Lane.SMALL, NOON - 9), add_job(tx, 2, Lane.SMALL, NOON - 3)
    campaign = add_job(tx, 3, Lane.CAMPAIGN, NOON - 9)

    assert queue.find_due(tx, SLOT, CARRIER, NOON, 100, (NOON - 3, NOON - 9)) == [small, campaign]
    assert queue.find_due(tx, SLOT, CARRIER, NOON, 100, (NOON - 9, NOON - 8)) == [old, small]


def test_attempt_is_recorded_once(tx: Tx) -> None:
    one = message_id(1)
    attempts.record(
        tx, CARRIER, [attempts.EndedAttempt(one, 1, "busy"), attempts.EndedAttempt(one, 2, "unknown")], NOON
    )
    attempts.record(tx, CARRIER, [attempts.EndedAttempt(one, 1, "busy")], NOON + 1)

    noted = tx.fetch_all("select number, carrier, verdict, ended_at from attempts order by number")
    assert noted == [(1, CARRIER, "busy", NOON), (2, CARRIER, "unknown", NOON)]


def test_campaigns_get_only_their_share_when_another_slot_wants_the_rest(tx: Tx) -> None:
    store_request(tx, 1, lane=queue.Lane.SMALL)
    for number in range(2, 30):
        store_request(tx, number, lane=queue.Lane.CAMPAIGN)

    found = queue.find_due(tx, 0, CARRIER, NOON, 20, other_slots=1)

    assert sorted(found) == [message_id(number) for number in range(1, 7)]
    assert len(queue.find_due(tx, 0, CARRIER, NOON, 20)) == 20


@pytest.mark.parametrize(
    ("small", "other_slots", "campaign"),
    [
        (1, 1, 10),  # a quarter of the limit
        (1, 9, 4),  # ten such claims reach the limit
        (18, 9, 6),  # a quarter of the claim
        (100, 9, 10),
        (0, 99, 1),
    ],
)
def test_campaigns_share_what_the_small_sends_of_many_slots_leave(
    tx: Tx, small: int, other_slots: int, campaign: int
) -> None:
    for number in range(small):
        add_job(tx, number)
    for number in range(100, 200):
        add_job(tx, number, Lane.CAMPAIGN)

    found = queue.find_due(tx, SLOT, CARRIER, NOON, 40, other_slots=other_slots)

    assert len([one for one in found if one >= message_id(100)]) == campaign
    assert len(found) == campaign + min(small, 40 - campaign)
