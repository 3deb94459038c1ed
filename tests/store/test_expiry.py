"""Deadlines of requests: found by an index, whatever the queue and the history hold."""

from pabal.store import expiry
from pabal.store.engine.base import Tx
from pabal.store.expiry import LateJob, QueuePlace
from pabal.store.queue import Lane
from tests.fixtures.rows import CARRIER, ExplainingTx, message_id, request_id, store_many_requests, store_request
from tests.fixtures.virtual import NOON


def test_waiting_jobs_are_walked_in_order_without_a_scan(tx: Tx) -> None:
    store_many_requests(tx)
    explaining = ExplainingTx(tx)

    first = expiry.find_waiting(explaining, 0, CARRIER, Lane.SMALL, QueuePlace(), NOON, 100)
    rest = expiry.find_waiting(explaining, 0, CARRIER, Lane.SMALL, first[-1], NOON, 10_000)

    assert [*first, *rest] == sorted([*first, *rest])
    assert len({each.id for each in (*first, *rest)}) == 900
    assert explaining.scans == []


def test_late_requests_are_found_by_their_stored_deadline_without_a_scan(tx: Tx) -> None:
    store_many_requests(tx)
    late, other = store_request(tx, 1000), store_request(tx, 1001)
    expiry.set_deadline(tx, late, NOON)
    expiry.set_deadline(tx, other, NOON + 1)
    explaining = ExplainingTx(tx)

    assert expiry.find_late_requests(explaining, 0, NOON, 10) == [late]
    assert expiry.find_late_jobs(explaining, late, b"", 10, NOON) == [LateJob(message_id(1000), CARRIER, False)]
    assert [each.id for each in expiry.find_unwatched(explaining, [late, request_id(0)])] == [request_id(0)]
    assert explaining.scans == []
    expiry.set_deadline(tx, late, None)
    assert expiry.find_late_requests(tx, 0, NOON, 10) == []
