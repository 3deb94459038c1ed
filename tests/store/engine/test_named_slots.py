"""Statements on messages of several slots affect all of these messages and no others."""

from pabal.domain import identifiers
from pabal.domain.dates import HOUR
from pabal.domain.message import Outcome, Status
from pabal.store import history, messages, queue, queue_admin, requests
from pabal.store.engine.base import Tx
from pabal.store.history import MessageFilter
from tests.fixtures.rows import ACCOUNT, CARRIER, PHONE, add_request, sms
from tests.fixtures.virtual import NOON

SLOTS = (3, 4, 4095)


def keep(tx: Tx) -> list[bytes]:
    """Store a message in each slot; return their ids."""
    ids = [identifiers.make_request_id(NOON, slot, slot) for slot in SLOTS]
    for one in ids:
        add_request(tx, one, ACCOUNT, sms(), NOON)
        messages.add_all(tx, messages.build_rows(one, ACCOUNT, sms().product, sms().receivers))
    queue.add_requests(tx, [queue.NewJobs(one, CARRIER, queue.Lane.SMALL, NOON) for one in ids])
    return [identifiers.make_message_id(one, 1) for one in ids]


def test_requests_of_several_slots_are_stored_in_one_transaction(tx: Tx) -> None:
    ids = keep(tx)

    assert [queue.find_due(tx, slot, CARRIER, NOON, 10) for slot in SLOTS] == [[one] for one in ids]
    assert queue.find_due(tx, 0, CARRIER, NOON, 10) == []
    assert set(requests.get(tx, [identifiers.request_id_of(one) for one in ids])) == {one[:13] for one in ids}


def test_carriers_with_jobs_in_the_slot_are_listed(tx: Tx) -> None:
    keep(tx)

    assert [queue_admin.carriers_with_jobs(tx, slot) for slot in (*SLOTS, 0)] == [
        [CARRIER],
        [CARRIER],
        [CARRIER],
        [],
    ]


def test_one_settle_may_span_several_slots(tx: Tx) -> None:
    ids = keep(tx)

    leases = queue.claim(tx, ids, NOON, NOON + HOUR)
    messages.mark_sending(tx, ids)
    taken = queue.await_receipts(
        tx, [queue.AcceptedJob(lease.id, lease.attempt, "r", NOON + HOUR) for lease in leases]
    )
    dropped = queue.remove(tx, ids)
    ended = messages.finish(tx, [(ids[0], Outcome.DELIVERED), (ids[1], Outcome.TIMED_OUT)], NOON)

    assert taken == {row[0] for row in dropped} == set(ids)
    assert sorted(one for one, _ in ended) == ids[:2]
    found = messages.get(tx, ids)
    assert [found[one].status for one in ids] == [Status.COMPLETED, Status.FAIL, Status.SENDING]
    assert [found[one].outcome for one in ids] == [Outcome.DELIVERED, Outcome.TIMED_OUT, None]


def test_search_finds_messages_of_every_slot(tx: Tx) -> None:
    ids = keep(tx)

    page = history.find(tx, MessageFilter(ACCOUNT, receiver=PHONE), 1, 10)

    assert (page.total, [message.id for message, _ in page.found]) == (3, ids[::-1])
