"""Deadlines of requests: found by an index, whatever the queue and the history hold."""

from pabal.store.engine.base import Tx
from pabal.store.queue import deadlines
from pabal.store.queue.deadlines import LateJob, SweepCursor, WaitingJobs
from pabal.store.queue.queue import Lane
from tests.fixtures.rows import CARRIER, ExplainingTx, message_id, request_id, store_many_requests, store_request
from tests.fixtures.virtual import NOON

LANE = (0, CARRIER, Lane.SMALL)


def test_waiting_jobs_are_walked_in_order_without_a_scan(tx: Tx) -> None:
    store_many_requests(tx)
    explaining = ExplainingTx(tx)

    places: list[SweepCursor] = []
    request_ids: set[bytes] = set()
    last: SweepCursor | None = SweepCursor()
    while last is not None:
        places.append(last)
        small, campaigns = deadlines.find_waiting(
            explaining, [(LANE, last), ((0, CARRIER, Lane.CAMPAIGN), SweepCursor())], NOON, 100
        )
        assert campaigns == WaitingJobs([], None)
        request_ids.update(small.request_ids)
        last = small.last

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

    assert deadlines.slots_with_late(explaining, [0, 1], NOON) == {0}
    assert deadlines.slots_with_late(explaining, [0], NOON - 1) == set()
    assert deadlines.find_late_requests(explaining, 0, NOON, 10) == [late]
    assert deadlines.find_late_jobs(explaining, late, b"", 10, NOON) == [LateJob(message_id(1000), CARRIER, False)]
    assert deadlines.find_unwatched(explaining, [late, request_id(0)]) == [request_id(0)]
    deadlines.watch(explaining, [late, request_id(0)], lambda product, expire_minutes: 7)
    assert explaining.scans == []
    assert deadlines.find_late_requests(tx, 0, NOON + 7, 10)[-1] == request_id(0)
    deadlines.set_deadline(tx, late, None)
    assert deadlines.find_late_requests(tx, 0, NOON, 10) == []
