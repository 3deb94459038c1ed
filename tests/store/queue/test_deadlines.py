"""Deadlines of requests: found by an index, whatever the queue and the history hold."""

from pabal.store.engine.base import Tx
from pabal.store.queue import deadlines
from pabal.store.queue.deadlines import LateJob, SweepCursor
from pabal.store.queue.queue import Lane
from tests.fixtures.rows import CARRIER, ExplainingTx, message_id, request_id, store_many_requests, store_request
from tests.fixtures.virtual import NOON


def test_waiting_jobs_are_walked_in_order_without_a_scan(tx: Tx) -> None:
    store_many_requests(tx)
    explaining = ExplainingTx(tx)

    found = deadlines.find_waiting(explaining, 0, CARRIER, Lane.SMALL, SweepCursor(), NOON, 100)
    places, request_ids = [SweepCursor()], set(found.request_ids)
    while found.last is not None:
        places.append(found.last)
        found = deadlines.find_waiting(explaining, 0, CARRIER, Lane.SMALL, found.last, NOON, 100)
        request_ids.update(found.request_ids)

    assert places == sorted(set(places))
    assert len(places) - 1 == 900 / 100
    assert request_ids == {row[0] for row in tx.fetch_all("select substr(id, 1, 13) from jobs where lane = 0")}
    assert explaining.scans == []


def test_late_requests_are_found_by_their_stored_deadline_without_a_scan(tx: Tx) -> None:
    store_many_requests(tx)
    late, other = store_request(tx, 1000), store_request(tx, 1001)
    deadlines.set_deadline(tx, late, NOON)
    deadlines.set_deadline(tx, other, NOON + 1)
    explaining = ExplainingTx(tx)

    assert deadlines.find_late_requests(explaining, 0, NOON, 10) == [late]
    assert deadlines.find_late_jobs(explaining, late, b"", 10, NOON) == [LateJob(message_id(1000), CARRIER, False)]
    assert deadlines.find_unwatched(explaining, [late, request_id(0)]) == [request_id(0)]
    deadlines.watch(explaining, [late, request_id(0)], lambda product, expire_minutes: 7)
    assert explaining.scans == []
    assert deadlines.find_late_requests(tx, 0, NOON + 7, 10)[-1] == request_id(0)
    deadlines.set_deadline(tx, late, None)
    assert deadlines.find_late_requests(tx, 0, NOON, 10) == []
