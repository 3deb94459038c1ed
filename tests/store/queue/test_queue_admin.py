"""Administration of the queue: released leases, rerouting, depths, and the indexes that it all uses."""

from pabal.domain.base.dates import HOUR, SECOND
from pabal.domain.sends.message import Product
from pabal.store.engine.base import Tx
from pabal.store.messages import messages, requests
from pabal.store.queue import attempts, queue, queue_admin
from pabal.store.queue.queue import Lane
from pabal.store.queue.queue_admin import QueueDepth
from tests.fixtures.jobs import LEASE, SLOT, add_job, claim_jobs, find_due, job_state
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


def test_release_affects_only_leases(tx: Tx) -> None:
    in_hand = add_job(tx, 1)
    taken = add_job(tx, 2)
    put_back = add_job(tx, 3)
    scheduled = add_job(tx, 4, ready_at=NOON + 5 * SECOND)
    of_another = add_job(tx, 5, carrier="another")
    claim_jobs(tx, in_hand, taken, put_back, of_another)
    queue.await_receipts(tx, [queue.AcceptedJob(taken, 1, "r", NOON + 5 * SECOND)])
    queue.retry_later(tx, [queue.RetriedJob(put_back, 1, NOON + 5 * SECOND, CARRIER, 1)])

    assert queue_admin.release_leases(tx, SLOT, CARRIER, NOON + 1, LEASE) == 1

    assert find_due(tx, at=NOON + 1) == [in_hand]
    assert queue.still_leased(tx, [(in_hand, 1), (of_another, 1)]) == {of_another: None}
    assert job_state(tx, taken)[1:3] == (Lane.AWAITING_RECEIPT, NOON + 5 * SECOND)
    assert {job_state(tx, one)[2] for one in (put_back, scheduled)} == {NOON + 5 * SECOND}


def test_release_leaves_what_this_process_has_in_flight(tx: Tx) -> None:
    own, of_the_dead = add_job(tx, 1), add_job(tx, 2)
    claim_jobs(tx, own, of_the_dead)

    assert queue_admin.release_leases(tx, SLOT, CARRIER, NOON + 1, LEASE, {(own, 1)}) == 1

    assert find_due(tx, at=NOON + 1) == [of_the_dead]
    assert attempts.find_leased(tx, [own, of_the_dead]) == [(own, 1)]


def test_job_with_a_released_lease_is_not_in_doubt(tx: Tx) -> None:
    one = add_job(tx, 1)
    claim_jobs(tx, one)

    queue_admin.release_leases(tx, SLOT, CARRIER, NOON + 1, LEASE)

    assert attempts.find_leased(tx, find_due(tx, at=NOON + 1)) == []


def test_in_flight_jobs_include_those_with_an_expired_lease(tx: Tx) -> None:
    held, campaign, taken, waiting, put_back = (
        add_job(tx, number, lane) for number, lane in enumerate((Lane.SMALL, Lane.CAMPAIGN, *[Lane.SMALL] * 3))
    )
    of_another = add_job(tx, 9, carrier="another")
    claim_jobs(tx, held, taken, put_back, of_another)
    claim_jobs(tx, campaign, at=NOON - HOUR)
    queue.await_receipts(tx, [queue.AcceptedJob(taken, 1, "r", NOON)])
    queue.retry_later(tx, [queue.RetriedJob(put_back, 1, NOON, CARRIER, 1)])

    assert sorted(attempts.find_in_flight(tx, SLOT, CARRIER, 10)) == [(held, 1), (campaign, 1)]
    assert len(attempts.find_in_flight(tx, SLOT, CARRIER, 1)) == 1
    assert attempts.find_in_flight(tx, SLOT, "another", 10) == [(of_another, 1)]
    assert waiting in find_due(tx)


def test_only_due_unclaimed_jobs_are_reroutable(tx: Tx) -> None:
    small, campaign = message_id(1), message_id(2)
    store_request(tx, 1)
    store_request(tx, 2, lane=Lane.CAMPAIGN)
    store_request(tx, 3, scheduled_at=NOON + 1)
    for number in (4, 5, 6):
        store_request(tx, number)
    store_request(tx, 7, carrier="another")
    store_request(tx, 8, sms(product=Product.LMS))
    claim_jobs(tx, *(message_id(number) for number in (4, 5, 6)))
    queue.await_receipts(tx, [queue.AcceptedJob(message_id(5), 1, "r", NOON)])
    queue.retry_later(tx, [queue.RetriedJob(message_id(6), 1, NOON, CARRIER, 1)])
    products = [Product.SMS.number, Product.ALIMTALK.number]

    found = queue_admin.find_reroutable(tx, SLOT, CARRIER, products, NOON, 10, max_doubts=0)

    assert sorted(found) == [(one, Product.SMS.number) for one in (small, campaign, message_id(6))]
    assert len(queue_admin.find_reroutable(tx, SLOT, CARRIER, products, NOON, 2, max_doubts=0)) == 2
    assert queue_admin.find_reroutable(tx, SLOT, CARRIER, [Product.LMS.number], NOON, 2, max_doubts=0) == [
        (message_id(8), Product.LMS.number)
    ]
    later = queue_admin.find_reroutable(tx, SLOT, CARRIER, products, NOON + LEASE, 10, max_doubts=0)
    assert message_id(4) not in [one for one, _ in later]  # in doubt, although its lease has expired
    doubted = queue_admin.find_reroutable(tx, SLOT, CARRIER, products, NOON + LEASE, 10, max_doubts=1)
    assert {*doubted} - {*later} == {(message_id(4), Product.SMS.number)}


def test_only_untried_jobs_are_reroutable_if_so_asked(tx: Tx) -> None:
    for number in (1, 2, 3):
        store_request(tx, number)
    claim_jobs(tx, message_id(2), message_id(3))
    queue.retry_later(tx, [queue.RetriedJob(message_id(2), 1, NOON, CARRIER, 1)])
    products = [Product.SMS.number]

    found = queue_admin.find_reroutable(
        tx, SLOT, CARRIER, products, NOON + LEASE, 10, max_doubts=1, only_untried=True
    )

    assert found == [(message_id(1), Product.SMS.number)]
    assert len(queue_admin.find_reroutable(tx, SLOT, CARRIER, products, NOON + LEASE, 10, max_doubts=1)) == 3


def test_carriers_with_jobs_are_listed(tx: Tx) -> None:
    assert queue_admin.carriers_with_jobs(tx, SLOT) == []
    for number, carrier in enumerate(("b", "a", "b", "c")):
        add_job(tx, number, carrier=carrier)

    assert queue_admin.carriers_with_jobs(tx, SLOT) == ["a", "b", "c"]
    assert queue_admin.carriers_with_jobs(tx, SLOT + 1) == []


def test_unsent_jobs_of_a_carrier_are_found_due_or_not(tx: Tx) -> None:
    store_request(tx, 1)
    store_request(tx, 2, lane=Lane.CAMPAIGN, scheduled_at=NOON + HOUR)
    store_request(tx, 3, lane=Lane.AWAITING_RECEIPT)
    store_request(tx, 4, carrier="another")
    waiting = [message_id(1), message_id(2)]

    assert _unsent(tx, NOON, 10) == waiting
    assert len(_unsent(tx, NOON, 1)) == 1
    queue.claim(tx, waiting[:1], NOON, NOON + LEASE)
    assert _unsent(tx, NOON, 10, includes_leased=False) == waiting[1:]
    assert _unsent(tx, NOON + LEASE, 10, includes_leased=False) == waiting


def test_unsent_jobs_are_found_by_product(tx: Tx) -> None:
    store_request(tx, 1)

    assert queue_admin.find_unsent(tx, SLOT, CARRIER, [Product.LMS.number], NOON, 10) == []
    assert queue_admin.find_unsent(tx, SLOT, CARRIER, [], NOON, 10) == []


def _unsent(tx: Tx, now: int, limit: int, **options: bool) -> list[bytes]:
    products = [each.number for each in Product]
    return sorted(one for one, _ in queue_admin.find_unsent(tx, SLOT, CARRIER, products, now, limit, **options))


def test_rerouted_jobs_start_with_no_tries(tx: Tx) -> None:
    one = add_job(tx, 1)
    claim_jobs(tx, one)
    queue.retry_later(tx, [queue.RetriedJob(one, 1, NOON, CARRIER, 1)])

    queue_admin.reroute(tx, [queue_admin.ReroutedJob(one, "another")], NOON)

    assert job_state(tx, one) == ("another", Lane.SMALL, NOON, 1, 0, None)


def test_rerouted_jobs_that_are_due_stand_at_the_time_of_the_reroute(tx: Tx) -> None:
    due, later = add_job(tx, 1), add_job(tx, 2, Lane.SMALL, NOON + 9)

    queue_admin.reroute(tx, [queue_admin.ReroutedJob(one, "another") for one in (due, later)], NOON + 5)

    assert job_state(tx, due) == ("another", Lane.SMALL, NOON + 5, 0, 0, None)
    assert job_state(tx, later) == ("another", Lane.SMALL, NOON + 9, 0, 0, None)


def test_depths_count_every_lane_and_give_the_oldest_due_time(tx: Tx) -> None:
    add_job(tx, 1, Lane.SMALL, NOON + 9)
    add_job(tx, 2, Lane.SMALL, NOON + 5)
    add_job(tx, 3, Lane.CAMPAIGN, NOON + 11)

    assert queue_admin.depths(tx, [SLOT], [CARRIER], NOON + 10) == [
        QueueDepth(CARRIER, Lane.SMALL, 2, NOON + 5),
        QueueDepth(CARRIER, Lane.CAMPAIGN, 1, None),
        QueueDepth(CARRIER, Lane.AWAITING_RECEIPT, 0, None),
    ]


def test_claiming_and_settling_never_scan_the_queue(tx: Tx) -> None:
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
    attempts.record(explaining, CARRIER, [attempts.EndedAttempt(*each, "busy") for each in held], NOON)
    queue.find_overdue(explaining, SLOT, CARRIER, NOON + HOUR, 50)
    attempts.find_leased(explaining, found)
    attempts.find_in_flight(explaining, SLOT, CARRIER, 50)
    attempts.hold_for_receipt(explaining, [attempts.HeldJob(one, "?", NOON + HOUR) for one in found[:5]])
    queue_admin.find_reroutable(explaining, SLOT, CARRIER, [1, 2], NOON, 50, max_doubts=0)
    queue.remove(explaining, found[:10])
    queue.remove_unclaimed(explaining, found[10:20])
    queue.add_requests(explaining, [queue.NewJobs(request_id(9999), CARRIER, Lane.SMALL, NOON)])
    queue_admin.release_leases(explaining, SLOT, CARRIER, NOON, LEASE)
    queue_admin.carriers_with_jobs(explaining, SLOT)
    queue_admin.find_unsent(explaining, SLOT, CARRIER, [1, 2], NOON, 10)
    queue_admin.reroute(explaining, [queue_admin.ReroutedJob(one, CARRIER) for one in found], NOON)
    queue_admin.find_later(explaining, SLOT, CARRIER, Lane.SMALL, (NOON - 1, b""), NOON, 50)
    queue_admin.find_since(explaining, SLOT, CARRIER, Lane.SMALL, NOON - 1, NOON, 50)
    queue_admin.reschedule(explaining, [queue_admin.MovedJob(one, NOON, NOON - 1) for one in found])
    requests.account_ids(explaining, [request_id(9999)])
    queue_admin.depths(explaining, [SLOT], [CARRIER], NOON)

    assert explaining.scans == []


def test_claim_uses_the_ready_index_in_its_order(tx: Tx) -> None:
    store_many_requests(tx)
    explaining = ExplainingTx(tx)

    queue.find_due(explaining, SLOT, CARRIER, NOON, 50)
    queue.find_overdue(explaining, SLOT, CARRIER, NOON, 50)
    queue_admin.find_since(explaining, SLOT, CARRIER, Lane.SMALL, NOON - 1, NOON, 50)

    assert explaining.uses("jobs_ready (carrier=? AND lane=? AND slot=? AND ready_at>? AND ready_at<?)")
    assert not any("TEMP B-TREE" in step or "Sort" in step for step, _ in explaining.plans)
